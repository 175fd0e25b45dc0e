import { areaPath, linePath, type Point } from './path.ts'
import { dayTicks, roundTicks, scaleLinear, shareTicks } from './scale.ts'

/** The data of a chart. All lists are as long as `dates`. */
export interface History {
  /** The days of the refreshes, such as 2026-01-15, the oldest first. */
  dates: readonly string[]
  /** The messages at each refresh. */
  messages: readonly number[]
  /** Shares in per cent; null is a day without mail. The first is the main one, and there are at most three. */
  shares: readonly { name: string; values: readonly (number | null)[] }[]
}

interface Tick {
  place: number
  value: number
}

/** The geometry of the chart in pixels. The shares are above the messages and have the same days. */
export interface Plot {
  width: number
  height: number
  left: number
  right: number
  /** `top` and `bottom` are the edges of each part. */
  shares: { top: number; bottom: number; ticks: Tick[]; lines: { name: string; path: string; points: Point[] }[] }
  messages: { top: number; bottom: number; ticks: Tick[]; line: string; area: string }
  /** The x coordinate of each day. */
  days: number[]
  /** The indexes of the days that have a label. */
  labelled: number[]
  /** Whether there is room for a dot at each refresh. */
  dotted: boolean
}

/** The width of a day label, and the least distance between two dots, in pixels. */
const LABEL = 68
const DOTS = 16
const MARGINS = { top: 10, right: 14, bottom: 24, left: 46, between: 28 } as const

export function planPlot({ dates, messages, shares }: History, width: number): Plot {
  const height = Math.round(Math.min(400, Math.max(230, width * 0.26)))
  const [left, right] = [MARGINS.left, Math.max(MARGINS.left + 1, width - MARGINS.right)]
  const bottom = height - MARGINS.bottom
  const inner = bottom - MARGINS.top - MARGINS.between
  const middle = MARGINS.top + inner * 0.58
  const x = scaleLinear([0, dates.length - 1], dates.length > 1 ? [left, right] : [(left + right) / 2, right])
  const days = dates.map((_, index) => x(index))
  const place = (values: readonly (number | null)[], y: (value: number) => number) =>
    values.map((value, index): Point => (value === null ? null : [days[index] ?? 0, y(value)]))

  const shareValues = shareTicks(shares.flatMap(({ values }) => values))
  const shareHeight = scaleLinear([shareValues[0] ?? 0, 100], [middle, MARGINS.top])
  const messageValues = roundTicks(
    messages.reduce((most, each) => Math.max(most, each), 0),
    3,
  )
  const top = middle + MARGINS.between
  const messageHeight = scaleLinear([0, messageValues.at(-1) ?? 1], [bottom, top])
  const points = place(messages, messageHeight)
  return {
    ...{ width, height, left, right, days },
    shares: {
      ...{ top: MARGINS.top, bottom: middle },
      ticks: shareValues.map((value) => ({ value, place: shareHeight(value) })),
      lines: shares.map(({ name, values }) => {
        const line = place(values, shareHeight)
        return { name, path: linePath(line), points: line }
      }),
    },
    messages: {
      ...{ top, bottom },
      ticks: messageValues.map((value) => ({ value, place: messageHeight(value) })),
      line: linePath(points),
      area: areaPath(points, bottom),
    },
    labelled: dayTicks(dates.length, Math.floor((right - left) / LABEL)),
    dotted: dates.length < 2 || (right - left) / (dates.length - 1) >= DOTS,
  }
}
