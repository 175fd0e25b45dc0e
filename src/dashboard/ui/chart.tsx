import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { formatCompact, formatDay, formatMessages, formatNumber, formatShare } from '../formatting.ts'

/** The data of a chart. All lists are as long as `dates`. */
export interface History {
  /** The days of the refreshes, such as 2026-01-15, the oldest first. */
  dates: readonly string[]
  /** Null on a day without reports. */
  messages: readonly (number | null)[]
  /** Shares in per cent; null is a day without mail. The first is the main one, and there are at most three. */
  shares: readonly { name: string; values: readonly (number | null)[] }[]
}

interface HistoryChartProps extends History {
  /** Names the chart: `DMARC of shop.example`. */
  label: string
  /** What the messages are: `Messages of 30 days`. */
  unit?: string
  /** Days with a meaning, and their descriptions. */
  marks?: readonly { date: string; text: string }[]
}

const DAY = 86_400_000

/**
 * The shares and the messages at the refreshes of some days, as lines above an area. The mouse and a slider select a day,
 * whose values appear above the chart. The default is the newest day. A table has the same figures.
 */
export function HistoryChart({ label, unit = 'Messages of 30 days', marks = [], ...history }: HistoryChartProps) {
  const { dates, messages, shares } = history
  const [chosen, setChosen] = useState<number | undefined>(undefined)
  const [place, chart] = usePlot(history, marks, setChosen)
  const newest = dates.length - 1
  const index = Math.min(chosen ?? newest, newest)
  const date = dates[index]
  if (date === undefined) return <p class="empty">There was no refresh yet.</p>
  const count = messages[index] ?? null
  const mark = marks.find((each) => each.date === date)
  const words = [
    formatDay(date),
    ...shares.map(({ name, values }) => `${name} ${formatShare(values[index] ?? null, count)}`),
    ...(count === null ? [] : [`${formatNumber(count)} messages`]),
    ...(mark === undefined ? [] : [mark.text]),
  ]
  function choose(day: number): void {
    const left = chart.current?.valToPos(dayOf(dates[day] ?? date ?? ''), 'x') ?? -1
    chart.current?.setCursor({ left, top: 0 })
    setChosen(day)
  }
  function leave(): void {
    chart.current?.setCursor({ left: -10, top: -10 })
    setChosen(undefined)
  }
  return (
    <figure class="chart">
      <figcaption class="row">
        <strong class="chart-day">{formatDay(date)}</strong>
        {shares.map(({ name, values }, order) => (
          <span key={name}>
            <span class={`swatch share-${order + 1}`} /> {name} <b>{formatShare(values[index] ?? null, count)}</b>
          </span>
        ))}
        <span>
          <span class="swatch messages" /> {unit} <b>{formatMessages(count)}</b>
        </span>
        {mark && <span>{mark.text}</span>}
      </figcaption>
      <div class="chart-plot" ref={place} role="img" aria-label={label} />
      <input
        type="range"
        min={0}
        max={Math.max(newest, 1)}
        value={index}
        disabled={newest < 1}
        aria-label={`${label}: the day whose values are read`}
        aria-valuetext={words.join(', ')}
        onInput={({ currentTarget }) => choose(Number(currentTarget.value))}
        onBlur={leave}
      />
      <FiguresTable label={label} unit={unit} history={history} />
    </figure>
  )
}

