import { refreshDay } from '../domain/dmarc.ts'
import { comparedName } from '../domain/groups.ts'
import { arrange } from '../domain/order.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { Explanation } from './behaviour.ts'
import { areTexts, groupIn } from './data.ts'
import { observeFirstFigures } from './first-figures.ts'
import { countMisplaced, type GroupFact, KNOWN_LIMIT, Knowledge, type OtherMembers } from './knowledge.ts'
import type { Assignment, Observation } from './observation.ts'
import { comparable, type Purpose } from './purpose.ts'
import type { Reading } from './reading.ts'
import { Suspense } from './suspense.ts'
import type { Variants } from './variants.ts'

/** Something that an account should hold, or should not, by what was seen before. */
export interface Mismatch {
  /** The domain, or the name of the group. */
  name: string
  message: string
  /** The exchange that showed it otherwise. */
  since: string
  /** Whether only the service itself can have caused it. */
  isCertain: boolean
  /** The id of the rule that it breaks if only the service can have caused it; absent where there is none. */
  rule?: string
}

/** What a list says. */
export interface ListRemarks {
  mismatches: readonly Mismatch[]
  allows: readonly (readonly Assignment[])[]
  /** What it says if nobody has taken out an item and put it back. */
  likely: readonly (readonly Assignment[])[]
  /** A list that is in no order that the choices know. */
  isOutOfOrder: boolean
}

/** How many items of a list others may have taken out and put back while nobody looked, before its order counts. */
const TOLERATED = 2
const LIKELY_LIMIT = 1_000
/** In milliseconds, how long after its addition a domain is certainly not processed. */
const AT_ONCE = 30_000
/** In milliseconds, after which each domain has a record: a day of processing, and the next refresh. */
const LONGEST_PROCESSING = 48 * 3_600_000
/** Lists are looked at up to so many items for their order. */
const ORDER_LIMIT = 500

/** Everything about the account of one key. */
export class AccountTrack {
  readonly knowledge = new Knowledge()
  readonly suspense = new Suspense()
  /** Whether somebody else was seen to change the account. */
  isShared = false
  /** What lists said, and how many lists of each kind had been compared by then. */
  readonly #likely: { allows: readonly Assignment[]; evidence: string; seen: number }[] = []
  /** How many lists showed what was expected. */
  #confirmed = 0
  /** Whether a request with the key was ever admitted. */
  wasAdmitted = false
  /** Members of groups that were deleted since domains were listed last. */
  readonly #released = new Set<string>()
  /** The exchanges that created groups, by the ids of these. */
  readonly #createdBy = new Map<string, string>()
  readonly #variants: Variants
  readonly #isSole: boolean
  readonly #isOwn: (name: string) => boolean

  constructor(variants: Variants, isSole: boolean, isOwn: (name: string) => boolean) {
    this.#variants = variants
    this.#isSole = isSole
    this.#isOwn = isOwn
  }

  /** Whether nobody else changes what has this name. */
  isCertain(name: string): boolean {
    return this.#isSole || this.#isOwn(name)
  }

