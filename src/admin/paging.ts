import type { AdminRefusal } from './codes.ts'
import { type ControlCall, type ControlOutcome, done } from './handler.ts'
import { invalid } from './refusals.ts'

/** The data of an answer with a page of a list. */
export type PageOf<Name extends string, Report, Cursor = string> = Record<Name, Report[]> & {
  /** How many items there are, on all pages together. */
  count: number
  /** The cursor of the next page; null on the last page. */
  next: Cursor | null
}

/** A list with pages. A page begins after a given item. New items come at its end. */
export interface List<Item> {
  /** All items in their order. */
  items: Iterable<Item>
  count: number
  /** The id of an item in `after` and `next`. */
  idOf(item: Item): string
  /** The approximate bytes of an item as JSON, if items can be large. */
  sizeOf?(item: Item): number
}

/** The items of a page, and the `after` of the next page if there is one. */
export interface Page<Item> {
  ok: true
  items: readonly Item[]
  next: string | null
}

/** How many items come after an item, and its id. Who writes a cursor by hand gives only the id. */
const CURSOR = /^(?:(\d{1,15}):)?(.*)$/s

/** The maximum number of items on the requested page. */
export function readLimit({ query, limits: { pageDefault, pageLimit } }: ControlCall): number | AdminRefusal {
  const limit = query['limit'] === undefined ? pageDefault : Number(query['limit'])
  return limit <= pageLimit ? limit : invalid('limit', limit, 'limit', { limit: pageLimit })
}

/** The requested page. */
export function selectPage<Item>(
  call: ControlCall,
  { items, idOf, sizeOf = () => 0 }: List<Item>,
): Page<Item> | AdminRefusal {
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const { after } = call.query
  const all = [...items]
  const start = after === undefined ? 0 : findStart(all, after, idOf)
  if (start === undefined) return invalid('after', after, 'unlisted')
  let end = start
  for (let bytes = 0; end < all.length && end < start + limit; end++) {
    bytes += sizeOf(all[end] as Item)
    if (bytes > call.limits.pageBytes && end > start) break
  }
  const last = all[end - 1]
  const next = end === all.length || last === undefined ? null : `${all.length - end}:${idOf(last)}`
  return { ok: true, items: all.slice(start, end), next }
}

/**
 * The index of the first item of a page. If the item that the cursor names was deleted, as many items are left as came
 * after it: so a client can delete the items of each page before it asks for the next one.
 */
function findStart<Item>(all: readonly Item[], after: string, idOf: List<Item>['idOf']): number | undefined {
  const [, left, id] = CURSOR.exec(after) ?? []
  const index = all.findIndex((item) => idOf(item) === id)
  if (index >= 0) return index + 1
  return left === undefined ? undefined : Math.max(0, all.length - Number(left))
}

/** Answers with the requested page of a list. */
export function answerPage<Name extends string, Item, Report>(
  call: ControlCall,
  name: Name,
  list: List<Item>,
  report: (item: Item) => Report,
): ControlOutcome<PageOf<Name, Report>> {
  const page = selectPage(call, list)
  if (!page.ok) return page
  const data = { [name]: page.items.map(report), count: list.count, next: page.next }
  return done(data as PageOf<Name, Report>)
}
