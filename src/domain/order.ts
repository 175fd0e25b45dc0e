/** The order of a list in a response: by creation, by name, or the newest item first. */
export type ListOrder = 'addition' | 'alphabetical' | 'newest-first'

/** Items in order of creation, in another order. Names are compared by their code units. */
export function arrange<Item>(
  items: readonly Item[],
  order: ListOrder,
  nameOf: (item: Item) => string,
): readonly Item[] {
  switch (order) {
    case 'addition':
      return items
    case 'newest-first':
      return items.toReversed()
    case 'alphabetical':
      return items.toSorted((one, other) => compare(nameOf(one), nameOf(other)))
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
