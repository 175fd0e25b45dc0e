import { Button } from '../controls/button.tsx'
import { formatInstant } from '../formatting.ts'
import { changeClock, isFrozen, shownTime } from './clock.ts'

/** The clock of the chosen account in one line, with the two most useful steps. */
export function ClockLine() {
  if (shownTime.value === undefined) return null
  return (
    <div class="clock-line row">
      <ClockFace id="clock" />
      <Button small aria-label="+1 hour on the account's clock" work={() => changeClock({ advance: 'PT1H' })}>
        +1 hour
      </Button>
      <Button small aria-label="+1 day on the account's clock" work={() => changeClock({ advance: 'P1D' })}>
        +1 day
      </Button>
    </div>
  )
}

/** The date and the time of the account's clock, and whether it runs. */
function ClockFace({ id }: { id?: string }) {
  const now = shownTime.value
  if (now === undefined) return null
  const instant = new Date(now).toISOString()
  return (
    <span class="clock-face row">
      <time
        id={id}
        dateTime={instant}
        class={`mono ${isFrozen.value ? 'frozen' : ''}`}
        title="The clock of this account"
      >
        {formatInstant(instant)}
      </time>
      <span class="soft">{isFrozen.value ? 'frozen' : 'running'}</span>
    </span>
  )
}
