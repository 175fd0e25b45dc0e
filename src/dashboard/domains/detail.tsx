import { send } from '../client.ts'
import { createSource } from '../data.ts'
import { formatCount, formatDay, formatInstant, formatShare } from '../formatting.ts'
import { go, Link } from '../place.tsx'
import type { DataOf, DomainEvent, MonitoredDomain } from '../responses.ts'
import { domains, groups, refreshDate, summary } from '../sources.ts'
import { Button, Copyable } from '../ui/button.tsx'
import { HistoryChart } from '../ui/chart.tsx'
import { Detail } from '../ui/detail.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Badge, Pairs, Part } from '../ui/marks.tsx'
import { changeDomain, removeDomains, removePins } from './change.tsx'
import { IN_USE, Policy } from './table.tsx'

const HISTORY_DAYS = 90

type Days = DataOf<'listDailyRecords'>['days']

/** The daily records of a domain up to a day, and the last as the service writes it. They change with its own `record`. */
const history = createSource({ after: 'nothing' }, async (account, domain: string, to: string, _record: string) => {
  const query = { from: dayBefore(to, HISTORY_DAYS - 1), to, domain }
  const text = await (await send('listDailyRecords', { parameters: { account }, query })).text()
  const { data } = JSON.parse(text) as { data: { days: Days } }
  return { days: data.days, text: lastRecordText(text) }
})

function dayBefore(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10)
}

export function DomainDetail({ name }: { name: string }) {
  const now = summary.use().data?.account.now
  return (
    <Detail title={name}>
      <Loaded of={domains.use()} what="the domains">
        {(all) => {
          const domain = all.find((each) => each.domain === name)
          if (domain === undefined) return <p class="empty">This account does not monitor this domain any more.</p>
          return now === undefined ? null : <Content domain={domain} today={refreshDate(now)} />
        }}
      </Loaded>
    </Detail>
  )
}

function Content({ domain, today }: { domain: MonitoredDomain; today: string }) {
  const { record, events, pinned, reports } = domain
  const records = history.use(domain.domain, today, JSON.stringify(record))
  const text = records.data?.text
  async function remove(): Promise<void> {
    if (await removeDomains([domain])) go({})
  }
  return (
    <>
      <div class="row">
        <Button words="Change…" kind="primary" work={() => changeDomain(domain)} />
        {Object.keys(pinned).length > 0 && <Button words="Remove the fixed values" work={() => removePins(domain)} />}
        <Button words="Remove…" kind="danger" work={remove} />
      </div>
      <div class="row">
        <Policy domain={domain} />
        {reports !== 'received' && reports !== 'fixed' && <span class="soft">{WITHOUT_REPORTS[reports]}</span>}
        {record !== null && record.count > 0 && (
          <span class="soft">
            DMARC {formatShare(record.dmarc)} · DKIM {formatShare(record.dkim)} · SPF {formatShare(record.spf)} ·{' '}
            {formatCount(record.count, 'message')}
          </span>
        )}
      </div>
      <Part title={`${HISTORY_DAYS} days`}>
        <Loaded of={records} what="the history">
          {({ days }) => <Chart domain={domain} days={days} />}
        </Loaded>
        <Events events={events} />
      </Part>
      <Part title="How it is monitored">
        <Facts domain={domain} />
      </Part>
      <Part title="The record as GET /dmarc writes it">
        {text === undefined ? (
          <p class="soft">{records.data === undefined ? '…' : 'It has no record yet.'}</p>
        ) : (
          <Copyable text={layOut(text)} label="Copy the record" />
        )}
      </Part>
    </>
  )
}

function Facts({ domain }: { domain: MonitoredDomain }) {
  const { policy, inherits_from: source, profile, volume, added_at, features, pinned, pinned_at, reports } = domain
  const pins = Object.entries(pinned).map(([field, value]) => `${field} ${value}`)
  const tags = Object.entries(policy ?? {}).map(([tag, value]) => `${tag}=${value}`)
  const sends =
    reports === 'none'
      ? 'This is what it sends. Without a DMARC record, receivers report nothing of it.'
      : 'This is what it usually sends. Its figures are what receivers report.'
  const since = pinned_at === null ? 'from the beginning' : `since ${formatInstant(pinned_at)}`
  const about = (text: string) => <span class="soft">{text}</span>
  return (
    <Pairs
      entries={[
        ['Groups', <Memberships key="groups" name={domain.domain} />],
        ['In use by', features.length === 0 ? 'no feature' : [<Names key="use" names={features} />, about(IN_USE)]],
        ['Profile', [`${profile} `, about('The kind of domain for which this stand-in makes the figures.')]],
        ['Sends', [`${formatCount(volume, 'message')} a month `, about(sends)]],
        ['Added', formatInstant(added_at)],
        ['Publishes', policy === null ? 'no DMARC record' : <code>{['v=DMARC1', ...tags].join('; ')}</code>],
        ['Inherits from', source !== null && <Link subject={source}>{source}</Link>],
        [
          'Fixed values',
          pins.length > 0 && [
            <Names key="fixed" names={pins} />,
            about(
              `Somebody gave these fields of its record fixed values, ${since}. The days before have the generated figures.`,
            ),
          ],
        ],
      ]}
    />
  )
}

