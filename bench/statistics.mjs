/** The middle one, or the mean of the two in the middle. */
export function median(values) {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * Measures the contestants in turn, round after round, so that a slow moment of the machine hits all of them.
 *
 * @returns For each of them, the median of each figure.
 */
export async function takeTurns(contestants, rounds, measure) {
  const measured = contestants.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, contestant] of contestants.entries()) measured[index].push(await measure(contestant))
  }
  return measured.map((figures) => {
    const names = Object.keys(figures[0])
    return Object.fromEntries(names.map((name) => [name, median(figures.map((each) => each[name]))]))
  })
}
