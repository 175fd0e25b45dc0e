import { comparedName } from '../domain/groups.ts'
import { arrange } from '../domain/order.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject } from '../ground/json.ts'
import type { Explanation } from './behaviour.ts'
import { areTexts, groupIn } from './data.ts'
import { countMisplaced, type GroupFact, Knowledge, type OtherMembers } from './knowledge.ts'
import type { Assignment } from './observation.ts'
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
}

/** What a list says. */
export interface ListRemarks {
  mismatches: readonly Mismatch[]
  allows: readonly (readonly Assignment[])[]
  /** A list that is in no order that the choices know. */
  isOutOfOrder: boolean
}

/** How many items of a list others may have taken out and put back while nobody looked, before its order counts. */
const TOLERATED = 2
/** Lists are looked at up to so many items for their order. */
const ORDER_LIMIT = 500

/** Everything about the account of one key. */
export class AccountTrack {
  readonly knowledge = new Knowledge()
  readonly suspense = new Suspense()
  /** Whether a request with the key was ever admitted. */
  wasAdmitted = false
  readonly #variants: Variants
  readonly #isSole: boolean
  readonly #isOwn: (name: string) => boolean
  /** How often the members of a group were as only another choice explains. */
  readonly #moves = new Map<string, number>()

  constructor(variants: Variants, isSole: boolean, isOwn: (name: string) => boolean) {
    this.#variants = variants
    this.#isSole = isSole
    this.#isOwn = isOwn
  }

  /** Whether nobody else changes what has this name. */
  isCertain(name: string): boolean {
    return this.#isSole || this.#isOwn(name)
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
        if (isCreation) knowledge.addGroup(group.id, fact)
        else knowledge.seeGroup(group.id, fact)
        this.#learnMoves(group.id, explanation)
        break
      }
      case 'deleteDomainGroup':
        for (const id of purpose.ids.slice(0, 1)) knowledge.removeGroup(id, by)
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
  compareList(reading: Reading): ListRemarks {
    const { operation, outcome } = reading
    if (outcome.kind !== 'success') return NOTHING
    const { data } = outcome
    const by = reading.exchange.id
    if (operation?.id === 'listDomains' && isObject(data) && areTexts(data['domains'])) {
      return this.#compareDomains(data['domains'], by, 'domainOrder', true)
    }
    if (operation?.id === 'listDmarc' && Array.isArray(data)) {
      const names = data.map((record) => (isObject(record) ? record['domain'] : undefined))
      return areTexts(names) ? this.#compareDomains(names, by, 'recordOrder', false) : NOTHING
    }
    if (operation?.id === 'listDomainGroups' && isObject(data) && Array.isArray(data['groups'])) {
      const groups = data['groups'].flatMap((each) => groupIn(each) ?? [])
      return groups.length === data['groups'].length ? this.#compareGroups(groups, by) : NOTHING
    }
    return NOTHING
  }