/** Draws the chart into an element, again when the figures, the size of letters or the colours change. */
function usePlot(history: History, marks: readonly { date: string }[], onDay: (day: number | undefined) => void) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const [letter, setLetter] = useState(letterSize)
  const figures = JSON.stringify([history, marks])
  useLayoutEffect(() => {
    const node = place.current
    if (node === null) return
    const { dates, messages, shares } = history
    const data: uPlot.AlignedData = [dates.map(dayOf), [...messages], ...shares.map(({ values }) => [...values])]
    const plot = new uPlot({ ...optionsOf(node, history, marks, onDay), ...sizeOf(node) }, data, node)
    chart.current = plot
    const observer = new ResizeObserver(() => {
      plot.setSize(sizeOf(node))
      setLetter(letterSize())
    })
    observer.observe(node)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const redraw = () => plot.redraw()
    scheme.addEventListener('change', redraw)
    return () => {
      observer.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [figures, letter])
  return [place, chart] as const
}

function letterSize(): number {
  return Math.round(Number.parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.82)
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement) {
  return { width: Math.max(clientWidth, 100), height: Math.max(clientHeight, 100) }
}

const DASHES = [[], [7, 4], [1, 5]]

function optionsOf(
  node: HTMLElement,
  { dates, messages, shares }: History,
  marks: readonly { date: string }[],
  onDay: (day: number | undefined) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  // A canvas knows no variables of the style, so the colours are those of the words above it.
  const colourOf = (selector: string) => {
    const element = node.parentElement?.querySelector(selector)
    return element ? getComputedStyle(element).color : 'gray'
  }
  const soft = () => colourOf('.messages')
  const floor = floorOf(shares.flatMap(({ values }) => values))
  const most = roundUp(messages.reduce<number>((highest, each) => Math.max(highest, each ?? 0), 1))
  const font = `${letterSize()}px ${getComputedStyle(node).fontFamily}`
  const axis = { stroke: soft, font, ticks: { show: false }, gap: 6 }
  const grid = { stroke: () => colourOf('.chart-plot'), width: 1 }
  return {
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    padding: [letterSize(), letterSize(), 0, 0],
    scales: {
      x: { time: false },
      // The shares have the upper part, and the messages the lower one.
      share: { range: [100 - (100 - floor) * 1.8, 100] },
      messages: { range: [0, most * 2.9] },
    },
    series: [
      {},
      { scale: 'messages', stroke: soft, width: 1.25, fill: () => translucent(soft()), points: { show: false } },
      ...shares.map(({ values }, order) => ({
        scale: 'share',
        stroke: () => colourOf(`.share-${order + 1}`),
        width: 2.25,
        dash: DASHES[order] ?? [],
        points: { show: values.filter((value) => value !== null).length < 3 },
      })),
    ],
    axes: [
      {
        ...axis,
        ...{ grid: { show: false }, size: 2.2 * letterSize() },
        space: 6 * letterSize(),
        incrs: [1, 2, 7, 14, 28, 56],
        values: (_, days) => days.map((day) => (Number.isInteger(day) ? formatDay(isoOf(day), 'short') : '')),
      },
      {
        ...axis,
        ...{ scale: 'share', grid, size: 4.2 * letterSize() },
        splits: () => [floor, (floor + 100) / 2, 100],
        values: (_, ticks) => ticks.map((tick) => `${tick} %`),
      },
      {
        ...axis,
        ...{ scale: 'messages', side: 1, grid, size: 4.2 * letterSize() },
        splits: () => [0, most / 2, most],
        values: (_, ticks) => ticks.map(formatCompact),
      },
    ],
    hooks: {
      setCursor: [({ cursor }) => onDay(cursor.idx ?? undefined)],
      draw: [
        (plot) =>
          drawMarks(
            plot,
            marks.filter(({ date }) => dates.includes(date)).map(({ date }) => dayOf(date)),
            soft(),
          ),
      ],
    },
  }
}

/** A dashed line at each day with a meaning. */
function drawMarks({ ctx, bbox, valToPos }: uPlot, days: readonly number[], colour: string): void {
  ctx.save()
  ctx.strokeStyle = colour
  ctx.setLineDash([6, 3])
  for (const day of days) {
    const x = valToPos(day, 'x', true)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

/** The lowest share that the chart shows. If all shares are high, a change from 98 to 95 must be visible. */
function floorOf(shares: readonly (number | null)[]): number {
  const least = shares.reduce<number>((lowest, share) => Math.min(lowest, share ?? 100), 100)
  return [90, 80, 50].find((floor) => least >= floor + (100 - floor) / 10) ?? 0
}

/** The smallest of 2, 10, 20, 100 … that is at least a number, so that its half is round, too. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 2)))
  return [1, 2, 4, 6, 10].map((factor) => Math.max(factor * power, 2)).find((each) => each >= most) ?? most
}

function translucent(colour: string): string {
  return colour.replace(/^rgba?\((\d+), (\d+), (\d+).*/, 'rgba($1, $2, $3, 0.24)')
}

function dayOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / DAY
}

function isoOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10)
}

/** The figures as a table. It is rendered when the user opens it, because it can be long. */
function FiguresTable({ label, unit, history }: { label: string; unit: string; history: History }) {
  const [open, setOpen] = useState(false)
  const { dates, messages, shares } = history
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The figures as a table</summary>
      {open && (
        <table aria-label={label}>
          <thead>
            <tr>
              {['Refresh', ...shares.map(({ name }) => name), unit].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {dates.map((date, day) => (
              <tr key={date}>
                <th scope="row">{formatDay(date)}</th>
                {shares.map(({ name, values }) => (
                  <td key={name} class="number">
                    {formatShare(values[day] ?? null)}
                  </td>
                ))}
                <td class="number">{formatMessages(messages[day] ?? null)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  )
}
