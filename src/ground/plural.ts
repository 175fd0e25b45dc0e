/** A number with its noun: `1 entry`, `2 entries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** The first names of a list, and the number of the others: `a, b and 3 more`. */
export function nameSome(names: readonly string[], most: number): string {
  const named = names.slice(0, most).join(', ')
  return names.length > most ? `${named} and ${names.length - most} more` : named
}
