import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call } from '../client.ts'
import { readTimer, refreshShown } from '../data.ts'
import { formatInstant, formatMoment, readWritten, writeMinute } from '../formatting.ts'
import type { BodyOf, Quota } from '../responses.ts'
import { overview, quotas, summary } from '../sources.ts'
import { Button } from '../ui/button.tsx'
import { Form, TextField, textOf } from '../ui/form.tsx'
import { Waiting } from '../ui/loaded.tsx'
import { Card } from '../ui/marks.tsx'
import { SnapshotSection } from './snapshots.tsx'

const MILLISECONDS_OF_TICK = 1_000

/** The time on the clock of the chosen account in milliseconds since the Unix epoch, once it is known. It goes on. */
function useClock(): { now: number; frozen: boolean } | undefined {
  const { data } = summary.use()
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((ticks) => ticks + 1), MILLISECONDS_OF_TICK)
    return () => clearInterval(timer)
  }, [])
  if (data === undefined) return undefined
  const { now, frozen } = data.account
  return { now: Date.parse(now) + (frozen ? 0 : readTimer() - data.at), frozen }
}

async function changeClock(body: BodyOf<'updateClock'>): Promise<void> {
  await call('updateClock', { body })
  await refreshShown()
}

const HOUR = 3_600_000
/** The usual steps of the clock, in milliseconds and as ISO 8601 durations. */
const STEPS = [
  { words: '+1 hour', milliseconds: HOUR, duration: 'PT1H' },
  { words: '+1 day', milliseconds: 24 * HOUR, duration: 'P1D' },
]

export function TimeView() {
  return (
    <>
      <ClockSection />
      <SnapshotSection />
    </>
  )
}

function ClockSection() {
  const clock = useClock()
  if (clock === undefined) return <Waiting what="the clock" />
  const { now, frozen } = clock
  const instant = new Date(now).toISOString()
  return (
    <Card id="clock-title" title="The clock of this account">
      <div class="row clock-head">
        <time dateTime={instant} class={frozen ? 'big-clock frozen' : 'big-clock'}>
          {formatInstant(instant)}
        </time>
        <span class={frozen ? 'badge odd' : 'badge good'}>{frozen ? 'frozen' : 'running'}</span>
        <Button words={frozen ? 'Unfreeze' : 'Freeze'} work={() => changeClock({ frozen: !frozen })} />
      </div>
      <div class="tiles">
        {STEPS.map(({ words, milliseconds, duration }) => (
          <Move key={words} leads={`to ${formatMoment(now + milliseconds, now)}`}>
            <Button words={words} work={() => changeClock({ advance: duration })} />
          </Move>
        ))}
        <NextWindow now={now} />
        <NextRefresh now={now} />
      </div>
      <ChosenInstant now={now} />
    </Card>
  )
}

function Move({ leads, children }: { leads: string; children: ComponentChildren }) {
  return (
    <div class="stack">
      {children}
      <span class="soft">{leads}</span>
    </div>
  )
}

function NextRefresh({ now }: { now: number }) {
  const next = overview.use().data?.next_refresh_at
  // The loaded refresh may be in the past after the clock has moved.
  const isKnown = next !== undefined && next !== null && Date.parse(next) > now
  return (
    <Move
      leads={`${isKnown ? `to ${formatMoment(Date.parse(next), now)}` : 'to the next day'}: GET /dmarc has new figures`}
    >
      <Button words="Next refresh" work={() => changeClock({ to: 'refresh' })} />
    </Move>
  )
}

function NextWindow({ now }: { now: number }) {
  const open = nextWindow(quotas.use().data?.quotas ?? [])
  return (
    <Move
      leads={
        open === undefined
          ? 'no quota is in use, so no window is open'
          : `to ${formatMoment(open.end, now)}: ${wordsForRefill(open.buckets)}`
      }
    >
      <Button words="Next window" disabled={open === undefined} work={() => changeClock({ to: 'window-end' })} />
    </Move>
  )
}

function wordsForRefill(buckets: readonly string[]): string {
  // GET is the only method of /dmarc.
  const paths = buckets.map((bucket) => (bucket === 'dmarc' ? 'GET /dmarc' : `/${bucket}`))
  return paths.length === 1 ? `${paths[0]} is refilled` : `${paths.join(', ')} are refilled`
}

/** The earliest end of a window with charged requests, and the quotas that are full again then. */
function nextWindow(all: readonly Quota[]): { end: number; buckets: string[] } | undefined {
  const used = all.filter(({ limit, remaining }) => remaining < limit)
  if (used.length === 0) return undefined
  const end = Math.min(...used.map(({ resets_at }) => Date.parse(resets_at)))
  const first = used.filter(({ resets_at }) => Date.parse(resets_at) === end)
  return { end, buckets: [...new Set(first.map(({ bucket }) => bucket))] }
}

function ChosenInstant({ now }: { now: number }) {
  // The field follows the clock until the user changes it.
  const [written, setWritten] = useState<string | undefined>(undefined)
  return (
    <Form
      submit="Set the clock"
      work={async (fields) => {
        await changeClock({ now: readWritten(textOf(fields, 'now')) })
        setWritten(undefined)
      }}
    >
      <TextField
        label="To an instant (UTC)"
        name="now"
        spellcheck={false}
        value={written ?? writeMinute((Math.floor(now / HOUR) + 1) * HOUR)}
        onInput={({ currentTarget }) => setWritten(currentTarget.value)}
      />
    </Form>
  )
}

/** The clock of the chosen account in one line, with the two most useful steps. */
export function ClockLine() {
  const clock = useClock()
  if (clock === undefined) return null
  const instant = new Date(clock.now).toISOString()
  return (
    <div class="row clock-line">
      <time dateTime={instant} class={`mono ${clock.frozen ? 'frozen' : ''}`} title="The clock of this account">
        {formatInstant(instant)}
      </time>
      <span class="soft">{clock.frozen ? 'frozen' : 'running'}</span>
      {STEPS.map(({ words, duration }) => (
        <Button
          key={words}
          words={words}
          small
          aria-label={`${words} on the account's clock`}
          work={() => changeClock({ advance: duration })}
        />
      ))}
    </div>
  )
}
