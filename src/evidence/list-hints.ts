import { refreshDay } from '../domain/dmarc.ts'
import { arrange } from '../domain/order.ts'
import { countMisplaced, type Knowledge } from './knowledge.ts'
import type { Assignment } from './observation.ts'
import type { Variants } from './variants.ts'

/** What a list says about choices. */
export interface Hints {
  allows: readonly (readonly Assignment[])[]
  /** What it says if nobody has taken out an item and put it back. */
  likely: readonly (readonly Assignment[])[]
}

export const NO_HINTS: Hints = { allows: [], likely: [] }

/** From where a list is looked at. */
export interface Viewpoint {
  knowledge: Knowledge
  variants: Variants
  /** Whether nobody else changes what has this name. */
  isCertain(name: string): boolean
}

/** How many items of a list others may have taken out and put back while nobody looked, before its order counts. */
const TOLERATED = 2
/** In milliseconds, how long after its addition a domain is certainly not processed. */
const AT_ONCE = 30_000
/** In milliseconds, after which each domain has a record: a day of processing, and the next refresh. */
const LONGEST_PROCESSING = 48 * 3_600_000
/** Lists are looked at up to so many items for their order. */
const ORDER_LIMIT = 500

/** Which orders a list may be in; an empty list of them where it is in none. */
export function orderOf(
  { variants, isCertain }: Viewpoint,
  setting: 'domainOrder' | 'recordOrder' | 'groupOrder',
  items: readonly { name: string; shown: readonly string[]; placed: Parameters<typeof countMisplaced>[0][number] }[],
  tolerated = TOLERATED,
): Hints {
  const choices = variants.choicesOf(setting)
  if (choices === undefined || items.length < 2) return NO_HINTS
  const { id, values } = choices
  const looked = items.slice(0, ORDER_LIMIT)
  const certain = looked.filter(({ name }) => isCertain(name))
  const within = (limit: number) =>
    values.flatMap((value, number) => {
      if (value === 'alphabetical') return isSorted(items) ? [{ [id]: number }] : []
      const turn = <Item>(list: readonly Item[]) => arrange(list, value as 'addition' | 'newest-first', String)
      const misplaced = countMisplaced(turn(looked).map(({ placed }) => placed))
      const isWrong = countMisplaced(turn(certain).map(({ placed }) => placed)) > 0 || misplaced > limit
      return isWrong ? [] : [{ [id]: number }]
    })
  const isInformative = (allowed: readonly Assignment[]) =>
    allowed.length < values.length && (allowed.length > 0 || certain.length > 1)
  return { allows: [within(tolerated)].filter(isInformative), likely: [within(0)].filter(isInformative) }
}

/** Whether domains that were added a moment ago have records already. */
export function unprocessedIn(
  { variants, knowledge, isCertain }: Viewpoint,
  seen: ReadonlyMap<string, string>,
  now: number,
): Hints {
  const choices = variants.choicesOf('unprocessedDomains')
  const refreshes = variants.choicesOf('refresh')?.values ?? []
  if (choices === undefined) return NO_HINTS
  const allowed = (value: string) => {
    const numbers = [...choices.values.keys()].filter((number) => choices.values[number] === value)
    return [numbers.map((number) => ({ [choices.id]: number }))]
  }
  for (const [name, { isMonitored, addedAt }] of knowledge.domains) {
    if (!isMonitored || addedAt === undefined) continue
    const age = now - addedAt
    const isFresh = age >= 0 && age < AT_ONCE
    const isRefreshed = refreshes.some(
      (time) => refreshDay(now, String(time)) !== refreshDay(addedAt - 1000, String(time)),
    )
    if (seen.has(name)) {
      if (isFresh && !isRefreshed) return { allows: allowed('listed'), likely: [] }
      continue
    }
    if (age < 0 || age > LONGEST_PROCESSING) continue
    return isCertain(name) ? { allows: allowed('absent'), likely: [] } : { allows: [], likely: allowed('absent') }
  }
  return NO_HINTS
}

/** Whether lists spell domains as they were sent: seen from those that were sent in another than the usual form. */
export function spellingOf(
  { variants, knowledge, isCertain }: Viewpoint,
  items: readonly { name: string; shown: string }[],
): Hints {
  const choices = variants.choicesOf('spelling')
  if (choices === undefined) return NO_HINTS
  let asSent = 0
  let otherwise = 0
  let certain = 0
  for (const { name, shown } of items) {
    const fact = knowledge.domains.get(name)
    // An international name has two usual forms.
    if (fact?.order === undefined || fact.spelling === name || name.includes('xn--')) continue
    if (shown === fact.spelling) asSent++
    else if (shown === name) otherwise++
    if (shown === name && isCertain(name)) certain++
  }
  const numbers = [...choices.values.keys()]
  const shows = (number: number) => (choices.values[number] === 'as-sent') === asSent > 0
  if (asSent > 0 === otherwise > 0) return NO_HINTS
  const allowed = [numbers.filter(shows).map((number) => ({ [choices.id]: number }))]
  // Another client may have removed the domain and added it in another spelling.
  return asSent > 0 || certain > 0 || otherwise > TOLERATED
    ? { allows: allowed, likely: [] }
    : { allows: [], likely: allowed }
}

function isSorted(items: readonly { shown: readonly string[] }[]): boolean {
  const ways = items[0]?.shown.length ?? 0
  for (let way = 0; way < ways; way++) {
    const texts = items.map(({ shown }) => shown[way] ?? '')
    if (texts.every((text, index) => index === 0 || (texts[index - 1] as string) <= text)) return true
  }
  return false
}
