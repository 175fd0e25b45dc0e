import type { AdminRefusal, ControlLimits } from '../contract/control-api.ts'
import { type ControlOutcome, done } from './handler.ts'
import { invalid } from './refusals.ts'

interface PageCall {
  limits: ControlLimits
  query: { readonly limit?: string; readonly after?: string }
}

type PageOf<Name extends string, Report> = Record<Name, Report[]> & { count: number; next: string | null }

/** A list whose new items come at its end. */
interface List<Item, Report> {
  items: Iterable<Item>
  idOf(item: Item): string
  report(item: Item): Report
}

export function readLimit({ query, limits: { pageDefault, pageLimit } }: PageCall): number | AdminRefusal {
  const limit = Number(query.limit ?? pageDefault)
  return limit <= pageLimit ? limit : invalid('limit', limit, 'limit', { limit: pageLimit })
}

/** How many items come after an item, and its id. Who writes a cursor by hand gives only the id. */
const CURSOR = /^(?:(\d{1,15}):)?(.*)$/s

export function answerPage<Name extends string, Item, Report>(
  call: PageCall,
  name: Name,
  { items, idOf, report }: List<Item, Report>,
): ControlOutcome<PageOf<Name, Report>> {
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const all = [...items]
  const start = findStart(all, call.query.after, idOf)
  if (start === undefined) return invalid('after', call.query.after, 'unlisted')
  const page = all.slice(start, start + limit)
  const left = all.length - start - page.length
  const last = page.at(-1)
  const next = left === 0 || last === undefined ? null : `${left}:${idOf(last)}`
  return done({ [name]: page.map(report), count: all.length, next } as PageOf<Name, Report>)
}

/**
 * The index of the first item of a page. If the item that the cursor names was deleted, as many items are left as came
 * after it: so a client can delete the items of each page before it asks for the next one.
 */
function findStart<Item>(all: readonly Item[], after: string | undefined, idOf: (item: Item) => string) {
  if (after === undefined) return 0
  const [, left, id] = CURSOR.exec(after) ?? []
  const index = all.findIndex((item) => idOf(item) === id)
  if (index >= 0) return index + 1
  return left === undefined ? undefined : Math.max(0, all.length - Number(left))
}
