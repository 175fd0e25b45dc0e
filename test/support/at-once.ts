/** Does so many of something at the same time. */
export function atOnce<Result>(count: number, act: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(index)))
}

/** The numbers from the first to the last. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

/** For `toSorted`. */
export function ascending(one: number, other: number): number {
  return one - other
}
