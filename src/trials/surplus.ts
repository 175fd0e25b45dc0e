/** The items that the other list does not have, or has less often. Items with the same name are equal. */
export function surplusIn<Item>(
  list: readonly Item[],
  others: readonly Item[],
  nameOf: (item: Item) => string,
): Item[] {
  const left = new Map<string, number>()
  for (const name of others.map(nameOf)) left.set(name, (left.get(name) ?? 0) + 1)
  return list.filter((item) => {
    const name = nameOf(item)
    const count = left.get(name) ?? 0
    left.set(name, count - 1)
    return count <= 0
  })
}
