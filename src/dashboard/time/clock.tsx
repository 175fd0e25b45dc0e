import { computed, signal, useComputed } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { quotas } from '../account/panel.tsx'
import { overview, summary } from '../account-data.ts'
import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Form, TextField, textOf } from '../controls/form.tsx'
import { Card } from '../controls/marks.tsx'
import { formatInstant, formatMoment, readWritten, writeMinute } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { BodyOf, Quota } from '../responses.ts'

const MILLISECONDS_OF_TICK = 1_000

const tick = signal(0)

setInterval(() => {
  tick.value += 1
}, MILLISECONDS_OF_TICK)

/** The last time on the clock of the account, in milliseconds since the Unix epoch, and when it was received. */
const reading = computed(() => {
  const account = summary.data.value?.account
  return account && { now: Date.parse(account.now), frozen: account.frozen, at: performance.now() }
})

/** The time on the clock of the chosen account, in milliseconds since the Unix epoch; `undefined` until it is known. */
const shownTime = computed(() => {
  void tick.value
  const read = reading.value
  return read && (read.frozen ? read.now : read.now + performance.now() - read.at)
})

/** Changes the clock of the chosen account, and loads the data that depends on it. */
async function changeClock(body: BodyOf<'updateClock'>): Promise<void> {
  const known = summary.data.peek()
  const clock = await call('updateClock', { body })
  // The user may have chosen another account.
  if (known !== undefined && summary.data.peek()?.account.id === known.account.id) {
    summary.set({ ...known, account: { ...known.account, ...clock } })
  }
  await refreshShown()
}

const HOUR = 3_600_000
/** The usual steps of the clock, in milliseconds and as ISO 8601 durations. */
const STEPS = [
  { words: '+1 hour', milliseconds: HOUR, duration: 'PT1H' },
  { words: '+1 day', milliseconds: 24 * HOUR, duration: 'P1D' },
]

export function ClockSection() {
  const now = shownTime.value
  if (now === undefined) return null
  const instant = new Date(now).toISOString()
  const frozen = reading.value?.frozen === true
  return (
    <Card id="clock-title" title="The clock of this account">
      <div class="row clock-head">
        <time dateTime={instant} class={frozen ? 'big-clock frozen' : 'big-clock'}>
          {formatInstant(instant)}
        </time>
        <span class={frozen ? 'badge odd' : 'badge good'}>{frozen ? 'frozen' : 'running'}</span>
        <Button words={frozen ? 'Unfreeze' : 'Freeze'} work={() => changeClock({ frozen: !frozen })} />
      </div>
      <div class="moves">
        {STEPS.map(({ words, milliseconds, duration }) => (
          <Move key={words} leads={`to ${formatMoment(now + milliseconds, now)}`}>
            <Button words={words} work={() => changeClock({ advance: duration })} />
          </Move>
        ))}
        <NextWindow now={now} />
        <NextRefresh now={now} />
      </div>
      <ChosenInstant />
    </Card>
  )
}

function Move({ leads, children }: { leads: string; children: ComponentChildren }) {
  return (
    <div class="move">
      {children}
      <span class="soft">{leads}</span>
    </div>
  )
}

function NextRefresh({ now }: { now: number }) {
  const next = overview.data.value?.next_refresh_at
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
  const next = useComputed(() => nextWindow(quotas.data.value?.quotas ?? []))
  const open = next.value
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

function ChosenInstant() {
  // The field follows the clock until the user changes it.
  const [written, setWritten] = useState<string | undefined>(undefined)
  const nextHour = useComputed(() => (Math.floor((shownTime.value ?? 0) / HOUR) + 1) * HOUR)
  return (
    <Form
      id="clock-form"
      class="inline-form"
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
        value={written ?? writeMinute(nextHour.value)}
        onInput={({ currentTarget }) => setWritten(currentTarget.value)}
      />
    </Form>
  )
}

/** The clock of the chosen account in one line, with the two most useful steps. */
export function ClockLine() {
  const now = shownTime.value
  if (now === undefined) return null
  const instant = new Date(now).toISOString()
  return (
    <div class="clock-line row">
      <span class="clock-face row">
        <time
          id="clock"
          dateTime={instant}
          class={`mono ${reading.value?.frozen ? 'frozen' : ''}`}
          title="The clock of this account"
        >
          {formatInstant(instant)}
        </time>
        <span class="soft">{reading.value?.frozen ? 'frozen' : 'running'}</span>
      </span>
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
