import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { formatCompact, formatDay, formatMessages, formatNumber, formatShare, roundToTenth } from '../formatting.ts'
import { type History, nearestIndex, type Plot, planPlot } from './plot.ts'

interface HistoryChartProps extends History {
  /** Names the chart: `DMARC of shop.example`. */
  label: string
  /** What the messages are: `Messages of 30 days`. */
  unit?: string
  /** Days with a meaning, and their descriptions. */
  marks?: readonly { date: string; text: string }[]
}

/**
 * The shares and the messages at the refreshes of some days, as lines above an area. The mouse and the arrow keys
 * select a day, whose values appear above the chart. The default is the newest day. A table has the same figures.
 */
export function HistoryChart({ label, unit = 'Messages of 30 days', marks = [], ...history }: HistoryChartProps) {
  const { dates, messages, shares } = history
  const [chosen, setChosen] = useState<number | undefined>(undefined)
  const [place, width] = useWidth()
  const newest = dates.length - 1
  const index = Math.min(chosen ?? newest, newest)
  const date = dates[index]
  if (date === undefined) return <p class="empty">There was no refresh yet.</p>
  const plot = planPlot(history, width)
  const count = messages[index] ?? null
  const mark = marks.find((each) => each.date === date)
  const words = [
    formatDay(date),
    ...shares.map(({ name, values }) => `${name} ${formatShare(values[index] ?? null, count)}`),
    ...(count === null ? [] : [`${formatNumber(count)} messages`]),
    ...(mark === undefined ? [] : [mark.text]),
  ]

  function onKeyDown(event: KeyboardEvent): void {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    setChosen(Math.max(0, Math.min(newest, index + step)))
  }
  function onPointer({ clientX, currentTarget }: PointerEvent & { currentTarget: Element }): void {
    const { left, width: shown } = currentTarget.getBoundingClientRect()
    // In zoom, the drawing has another size.
    const x = ((clientX - left) / Math.max(shown, 1)) * plot.width
    setChosen(nearestIndex(x, plot.left, plot.right, dates.length))
  }

  return (
    <figure class="chart">
      <figcaption>
        <strong class="chart-day">{formatDay(date)}</strong>
        {shares.map(({ name, values }, order) => (
          <span key={name} class="chart-key">
            <Swatch kind={`share-${order + 1}`} />
            {name} <b>{formatShare(values[index] ?? null, count)}</b>
          </span>
        ))}
        <span class="chart-key">
          <Swatch kind="messages" />
          {unit} <b>{formatMessages(count)}</b>
        </span>
        {mark && <span class="chart-key">{mark.text}</span>}
      </figcaption>
      <div
        class="chart-plot"
        ref={place}
        role="slider"
        tabIndex={0}
        aria-label={`${label}: the day whose values are read`}
        aria-valuemin={0}
        aria-valuemax={newest}
        aria-valuenow={index}
        aria-valuetext={words.join(', ')}
        onKeyDown={onKeyDown}
        onPointerMove={onPointer}
        onPointerDown={onPointer}
        onPointerLeave={() => setChosen(undefined)}
        onBlur={() => setChosen(undefined)}
      >
        <Drawing plot={plot} dates={dates} marks={marks} index={index} />
      </div>
      <FiguresTable label={label} unit={unit} history={history} />
    </figure>
  )
}

function Swatch({ kind }: { kind: string }) {
  return (
    <svg class="swatch" aria-hidden="true" viewBox="0 0 22 10">
      {kind === 'messages' ? (
        <path class="chart-area" d="M0,10L0,4L11,1L22,5L22,10Z" />
      ) : (
        <path class={`chart-line ${kind}`} d="M1,5L21,5" />
      )}
    </svg>
  )
}

type DrawingProps = Required<Pick<HistoryChartProps, 'dates' | 'marks'>> & { plot: Plot; index: number }

function Drawing({ plot, dates, marks, index }: DrawingProps) {
  const { width, height, left, right, shares, messages, days } = plot
  const here = days[index] ?? left
  const ticks = [
    ...shares.ticks.map(({ place, value }) => ({ place, words: `${value} %` })),
    ...messages.ticks.map(({ place, value }) => ({ place, words: formatCompact(value) })),
  ]
  return (
    <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {ticks.map(({ place }) => (
        <path class="chart-grid" d={`M${left},${place}H${right}`} />
      ))}
      {ticks.map(({ place, words }) => (
        <text class="chart-label end" x={left - 8} y={place + 4}>
          {words}
        </text>
      ))}
      <path class="chart-area" d={messages.area} />
      <path class="chart-edge" d={messages.line} />
      {/* A short stroke for each refresh. */}
      <path class="chart-refresh" d={days.map((x) => `M${roundToTenth(x)},${messages.bottom}v4`).join('')} />
      {marks.map(({ date }) => {
        const x = days[dates.indexOf(date)]
        return x !== undefined && <path key={date} class="chart-mark" d={`M${x},${shares.top}V${messages.bottom}`} />
      })}
      <path class="chart-here" d={`M${here},${shares.top}V${messages.bottom}`} />
      {shares.lines.map(({ name, path, points }, order) => (
        <g key={name} class={`share-${order + 1}`}>
          <path class={`chart-line share-${order + 1}`} d={path} />
          {points.map(
            (point, day) =>
              point !== null &&
              (day === index || (plot.dotted && order === 0)) && (
                <circle class="chart-dot" cx={point[0]} cy={point[1]} r={day === index ? 4 : 2} />
              ),
          )}
        </g>
      ))}
      {plot.labelled.map((day) => (
        <text
          key={day}
          class={`chart-label ${day === days.length - 1 && days.length > 1 ? 'end' : 'middle'}`}
          x={day === days.length - 1 && days.length > 1 ? right + 10 : days[day]}
          y={height - 6}
        >
          {formatDay(dates[day] ?? '', 'short')}
        </text>
      ))}
    </svg>
  )
}

/** The figures as a table. It is rendered when the user opens it, because it can be long. */
function FiguresTable({ label, unit, history }: { label: string; unit: string; history: History }) {
  const [open, setOpen] = useState(false)
  const { dates, messages, shares } = history
  return (
    <details class="chart-table" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The figures as a table</summary>
      {open && (
        <table aria-label={label}>
          <thead>
            <tr>
              <th scope="col">Refresh</th>
              {shares.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">{unit}</th>
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

/** The font size for which the chart is designed, in pixels. */
const USUAL_LETTER = 14

/** An element and its width, in pixels at the usual font size. So the letters of the chart grow with the font. */
function useWidth() {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(720)
  useLayoutEffect(() => {
    const node = place.current
    if (node === null) return
    const measure = () => {
      const letter = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / USUAL_LETTER
      setWidth(Math.max(240, Math.round(node.clientWidth / (letter || 1))))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(node)
    return () => observer.disconnect()
  }, [])
  return [place, width] as const
}

/** How many days later the day is that a key selects. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowRight: 1, ArrowUp: 1, PageUp: 7, End: Number.POSITIVE_INFINITY },
  ...{ ArrowLeft: -1, ArrowDown: -1, PageDown: -7, Home: Number.NEGATIVE_INFINITY },
}
