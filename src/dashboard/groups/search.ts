/** The items with at least one text that contains the search text. Upper and lower case are equal. */
export function filterBy<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => readonly string[],
): readonly Item[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return items
  return items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(wanted)))
}
