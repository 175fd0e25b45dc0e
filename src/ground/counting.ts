import { findFirst } from './search.ts'

/** How many of the sorted numbers are below the limit. */
export function countBelow(numbers: readonly number[], limit: number): number {
  return findFirst(0, numbers.length, (index) => (numbers[index] ?? 0) < limit)
}
