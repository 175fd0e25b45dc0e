import { checkHistory, type Operation, type Specification } from './checker.ts'

/**
 * A small part of a history that is not linearizable, which is not linearizable by itself: the shortest beginning, without
 * the calls that have changed nothing and are not needed. What had no end yet at the end of that beginning is unknown in it.
 */
export function smallWitness<State, Call, Outcome>(
  history: readonly Operation<Call, Outcome>[],
  specification: Specification<State, Call, Outcome>,
): readonly Operation<Call, Outcome>[] {
  const isRefuted = (part: readonly Operation<Call, Outcome>[]) =>
    checkHistory(part, specification).linearizable === false
  const ends = history
    .filter(({ outcome }) => outcome !== undefined)
    .map(({ returned }) => returned)
    .sort((one, other) => one - other)
  // What cannot be explained stays so, whatever comes later: so the shortest beginning can be found by halves.
  let low = 0
  let high = ends.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (isRefuted(beginningOf(history, ends[middle] as number))) high = middle
    else low = middle + 1
  }
  const shortest = beginningOf(history, ends[low] as number)
  if (!isRefuted(shortest)) return history
  const changesNothing = ({ call, outcome }: Operation<Call, Outcome>) =>
    outcome !== undefined && specification.changesNothing(call, outcome)
  return withoutSurplus(shortest, isRefuted, changesNothing)
}

function beginningOf<Call, Outcome>(
  history: readonly Operation<Call, Outcome>[],
  end: number,
): readonly Operation<Call, Outcome>[] {
  return history
    .filter(({ invoked }) => invoked <= end)
    .map((operation) =>
      operation.returned <= end ? operation : { ...operation, returned: Number.POSITIVE_INFINITY, outcome: undefined },
    )
}

/** Leaves out as many calls as possible, first half of them at once, then a quarter, and so on. */
function withoutSurplus<Call, Outcome>(
  history: readonly Operation<Call, Outcome>[],
  isRefuted: (part: readonly Operation<Call, Outcome>[]) => boolean,
  changesNothing: (operation: Operation<Call, Outcome>) => boolean,
): readonly Operation<Call, Outcome>[] {
  let kept = history
  for (let size = Math.ceil(history.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    const surplus = kept.filter(changesNothing)
    for (let from = 0; from < surplus.length; from += size) {
      const left = new Set(surplus.slice(from, from + size))
      const smaller = kept.filter((operation) => !left.has(operation))
      if (isRefuted(smaller)) kept = smaller
    }
  }
  return kept
}