  /** Keeps what a list says only if nobody else has taken anything out and put it back. */
  remember(allows: ListRemarks['likely'], evidence: string): void {
    for (const each of allows) {
      if (this.#likely.length < LIKELY_LIMIT) this.#likely.push({ allows: each, evidence, seen: this.#confirmed })
    }
  }

  /**
   * What lists said, if nobody else was seen to change the account, also not in a list that came later.
   */
  get likely(): readonly Observation[] {
    if (this.isShared) return []
    const shown = this.#likely.filter(({ seen }) => seen < this.#confirmed)
    return shown.map(({ allows, evidence }) => ({ allows, evidence: [evidence], count: 1 }))
  }

  /** Takes over what a response shows. `now` is on the service's clock. */
  learn(reading: Reading, purpose: Purpose, explanation: Explanation | undefined, now: number): void {
    const { operation, outcome, exchange } = reading
    if (outcome.kind !== 'success' || operation === undefined) return
    const { data } = outcome
    const by = exchange.id
    const { knowledge } = this
    const echo = isObject(data) && areTexts(data['domains']) ? data['domains'] : []
    const group = isObject(data) ? groupIn(data['group']) : undefined
    switch (operation.id) {
      case 'addDomains': {
        const added = new Map(echo.map((spelling) => [comparable(spelling), spelling]))
        // Domains are added in the order of the request, in whatever order a response repeats them.
        const names = [...purpose.names.filter((name) => added.has(name)), ...added.keys()]
        for (const name of new Set(names)) {
          knowledge.addDomain(name, { spelling: purpose.spellings.get(name) ?? name, addedAt: now, by })
        }
        break
      }
      case 'deleteDomains':
        for (const name of echo) knowledge.removeDomain(comparable(name), by)
        break
      case 'createDomainGroup':
      case 'updateDomainGroup': {
        if (group === undefined) break
        const isCreation = operation.id === 'createDomainGroup'
        const fact = this.#factOf(group, explanation, by, isCreation)
        if (isCreation && this.#createdBy.size < KNOWN_LIMIT) this.#createdBy.set(group.id, by)
        if (isCreation) knowledge.addGroup(group.id, fact)
        else knowledge.seeGroup(group.id, fact)
        this.#learnMoves(group.id, explanation)
        break
      }
      case 'deleteDomainGroup':
        // Of several ids, another one may have been meant.
        if (purpose.ids.length > 1) knowledge.forget([], purpose.ids)
        for (const id of removedIn(purpose, explanation)) {
          for (const member of knowledge.groups.get(id)?.domains ?? []) this.#released.add(member)
          knowledge.removeGroup(id, by)
        }
        break
      case 'listDomainGroups':
        if (group !== undefined) knowledge.seeGroup(group.id, this.#factOf(group, explanation, by))
        break
    }
  }

  /** Nothing of what a request may have changed is known any more. */
  forget({ names, ids }: Purpose, operation: string): void {
    const { knowledge, suspense } = this
    for (const name of names) suspense.contradict(`domain ${name}`)
    for (const id of ids) suspense.contradict(`group ${id}`)
    suspense.contradict('groups')
    const touched = [...knowledge.groups].filter(([, group]) => group.domains.some((member) => names.includes(member)))
    const changesMembers = operation === 'deleteDomains' || operation === ''
    knowledge.forget(names, [...ids, ...(changesMembers ? touched.map(([id]) => id) : [])])
  }

  /** Confirms or contradicts what was known of a group that a response shows. */
  compareGroup(group: { id: string; name: string; domains: readonly string[] }): Mismatch[] {
    const fact = this.knowledge.groupOf(group.id)
    if (fact === undefined) return []
    const mismatch = this.#mismatchOf(group.id, fact, group)
    if (mismatch === undefined) {
      this.suspense.confirm(`group ${group.id}`)
      return []
    }
    this.suspense.contradict(`group ${group.id}`)
    return [mismatch]
  }

  /** Compares a whole list with what is known, and takes it over. */
  compareList(reading: Reading, now: number): ListRemarks {
    const isKnown =
      reading.operation?.id === 'listDomains' ? this.knowledge.areDomainsComplete : this.knowledge.areGroupsComplete
    const remarks = this.#compare(reading, now)
    if (remarks.mismatches.length > 0) this.isShared = true
    else if (isKnown) this.#confirmed++
    return remarks
  }

  #compare(reading: Reading, now: number): ListRemarks {
    const { operation, outcome } = reading
    if (outcome.kind !== 'success') return NOTHING
    const { data } = outcome
    const by = reading.exchange.id
    if (operation?.id === 'listDomains' && isObject(data) && areTexts(data['domains'])) {
      return this.#compareDomains(data['domains'], by, 'domainOrder', true, now)
    }
    if (operation?.id === 'listDmarc' && Array.isArray(data)) {
      const names = data.map((record) => (isObject(record) ? record['domain'] : undefined))
      if (!areTexts(names)) return NOTHING
      const figures = observeFirstFigures(data, this.knowledge, now, this.#variants)
      const remarks = this.#compareDomains(names, by, 'recordOrder', false, now)
      return { ...remarks, allows: [...remarks.allows, ...figures] }
    }
    if (operation?.id === 'listDomainGroups' && isObject(data) && Array.isArray(data['groups'])) {
      const groups = data['groups'].flatMap((each) => groupIn(each) ?? [])
      if (groups.length !== data['groups'].length) return NOTHING
      const remarks = this.#compareGroups(groups, by)
      const { count } = data
      if (count === groups.length) return remarks
      const message = `count is ${show(count)} of ${groups.length} groups.`
      const wrong = { name: '', since: '', isCertain: true, rule: LISTED, message }
      return { ...remarks, mismatches: [...remarks.mismatches, wrong] }
    }
    return NOTHING
  }

  #compareDomains(
    list: readonly string[],
    by: string,
    order: 'domainOrder' | 'recordOrder',
    isWhole: boolean,
    now: number,
  ): ListRemarks {
    const { knowledge, suspense } = this
    const seen = new Map(list.map((spelling) => [comparable(spelling), spelling]))
    const mismatches: Mismatch[] = []
    const rule = isWhole ? 'all-domains-listed' : 'one-record-per-domain'
    if (!isWhole && seen.size < list.length) {
      const twice = list.find((spelling, index) => list.indexOf(spelling) < index) ?? ''
      mismatches.push({ name: twice, since: '', isCertain: true, rule, message: `${twice} is listed twice.` })
    }
    for (const [name, { isMonitored, by: since, addedAt }] of knowledge.domains) {
      // A service may leave out the records of domains that were added a short time ago.
      if (!isMonitored || seen.has(name) || (!isWhole && addedAt !== undefined)) continue
      const missing = isWhole && this.#released.has(name) ? 'members-stay-monitored' : rule
      const message = `${name} is not listed.`
      mismatches.push({ name, since, isCertain: this.isCertain(name), rule: missing, message })
    }
    for (const name of seen.keys()) {
      if (knowledge.isMonitored(name) !== false) continue
      const since = knowledge.domains.get(name)?.by ?? ''
      mismatches.push({ name, since, isCertain: this.isCertain(name), rule, message: `${name} is listed.` })
    }
    for (const fact of suspense.facts) {
      if (!fact.startsWith('domain ')) continue
      const name = fact.slice('domain '.length)
      const expected = knowledge.isMonitored(name)
      if (expected === seen.has(name)) suspense.confirm(fact)
      else if (isWhole || expected === false) suspense.contradict(fact)
    }
    if (isWhole && mismatches.length === 0 && knowledge.areDomainsComplete) suspense.confirm('domains')
    else if (isWhole) suspense.contradict('domains')
    const items = list.map((spelling) => ({ name: comparable(spelling), shown: spelling }))
    const placed = items.map(({ name, shown }) => ({ name, shown: [shown], placed: knowledge.domains.get(name) }))
    const ordered = this.#orderOf(order, placed)
    const spelt = this.#spellingOf(items)
    const shown = isWhole ? NOTHING : this.#unprocessedIn(seen, now)
    for (const { name, shown } of items) knowledge.seeDomain(name, shown, by)
    if (isWhole) {
      for (const [name, fact] of knowledge.domains)
        if (fact.isMonitored && !seen.has(name)) knowledge.removeDomain(name, by)
      knowledge.areDomainsComplete = true
      this.#released.clear()
    }
    return joined(mismatches, ordered, spelt, shown)
  }

  #compareGroups(groups: readonly { id: string; name: string; domains: readonly string[] }[], by: string): ListRemarks {
    const { knowledge, suspense } = this
    const seen = new Map(groups.map((group) => [group.id, group]))
    const mismatches: Mismatch[] = []
    const moves = { allows: [] as (readonly Assignment[])[], likely: [] as (readonly Assignment[])[] }
    let isWhole = knowledge.areGroupsComplete
    for (const [id, fact] of knowledge.groups) {
      const group = seen.get(id)
      if (fact.exists !== (group !== undefined)) isWhole = false
      if (!fact.exists && group === undefined) continue
      const mismatch = this.#mismatchOf(id, fact, group)
      if (mismatch === undefined) {
        suspense.confirm(`group ${id}`)
        if (group !== undefined)
          moves[this.isCertain(fact.name) ? 'allows' : 'likely'].push(...this.#movesShown(fact, group))
      } else {
        suspense.contradict(`group ${id}`)
        mismatches.push(mismatch)
      }
    }
    for (const { id, name } of groups) {
      if (knowledge.groups.has(id)) continue
      isWhole = false
      if (!knowledge.areGroupsComplete || !this.isCertain(name)) continue
      const message = `The group ${id} is there, which nobody has made.`
      mismatches.push({ name, since: '', isCertain: true, rule: LISTED, message })
    }
    if (isWhole) suspense.confirm('groups')
    else suspense.contradict('groups')
    const comparisons = this.#variants.choicesOf('nameComparison')?.values ?? []
    const ordered = this.#orderOf(
      'groupOrder',
      groups.map(({ id, name }) => ({
        name,
        shown: comparisons.map((each) => comparedName(name, each as Settings['nameComparison'])),
        placed: knowledge.groups.get(id),
      })),
      // An id is never used twice, so nobody can have put a group back.
      0,
    )
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
    for (const [id, fact] of knowledge.groups) if (fact.exists && !seen.has(id)) knowledge.removeGroup(id, by)
    knowledge.areGroupsComplete = true
    return joined(mismatches, ordered, moves)
  }

  /** Which orders a list may be in; an empty list of them where it is in none. */
  #orderOf(
    setting: 'domainOrder' | 'recordOrder' | 'groupOrder',
    items: readonly { name: string; shown: readonly string[]; placed: Parameters<typeof countMisplaced>[0][number] }[],
    tolerated = TOLERATED,
  ): Pick<ListRemarks, 'allows' | 'likely'> {
    const choices = this.#variants.choicesOf(setting)
    if (choices === undefined || items.length < 2) return NOTHING
    const { id, values } = choices
    const looked = items.slice(0, ORDER_LIMIT)
    const certain = looked.filter(({ name }) => this.isCertain(name))
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
  #unprocessedIn(seen: ReadonlyMap<string, string>, now: number): Pick<ListRemarks, 'allows' | 'likely'> {
    const choices = this.#variants.choicesOf('unprocessedDomains')
    const refreshes = this.#variants.choicesOf('refresh')?.values ?? []
    if (choices === undefined) return NOTHING
    const allowed = (value: string) => {
      const numbers = [...choices.values.keys()].filter((number) => choices.values[number] === value)
      return [numbers.map((number) => ({ [choices.id]: number }))]
    }
    for (const [name, { isMonitored, addedAt }] of this.knowledge.domains) {
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
      return this.isCertain(name)
        ? { allows: allowed('absent'), likely: [] }
        : { allows: [], likely: allowed('absent') }
    }
    return NOTHING
  }