/** What is known about the mail of a domain without reports. */
const WITHOUT_REPORTS = {
  none: 'No reports: no DMARC record applies to it, so receivers report nothing, and nobody knows who sends in its name.',
  awaited: 'No reports yet: the first ones come with the next daily refresh.',
} as const

function Memberships({ name }: { name: string }) {
  const all = groups.use().data
  if (all === undefined) return <>…</>
  const memberships = all.filter((group) => group.domains.includes(name))
  if (memberships.length === 0) return <>none</>
  return (
    <ul class="row">
      {memberships.map((group) => (
        <li key={group.id} data-group={group.name}>
          <Link view="groups" subject={group.id}>
            <bdi>{group.name}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Names({ names }: { names: readonly string[] }) {
  return (
    <span class="row">
      {names.map((name) => (
        <Badge key={name} tone="warn">
          <bdi>{name}</bdi>
        </Badge>
      ))}
    </span>
  )
}

/** What changes the figures of a domain. What has not begun by the clock of the account stands apart as planned. */
function Events({ events }: { events: readonly DomainEvent[] }) {
  if (events.length === 0) return <p class="soft">Nothing changes its figures but weekdays and seasons.</p>
  const planned = events.filter(({ state }) => state === 'planned')
  const begun = events.filter(({ state }) => state !== 'planned')
  return (
    <>
      {begun.length > 0 && <EventList events={begun} />}
      {planned.length > 0 && (
        <>
          <h4>Planned</h4>
          <p class="soft">By the clock of this account, none of this has begun yet.</p>
          <EventList events={planned} />
        </>
      )}
    </>
  )
}

function EventList({ events }: { events: readonly DomainEvent[] }) {
  return (
    <ul class="list stack">
      {events.map((event) => (
        <li key={`${event.from} ${event.description}`}>
          <span class="soft">{describePeriod(event)}</span>
          <div>{event.description}</div>
        </li>
      ))}
    </ul>
  )
}

function describePeriod({ state, from, until }: DomainEvent): string {
  const [begin, end] = [from, until].map((day) => (day === null ? '' : formatDay(day)))
  if (state === 'past') return from === null ? `Until ${end}` : `${begin} to ${end}`
  if (state === 'planned') return until === null ? `From ${begin}` : `From ${begin} to ${end}`
  const since = from === null ? 'Always' : `Since ${begin}`
  return until === null ? since : `${since}, planned until ${end}`
}

function Chart({ domain, days }: { domain: MonitoredDomain; days: Days }) {
  const { domain: name, events, reports } = domain
  const records = days.map((day) => day.records[0])
  if (reports === 'none' && records.every((record) => (record?.count ?? 0) === 0))
    return <p class="soft">Receivers reported nothing in these days.</p>
  const dates = days.map(({ date }) => date)
  const line = (field: 'dmarc' | 'dkim' | 'spf') =>
    records.map((record) => (record === undefined || record.count === 0 ? null : record[field]))
  return (
    <HistoryChart
      label={`DMARC of ${name}`}
      dates={dates}
      messages={records.map((record) => (record?.count === 0 && reports === 'none' ? null : (record?.count ?? null)))}
      shares={[
        { name: 'DMARC', values: line('dmarc') },
        { name: 'DKIM', values: line('dkim') },
        { name: 'SPF', values: line('spf') },
      ]}
      marks={events.flatMap(({ from, description }) =>
        from !== null && dates.includes(from) ? [{ date: from, text: description }] : [],
      )}
    />
  )
}

/**
 * The text of the last record in an answer with daily records of one domain. Each day has at most one record. Parsing
 * would turn a number such as 100.0 into 100.
 */
function lastRecordText(answer: string): string | undefined {
  const start = answer.lastIndexOf('"records":[')
  const text = answer.slice(start + '"records":['.length, answer.lastIndexOf(']}]'))
  return start >= 0 && text.startsWith('{') ? text : undefined
}

/** Formats a flat JSON object with one field per line, and keeps the text of its values. */
function layOut(text: string): string {
  const fields = text.match(/"(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|[^,}]+)/g) ?? []
  return `{\n${fields.map((field) => `  ${field.replace(/":/, '": ')}`).join(',\n')}\n}`
}
