import type { ComponentChildren } from 'preact'
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
import { formatCount, formatInstant, formatShare } from '../formatting.ts'
import type { DataOf, MonitoredDomain } from '../responses.ts'
import { changeDomain, removeDomains, removePins } from './change.tsx'
import { Events } from './events.tsx'
import { closeDomain, dayBefore, monitored, progress, refreshDate, shareOf } from './monitored.ts'
import { IN_USE, Policy } from './table.tsx'

const HISTORY_DAYS = 90

export function DomainDetail({ name }: { name: string }) {
  const domains = monitored.data.value
  const domain = domains?.find((each) => each.domain === name)
  return (
    <Detail title={name} id="domain-sheet" onClose={closeDomain}>
      {domain === undefined ? (
        <p class="empty">
          {domains === undefined || progress.value !== undefined
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
  const { record, events, pinned, reports } = domain
  const { data: history, failure } = useHistory(domain)
  async function remove(): Promise<void> {
    if (await removeDomains([domain])) closeDomain()
  }
  const pins = Object.entries(pinned)
  return (
    <>
      <div class="row">
        <Button words="Change…" kind="primary" work={() => changeDomain(domain)} />
        {pins.length > 0 && <Button words="Remove the fixed values" work={() => removePins(domain)} />}
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
        {failure !== undefined && (
          <p class="refusal bad">
            <ErrorText error={failure} />
          </p>
        )}
        {history === undefined ? (
          failure === undefined && <p class="soft">The history is being loaded…</p>
        ) : (
          <Chart domain={domain} days={history.days} />
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
  const {
    policy,
    inherits_from: source,
    profile,
    volume,
    added_at: addedAt,
    features,
    pinned,
    pinned_at: pinnedAt,
  } = domain
  const pins = Object.entries(pinned)
  return (
    <Pairs
      entries={[
        ['Groups', <Memberships key="groups" name={domain.domain} />],
        [
          'In use by',
          features.length > 0 ? <Explained key="use" text={<Names names={features} />} about={IN_USE} /> : 'no feature',
        ],
        [
          'Profile',
          <Explained
            key="profile"
            text={profile}
            about="The kind of domain for which this stand-in makes the figures."
          />,
        ],
        [
          'Sends',
          <Explained
            key="volume"
            text={`${formatCount(volume, 'message')} a month`}
            about={
              domain.reports === 'none'
                ? 'This is what it sends. Without a DMARC record, receivers report nothing of it.'
                : 'This is what it usually sends. Its figures are what receivers report.'
            }
          />,
        ],
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
        [
          'Fixed values',
          pins.length > 0 && (
            <Explained
              key="fixed"
              text={<Names names={pins.map(([field, value]) => `${field} ${value}`)} tone="odd" />}
              about={`Somebody gave these fields of its record fixed values, ${pinnedAt === null ? 'from the beginning' : `since ${formatInstant(pinnedAt)}`}. The days before have the generated figures.`}
            />
          ),
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

/** A value with a sentence about what it means. */
function Explained({ text, about }: { text: ComponentChildren; about: string }) {
  return (
    <>
      {text} <span class="soft">{about}</span>
    </>
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

function Chart({ domain, days }: { domain: MonitoredDomain; days: Days }) {
  const { domain: name, events, reports } = domain
  const records = days.map((day) => day.records[0])
  if (reports === 'none' && records.every((record) => (record?.count ?? 0) === 0))
    return <p class="soft">Receivers reported nothing in these days.</p>
  const dates = days.map(({ date }) => date)
  const line = (field: 'dmarc' | 'dkim' | 'spf') =>
    records.map((record) => (record === undefined || shareOf(record) === null ? null : record[field]))
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
