import type { GroupFact, Knowledge } from '../choices/knowledge.ts'
import type { Assignment } from '../choices/observation.ts'
import type { DomainGroup } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { areSameSets } from '../exchanges/data.ts'
import { comparable } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import type { Json } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { observeFirstFigures } from './first-figures.ts'
import { type Hints, NO_HINTS, orderOf, spellingOf, unprocessedIn, type Viewpoint } from './list-hints.ts'
import type { PendingConclusions } from './pending-conclusions.ts'

/** A difference between a list and what the account should hold by earlier exchanges. */
export interface Mismatch {
  /** The domain, or the name of the group. */
  name: string
  message: string
  /** The exchange that showed the opposite. */
  since: string
  /** Whether only the service itself can have caused it. */
  isCertain: boolean
  /** The id of the rule that is broken if only the service can have caused it; absent if there is none. */
  rule?: string
}

/** What a list says. */
export interface ListRemarks extends Hints {
  mismatches: readonly Mismatch[]
  /** Whether the list is in an order that no choice gives. */
  isOutOfOrder: boolean
  /** Two domains of the list that some services take for one, and others need not. */
  alike?: readonly [first: string, second: string] | undefined
}

/** The knowledge with which a list is compared, and the conclusions that the list may confirm. */
export interface ListView extends Viewpoint {
  pending: PendingConclusions
}

/** A list of groups has the number of all groups beside it. */
const LISTED = 'groups-with-count'
const NOTHING: ListRemarks = { mismatches: [], allows: [], likely: [], isOutOfOrder: false }

export function compareList(view: ListView, reading: ReadExchange, now: number): ListRemarks {
  const { outcome, shown } = reading
  if (outcome.kind !== 'success') return NOTHING
  const { lists, domains, groups } = shown
  const by = reading.exchange.id
  if (domains !== undefined && lists === 'domains') return compareDomains(view, domains, by, 'domainOrder', true, now)
  if (domains !== undefined && lists === 'records') {
    const figures = observeFirstFigures(outcome.data as readonly unknown[], view.knowledge, now, view.variants)
    const remarks = compareDomains(view, domains, by, 'recordOrder', false, now)
    return { ...remarks, allows: [...remarks.allows, ...figures] }
  }
  if (groups === undefined) return NOTHING
  const remarks = compareGroups(view, groups, by)
  const { count } = outcome.data as Json
  if (count === groups.length) return remarks
  const message = `count is ${show(count)}, but the list has ${groups.length} groups.`
  const wrong = { name: '', since: '', isCertain: true, rule: LISTED, message }
  return { ...remarks, mismatches: [...remarks.mismatches, wrong] }
}

function compareDomains(
  view: ListView,
  list: readonly string[],
  by: string,
  order: 'domainOrder' | 'recordOrder',
  isWhole: boolean,
  now: number,
): ListRemarks {
  const { knowledge } = view
  const seen = new Map(list.map((spelling) => [comparable(spelling), spelling]))
  const twice = seen.size < list.length ? repeatedIn(list, lowered) : undefined
  const alike = seen.size < list.length && twice === undefined ? repeatedIn(list, comparable) : undefined
  const mismatches = domainMismatches(view, twice?.[1], seen, isWhole)
  settleDomains(view, seen, isWhole, mismatches.length === 0)
  const items = list.map((spelling) => ({ name: comparable(spelling), shown: spelling }))
  const placed = items.map(({ name, shown }) => ({ name, shown: [shown], placed: knowledge.domains.get(name) }))
  const ordered = orderOf(view, order, placed)
  const spelt = spellingOf(view, items)
  const unprocessed = isWhole ? NO_HINTS : unprocessedIn(view, seen, now)
  for (const { name, shown } of items) knowledge.seeDomain(name, shown, by)
  if (isWhole) {
    for (const [name, fact] of knowledge.domains)
      if (fact.isMonitored && !seen.has(name)) knowledge.removeDomain(name, by)
    knowledge.areDomainsComplete = true
    knowledge.released.clear()
  }
  return { ...joined(mismatches, ordered, spelt, unprocessed), alike }
}

