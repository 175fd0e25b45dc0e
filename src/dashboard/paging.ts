import type { PageQuery } from './calls.ts'
import { FACTS } from './facts.ts'

/** All items of a paginated list. `load` loads one page. */
export async function readAll<Page extends { next: string | null }, Item>(
  load: (query: PageQuery) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = []
  for (let query: PageQuery = { limit: FACTS.pageLimit }; ; ) {
    const page = await load(query)
    items.push(...itemsOf(page))
    if (page.next === null) return items
    query = { ...query, after: page.next }
  }
}
