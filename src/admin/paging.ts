import type { AdminRefusal, ControlLimits } from '../contract/control-api.ts'
import type { ControlOutcome } from './handler.ts'
import { invalid } from './refusals.ts'

/** A request for a page of a list. */
interface PageCall {
  limits: ControlLimits
  query: { readonly limit?: string; readonly after?: string }
}

/** The data of an answer with a page of a list. */
type PageOf<Name extends string, Report, Cursor> = Record<Name, Report[]> & { count: number; next: Cursor | null }

/** A list whose new items come at its end. */
interface List<Item, Report> {
  items: Iterable<Item>
  /** The id of an item in `after` and `next`. */
  idOf(item: Item): string
  report(item: Item): Report
}

/** The items of a page. Each is written once: how long its text is decides whether it has a place on the page. */
export class Page<Item, Report> {
  readonly items: Item[] = []
  readonly reports: Report[] = []
  /** Whether an item had no place, so that there is a next page. */
  isFull = false
  readonly #texts: string[] = []
  readonly #report: (item: Item) => Report
  readonly #limit: number
  #bytes: number

  constructor(limit: number, { pageBytes }: Pick<ControlLimits, 'pageBytes'>, report: (item: Item) => Report) {
    this.#limit = limit
    this.#bytes = pageBytes
    this.#report = report
  }

  /** Adds an item, unless the page is full. It has at least one item, however long that is. */
  add(item: Item): void {
    this.isFull ||= this.items.length === this.#limit
    if (this.isFull) return
    const report = this.#report(item)
    const text = JSON.stringify(report)
    this.#bytes -= text.length
    this.isFull = this.#bytes < 0 && this.items.length > 0
    if (this.isFull) return
    this.items.push(item)
    this.reports.push(report)
    this.#texts.push(text)
  }

  /** The page as an answer, with the length of the list and the cursor of the next page. */
  answer<Name extends string, Cursor>(
    name: Name,
    rest: { count: number; next: Cursor | null },
    isReversed = false,
  ): ControlOutcome<PageOf<Name, Report, Cursor>> {
    const inOrder = <Each>(list: Each[]) => (isReversed ? list.reverse() : list)
    const data = { [name]: inOrder(this.reports), ...rest } as PageOf<Name, Report, Cursor>
    const texts = inOrder(this.#texts)
    return { ok: true, data, write: () => `{"${name}":[${texts.join()}],${JSON.stringify(rest).slice(1)}` }
  }
}

/** The maximum number of items on the requested page. */
export function readLimit({ query, limits: { pageDefault, pageLimit } }: PageCall): number | AdminRefusal {
  const limit = Number(query.limit ?? pageDefault)
  return limit <= pageLimit ? limit : invalid('limit', limit, 'limit', { limit: pageLimit })
}

/** How many items come after an item, and its id. Who writes a cursor by hand gives only the id. */
const CURSOR = /^(?:(\d{1,15}):)?(.*)$/s

/** Answers with the requested page of a list. */
export function answerPage<Name extends string, Item, Report>(
  call: PageCall,
  name: Name,
  { items, idOf, report }: List<Item, Report>,
): ControlOutcome<PageOf<Name, Report, string>> {
  const limit = readLimit(call)
  if (typeof limit !== 'number') return limit
  const all = [...items]
  const start = findStart(all, call.query.after, idOf)
  if (start === undefined) return invalid('after', call.query.after, 'unlisted')
  const page = new Page(limit, call.limits, report)
  for (let index = start; index < all.length && !page.isFull; index++) page.add(all[index] as Item)
  const last = page.items.at(-1)
  const left = all.length - start - page.items.length
  const next = left === 0 || last === undefined ? null : `${left}:${idOf(last)}`
  return page.answer(name, { count: all.length, next })
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
