import { groups, groupsByDomain, summary } from '../account-data.ts'
import { chosenAccount } from '../address.ts'
import { HistoryChart } from '../charts/history-chart.tsx'
import { send } from '../client.ts'
import { Button, Copyable } from '../controls/button.tsx'
import { Detail } from '../controls/detail.tsx'
import { Link } from '../controls/link.tsx'
import { useAnswer } from '../controls/loaded.tsx'
import { Badge, Pairs, Part } from '../controls/marks.tsx'
import { ErrorText } from '../controls/notices.tsx'
import { formatCount, formatDay, formatInstant, formatShare } from '../formatting.ts'
import type { DataOf, DomainEvent, MonitoredDomain } from '../responses.ts'
import { changeDomain, removeDomains, removePins } from './change.tsx'
import { closeDomain, dayBefore, monitored, refreshDate } from './monitored.ts'
import { lastRecordText, layOut } from './record-text.ts'
import { Policy } from './table.tsx'
import { shareOf } from './trends.ts'

const HISTORY_DAYS = 90

export function DomainDetail({ name }: { name: string }) {
  const domains = monitored.data.value
  const domain = domains?.find((each) => each.domain === name)
  return (
    <Detail title={name} id="domain-sheet" onClose={closeDomain}>
      {domain === undefined ? (
        <p class="empty">
          {domains === undefined
            ? 'The domains are being loaded…'
            : 'This account does not monitor this domain any more.'}
        </p>
      ) : (
        <Content domain={domain} />
      )}
    </Detail>
  )
}

function Content({ domain }: { domain: MonitoredDomain }) {
  const { domain: name, record, events, pinned } = domain
  const { data: history, failure } = useHistory(domain)
  async function remove(): Promise<void> {
    if (await removeDomains([domain])) closeDomain()
  }
  const pins = Object.entries(pinned)
  return (
    <>
      <div class="row no-print">
        <Button words="Change…" kind="primary" work={() => changeDomain(domain)} />
        {pins.length > 0 && <Button words="Remove the pins" work={() => removePins(domain)} />}
        <Button words="Remove…" kind="danger" work={remove} />
      </div>
      <div class="row">
        <Policy domain={domain} />
        {record !== null && record.count > 0 && (
          <span class="soft">
            DMARC {formatShare(record.dmarc)} · DKIM {formatShare(record.dkim)} · SPF {formatShare(record.spf)} ·{' '}
            {formatCount(record.count, 'message')}
          </span>
        )}
      </div>
      <Part title={`${HISTORY_DAYS} days`}>
        {failure !== undefined && (
          <p class="refusal bad">
            <ErrorText error={failure} />
          </p>
        )}
        {history === undefined ? (
          failure === undefined && <p class="soft">The history is being loaded…</p>
        ) : (
          <Chart name={name} days={history.days} events={events} />
        )}
        {pins.length > 0 && (
          <p class="soft">What is pinned is shown on each day, also on those before it was pinned.</p>
        )}
        <Events events={events} />
      </Part>
      <Part title="How it is monitored">
        <Facts domain={domain} />
      </Part>
      <Part title="The record as GET /dmarc writes it">
        {history?.text === undefined ? (
          <p class="soft">{history === undefined ? '…' : 'It has no record yet.'}</p>
        ) : (
          <Copyable id="domain-record" text={layOut(history.text)} label="Copy the record" />
        )}
      </Part>
    </>
  )
}

function Facts({ domain }: { domain: MonitoredDomain }) {
  const { policy, inherits_from: source, profile, volume, added_at: addedAt, features, pinned } = domain
  const pins = Object.entries(pinned)
  return (
    <Pairs
      entries={[
        ['Groups', <Memberships key="groups" name={domain.domain} />],
        ['In use by', features.length > 0 ? <Names names={features} /> : 'no feature'],
        ['Profile', profile],
        ['Usual volume', `${formatCount(volume, 'message')} a month`],
        ['Added', formatInstant(addedAt)],
        [
          'Publishes',
          policy === null ? (
            'no DMARC record'
          ) : (
            <code>{['v=DMARC1', ...Object.entries(policy).map(([tag, value]) => `${tag}=${value}`)].join('; ')}</code>
          ),
        ],
        [
          'Inherits from',
          source !== null && (
            <Link class="mono" to={{ subject: source }}>
              {source}
            </Link>
          ),
        ],
        ['Pinned', pins.length > 0 && <Names names={pins.map(([field, value]) => `${field} ${value}`)} tone="odd" />],
      ]}
    />
  )
}

function Memberships({ name }: { name: string }) {
  const memberships = groupsByDomain.value.get(name) ?? []
  if (groups.data.value === undefined) return <>…</>
  if (memberships.length === 0) return <>none</>
  return (
    <ul class="row" id="domain-groups">
      {memberships.map((group) => (
        <li key={group.id} data-group={group.name}>
          <Link to={{ tab: 'groups', subject: group.id }}>
            <bdi>{group.name}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Names({ names, tone = 'warn' }: { names: readonly string[]; tone?: 'warn' | 'odd' }) {
  return (
    <span class="row">
      {names.map((name) => (
        <Badge key={name} tone={tone}>
          <bdi>{name}</bdi>
        </Badge>
      ))}
    </span>
  )
}

type Days = DataOf<'listDailyRecords'>['days']

function Chart({ name, days, events }: { name: string; days: Days; events: readonly DomainEvent[] }) {
  const records = days.map((day) => day.records[0])
  const dates = days.map(({ date }) => date)
  const line = (field: 'dmarc' | 'dkim' | 'spf') =>
    records.map((record) => (record === undefined || shareOf(record) === null ? null : record[field]))
  return (
    <HistoryChart
      label={`DMARC of ${name}`}
      dates={dates}
      messages={records.map((record) => record?.count ?? 0)}
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

function Events({ events }: { events: readonly DomainEvent[] }) {
  if (events.length === 0) return <p class="soft">Nothing changes its figures but weekdays and seasons.</p>
  return (
    <ul class="list stack" id="domain-events">
      {events.map(({ from, until, description }) => (
        <li key={`${from} ${description}`}>
          <span class="soft">{describePeriod(from, until)}</span>
          <div>{description}</div>
        </li>
      ))}
    </ul>
  )
}

function describePeriod(from: string | null, until: string | null): string {
  if (from !== null && until !== null) return `${formatDay(from)} to ${formatDay(until)}`
  if (from !== null) return `Since ${formatDay(from)}`
  return until === null ? 'Always' : `Until ${formatDay(until)}`
}

/** The daily records of a domain, and today's as the service writes it. They are loaded again when it changes. */
function useHistory({ domain, record }: MonitoredDomain) {
  const account = chosenAccount.value
  const now = summary.data.value?.account.now
  const to = now && refreshDate(now)
  async function load(signal: AbortSignal, last: string) {
    const query = { from: dayBefore(last, HISTORY_DAYS - 1), to: last, domain }
    const text = await (await send('listDailyRecords', { parameters: { account }, query, signal })).text()
    const { data } = JSON.parse(text) as { data: { days: Days } }
    return { days: data.days, text: lastRecordText(text) }
  }
  const of = JSON.stringify([account, domain])
  return useAnswer([of, to, JSON.stringify(record)], to === undefined ? undefined : (signal) => load(signal, to))
}
