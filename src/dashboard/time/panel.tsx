import { useState } from 'preact/hooks'
import { overview, summary } from '../account-data.ts'
import { chosenAccount, go } from '../address.ts'
import { HistoryChart } from '../charts/history-chart.tsx'
import { Button } from '../controls/button.tsx'
import { confirmed } from '../controls/dialog.tsx'
import { Form, TextField, textOf } from '../controls/form.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { Card } from '../controls/marks.tsx'
import { formatCount, formatDay, formatMoment, formatNumber, readWritten, writeMinute } from '../formatting.ts'
import { ClockSection, shownTime } from './clock.tsx'
import { deletePlayed, leftBehind, originalOf, play, stage, startPlay } from './play.ts'
import { TimelineSection } from './timeline-section.tsx'

export function TimePanel() {
  // During a play, the user wants to see the chart first.
  const isPlayed = play.value?.account === chosenAccount.value
  return (
    <>
      {isPlayed && <PlaySection />}
      {/* The input for one account does not apply to another. */}
      <Loaded key={`clock of ${chosenAccount}`} of={summary}>
        {() => <ClockSection />}
      </Loaded>
      {!isPlayed && <PlaySection key={`play of ${chosenAccount}`} />}
      <TimelineSection />
    </>
  )
}

const SHOWN_DAYS = 60
const MONTH = 30 * 86_400_000
/** How many of the past days are listed, and how many sentences for each. */
const TOLD_DAYS = 5
const TOLD_SENTENCES = 3

function PlaySection() {
  const playing = play.value
  const isShown = playing !== undefined && playing.account === chosenAccount.value
  return (
    <Card id="play-title" title="Play">
      <div class="halves">
        {!isShown && originalOf(chosenAccount.value) === undefined && <PlayForm />}
        <FiguresUntilNow />
        {isShown && <PassedDays />}
      </div>
      <LeftBehind />
    </Card>
  )
}

function PlayForm() {
  const account = summary.data.value?.account
  const [chosen, setChosen] = useState<string | undefined>(undefined)
  const now = shownTime.value
  if (account === undefined || now === undefined) return null
  const start = chosen ?? writeMinute(Math.max(0, now - MONTH))
  function begin(fields: FormData): Promise<void> {
    const until = textOf(fields, 'end')
    const end = until.trim() === '' ? (shownTime.peek() ?? 0) : Date.parse(readWritten(until))
    const from = readWritten(textOf(fields, 'now'))
    if (Number.isNaN(end)) throw new Error(`The end must be an instant such as ${writeMinute(now ?? 0)}, not ${until}.`)
    if (Date.parse(from) >= end) {
      throw new Error(`The start must be before the end, which is ${formatMoment(end)}.`)
    }
    return startPlay(from, end)
  }
  return (
    <div class="stack">
      <p class="soft">
        A clock never goes back, so this makes another account beside {account.id}, of the same fixture and seed, whose
        clock begins earlier. The page shows it day by day until it has arrived at the present of {account.id}, which
        stays as it is. What clients have changed since {account.id} was created is not in it.
      </p>
      <Form id="play-form" submit="Play" work={begin}>
        <div class="fields instants">
          <TextField
            label="From (UTC)"
            name="now"
            spellcheck={false}
            value={start}
            onInput={({ currentTarget }) => setChosen(currentTarget.value)}
          />
          <TextField label="To (UTC)" name="end" placeholder="the present" spellcheck={false} />
        </div>
        <div class="row">
          <Button words="From a month ago" small work={() => setChosen(writeMinute(Math.max(0, now - MONTH)))} />
          <Button words="From its creation" small work={() => setChosen(writeMinute(Date.parse(account.created_at)))} />
        </div>
      </Form>
    </div>
  )
}

function FiguresUntilNow() {
  const data = overview.data.value
  if (data === undefined || data.domains === 0) return null
  const days = data.days.slice(-SHOWN_DAYS)
  return (
    <HistoryChart
      label={`DMARC of ${chosenAccount.value}`}
      dates={days.map(({ date }) => date)}
      messages={days.map(({ messages }) => messages)}
      shares={[{ name: 'DMARC', values: days.map(({ share }) => share) }]}
    />
  )
}

function PassedDays() {
  const playing = play.value
  const known = stage.value
  if (playing === undefined || known === undefined) return <p class="empty">The play begins…</p>
  const today = new Date(playing.now).toISOString().slice(0, 10)
  const days = [...known.events].filter(([day]) => day <= today).toSorted(([one], [other]) => (one < other ? 1 : -1))
  return (
    <div class="stack">
      <h3>What has happened until {formatDay(today)}</h3>
      {days.length === 0 && <p class="empty">Nothing special has happened yet.</p>}
      <ol class="passed list">
        {days.slice(0, TOLD_DAYS).map(([day, sentences]) => (
          <li key={day} class={day === today ? 'today' : ''}>
            <strong>{formatDay(day)}</strong>
            {sentences.slice(0, TOLD_SENTENCES).map((sentence) => (
              <p key={sentence}>{sentence}</p>
            ))}
            {sentences.length > TOLD_SENTENCES && (
              <p class="soft">{`And ${formatNumber(sentences.length - TOLD_SENTENCES)} more.`}</p>
            )}
          </li>
        ))}
      </ol>
      {known.count > known.shown && (
        <p class="soft">
          These are the events of the first {formatCount(known.shown, 'domain')} of {formatNumber(known.count)}.
        </p>
      )}
    </div>
  )
}

/** Accounts of earlier plays. A page deletes its account only if the user goes back. */
function LeftBehind() {
  const others = leftBehind.value.filter((id) => id !== play.value?.account && id !== chosenAccount.value)
  if (others.length === 0) return null
  async function remove(id: string): Promise<void> {
    const text = 'It was made for a play, perhaps by another page that still plays it. No other account changes.'
    if (await confirmed(`Delete the account ${id}?`, text, 'Delete')) await deletePlayed(id)
  }
  return (
    <div class="stack" id="left-behind">
      <h3>Accounts of earlier plays</h3>
      <ul class="ruled">
        {others.map((id) => (
          <li key={id} class="row">
            <span class="grow mono">{id}</span>
            <Button words="Show" work={() => go({ account: id })} aria-label={`Show ${id}`} />
            <Button words="Delete" kind="danger" work={() => remove(id)} aria-label={`Delete ${id}`} />
          </li>
        ))}
      </ul>
    </div>
  )
}
