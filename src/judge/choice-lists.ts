import { refreshDay } from '../domain/dmarc.ts'
import { arrange, type ListOrder } from '../domain/order.ts'
import { countBelow } from '../ground/counting.ts'
import type { Belief } from './belief.ts'
import { comparable, isPlainHostname } from './names.ts'
import type { OpenChoice, ReadChoice, SeenExchange } from './open-choice.ts'

/** Other clients may have removed and added again this many items unseen. With more, the order of a list counts. */
const TOLERATED = 2
/** So many items of a list are compared in order. */
const COMPARED = 500
/** In milliseconds: for this long after its addition, a domain is certainly not processed. */
const AT_ONCE = 30_000
/** In milliseconds: after the processing and the time to the next refresh, each domain has a record. */
const LONGEST_PROCESSING = 48 * 3_600_000

/** An item of a list: the name that it may be sorted by, and whether another client may have moved it. */
interface Listed {
  name: string
  placed: Placed | undefined
  isCertain: boolean
}

/** The order of a list of all domains, or of all records. */
const readOrderIn =
  (lists: 'domains' | 'records'): ReadChoice =>
  (seen, choice) => {
    const { shown } = seen.reading
    if (shown.lists !== lists) return undefined
    const items = shown.domains?.map((name) => domainIn(seen.belief, name))
    return orderOf(seen, choice, items)
  }

export const readOrder = readOrderIn('domains')
export const readRecordOrder = readOrderIn('records')

export const readGroupOrder: ReadChoice = (seen, choice) => {
  const { belief, reading } = seen
  if (reading.shown.lists !== 'groups') return undefined
  const groups = reading.shown.groups?.map(({ id, name }) => {
    return { name, placed: belief.group(id), isCertain: belief.isCertain(name) }
  })
  return orderOf(seen, choice, groups)
}

function domainIn(belief: Belief, shown: string): Listed {
  const name = comparable(shown)
  return { name: shown, placed: belief.domain(name), isCertain: belief.isCertain(name) }
}

function orderOf(
  { reading }: SeenExchange,
  choice: OpenChoice,
  items: readonly Listed[] | undefined,
): readonly number[] | undefined {
  if (items === undefined || items.length < 2 || reading.exchange.overlaps) return undefined
  const looked = items.slice(0, COMPARED)
  const certain = looked.filter(({ isCertain }) => isCertain)
  const misplaced = (list: readonly Listed[], order: ListOrder) =>
    countMisplaced(arrange(list, order, ({ name }) => name).map(({ placed }) => placed))
  return choice.those(({ value }) => {
    if (value === 'alphabetical') return isSorted(items)
    const order = value as ListOrder
    return misplaced(certain, order) === 0 && misplaced(looked, order) <= TOLERATED
  })
}

/** Whether names are in the order of their code units, as they are shown or in the form in which they are kept. */
function isSorted(items: readonly Listed[]): boolean {
  return [String, comparable, (name: string) => name.toLowerCase()].some((form) =>
    items.every(({ name }, index) => index === 0 || form(items[index - 1]?.name ?? '') <= form(name)),
  )
}

/** Upper case in the name of a domain, if the name says nothing about other choices. */
const IN_OTHER_CASE = /[A-Z]/

/** Whether domains are shown as they were sent: in the response to that request, and in later ones. */
export const readSpelling: ReadChoice = ({ reading: { operation, shown, exchange }, asked, belief }, choice) => {
  const echoed = shown.added ?? shown.removed
  if (echoed !== undefined) {
    const sent = asked.list('domains').filter((name) => isPlainHostname(name) && IN_OTHER_CASE.test(name))
    const all = new Set(echoed)
    const [kept, altered] = [sent.some((name) => all.has(name)), sent.some((name) => all.has(name.toLowerCase()))]
    return kept === altered ? undefined : choice.those(({ value }) => (value === 'canonical') === altered)
  }
  if (operation === undefined || exchange.overlaps) return undefined
  const names = [shown.domains, shown.group?.domains, ...(shown.groups ?? []).map(({ domains }) => domains)].flatMap(
    (each) => each ?? [],
  )
  if (names.some((name) => IN_OTHER_CASE.test(name) && isPlainHostname(name))) return choice.of('as-sent')
  // Another client may have removed a domain, and added it again in another spelling.
  const altered = new Set(names.filter((name) => wasSentOtherwise(belief, name) && isPlainHostname(name)))
  const isCertain = [...altered].some((name) => belief.isCertain(name)) || altered.size > TOLERATED
  return isCertain ? choice.those(({ value }) => value !== 'as-sent') : undefined
}

