/**
 * How many characters must be inserted, deleted, replaced or swapped with a neighbour to turn one text into the other.
 */
export function editDistance(one: string, other: string): number {
  let before: number[] = []
  let above = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      current.push(
        Math.min(
          at(above, column) + 1,
          at(current, column - 1) + 1,
          at(above, column - 1) + (same ? 0 : 1),
          swapped ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      )
    }
    before = above
    above = current
  }
  return at(above, other.length)
}

/** The largest edit distance between a misspelt name and the name that was meant. */
const MISSPELT = 2

/** The one of `names` that the text was probably meant to be, if any. A short name may differ less than a long one. */
export function nearestName(text: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined
  let least = Number.POSITIVE_INFINITY
  for (const name of names) {
    const limit = Math.min(MISSPELT, Math.floor(name.length / 2))
    if (Math.abs(text.length - name.length) > limit + 2) continue
    const distance = Math.min(editDistance(text, name), editDistance(letters(text), letters(name)))
    if (distance > limit || distance >= least) continue
    nearest = name
    least = distance
  }
  return nearest
}

/** Why a value is none of the existing names, with the nearest one or all: the reason and the data of a message. */
export function explainUnknown(
  value: unknown,
  names: readonly string[],
): { reason: 'no-choice' | 'choice' | 'misspelt'; about: Readonly<Record<string, string>> } {
  if (names.length === 0) return { reason: 'no-choice', about: {} }
  const nearest = typeof value === 'string' ? nearestName(value, names) : undefined
  const allowed = names.join(', ')
  return nearest === undefined
    ? { reason: 'choice', about: { allowed } }
    : { reason: 'misspelt', about: { allowed, nearest } }
}

/** The letters and digits of a name in lower case: the same for `addDomains`, `add-domains` and `add_domains`. */
export function letters(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
