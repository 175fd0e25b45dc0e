import { countMisplaced, type Knowledge } from '../choices/knowledge.ts'
import type { Assignment } from '../choices/observation.ts'
import type { Variants } from '../choices/variants.ts'
import { refreshDay } from '../domain/dmarc.ts'
import { arrange } from '../domain/order.ts'

/** What a list says about choices. */
export interface Hints {
  allows: readonly (readonly Assignment[])[]
  /** What the list says if no client has removed an item and added it again. */
  likely: readonly (readonly Assignment[])[]
}

export const NO_HINTS: Hints = { allows: [], likely: [] }

/** The knowledge with which a list is compared. */
export interface Viewpoint {
  knowledge: Knowledge
  variants: Variants
  /** Whether no other client changes the domain or group with this name. */
  isCertain(name: string): boolean
}

/** Other clients may have removed and added again this many items unseen. With more, the order of the list counts. */
const TOLERATED = 2
/** In milliseconds: for this long after its addition, a domain is certainly not processed. */
const AT_ONCE = 30_000
/** In milliseconds: after a day of processing and the time to the next refresh, each domain has a record. */
const LONGEST_PROCESSING = 48 * 3_600_000
/** How many items of a list are checked for their order. */
const ORDER_LIMIT = 500

/** The orders that a list may be in; an empty list of orders if none fits. */
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

/** Whether domains that were added a moment ago already have records. */
export function unprocessedIn(
  { variants, knowledge, isCertain }: Viewpoint,
  seen: ReadonlyMap<string, string>,
  now: number,
): Hints {
  const refreshes = variants.choicesOf('refresh')?.values ?? []
  if (variants.choicesOf('unprocessedDomains') === undefined) return NO_HINTS
  const allowed = (value: string) => [variants.assignmentsWith('unprocessedDomains', (each) => each === value) ?? []]
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

/** Whether lists spell domains as they were sent. Only domains sent in another than the usual form show it. */
export function spellingOf(
  { variants, knowledge, isCertain }: Viewpoint,
  items: readonly { name: string; shown: string }[],
): Hints {
  let asSent = 0
  let altered = 0
  let certain = 0
  for (const { name, shown } of items) {
    const fact = knowledge.domains.get(name)
    // An internationalized domain name has two usual forms.
    if (fact?.order === undefined || fact.spelling === name || name.includes('xn--')) continue
    if (shown === fact.spelling) asSent++
    else if (shown === name) altered++
    if (shown === name && isCertain(name)) certain++
  }
  const allows = variants.assignmentsWith('spelling', (value) => (value === 'as-sent') === asSent > 0)
  if (allows === undefined || asSent > 0 === altered > 0) return NO_HINTS
  const allowed = [allows]
  // Another client may have removed the domain and added it in another spelling.
  return asSent > 0 || certain > 0 || altered > TOLERATED
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
