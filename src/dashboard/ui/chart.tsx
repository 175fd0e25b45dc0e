import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { formatCompact, formatDay, formatMessages, formatShare } from '../formatting.ts'
import { Table } from './table.tsx'

export interface HistoryChartProps {
  /** Names the chart: `DMARC of shop.example`. */
  label: string
  /** The days of the refreshes, such as 2026-01-15, the oldest first. All lists are as long as this one. */
  dates: readonly string[]
  /** Null on a day without reports. */
  messages: readonly (number | null)[]
  /** Shares in per cent; null is a day without mail. There are at most three. */
  shares: readonly { name: string; values: readonly (number | null)[] }[]
  /** Days with a meaning. */
  marks?: readonly string[]
}

const DAY = 86_400_000
const MESSAGES = 'Messages of 30 days'
const DASHES = [[], [7, 4], [1, 5]]
const DARK = matchMedia('(prefers-color-scheme: dark)')

/** A colour of the style: a canvas does not know its variables. */
const colour = (light: string, dark: string) => () => (DARK.matches ? dark : light)
const [SOFT, AREA, GRID] = [
  colour('#565f6f', '#a0aab9'),
  colour('#565f6f3d', '#a0aab93d'),
  colour('#dfe3e9', '#2b323d'),
] as const
const LINES = [colour('#1a5fb4', '#85b8f5'), colour('#64319c', '#cfadf8'), colour('#7f4500', '#f0b970')]

const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY
const isoOf = (day: number) => new Date(day * DAY).toISOString().slice(0, 10)

/**
 * The shares and the messages at the refreshes of some days, as lines above an area, and in words those of the day below
 * the pointer, or else of the newest one. A table has the same figures.
 */
export function HistoryChart(props: HistoryChartProps) {
  const { label, dates, messages, shares } = props
  const [isOpen, setOpen] = useState(false)
  const place = usePlot(props)
  return (
    <figure class="chart" aria-label={label}>
      <div ref={place} />
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
    </figure>
  )
}

/** Draws the chart into an element, again when the figures, its size or the colours change. */
function usePlot(props: HistoryChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const figures = JSON.stringify(props)
  useLayoutEffect(() => {
    const node = place.current
    if (node === null) return
    let plot: uPlot | undefined
    let size = ''
    function draw(): void {
      const width = Math.max(node?.clientWidth ?? 0, 100)
      const letter = Math.round(Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.82)
      if (size === `${width} ${letter} ${DARK.matches}`) return
      size = `${width} ${letter} ${DARK.matches}`
      plot?.destroy()
      plot = node ? new uPlot(optionsOf(props, width, letter), dataOf(props), node) : undefined
    }
    const observer = new ResizeObserver(draw)
    observer.observe(node)
    DARK.addEventListener('change', draw)
    return () => {
      observer.disconnect()
      DARK.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [figures])
  return place
}

function dataOf({ dates, messages, shares }: HistoryChartProps): uPlot.AlignedData {
  return [dates.map(dayOf), ...shares.map(({ values }) => [...values]), [...messages]]
}

function optionsOf(
  { dates, messages, shares, marks = [] }: HistoryChartProps,
  width: number,
  letter: number,
): uPlot.Options {
  const values = shares.flatMap((share) => share.values).map((share) => share ?? 100)
  // If all shares are high, a change from 98 to 95 must be visible.
  const floor = [90, 80, 50].find((each) => Math.min(...values, 100) >= each + (100 - each) / 10) ?? 0
  const most = roundUp(Math.max(...messages.map((each) => each ?? 0), 2))
  /** The words for the day below the pointer, or for the newest one. */
  const tell = <Value,>(list: readonly Value[], format: (value: Value, day: number) => string) => {
    return (_: uPlot, __: number, ___: number, day: number | null) => {
      const index = day ?? list.length - 1
      return format(list[index] as Value, index)
    }
  }
  const font = `${letter}px system-ui, sans-serif`
  const axis = {
    stroke: SOFT,
    font,
    ticks: { show: false },
    gap: 6,
    size: 4.2 * letter,
    grid: { stroke: GRID, width: 1 },
  }
  return {
    width,
    height: Math.max(Math.min(width * 0.42, innerHeight * 0.4, 26 * letter), 12 * letter),
    cursor: { y: false, drag: { x: false, y: false } },
    padding: [letter, letter, 0, 0],
    legend: { markers: { width: 0, fill: (_, order) => (LINES.slice(0, shares.length)[order - 1] ?? SOFT)() } },
    scales: {
      x: { time: false },
      // The shares have the upper part, and the messages the lower one.
      share: { range: [100 - (100 - floor) * 1.8, 100] },
      messages: { range: [0, most * 2.9] },
    },
    series: [
      { label: 'Day', value: tell(dates, (date) => formatDay(date)) },
      ...shares.map(({ name, values }, order) => ({
        ...{ label: name, scale: 'share', width: 2.25, dash: DASHES[order] ?? [], stroke: LINES[order] ?? SOFT },
        points: { show: values.filter((value) => value !== null).length < 3 },
        value: tell(values, (share, day) => formatShare(share, messages[day] ?? null)),
      })),
      {
        ...{ label: MESSAGES, scale: 'messages', stroke: SOFT, width: 1.25, fill: AREA, points: { show: false } },
        value: tell(messages, formatMessages),
      },
    ],
    axes: [
      {
        ...{ ...axis, grid: { show: false }, size: 2.2 * letter, space: 6 * letter, incrs: [1, 2, 7, 14, 28, 56] },
        values: (_, days) => days.map((day) => (Number.isInteger(day) ? formatDay(isoOf(day), 'short') : '')),
      },
      {
        ...{ ...axis, scale: 'share', splits: () => [floor, (floor + 100) / 2, 100] },
        values: (_, ticks) => ticks.map((tick) => `${tick} %`),
      },
      {
        ...{ ...axis, scale: 'messages', side: 1, splits: () => [0, most / 2, most] },
        values: (_, ticks) => ticks.map(formatCompact),
      },
    ],
    hooks: {
      draw: [
        (plot) =>
          drawMarks(
            plot,
            marks.filter((date) => dates.includes(date)),
          ),
      ],
    },
  }
}

/** A dashed line at each day with a meaning. */
function drawMarks({ ctx, bbox, valToPos }: uPlot, dates: readonly string[]): void {
  ctx.save()
  ctx.strokeStyle = SOFT()
  ctx.setLineDash([6, 3])
  for (const date of dates) {
    const x = valToPos(dayOf(date), 'x', true)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

/** The smallest of 2, 4, 6, 10, 20 … that is at least a number, so that its half is round, too. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 4, 6, 10].map((factor) => Math.max(factor * power, 2)).find((each) => each >= most) ?? most
}