/** Hostnames are the same without regard to case (RFC 4343). The specification shows nothing else that makes them so. */
function lowered(name: string): string {
  return comparedName(name, 'ascii')
}

/** The first two names of a list with the same form. */
function repeatedIn(list: readonly string[], formOf: (name: string) => string): readonly [string, string] | undefined {
  const names = new Map<string, string>()
  for (const name of list) {
    const form = formOf(name)
    const former = names.get(form)
    if (former !== undefined) return [former, name]
    names.set(form, name)
  }
  return undefined
}

function domainMismatches(
  { knowledge, isCertain }: ListView,
  twice: string | undefined,
  seen: ReadonlyMap<string, string>,
  isWhole: boolean,
): Mismatch[] {
  const mismatches: Mismatch[] = []
  const rule = isWhole ? 'all-domains-listed' : 'one-record-per-domain'
  if (twice !== undefined) {
    mismatches.push({ name: twice, since: '', isCertain: true, rule, message: `${twice} is listed twice.` })
  }
  for (const [name, { isMonitored, by: since, addedAt }] of knowledge.domains) {
    // A service may leave out the records of domains that were added shortly before.
    if (!isMonitored || seen.has(name) || (!isWhole && addedAt !== undefined)) continue
    const missing = isWhole && knowledge.released.has(name) ? 'members-stay-monitored' : rule
    const message = `${name} is not listed.`
    mismatches.push({ name, since, isCertain: isCertain(name), rule: missing, message })
  }
  for (const name of seen.keys()) {
    if (knowledge.isMonitored(name) !== false) continue
    const since = knowledge.domains.get(name)?.by ?? ''
    mismatches.push({ name, since, isCertain: isCertain(name), rule, message: `${name} is listed.` })
  }
  return mismatches
}

/** Confirms or contradicts what was expected of the domains of a list. */
function settleDomains(
  { knowledge, pending }: ListView,
  seen: ReadonlyMap<string, string>,
  isWhole: boolean,
  isExpected: boolean,
): void {
  for (const fact of pending.facts) {
    if (!fact.startsWith('domain ')) continue
    const name = fact.slice('domain '.length)
    const expected = knowledge.isMonitored(name)
    if (expected === seen.has(name)) pending.confirm(fact)
    else if (isWhole || expected === false) pending.contradict(fact)
  }
  if (isWhole && isExpected && knowledge.areDomainsComplete) pending.confirm('domains')
  else if (isWhole) pending.contradict('domains')
}

function compareGroups(view: ListView, groups: readonly DomainGroup[], by: string): ListRemarks {
  const { knowledge, pending, variants, isCertain } = view
  const seen = new Map(groups.map((group) => [group.id, group]))
  const mismatches: Mismatch[] = namesakesIn(groups)
  const moves = { allows: [] as (readonly Assignment[])[], likely: [] as (readonly Assignment[])[] }
  let isWhole = knowledge.areGroupsComplete
  for (const [id, fact] of knowledge.groups) {
    const group = seen.get(id)
    if (fact.exists !== (group !== undefined)) isWhole = false
    if (!fact.exists && group === undefined) continue
    const mismatch = mismatchOf(view, id, fact, group)
    if (mismatch === undefined) {
      pending.confirm(`group ${id}`)
      if (group !== undefined) moves[isCertain(fact.name) ? 'allows' : 'likely'].push(...movesShown(view, fact, group))
    } else {
      pending.contradict(`group ${id}`)
      mismatches.push(mismatch)
    }
  }
  for (const { id, name } of groups) {
    if (knowledge.groups.has(id)) continue
    isWhole = false
    if (!knowledge.areGroupsComplete || !isCertain(name)) continue
    const message = `The group ${id} is there, but no request has created it.`
    mismatches.push({ name, since: '', isCertain: true, rule: LISTED, message })
  }
  if (isWhole) pending.confirm('groups')
  else pending.contradict('groups')
  const comparisons = variants.choicesOf('nameComparison')?.values ?? []
  const ordered = orderOf(
    view,
    'groupOrder',
    groups.map(({ id, name }) => ({
      name,
      shown: comparisons.map((each) => comparedName(name, each as Settings['nameComparison'])),
      placed: knowledge.groups.get(id),
    })),
    // An id is never used twice, so no client can have deleted a group and added it again.
    0,
  )
  takeGroups(knowledge, groups, by)
  return joined(mismatches, ordered, moves)
}