  /** Whether lists spell domains as they were sent: seen from those that were sent in another than the usual form. */
  #spellingOf(items: readonly { name: string; shown: string }[]): Pick<ListRemarks, 'allows' | 'likely'> {
    const choices = this.#variants.choicesOf('spelling')
    if (choices === undefined) return NOTHING
    let asSent = 0
    let otherwise = 0
    let certain = 0
    for (const { name, shown } of items) {
      const fact = this.knowledge.domains.get(name)
      // An international name has two usual forms.
      if (fact?.order === undefined || fact.spelling === name || name.includes('xn--')) continue
      if (shown === fact.spelling) asSent++
      else if (shown === name) otherwise++
      if (shown === name && this.isCertain(name)) certain++
    }
    const numbers = [...choices.values.keys()]
    const shows = (number: number) => (choices.values[number] === 'as-sent') === asSent > 0
    if (asSent > 0 === otherwise > 0) return NOTHING
    const allowed = [numbers.filter(shows).map((number) => ({ [choices.id]: number }))]
    // Another client may have removed the domain and added it in another spelling.
    return asSent > 0 || certain > 0 || otherwise > TOLERATED
      ? { allows: allowed, likely: [] }
      : { allows: [], likely: allowed }
  }

  #mismatchOf(
    id: string,
    fact: GroupFact,
    group: { name: string; domains: readonly string[] } | undefined,
  ): Mismatch | undefined {
    const since = fact.by
    if (!fact.exists) {
      if (group === undefined) return undefined
      // No id is used twice.
      const isCertain = since !== '' && this.isCertain(group.name)
      return { name: group.name, since, isCertain, rule: LISTED, message: `The group ${id} is there.` }
    }
    const { name } = fact
    const isCertain = this.isCertain(name)
    if (group === undefined) return { name, since, isCertain, rule: LISTED, message: `The group ${id} is not there.` }
    if (group.name !== name)
      return { name, since, isCertain, message: `The group ${id} is called ${JSON.stringify(group.name)}.` }
    const members = group.domains.map(comparable)
    const possible = [fact.domains, ...(fact.otherwise ?? []).map(({ domains }) => domains)]
    if (possible.some((each) => areSameSets(each, members))) return undefined
    const message = `The group ${id} has the members ${members.join(', ') || 'none'}.`
    const isNew = this.#createdBy.get(id) === since
    return { name, since, isCertain, message, ...(isNew && { rule: 'members-in-the-same-call' }) }
  }

  /** What the members of a group say about choices that would have changed them. */
  #movesShown(fact: GroupFact, group: { domains: readonly string[] }): (readonly Assignment[])[] {
    const members = group.domains.map(comparable)
    return (fact.otherwise ?? []).flatMap((other) => {
      const [isOwn, isOther] = [areSameSets(fact.domains, members), areSameSets(other.domains, members)]
      if (isOwn === isOther) return []
      const numbers = this.#variants.numbersOf(other.id).filter((number) => (number === other.number) === isOther)
      const allowed = numbers.map((number) => ({ [other.id]: number }))
      return [allowed]
    })
  }

  #factOf(
    group: { id: string; name: string; domains: readonly string[] },
    explanation: Explanation | undefined,
    by: string,
    isCreation = false,
  ): Pick<GroupFact, 'name' | 'domains' | 'isInOrder' | 'by'> {
    const members = group.domains.map(comparable)
    const after = membersIn(explanation?.prediction, group.id) ?? createdMembersIn(explanation?.prediction)
    // The order of addition is known where that of before is, or where all members came with the group.
    const isKnown = isCreation || this.knowledge.groups.get(group.id)?.isInOrder === true
    const isInOrder = isKnown && after !== undefined && areSameSets(after, members)
    return { name: group.name, domains: isInOrder ? after : members, isInOrder, by }
  }

  /** Notes what other groups have lost to this one, and what they would have lost under another choice. */
  #learnMoves(id: string, explanation: Explanation | undefined): void {
    if (explanation === undefined) return
    for (const [other, fact] of this.knowledge.groups) {
      if (other === id || !fact.exists) continue
      const domains = membersIn(explanation.prediction, other) ?? fact.domains
      const otherwise = explanation.otherwise.flatMap(({ id: assumption, number, prediction }): OtherMembers[] => {
        const members = membersIn(prediction, other)
        return members === undefined || areSameSets(members, domains)
          ? []
          : [{ id: assumption, number, domains: members }]
      })
      if (domains !== fact.domains || otherwise.length > 0) {
        this.knowledge.groups.set(other, { ...fact, domains, ...(otherwise.length > 0 && { otherwise }) })
      }
    }
  }
}

