import { send } from './control.ts'
import { change, createSource, domains, groups, summary } from './data.ts'
import { changeDomain, removeDomains } from './domain-changes.tsx'
import { Policy } from './domain-table.tsx'
import { FACTS } from './facts.ts'
import { formatCount, formatDay, formatInstant, formatShare } from './formatting.ts'
import { go, Link } from './place.tsx'
import type { DataOf, Schemas } from './responses.ts'
import { HistoryChart } from './ui/chart.tsx'
import { Badge, Button, Copyable, Pairs, Part } from './ui/elements.tsx'
import { Detail } from './ui/lists.tsx'
import { Loaded } from './ui/loaded.tsx'

const DAYS = 90

type Domain = Schemas['MonitoredDomain']
type DomainEvent = Domain['events'][number]

interface Records {
  days: DataOf<'listDailyRecords'>['days']
  /** The last record as the service writes it, with one field in each line; empty if there is none. */
  text: string
}

/** The daily records of a domain up to a day. They change with its own `record`. */
const history = createSource(
  async (account, domain: string, to: string, _record: string): Promise<Records> => {
    const query = { from: dayOf(Date.parse(to) - (DAYS - 1) * 86_400_000), to, domain }
    const text = await send('listDailyRecords', { parameters: { account }, query }, (response) => response.text())
    // Parsing would turn a number such as 100.0 into 100.
    const last = /\{("domain"[^}]*)\}\]\}\]\}\}$/.exec(text)?.[1] ?? ''
    const lines = last.replace(/,(?=")/g, ',\n  ').replaceAll('":', '": ')
    return { days: JSON.parse(text).data.days, text: lines && `{\n  ${lines}\n}` }
  },
  { isStill: true },
)

function dayOf(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}

export function DomainDetail({ name }: { name: string }) {
  const now = summary.use().data?.account.now
  // The day of the refresh that GET /dmarc shows now.
  const today = now === undefined ? '' : dayOf(Date.parse(now) - Date.parse(`1970-01-01T${FACTS.refresh}Z`))
  return (
    <Detail title={name}>
      <Loaded of={domains.use()} what="the domains">
        {(all) => {
          const domain = all.find((each) => each.domain === name)
          if (domain === undefined) return <p class="empty">This account does not monitor this domain any more.</p>
          return today !== '' && <Content domain={domain} today={today} />
        }}
      </Loaded>
    </Detail>
  )
}

function Content({ domain, today }: { domain: Domain; today: string }) {
  const { record, events, pinned, reports } = domain
  const records = history.use(domain.domain, today, JSON.stringify(record))
  async function remove(): Promise<void> {
    if (await removeDomains([domain])) go({})
  }
  return (
    <>
      <div class="row deeds">
        <Button words="Change…" kind="primary" work={() => changeDomain(domain)} />
        {Object.keys(pinned).length > 0 && (
          <Button words="Remove the fixed values" work={() => change('unpinDmarc', { domain: domain.domain })} />
        )}
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
      <Part title={`${DAYS} days`}>
        <Loaded of={records} what="the history">
          {({ days }) => <Chart domain={domain} days={days} />}
        </Loaded>
        <Events events={events} />
      </Part>
      <Part title="How it is monitored">
        <Facts domain={domain} />
      </Part>
      <Part title="The record as GET /dmarc writes it">
        {records.data?.text ? (
          <Copyable text={records.data.text} label="Copy the record" />
        ) : (
          <p class="soft">{records.data === undefined ? '…' : 'It has no record yet.'}</p>
        )}
      </Part>
    </>
  )
}

const WITHOUT_REPORTS = {
  none: 'No reports: no DMARC record applies to it, so receivers report nothing, and nobody knows who sends in its name.',
  awaited: 'No reports yet: the first ones come with the next daily refresh.',
} as const

function Facts({ domain }: { domain: Domain }) {
  const { policy, inherits_from: source, profile, volume, added_at, features, pinned, pinned_at, reports } = domain
  const memberships = groups.use().data?.filter((group) => group.domains.includes(domain.domain)) ?? []
  const tags = Object.entries(policy ?? {}).map(([tag, value]) => `${tag}=${value}`)
  const pins = Object.entries(pinned).map(([field, value]) => `${field} ${value}`)
  const since = pinned_at === null ? 'from the beginning' : `since ${formatInstant(pinned_at)}`
  const sends =
    reports === 'none'
      ? 'Without a DMARC record, receivers report nothing of it.'
      : 'Its figures are what receivers report.'
  return (
    <Pairs
      entries={[
        [
          'Groups',
          memberships.length === 0
            ? 'none'
            : memberships.map(({ id, name }) => (
                <Link key={id} view="groups" subject={id}>
                  <bdi>{name}</bdi>{' '}
                </Link>
              )),
        ],
        ['In use by', features.length === 0 ? 'no feature' : features.map((name) => <Badge key={name}>{name}</Badge>)],
        ['Profile', profile],
        ['Sends', [`${formatCount(volume, 'message')} a month. `, <span class="soft">{sends}</span>]],
        ['Added', formatInstant(added_at)],
        ['Publishes', policy === null ? 'no DMARC record' : <code>{['v=DMARC1', ...tags].join('; ')}</code>],
        ['Inherits from', source !== null && <Link subject={source}>{source}</Link>],
        ['Fixed values', pins.length > 0 && `${pins.join(', ')}, ${since}`],
      ]}
    />
  )
}

/** What changes the figures of a domain. What has not begun by the clock of the account is marked as planned. */
function Events({ events }: { events: readonly DomainEvent[] }) {
  if (events.length === 0) return <p class="soft">Nothing changes its figures but weekdays and seasons.</p>
  return (
    <ul class="quotes stack">
      {events.map((event) => (
        <li key={`${event.from} ${event.description}`}>
          {event.state === 'planned' && <Badge tone="odd">planned</Badge>}{' '}
          <span class="soft">{describePeriod(event)}</span>
          <div>{event.description}</div>
        </li>
      ))}
    </ul>
  )
}

function describePeriod({ from, until }: DomainEvent): string {
  if (from === null) return until === null ? 'Always' : `Until ${formatDay(until)}`
  return until === null ? `Since ${formatDay(from)}` : `${formatDay(from)} to ${formatDay(until)}`
}

function Chart({ domain: { domain, events, reports }, days }: { domain: Domain; days: Records['days'] }) {
  const records = days.map((day) => day.records[0])
  const isKnown = (record: (typeof records)[number]) => record !== undefined && (record.count > 0 || reports !== 'none')
  if (!records.some(isKnown)) return <p class="soft">Receivers reported nothing in these days.</p>
  const line = (name: string, field: 'dmarc' | 'dkim' | 'spf') => ({
    name,
    values: records.map((record) => (record === undefined || record.count === 0 ? null : record[field])),
  })
  return (
    <HistoryChart
      label={`DMARC of ${domain}`}
      dates={days.map(({ date }) => date)}
      messages={records.map((record) => (isKnown(record) ? (record?.count ?? null) : null))}
      shares={[line('DMARC', 'dmarc'), line('DKIM', 'dkim'), line('SPF', 'spf')]}
      marks={events.flatMap(({ from }) => from ?? [])}
    />
  )
}
