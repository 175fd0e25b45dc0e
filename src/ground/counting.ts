/** How many of the sorted numbers are below the limit. */
export function countBelow(numbers: readonly number[], limit: number): number {
  return firstPassing(0, numbers.length, (index) => (numbers[index] ?? 0) >= limit)
}

/**
 * The first whole number from `low` up to `high`, exclusive, that passes the test; `high` if there is none. All numbers
 * after one that passes must pass too.
 */
export function firstPassing(low: number, high: number, passes: (number: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (passes(middle)) to = middle
    else from = middle + 1
  }
  return from
}
