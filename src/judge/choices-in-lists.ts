import { refreshDay } from '../domain/dmarc.ts'
import type { Belief } from './belief.ts'
import { LONGEST_WITHOUT_RECORD } from './domain-answers.ts'
import { comparable, isPlainHostname } from './names.ts'
import type { ChoiceTable, ReadChoice, SeenExchange } from './open-choice.ts'

/** Other clients may have removed and added again this many items unseen. With more, the order of a list counts. */
const TOLERATED = 2
/** So many items of a list are compared in order. */
const COMPARED = 500
/** In milliseconds: for this long after its addition, a domain is certainly not processed. */
const AT_ONCE = 30_000
/** Upper case in the name of a domain, if the name says nothing about other choices. */
const isInOtherCase = (name: string) => /[A-Z]/.test(name) && isPlainHostname(name)

/** An item of a list: the name that it may be sorted by, and whether another client may have moved it. */
interface Listed {
  name: string
  /** The number of its addition among all that were seen; absent if the addition was not seen. */
  order: number | undefined
  isCertain: boolean
}

const readOrder: ReadChoice = ({ reading: { shown, exchange }, track: { belief } }) => {
  const items = itemsOf(shown, belief)
  if (items.length < 2 || exchange.overlaps) return undefined
  const looked = items.slice(0, COMPARED)
  const certain = looked.filter(({ isCertain }) => isCertain)
  return ({ value }) => {
    if (value === 'alphabetical') return isSorted(items)
    const isNewestFirst = value === 'newest-first'
    return countBreaks(certain, isNewestFirst) === 0 && countBreaks(looked, isNewestFirst) <= TOLERATED
  }
}

/** Whether domains are shown as they were sent: in the response to that request, and in later ones. */
const readSpelling: ReadChoice = ({ reading: { shown, exchange }, asked, track: { belief } }) => {
  const echoed = shown.added ?? shown.removed
  if (echoed !== undefined) {
    const sent = asked.list('domains').filter(isInOtherCase)
    const all = new Set(echoed)
    const [kept, altered] = [sent.some((name) => all.has(name)), sent.some((name) => all.has(name.toLowerCase()))]
    return kept === altered ? undefined : ({ value }) => (value === 'canonical') === altered
  }
  if (exchange.overlaps) return undefined
  const names = shown.domains ?? groupsOf(shown).flatMap(({ domains }) => domains)
  if (names.some(isInOtherCase)) return 'as-sent'
  // Another client may have removed a domain, and added it again in another spelling.
  const altered = new Set(names.filter((name) => wasSentOtherwise(belief, name) && isPlainHostname(name)))
  const isCertain = altered.size > TOLERATED || [...altered].some(belief.isOwn)
  return isCertain ? ({ value }) => value !== 'as-sent' : undefined
}

/** Whether domains that were added a moment ago already have records. */
const readUnprocessed: ReadChoice = ({ reading: { shown, exchange }, track: { belief }, now, refreshes }) => {
  if (shown.domains === undefined || exchange.overlaps) return undefined
  const seen = new Set(shown.domains.map(comparable))
  let isAbsent = false
  for (const [name, { isMonitored, addedAt }] of belief.domains) {
    if (isMonitored !== true || addedAt === undefined || addedAt > now) continue
    const age = now - addedAt
    if (!seen.has(name)) isAbsent ||= age <= LONGEST_WITHOUT_RECORD && belief.isOwn(name)
    else if (age < AT_ONCE && !refreshes.some((time) => isRefreshed(time, addedAt, now))) return 'listed'
  }
  return isAbsent ? 'absent' : undefined
}

/** Whether a member has left its group for another one. Requests show whether that is refused. */
const readMoves: ReadChoice = ({ reading: { shown, exchange }, track: { belief } }) => {
  let isMoved: boolean | undefined
  for (const { id, name, domains } of exchange.overlaps ? [] : groupsOf(shown)) {
    const { mayHaveLeft = [] } = belief.isOwn(name) ? (belief.groups.get(id) ?? {}) : {}
    for (const member of mayHaveLeft) {
      if (isPlainHostname(member) && belief.isOwn(member))
        isMoved = !domains.some((each) => comparable(each) === member)
    }
  }
  if (isMoved === undefined) return undefined
  return isMoved ? 'moved' : ({ value }) => value !== 'moved'
}

/** The choices that show in lists beside what is believed of the account. */
export const IN_LISTS: ChoiceTable = {
  success: { 'canonical-form': readSpelling },
  listDomains: { 'domain-order': readOrder },
  listDmarc: { 'record-order': readOrder, 'unprocessed-domains': readUnprocessed },
  listDomainGroups: { 'group-order': readOrder, 'shared-domains': readMoves },
}

type Shown = SeenExchange['reading']['shown']

function groupsOf({ groups, group }: Shown): NonNullable<Shown['groups']> {
  return groups ?? (group === undefined ? [] : [group])
}

/** The items of a list of all, in its order. */
function itemsOf({ lists, domains = [], groups = [] }: Shown, belief: Belief): Listed[] {
  if (lists === 'groups') {
    return groups.map(({ id, name }) => {
      return { name, order: belief.groups.get(id)?.order, isCertain: belief.isOwn(name) }
    })
  }
  return (lists === undefined ? [] : domains).map((name) => {
    const known = comparable(name)
    return { name, order: belief.domains.get(known)?.order, isCertain: belief.isOwn(known) }
  })
}

/** Whether names are in the order of their code units, as they are shown or in the form in which they are kept. */
function isSorted(items: readonly Listed[]): boolean {
  return [String, comparable, (name: string) => name.toLowerCase()].some((form) =>
    items.every(({ name }, index) => index === 0 || form(items[index - 1]?.name ?? '') <= form(name)),
  )
}

/**
 * How often an item comes after a later one, if the list is in the order of addition; a client that moves an item unseen
 * leads to one such place at most. An item whose addition was not seen can be anywhere.
 */
function countBreaks(list: readonly Listed[], isNewestFirst: boolean): number {
  const orders = list.flatMap(({ order }) => order ?? [])
  if (isNewestFirst) orders.reverse()
  return orders.filter((order, index) => order < (orders[index - 1] ?? 0)).length
}

function wasSentOtherwise(belief: Belief, name: string): boolean {
  const known = belief.domains.get(name)
  return known?.order !== undefined && /[A-Z]/.test(known.spelling)
}

/** The Date of a response is a whole second, so the addition may have been that much earlier. */
function isRefreshed(time: string, addedAt: number, now: number): boolean {
  return refreshDay(now, time) !== refreshDay(addedAt - 1_000, time)
}
