/** The first number from `low` to `high` that is not `isBefore`, which holds for all numbers up to some place. */
export function findFirst(low: number, high: number, isBefore: (number: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBefore(middle)) from = middle + 1
    else to = middle
  }
  return from
}
