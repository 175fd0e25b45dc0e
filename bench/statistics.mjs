/** The middle one, or the mean of the two in the middle. */
export function median(values) {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** Of rounds with the same figures, the median of each figure. */
export function summarize(rounds) {
  const names = Object.keys(rounds[0])
  return Object.fromEntries(names.map((name) => [name, median(rounds.map((round) => round[name]))]))
}

/** Measures the candidates in turn, round after round, so that a slow moment of the machine hits all of them. */
export async function takeTurns(candidates, rounds, measure, sum = summarize) {
  const measured = candidates.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, candidate] of candidates.entries()) measured[index].push(await measure(candidate))
  }
  return measured.map((rounds) => sum(rounds))
}

/**
 * Of planted violations, in responses and in requests, how many each middleware has found, and how many more as something
 * else. What the specification leaves open does not count.
 */
export function countFindings(planted) {
  return ['response', 'request'].map((part) => {
    const those = planted.filter((each) => each.part === part && !each.isLeftOpen)
    const count = (name, is) => those.filter(({ found }) => is(found[name])).length
    const found = Object.keys(those[0].found).map((name) => [
      name,
      { right: count(name, (word) => word === 'yes'), otherwise: count(name, (word) => word.startsWith('as ')) },
    ])
    return { part, all: those.length, found: Object.fromEntries(found) }
  })
}
