import { Turns } from '../ground/turns.ts'
import type { AdminRefusal } from './codes.ts'
import { type ControlCall, type ControlOutcome, listed } from './handler.ts'
import { invalid } from './refusals.ts'

/** The data of an answer with a page of a list. */
export type PageOf<Name extends string, Report, Cursor = string> = Record<Name, Report[]> & {
  /** How many items there are, on all pages together. */
  count: number
  /** The cursor of the next page; null on the last page. */
  next: Cursor | null
}

/** A list with pages. A page begins after a given item. */
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

/** The maximum number of items on the requested page. */
export function readLimit({ query, limits: { pageDefault, pageLimit } }: ControlCall): number | AdminRefusal {
  const limit = query['limit'] === undefined ? pageDefault : Number(query['limit'])
  return limit <= pageLimit ? limit : invalid('limit', limit, 'limit', { limit: pageLimit })
}

/** The requested page. While it goes through a long list, other requests get their turn. */
export async function selectPage<Item>(
  call: ControlCall,
  { items, idOf, sizeOf = () => 0 }: List<Item>,
): Promise<Page<Item> | AdminRefusal> {
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const { after } = call.query
  const page: Item[] = []
  const turns = new Turns()
  let bytes = 0
  let isReached = after === undefined
  for (const item of items) {
    if (turns.isOver()) await turns.next()
    if (!isReached) {
      isReached = idOf(item) === after
      continue
    }
    bytes += sizeOf(item)
    const last = page.at(-1)
    if (last !== undefined && (page.length === limit || bytes > call.limits.pageBytes)) {
      return { ok: true, items: page, next: idOf(last) }
    }
    page.push(item)
  }
  return isReached ? { ok: true, items: page, next: null } : invalid('after', after, 'unlisted')
}

/** Answers with the requested page of a list. Each item is reported when it is sent. */
export async function answerPage<Name extends string, Item, Report>(
  call: ControlCall,
  name: Name,
  list: List<Item>,
  report: (item: Item) => Report,
): Promise<ControlOutcome<PageOf<Name, Report>>> {
  const page = await selectPage(call, list)
  return page.ok ? listed(name, reports(page.items, report), { count: list.count, next: page.next }) : page
}

/** The reports of items. Each report is created when it is read. */
export function* reports<Item, Report>(items: Iterable<Item>, report: (item: Item) => Report): Generator<Report> {
  for (const item of items) yield report(item)
}
