import { useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Form, textOf } from '../controls/form.tsx'
import { formatInstant } from '../formatting.ts'
import { createResource } from '../resource.ts'
import type { Quota } from '../responses.ts'
import { changeClock, isFrozen, shownTime } from './clock.ts'
import { formatMoment, toFieldValue, toInstant } from './instants.ts'

const quotas = createResource({
  tabs: ['time'],
  afterRequests: 400,
  polled: true,
  load: (account) => call('getQuotas', { parameters: { account } }),
})

/** The clock, large, and everything that moves it. */
export function ClockSection() {
  const now = shownTime.value
  if (now === undefined) return <p class="empty">The clock is being read…</p>
  const instant = new Date(now).toISOString()
  const frozen = isFrozen.value === true
  return (
    <section class="card stack" aria-labelledby="clock-title">
      <h2 id="clock-title">The clock of this account</h2>
      <div class="row clock-head">
        <time dateTime={instant} class={frozen ? 'big-clock frozen' : 'big-clock'}>
          {formatInstant(instant)}
        </time>
        <span class={frozen ? 'badge odd' : 'badge good'}>{frozen ? 'frozen' : 'running'}</span>
        <Button work={() => changeClock({ frozen: !frozen })}>{frozen ? 'Unfreeze' : 'Freeze'}</Button>
      </div>
      <div class="moves">
        <Move leads={`to ${formatMoment(now + 3_600_000, now)}`}>
          <Button work={() => changeClock({ advance: 'PT1H' })}>+1 hour</Button>
        </Move>
        <Move leads={`to ${formatMoment(now + 86_400_000, now)}`}>
          <Button work={() => changeClock({ advance: 'P1D' })}>+1 day</Button>
        </Move>
        <NextWindow now={now} />
        <Move leads="to the next refresh: GET /dmarc has the figures of another day">
          <Button work={() => changeClock({ to: 'refresh' })}>Next refresh</Button>
        </Move>
      </div>
      <ChosenInstant />
    </section>
  )
}

/** A button, and below it where it leads. */
function Move({ leads, children }: { leads: string; children: ComponentChildren }) {
  return (
    <div class="move">
      {children}
      <span class="soft">{leads}</span>
    </div>
  )
}

function NextWindow({ now }: { now: number }) {
  const next = useComputed(() => nextWindow(quotas.data.value?.quotas ?? []))
  const open = next.value
  return (
    <Move
      leads={
        open === undefined
          ? 'no quota is in use, so no window is open'
          : `to ${formatMoment(open.end, now)}: ${open.buckets.map((bucket) => `/${bucket}`).join(', ')} refilled`
      }
    >
      <Button disabled={open === undefined} work={() => changeClock({ to: 'window-end' })}>
        Next window
      </Button>
    </Move>
  )
}

/** The end of the first window in which requests were charged, and the quotas that are full again then. */
function nextWindow(all: readonly Quota[]): { end: number; buckets: string[] } | undefined {
  const used = all.filter(({ limit, remaining }) => remaining < limit)
  if (used.length === 0) return undefined
  const end = Math.min(...used.map(({ resets_at }) => Date.parse(resets_at)))
  const first = used.filter(({ resets_at }) => Date.parse(resets_at) === end)
  return { end, buckets: [...new Set(first.map(({ bucket }) => bucket))] }
}

function ChosenInstant() {
  const now = shownTime.peek() ?? 0
  return (
    <Form
      id="clock-form"
      class="inline-form"
      submit="Set the clock"
      work={(fields) => changeClock({ now: toInstant(textOf(fields, 'now')) })}
    >
      <label>
        To an instant (UTC)
        <input type="datetime-local" name="now" step={1} defaultValue={toFieldValue(now)} required />
      </label>
    </Form>
  )
}
