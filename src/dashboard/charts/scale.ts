/** Maps numbers from `from` to `to` on places from `low` to `high`; every number on `low` where there is only one. */
export function scaleLinear(
  [from, to]: readonly [number, number],
  [low, high]: readonly [number, number],
): (value: number) => number {
  return (value) => (to === from ? low : low + ((value - from) / (to - from)) * (high - low))
}

/** Round numbers from 0 to at least `most`, about as many as `wanted`, for an axis of whole things. */
export function roundTicks(most: number, wanted: number): number[] {
  const step = roundStep(Math.max(most, 1) / Math.max(wanted - 1, 1))
  return Array.from({ length: Math.ceil(Math.max(most, 1) / step) + 1 }, (_, index) => index * step)
}

/** The smallest of 1, 2, 5, 10, 20, 50 … that is not less. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)))
  const factor = [1, 2, 5, 10].find((each) => each * power >= least) ?? 10
  return factor * power
}

/**
 * The ticks of an axis of shares in per cent, up to 100. The axis begins at 0 unless all shares are high: then it shows
 * the upper part only, because a change from 98 to 95 is one that a person must see.
 */
export function shareTicks(shares: readonly (number | null)[]): number[] {
  const least = shares.reduce<number>((lowest, share) => Math.min(lowest, share ?? 100), 100)
  if (least >= 92) return [90, 95, 100]
  if (least >= 82) return [80, 90, 100]
  return least >= 53 ? [50, 75, 100] : [0, 50, 100]
}

/**
 * The indexes of the days that an axis names, at most `wanted` and always the newest: some whole number of weeks lies
 * between two of them where there are weeks.
 */
export function dayTicks(count: number, wanted: number): number[] {
  const needed = Math.ceil(count / Math.max(wanted, 1))
  const step = needed > 3 ? Math.ceil(needed / 7) * 7 : Math.max(needed, 1)
  const ticks: number[] = []
  for (let index = count - 1; index >= 0; index -= step) ticks.unshift(index)
  return ticks
}

/** Of the places from `first` to `last`, `count` in number and equally far apart, the index of the nearest. */
export function nearestIndex(place: number, first: number, last: number, count: number): number {
  if (count < 2 || last <= first) return 0
  const index = Math.round(((place - first) / (last - first)) * (count - 1))
  return Math.min(count - 1, Math.max(0, index))
}
