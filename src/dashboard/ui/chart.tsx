import { useState } from 'preact/hooks'
import { formatCompact, formatDay, formatMessages, formatShare } from '../formatting.ts'
import { Table } from './lists.tsx'

interface HistoryChartProps {
  label: string
  /** The days of the refreshes, such as 2026-01-15, the oldest first. All lists are as long as this one. */
  dates: readonly string[]
  /** Null on a day without reports. */
  messages: readonly (number | null)[]
  /** Shares in per cent; null is a day without mail. There are at most three. */
  shares: readonly { name: string; values: readonly (number | null)[] }[]
  marks?: readonly string[]
}

const MESSAGES = 'Messages of 30 days'

/** How far down the shares go, and where the messages begin, in per cent of the height. */
const [SHARES_END, MESSAGES_BEGIN] = [58, 68]

/**
 * The shares and the messages at the refreshes of some days, as lines above an area, and in words those of the day below
 * the pointer, or else of the newest one. A table has the same figures.
 */
export function HistoryChart({ label, dates, messages, shares, marks = [] }: HistoryChartProps) {
  const [pointed, point] = useState<number | undefined>(undefined)
  const newest = dates.length - 1
  const day = Math.min(pointed ?? newest, newest)
  // If all shares are high, a change from 98 to 95 must be visible.
  const least = Math.min(100, ...shares.flatMap(({ values }) => values.map((share) => share ?? 100)))
  const floor = [90, 80, 50].find((each) => least >= each + (100 - each) / 10) ?? 0
  const most = Math.max(2, ...messages.map((count) => count ?? 0))
  const left = (index: number) => (newest < 1 ? 50 : (index / newest) * 100)
  const topOfShare = (share: number) => (SHARES_END * (100 - share)) / (100 - floor)
  const topOfCount = (count: number) => 100 - ((100 - MESSAGES_BEGIN) * count) / most
  const area = messages.map((count, index) => `L${left(index)} ${topOfCount(count ?? 0)}`).join('')
  function onPointerMove({ currentTarget, clientX }: { currentTarget: Element; clientX: number }): void {
    const { x, width } = currentTarget.getBoundingClientRect()
    point(Math.max(0, Math.min(newest, Math.round(((clientX - x) / width) * newest))))
  }
  return (
    <figure class="chart stack" aria-label={label}>
      <figcaption class="row">
        <b>{formatDay(dates[day] ?? '')}</b>
        {shares.map(({ name, values }, order) => (
          <span key={name}>
            <Key look={`line-${order + 1}`} /> {name} <b>{formatShare(values[day] ?? null, messages[day] ?? null)}</b>
          </span>
        ))}
        <span>
          <Key look="area" /> {MESSAGES} <b>{formatMessages(messages[day] ?? null)}</b>
        </span>
      </figcaption>
      <div class="plot" onPointerMove={onPointerMove} onPointerLeave={() => point(undefined)}>
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          {[0, SHARES_END / 2, SHARES_END, MESSAGES_BEGIN, 100].map((top) => (
            <path key={top} class="grid" d={`M0 ${top}H100`} />
          ))}
          <path class="area" d={`M${left(0)} 100${area}L${left(newest)} 100Z`} />
          {shares.map(({ name, values }, order) => (
            <path key={name} class={`line-${order + 1}`} d={lineOf(values, left, topOfShare)} />
          ))}
          {[...marks.map((date) => dates.indexOf(date)), pointed ?? -1]
            .filter((index) => index >= 0)
            .map((index) => (
              <path key={index} class="mark" d={`M${left(index)} 0V100`} />
            ))}
        </svg>
        {[100, (100 + floor) / 2, floor].map((share) => (
          <small key={share} style={{ top: `${topOfShare(share)}%` }}>{`${share} %`}</small>
        ))}
        {[most, 0].map((count) => (
          <small key={count} class="right" style={{ top: `${topOfCount(count)}%` }}>
            {formatCompact(count)}
          </small>
        ))}
      </div>
      <div class="days">
        {[0, newest >> 1, newest].map((index, place) => (
          <small key={place}>{formatDay(dates[index] ?? '', 'short')}</small>
        ))}
      </div>
      <FiguresTable {...{ label, dates, messages, shares }} />
    </figure>
  )
}

function Key({ look }: { look: string }) {
  return (
    <svg class="key" viewBox="0 0 30 10" aria-hidden="true">
      <path class={look} d={look === 'area' ? 'M0 0H30V10H0Z' : 'M0 5H30'} />
    </svg>
  )
}

/** A line through the values, with gaps where there is none. */
function lineOf(
  values: readonly (number | null)[],
  left: (index: number) => number,
  top: (value: number) => number,
): string {
  const isFirst = (index: number) => (values[index - 1] ?? null) === null
  // A value alone is a short line, because a point would not be seen.
  return values
    .map((value, index) =>
      value === null ? '' : `${isFirst(index) ? 'M' : 'L'}${left(index)} ${top(value)}${isFirst(index) ? 'h0.5' : ''}`,
    )
    .join('')
}

/** The figures as a table. It is rendered when the user opens it, because it can be long. */
function FiguresTable({ label, dates, messages, shares }: HistoryChartProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The figures as a table</summary>
      {isOpen && (
        <Table
          label={label}
          items={dates.map((_, day) => day)}
          keyOf={String}
          columns={[
            { title: 'Refresh', cell: (day) => formatDay(dates[day] ?? '') },
            ...shares.map(({ name, values }) => ({
              ...{ title: name, class: 'number' },
              cell: (day: number) => formatShare(values[day] ?? null),
            })),
            { title: MESSAGES, class: 'number', cell: (day) => formatMessages(messages[day] ?? null) },
          ]}
        />
      )}
    </details>
  )
}
