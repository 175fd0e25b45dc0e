import { Component } from 'preact'
import { Badge } from '../controls/marks.tsx'
import { formatDuration, formatInstant } from '../formatting.ts'
import { targetOf } from '../request-lines.ts'
import { scope, shown } from './list.ts'
import type { ListedRequest } from './listed-request.ts'
import { RequestMarks, StatusBadge } from './marks.tsx'
import { openRequest } from './request-sheet.tsx'

/** How many characters of the path and query are in a row. The details show all of it. */
const LONGEST_TARGET = 300

/** The requests as a table, with the newest first. */
export function RequestTable() {
  const withAccount = scope.value === 'all'
  return (
    <div class="table">
      <table id="request-table">
        <thead>
          <tr>
            <th class="at">Time</th>
            <th class="method">Method</th>
            <th>Request</th>
            <th class="status">Status</th>
            <th class="code">Code</th>
            <th class="number duration">Took</th>
            <th class="marks">Marks</th>
          </tr>
        </thead>
        <tbody id="request-rows">
          {shown.value.map((request) => (
            <Row key={request.ordinal} request={request} withAccount={withAccount} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  request: ListedRequest
  withAccount: boolean
}

/** A row never changes, so it is rendered once, although the list is rendered many times per second. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate({ request, withAccount }: RowProps): boolean {
    return request !== this.props.request || withAccount !== this.props.withAccount
  }

  override render({ request, withAccount }: RowProps) {
    const { request_id, ordinal, account, at, method, status, code, duration_ms, fresh } = request
    const target = targetOf(request)
    const open = () => openRequest(request_id, ordinal)
    // The row is a larger target for the pointer. For the keyboard there is a button inside.
    return (
      <tr class={fresh === true ? 'fresh' : ''} data-ordinal={ordinal} data-request={request_id} onClick={open}>
        <td class="at soft">
          <time dateTime={at} title={formatInstant(at)}>
            {at.slice(11, 19)}
          </time>
        </td>
        <td class="method mono">
          <bdi dir="ltr">{method}</bdi>
        </td>
        <td class="wide mono">
          <button type="button" class="link target" aria-haspopup="dialog">
            <bdi dir="ltr">{target.length > LONGEST_TARGET ? `${target.slice(0, LONGEST_TARGET)}…` : target}</bdi>
          </button>
        </td>
        <td class="status">
          <StatusBadge status={status} />
        </td>
        <td class="code mono">{code}</td>
        <td class="number duration soft">{formatDuration(duration_ms)}</td>
        <td class="marks">
          <RequestMarks request={request} />
          {withAccount && <Badge>{account ?? 'no account'}</Badge>}
        </td>
      </tr>
    )
  }
}
