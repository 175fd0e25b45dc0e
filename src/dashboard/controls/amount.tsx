import { formatCompact, formatNumber, NO_REPORTS } from '../formatting.ts'

/** From this number on, a count is shown in a short form, because a column has no room for all of its digits. */
const LONG = 1e9

/** A count of messages; null without reports. Of a very large one, the title and screen readers have all digits. */
export function Amount({ count }: { count: number | null }) {
  if (count === null) return <>{NO_REPORTS}</>
  const all = formatNumber(count)
  if (Math.abs(count) < LONG) return <>{all}</>
  return (
    <span title={all}>
      <span aria-hidden="true">{formatCompact(count)}</span>
      <span class="unseen">{all}</span>
    </span>
  )
}