  #compareDomains(
    list: readonly string[],
    by: string,
    order: 'domainOrder' | 'recordOrder',
    isWhole: boolean,
  ): ListRemarks {
    const { knowledge, suspense } = this
    const seen = new Map(list.map((spelling) => [comparable(spelling), spelling]))
    const mismatches: Mismatch[] = []
    for (const [name, { isMonitored, by: since, addedAt }] of knowledge.domains) {
      // A service may leave out the records of domains that were added a short time ago.
      if (!isMonitored || seen.has(name) || (!isWhole && addedAt !== undefined)) continue
      mismatches.push({ name, since, isCertain: this.isCertain(name), message: `${name} is not listed.` })
    }
    for (const name of seen.keys()) {
      if (knowledge.isMonitored(name) !== false) continue
      const since = knowledge.domains.get(name)?.by ?? ''
      mismatches.push({ name, since, isCertain: this.isCertain(name), message: `${name} is listed.` })
    }
    for (const fact of suspense.facts) {
      if (!fact.startsWith('domain ')) continue
      const name = fact.slice('domain '.length)
      const expected = knowledge.isMonitored(name)
      if (expected === seen.has(name)) suspense.confirm(fact)
      else if (isWhole || expected === false) suspense.contradict(fact)
    }
    const items = list.map((spelling) => ({ name: comparable(spelling), shown: spelling }))
    const allows = [
      ...this.#orderOf(
        order,
        items.map(({ name, shown }) => ({ name, shown: [shown], placed: knowledge.domains.get(name) })),
      ),
      ...(isWhole || order === 'recordOrder' ? this.#spellingOf(items) : []),
    ]
    for (const { name, shown } of items) knowledge.seeDomain(name, shown, by)
    if (isWhole) {
      for (const [name, fact] of knowledge.domains)
        if (fact.isMonitored && !seen.has(name)) knowledge.removeDomain(name, by)
      knowledge.areDomainsComplete = true
    }
    return {
      mismatches,
      allows: allows.filter(({ length }) => length > 0),
      isOutOfOrder: allows.some((each) => each.length === 0),
    }
  }

  #compareGroups(groups: readonly { id: string; name: string; domains: readonly string[] }[], by: string): ListRemarks {
    const { knowledge, suspense } = this
    const seen = new Map(groups.map((group) => [group.id, group]))
    const mismatches: Mismatch[] = []
    const allows: (readonly Assignment[])[] = []
    let isWhole = knowledge.areGroupsComplete
    for (const [id, fact] of knowledge.groups) {
      const group = seen.get(id)
      if (fact.exists !== (group !== undefined)) isWhole = false
      if (!fact.exists && group === undefined) continue
      const mismatch = this.#mismatchOf(id, fact, group)
      if (mismatch === undefined) {
        suspense.confirm(`group ${id}`)
        if (group !== undefined) allows.push(...this.#movesShown(fact, group))
      } else {
        suspense.contradict(`group ${id}`)
        mismatches.push(mismatch)
      }
    }
    if (groups.some(({ id }) => !knowledge.groups.has(id))) isWhole = false
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
    return {
      mismatches,
      allows: [...allows, ...ordered.filter(({ length }) => length > 0)],
      isOutOfOrder: ordered.some((each) => each.length === 0),
    }
  }

  /** Which orders a list may be in; an empty list of them where it is in none. */
  #orderOf(
    setting: 'domainOrder' | 'recordOrder' | 'groupOrder',
    items: readonly { name: string; shown: readonly string[]; placed: Parameters<typeof countMisplaced>[0][number] }[],
    tolerated = TOLERATED,
  ): (readonly Assignment[])[] {
    const choices = this.#variants.choicesOf(setting)
    if (choices === undefined || items.length < 2) return []
    const { id, values } = choices
    const looked = items.slice(0, ORDER_LIMIT)
    const certain = looked.filter(({ name }) => this.isCertain(name))
    const allowed = values.flatMap((value, number) => {
      if (value === 'alphabetical') return isSorted(items) ? [{ [id]: number }] : []
      const turn = <Item>(list: readonly Item[]) => arrange(list, value as 'addition' | 'newest-first', String)
      const misplaced = countMisplaced(turn(looked).map(({ placed }) => placed))
      const isWrong = countMisplaced(turn(certain).map(({ placed }) => placed)) > 0 || misplaced > tolerated
      return isWrong ? [] : [{ [id]: number }]
    })
    if (allowed.length === values.length) return []
    return allowed.length > 0 || certain.length > 1 ? [allowed] : []
  }

  /** Whether lists spell domains as they were sent: seen from those that were sent in another than the usual form. */
  #spellingOf(items: readonly { name: string; shown: string }[]): (readonly Assignment[])[] {
    const choices = this.#variants.choicesOf('spelling')
    if (choices === undefined) return []
    let asSent = 0
    let otherwise = 0
    let certain = 0
    for (const { name, shown } of items) {
      const fact = this.knowledge.domains.get(name)
      if (fact?.order === undefined || fact.spelling === name) continue
      if (shown === fact.spelling) asSent++
      else if (shown === name) otherwise++
      if (shown === name && this.isCertain(name)) certain++
    }
    const numbers = [...choices.values.keys()]
    const shows = (number: number) => (choices.values[number] === 'as-sent') === asSent > 0
    if (asSent > 0 && otherwise > 0) return []
    if (asSent === 0 && certain === 0 && otherwise <= TOLERATED) return []
    return [numbers.filter(shows).map((number) => ({ [choices.id]: number }))]
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
      return { name: group.name, since, isCertain, message: `The group ${id} is there.` }
    }
    const { name } = fact
    const isCertain = this.isCertain(name)
    if (group === undefined) return { name, since, isCertain, message: `The group ${id} is not there.` }
    if (group.name !== name)
      return { name, since, isCertain, message: `The group ${id} is called ${JSON.stringify(group.name)}.` }
    const members = group.domains.map(comparable)
    const possible = [fact.domains, ...(fact.otherwise ?? []).map(({ domains }) => domains)]
    if (possible.some((each) => areSameSets(each, members))) return undefined
    return { name, since, isCertain, message: `The group ${id} has the members ${members.join(', ') || 'none'}.` }
  }

  /** What the members of a group say about choices that would have changed them. */
  #movesShown(fact: GroupFact, group: { domains: readonly string[] }): (readonly Assignment[])[] {
    const members = group.domains.map(comparable)
    return (fact.otherwise ?? []).flatMap((other) => {
      const [isOwn, isOther] = [areSameSets(fact.domains, members), areSameSets(other.domains, members)]
      if (isOwn === isOther) return []
      const numbers = this.#variants.numbersOf(other.id).filter((number) => (number === other.number) === isOther)
      const allowed = numbers.map((number) => ({ [other.id]: number }))
      if (this.isCertain(fact.name)) return [allowed]
      // Somebody else may have put the members back, or taken them out. Both become unlikely when it happens again.
      const key = `${other.id} ${other.number} ${isOther}`
      const count = (this.#moves.get(key) ?? 0) + 1
      this.#moves.set(key, count)
      return count > TOLERATED ? [allowed] : []
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

const NOTHING: ListRemarks = { mismatches: [], allows: [], isOutOfOrder: false }

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
