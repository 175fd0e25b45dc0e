/** Maps the numbers `from`–`to` to the range `low`–`high`. If `from` equals `to`, the result is `low`. */
export function scaleLinear(
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
