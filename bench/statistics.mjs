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
export async function takeTurns(candidates, rounds, measure) {
  const measured = candidates.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, candidate] of candidates.entries()) measured[index].push(await measure(candidate))
  }
  return measured.map(summarize)
}
