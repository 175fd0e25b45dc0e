import { useRef } from 'preact/hooks'
import { formatDay, formatDuration, formatInstant } from '../formatting.ts'
import { Link, parameter, subject } from '../place.tsx'
import type { JournalEntry } from '../responses.ts'
import { summary } from '../sources.ts'
import { Badge } from '../ui/marks.tsx'
import { RequestMarks, StatusBadge, targetOf } from './marks.tsx'

/** How many characters of the path and query are in a row. The details show all of it. */
const LONGEST_TARGET = 300
const whose = parameter('whose')

export function RequestTable({
  list,
  next,
  isCurrent,
}: {
  list: readonly JournalEntry[]
  next: number | null
  isCurrent: boolean
}) {
  const now = summary.use().data?.account.now
  const newest = useRef(list[0]?.ordinal ?? 0)
  return (
    <div class="table" aria-busy={!isCurrent}>
      <table class="cards requests" aria-label="Requests">
        <thead>
          <tr>
            <th>Time</th>
            <th>Method</th>
            <th>Request</th>
            <th>Status</th>
            <th>Code</th>
            <th class="number late">Took</th>
            <th>Marks</th>
          </tr>
        </thead>
        <tbody>
          {list.map((request) => (
            <Row
              key={request.ordinal}
              request={request}
              today={now?.slice(0, 10)}
              isFresh={request.ordinal > newest.current}
            />
          ))}
        </tbody>
      </table>
      {next !== null && (
        <p class="more">
          <Link query={{ before: String(next) }}>Older requests</Link>
        </p>
      )}
    </div>
  )
}

interface RowProps {
  request: JournalEntry
  /** The day of the account's clock. A request of another day has its day beside the time. */
  today: string | undefined
  isFresh: boolean
}

function Row({ request, today, isFresh }: RowProps) {
  const { id, account, at, method, status, code, duration_ms } = request
  const target = targetOf(request)
  const day = at.slice(0, 10)
  const isOpen = subject.value === id
  return (
    <tr class={isFresh ? 'fresh' : ''}>
      <td class="soft">
        <time dateTime={at} title={formatInstant(at)}>
          {today !== undefined && day !== today && `${formatDay(day, 'short')} `}
          {at.slice(11, 19)}
        </time>
      </td>
      <td class="mono">
        <bdi dir="ltr">{method}</bdi>
      </td>
      <td class="wide mono">
        <Link subject={id} current={isOpen}>
          <bdi dir="ltr">{target.length > LONGEST_TARGET ? `${target.slice(0, LONGEST_TARGET)}…` : target}</bdi>
        </Link>
      </td>
      <td>
        <StatusBadge status={status} />
      </td>
      <td class="mono code">{code}</td>
      <td class="number soft late">{formatDuration(duration_ms)}</td>
      <td>
        <RequestMarks request={request} />
        {whose.value !== '' && <Badge>{account ?? 'no account'}</Badge>}
      </td>
    </tr>
  )
}