function wasSentOtherwise(belief: Belief, name: string): boolean {
  const known = belief.domain(name)
  return known?.order !== undefined && IN_OTHER_CASE.test(known.spelling)
}

/** Whether domains that were added a moment ago already have records. */
export const readUnprocessed: ReadChoice = ({ reading, belief, now, refreshes }, choice) => {
  const { shown, exchange } = reading
  if (shown.lists !== 'records' || shown.domains === undefined || exchange.overlaps) return undefined
  const seen = new Set(shown.domains.map(comparable))
  let isAbsent = false
  for (const [name, { isMonitored, addedAt }] of belief.domains) {
    if (isMonitored !== true || addedAt === undefined) continue
    const age = now - addedAt
    if (seen.has(name) && age >= 0 && age < AT_ONCE && !refreshes.some((time) => isRefreshed(time, addedAt, now))) {
      return choice.of('listed')
    }
    if (!seen.has(name) && age >= 0 && age <= LONGEST_PROCESSING && belief.isCertain(name)) isAbsent = true
  }
  return isAbsent ? choice.of('absent') : undefined
}

/** The Date of a response is a whole second, so the addition may have been that much earlier. */
function isRefreshed(time: string, addedAt: number, now: number): boolean {
  return refreshDay(now, time) !== refreshDay(addedAt - 1_000, time)
}

/** Whether a member has left its group for another one. */
export const readMoves: ReadChoice = ({ reading: { shown, exchange }, belief }, choice) => {
  if (exchange.overlaps || shown.isNew) return undefined
  let isMoved: boolean | undefined
  for (const { id, name, domains } of shown.groups ?? (shown.group === undefined ? [] : [shown.group])) {
    const known = belief.group(id)
    if (known?.state !== 'there' || known.mayHaveLeft.size === 0 || !belief.isCertain(name)) continue
    const members = new Set(domains.map(comparable))
    for (const member of known.mayHaveLeft) {
      if (isPlainHostname(member) && belief.isCertain(member)) isMoved = !members.has(member)
    }
  }
  return isMoved === undefined ? undefined : choice.those(({ value }) => (value === 'moved') === isMoved)
}

/** What is known of the time at which an item came into a list. */
interface Placed {
  /** The number of its addition among all that were seen; absent if the addition was not seen. */
  order?: number
  /** How many additions had been seen when it was first seen; only if its own was not. */
  seenAfter?: number
}

/**
 * How many items contradict what was seen, if the list is in the order of addition. Unknown items can be at any place,
 * and an item whose addition was not seen can be anywhere among the items that were there before it was first seen.
 */
function countMisplaced(list: readonly (Placed | undefined)[]): number {
  const known = list.filter((each): each is Placed => each?.order !== undefined || each?.seenAfter !== undefined)
  const orders = known.flatMap(({ order }) => order ?? []).toSorted((one, other) => one - other)
  if (orders.length === 0) return 0
  const ends = new PrefixMaximum(orders.length)
  // Finds the longest part of the list in which each item may come right after the one before it.
  let longest = 0
  let longestToUnseen = 0
  for (const { order, seenAfter = Number.POSITIVE_INFINITY } of known) {
    const before = order === undefined ? countBelow(orders, seenAfter + 1) : countBelow(orders, order)
    const length = Math.max(longestToUnseen, ends.below(before)) + 1
    if (order === undefined) longestToUnseen = Math.max(longestToUnseen, length)
    else ends.raise(before, length)
    longest = Math.max(longest, length)
  }
  return known.length - longest
}

/** The largest of the values below an index, which only grow (a Fenwick tree). */
class PrefixMaximum {
  readonly #nodes: number[]

  constructor(size: number) {
    this.#nodes = new Array<number>(size + 1).fill(0)
  }

  below(index: number): number {
    let most = 0
    for (let node = index; node > 0; node -= node & -node) most = Math.max(most, this.#nodes[node] ?? 0)
    return most
  }

  raise(index: number, value: number): void {
    for (let node = index + 1; node < this.#nodes.length; node += node & -node) {
      this.#nodes[node] = Math.max(this.#nodes[node] ?? 0, value)
    }
  }
}
