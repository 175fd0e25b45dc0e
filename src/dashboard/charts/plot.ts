import { roundToTenth } from '../formatting.ts'

/** Maps the numbers `from`–`to` to the range `low`–`high`. If `from` equals `to`, the result is `low`. */
function scaleLinear(
  [from, to]: readonly [number, number],
  [low, high]: readonly [number, number],
): (value: number) => number {
  return (value) => (to === from ? low : low + ((value - from) / (to - from)) * (high - low))
}

/** About `wanted` round numbers from 0 to at least `most`, for an axis of whole numbers. */
export function roundTicks(most: number, wanted: number): number[] {
  const step = roundStep(Math.max(most, 1) / Math.max(wanted - 1, 1))
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, index) => index * step)
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is at least `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  const factor = [1, 2, 5, 10].find((each) => each * power >= least) ?? 10
  return factor * power
}

/**
 * The ticks of an axis of shares in per cent, up to 100. If all shares are high, the axis shows only the upper part,
 * because a change from 98 to 95 must be visible. If not, it begins at 0.
 */
export function shareTicks(shares: readonly (number | null)[]): number[] {
  const least = shares.reduce<number>((lowest, share) => Math.min(lowest, share ?? 100), 100)
  if (least >= 92) return [90, 95, 100]
  if (least >= 82) return [80, 90, 100]
  return least >= 53 ? [50, 75, 100] : [0, 50, 100]
}

/**
 * The indexes of the labelled days: at most `wanted`, and always the newest. Labels that are more than three days apart
 * have a distance of whole weeks.
 */
export function dayTicks(count: number, wanted: number): number[] {
  const needed = Math.ceil(count / Math.max(wanted, 1))
  const step = needed > 3 ? Math.ceil(needed / 7) * 7 : Math.max(needed, 1)
  const ticks: number[] = []
  for (let index = count - 1; index >= 0; index -= step) ticks.unshift(index)
  return ticks
}

/** The index of the nearest of `count` equidistant places from `first` to `last`. */
export function nearestIndex(place: number, first: number, last: number, count: number): number {
  if (count < 2 || last <= first) return 0
  const index = Math.round(((place - first) / (last - first)) * (count - 1))
  return Math.min(count - 1, Math.max(0, index))
}

/** A point in a drawing; null is a gap. */
export type Point = readonly [x: number, y: number] | null

/** The `d` of a line through the points. A point between two gaps has length 0, and a round cap makes it visible. */
function linePath(points: readonly Point[]): string {
  return runsOf(points)
    .map((run) => `M${run.map(write).join('L')}${run.length === 1 ? 'h0' : ''}`)
    .join('')
}

/** The `d` of the area between the points and the height `ground`. */
function areaPath(points: readonly Point[], ground: number): string {
  return runsOf(points)
    .map((run) => {
      const [first, last] = [run[0], run.at(-1)]
      if (first === undefined || last === undefined) return ''
      return `M${write([first[0], ground])}L${run.map(write).join('L')}L${write([last[0], ground])}Z`
    })
    .join('')
}

function runsOf(points: readonly Point[]): (readonly [number, number])[][] {
  const runs: (readonly [number, number])[][] = [[]]
  for (const point of points) {
    if (point === null) runs.push([])
    else runs.at(-1)?.push(point)
  }
  return runs.filter((run) => run.length > 0)
}

function write([x, y]: readonly [number, number]): string {
  return `${roundToTenth(x)},${roundToTenth(y)}`
}

/** The data of a chart. All lists are as long as `dates`. */
export interface History {
  /** The days of the refreshes, such as 2026-01-15, the oldest first. */
  dates: readonly string[]
  /** Null on a day without reports. */
  messages: readonly (number | null)[]
  /** Shares in per cent; null is a day without mail. The first is the main one, and there are at most three. */
  shares: readonly { name: string; values: readonly (number | null)[] }[]
}

/** The width of a day label, and the least distance between two dots, in pixels. */
const LABEL = 68
const DOTS = 16
const MARGINS = { top: 10, right: 14, bottom: 24, left: 46, between: 28 } as const

export type Plot = ReturnType<typeof planPlot>

/** The geometry of the chart in pixels. The shares are above the messages and have the same days. */
export function planPlot({ dates, messages, shares }: History, width: number) {
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
    messages.reduce<number>((most, each) => Math.max(most, each ?? 0), 0),
    3,
  )
  const top = middle + MARGINS.between
  const messageHeight = scaleLinear([0, messageValues.at(-1) ?? 1], [bottom, top])
  const points = place(messages, messageHeight)
  return {
    ...{ width, height, left, right },
    days,
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
    /** Whether there is room for a dot at each refresh. */
    dotted: dates.length < 2 || (right - left) / (dates.length - 1) >= DOTS,
  }
}
