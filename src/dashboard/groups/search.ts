/** The items of which one of the texts contains what is searched for, in whichever case. */
export function filterBy<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => readonly string[],
): readonly Item[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return items
  return items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(wanted)))
}