/** Groups of one list with the same name. No other client can have made both, so they need no earlier exchange. */
function namesakesIn(groups: readonly DomainGroup[]): Mismatch[] {
  const named = new Map<string, string>()
  return groups.flatMap(({ name }): Mismatch[] => {
    const compared = comparedName(name, 'ascii')
    const former = named.get(compared)
    named.set(compared, name)
    if (former === undefined) return []
    const message = `Two groups of the list are called ${show(former)} and ${show(name)}.`
    return [{ name, since: '', isCertain: true, rule: 'name-unique', message }]
  })
}

/** Updates the knowledge from a list of all groups. */
function takeGroups(knowledge: Knowledge, groups: readonly DomainGroup[], by: string): void {
  const listed = new Set(groups.map(({ id }) => id))
  for (const group of groups) {
    const known = knowledge.groups.get(group.id)
    const members = group.domains.map(comparable)
    const isSame = known?.exists === true && areSameSets(known.domains, members)
    knowledge.seeGroup(group.id, {
      name: group.name,
      domains: isSame ? known.domains : members,
      isInOrder: isSame && known.isInOrder,
      by,
    })
  }
  // The list may be older than the group, so only a deletion shows that the group is gone for good.
  for (const [id, fact] of knowledge.groups) if (fact.exists && !listed.has(id)) knowledge.groups.delete(id)
  knowledge.areGroupsComplete = true
}

function mismatchOf(view: ListView, id: string, fact: GroupFact, group: DomainGroup | undefined): Mismatch | undefined {
  const since = fact.by
  if (!fact.exists) {
    if (group === undefined) return undefined
    // No id is used twice.
    const isCertain = since !== '' && view.isCertain(group.name)
    return { name: group.name, since, isCertain, rule: LISTED, message: `The group ${id} is there.` }
  }
  const { name } = fact
  const isCertain = view.isCertain(name)
  if (group === undefined) return { name, since, isCertain, rule: LISTED, message: `The group ${id} is not there.` }
  if (group.name !== name)
    return { name, since, isCertain, message: `The group ${id} is called ${JSON.stringify(group.name)}.` }
  const members = group.domains.map(comparable)
  const possible = [fact.domains, ...(fact.underOthers ?? []).map(({ domains }) => domains)]
  if (possible.some((each) => areSameSets(each, members))) return undefined
  const message = `The group ${id} has the members ${members.join(', ') || 'none'}.`
  return { name, since, isCertain, message, ...(fact.isNew && { rule: 'members-in-the-same-call' }) }
}

/** What the members of a group say about choices under which the members would be different. */
function movesShown({ variants }: ListView, fact: GroupFact, { domains }: DomainGroup): (readonly Assignment[])[] {
  const members = domains.map(comparable)
  return (fact.underOthers ?? []).flatMap((other) => {
    const [isOwn, isOther] = [areSameSets(fact.domains, members), areSameSets(other.domains, members)]
    if (isOwn === isOther) return []
    const numbers = variants.numbersOf(other.id).filter((number) => (number === other.number) === isOther)
    const allowed = numbers.map((number) => ({ [other.id]: number }))
    return [allowed]
  })
}

function joined(mismatches: readonly Mismatch[], ...all: readonly Hints[]): ListRemarks {
  const allows = all.flatMap((each) => each.allows)
  const likely = all.flatMap((each) => each.likely)
  const says = (list: readonly (readonly Assignment[])[]) => list.filter(({ length }) => length > 0)
  return {
    mismatches,
    allows: says(allows),
    likely: says(likely),
    isOutOfOrder: allows.some(({ length }) => length === 0),
  }
}