/** With a list of groups comes the number of all. */
const LISTED = 'groups-with-count'
const NOTHING: ListRemarks = { mismatches: [], allows: [], likely: [], isOutOfOrder: false }

function joined(
  mismatches: readonly Mismatch[],
  ...all: readonly Pick<ListRemarks, 'allows' | 'likely'>[]
): ListRemarks {
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

/** The groups that a request has removed. Where a service may have meant another one, nothing is known of either. */
function removedIn({ ids }: Purpose, explanation: Explanation | undefined): readonly string[] {
  const predictions = [explanation?.prediction, ...(explanation?.otherwise ?? []).map(({ prediction }) => prediction)]
  const removed = predictions.map((each) => ids.filter((id) => each?.ok !== true || !each.state.groups.has(id)))
  const [first = ids] = removed
  return removed.every((each) => each.join() === first.join()) ? first : []
}

function membersIn(prediction: Explanation['prediction'], id: string): readonly string[] | undefined {
  return prediction?.ok === true ? prediction.state.groups.get(id)?.domains.map(comparable) : undefined
}

/** The members of the group that a request has created, which has an id of our own there. */
function createdMembersIn(prediction: Explanation['prediction']): readonly string[] | undefined {
  if (prediction?.ok !== true || prediction.state.groupsCreated === 0) return undefined
  return [...prediction.state.groups.values()].at(-1)?.domains.map(comparable)
}

function isSorted(items: readonly { shown: readonly string[] }[]): boolean {
  const ways = items[0]?.shown.length ?? 0
  for (let way = 0; way < ways; way++) {
    const texts = items.map(({ shown }) => shown[way] ?? '')
    if (texts.every((text, index) => index === 0 || (texts[index - 1] as string) <= text)) return true
  }
  return false
}

function areSameSets(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(some)
  return set.size === new Set(others).size && others.every((each) => set.has(each))
}
