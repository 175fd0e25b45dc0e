// Whether figures of one window after another grow, from which noise must not be able to convince anybody.
import { median } from './statistics.mjs'

/** Standard deviations that 99 % of the values of a normal distribution are within. */
const CERTAINTY = 2.576

/**
 * By how much the figures grow from the first to the last, as a share of their median, and the least and most that it may be. The
 * slope is the median of the slopes between any two of them (Theil and Sen), so a few windows in which the machine was busy
 * do not turn it; `least` and `most` are the limits that Sen gives for 99 %.
 */
export function trendOf(values) {
  const count = values.length
  const slopes = []
  for (const [index, one] of values.entries()) {
    for (let next = index + 1; next < count; next++) slopes.push((values[next] - one) / (next - index))
  }
  slopes.sort((one, other) => one - other)
  const width = CERTAINTY * Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18)
  const [from, to] = [Math.floor((slopes.length - width) / 2) - 1, Math.ceil((slopes.length + width) / 2)]
  const grownBy = (slope = Number.NaN) => (slope * (count - 1)) / median(values)
  return { growth: grownBy(median(slopes)), least: grownBy(slopes[from]), most: grownBy(slopes[to]) }
}

/** `flat` and `grows` are certain. Too few windows, or too uneven ones, are `unknown`. */
export function judgeTrend({ least, most }, tolerance) {
  if (most <= tolerance) return 'flat'
  return least > tolerance ? 'grows' : 'unknown'
}

/**
 * The same of a figure that the machine has a share in, beside that of a server that cannot become slower, measured in the
 * same windows: a machine that becomes busy makes both grow, but not the quotient of them.
 */
export function judgeBeside(values, references, tolerance) {
  const words = [values, values.map((value, index) => value / references[index])].map((each) =>
    judgeTrend(trendOf(each), tolerance),
  )
  if (words.includes('flat')) return 'flat'
  return words.every((word) => word === 'grows') ? 'grows' : 'unknown'
}
