import { areTexts } from '../behaviour/shown-data.ts'
import { comparable, type RequestPurpose } from '../exchanges/purpose.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { combinationsOf } from '../ground/combinations.ts'
import type { GroupFact, Knowledge } from './knowledge.ts'
import type { World } from './possible-accounts.ts'

/** What the account may have held when a request came, and the knowledge that this relies on. */
export interface Hypotheses {
  worlds: readonly World[]
  /**
   * The facts that it relies on. `domain NAME`: whether it is monitored. `free NAME`: no feature uses it. `group ID`: its
   * name and members. `domains`, `groups`: there are no others.
   */
  facts: ReadonlySet<string>
}

type DomainState = 'absent' | 'free' | 'used'
type HypotheticalGroup = World['groups'][number]

/** With more worlds, only a few combinations of domains are tried. They show everything that a service can do. */
const WORLDS_USUAL = 96
/** The most worlds that are tried. */
const WORLDS_LIMIT = 512
/** An id that no service gives. */
const SOME_ID = '\u0000some group'
const SOME_NAME = '\u0000some name'

/** The knowledge that a judgement relies on. */
export interface Reliance {
  /** Whether all knowledge counts as true, although another client could have changed the account. */
  onAll: boolean
  /** Whether no feature has begun to use a domain since it was added. */
  onFreedom?: boolean
  /** Whether no other client uses a domain or group name like this. */
  isOwn(name: string): boolean
}

/**
 * The worlds that a request may have met. The knowledge that the judgement relies on counts as true; everything else
 * may be true or false. The content of a success limits the possibilities.
 */
export function hypothesesFor(
  reading: ReadExchange,
  purpose: RequestPurpose,
  knowledge: Knowledge,
  relies: Reliance,
): Hypotheses {
  const facts = new Set<string>()
  const filling = fillingFor(purpose, knowledge, relies, facts)
  const named = namedGroups(reading, purpose, knowledge, relies, facts)
  const others = otherGroups(purpose, knowledge, relies, facts)
  const room = Math.floor(WORLDS_USUAL / (named.length * others.length))
  const domains = domainStates(reading, purpose, knowledge, relies, facts, room)
  const worlds: World[] = []
  for (const states of domains) {
    for (const groups of named) {
      for (const beside of others) {
        if (worlds.length >= WORLDS_LIMIT) return { worlds, facts }
        worlds.push(worldOf(states, groups, beside, purpose, knowledge, filling))
      }
    }
  }
  return { worlds, facts }
}

function worldOf(
  states: ReadonlyMap<string, DomainState>,
  named: readonly HypotheticalGroup[],
  others: readonly HypotheticalGroup[],
  { spellings }: RequestPurpose,
  knowledge: Knowledge,
  filling: Filling,
): World {
  const groups = [...named, ...others.filter(({ id }) => !named.some((each) => each.id === id))]
  const all = new Map(states)
  // Members are monitored, unless the request itself is about these domains.
  for (const member of groups.flatMap((group) => group.domains)) if (!all.has(member)) all.set(member, 'free')
  const domains = [...all].filter(([, state]) => state !== 'absent')
  const filled = {
    domains: filling.domains.filter((name) => !all.has(name)),
    groups: filling.groups.filter(({ id }) => !groups.some((each) => each.id === id)),
  }
  return {
    domains: [
      ...filled.domains.map((name) => ({ name })),
      ...domains.map(([name, state]) => {
        const { spelling = spellings.get(name) ?? name, addedAt } = knowledge.domains.get(name) ?? {}
        return { name, spelling, isUsed: state === 'used', ...(addedAt !== undefined && { addedAt }) }
      }),
    ],
    groups: [...filled.groups, ...groups],
  }
}

/** What else the account holds. It matters only to a service that limits how much an account holds. */
interface Filling {
  domains: readonly string[]
  groups: readonly HypotheticalGroup[]
}

const NO_FILLING: Filling = { domains: [], groups: [] }
/** The smallest limits on domains and groups that a choice has, minus what one request can add. */
const MANY_DOMAINS = 50
const MANY_GROUPS = 18
/** Enough for every limit that a choice has. */
const FILLED = 200

function fillingFor(
  { name, names }: RequestPurpose,
  knowledge: Knowledge,
  relies: Reliance,
  facts: Set<string>,
): Filling {
  if (!relies.onAll) return NO_FILLING
  const domains: string[] = []
  const groups: HypotheticalGroup[] = []
  if (knowledge.areDomainsComplete && names.length > 0 && knowledge.domains.size >= MANY_DOMAINS) {
    for (const [each, { isMonitored }] of knowledge.domains)
      if (isMonitored && domains.length < FILLED) domains.push(each)
    facts.add('domains')
  }
  if (knowledge.areGroupsComplete && name !== undefined && knowledge.groups.size >= MANY_GROUPS) {
    for (const [id, group] of knowledge.groups)
      if (group.exists && groups.length < FILLED) groups.push(groupOf(id, group))
    facts.add('groups')
  }
  return { domains, groups }
}

/** The states that the domains of a request may have had, for all of them together. */
function domainStates(
  { operation, shown }: ReadExchange,
  { names }: RequestPurpose,
  knowledge: Knowledge,
  relies: Reliance,
  facts: Set<string>,
  room: number,
): ReadonlyMap<string, DomainState>[] {
  const isDeletion = operation?.method === 'DELETE'
  const options = names.map((name) =>
    statesOf(name, isDeletion ? ['free', 'used'] : ['free'], knowledge, relies, facts),
  )
  const count = options.reduce((product, { length }) => product * length, 1)
  const mapOf = (states: readonly DomainState[]) => new Map(states.map((state, index) => [names[index] ?? '', state]))
  if (count <= Math.min(27, room)) return combinationsOf(options).map(mapOf)
  const all = (wanted: (name: string, index: number) => DomainState) =>
    mapOf(
      options.map((states, index) => {
        const state = wanted(names[index] ?? '', index)
        return states.includes(state) ? state : (states[0] as DomainState)
      }),
    )
  const usual = [
    all(() => 'absent'),
    all(() => 'free'),
    all(() => 'used'),
    all((_, index) => (index === 0 ? 'free' : 'absent')),
    all((_, index) => (index === 0 ? 'absent' : 'free')),
    all((_, index) => (index === 0 ? 'used' : 'free')),
  ]
  const echoed = shown.added ?? shown.removed
  if (echoed === undefined) return usual
  // Echoed domains were added or removed. The state of the other domains prevented that.
  const echo = new Set(echoed.map(comparable))
  if (!isDeletion) return [...usual, all((name) => (echo.has(name) ? 'absent' : 'free'))]
  return [...usual, ...(['absent', 'used'] as const).map((other) => all((name) => (echo.has(name) ? 'free' : other)))]
}

/** The states that one domain may have had. A monitored domain has one of `present`. */
function statesOf(
  name: string,
  present: readonly DomainState[],
  knowledge: Knowledge,
  relies: Reliance,
  facts: Set<string>,
): readonly DomainState[] {
  const isOwn = relies.isOwn(name)
  const isMonitored = relies.onAll || isOwn ? knowledge.isMonitored(name) : undefined
  if (isMonitored === undefined) return ['absent', ...present]
  if (!isOwn) facts.add(`domain ${name}`)
  if (!isMonitored) return ['absent']
  // Only the run itself has used its own domains.
  if (isOwn) return ['free']
  if (!relies.onFreedom || knowledge.domains.get(name)?.order === undefined) return present
  facts.add(`free ${name}`)
  return ['free']
}

/** What may be true of the groups that the request names by id. */
function namedGroups(
  { shown: { group: answered } }: ReadExchange,
  purpose: RequestPurpose,
  knowledge: Knowledge,
  relies: Reliance,
  facts: Set<string>,
): readonly (readonly HypotheticalGroup[])[] {
  const removed = new Set(listOf(purpose, 'remove_domains'))
  const options = purpose.ids.map((id): (HypotheticalGroup | undefined)[] => {
    const fact = knowledge.groupOf(id)
    const isOwn = fact?.exists === true && relies.isOwn(fact.name)
    if (fact !== undefined && (relies.onAll || isOwn || isGone(fact))) {
      if (!isOwn && !isGone(fact)) facts.add(`group ${id}`)
      return [fact.exists ? groupOf(id, fact) : undefined]
    }
    const members = answered?.id === id ? answered.domains.map(comparable) : []
    const added = new Set(listOf(purpose, 'add_domains'))
    const name = answered?.id === id && purpose.name === undefined ? answered.name : SOME_NAME
    return [
      undefined,
      { id, name, domains: members },
      // Added members may have been new, and removed members may have been there.
      ...(added.size > 0 ? [{ id, name, domains: members.filter((member) => !added.has(member)) }] : []),
      ...(removed.size > 0 ? [{ id, name, domains: [...members, ...removed] }] : []),
      ...(purpose.name === undefined ? [] : [{ id, name: purpose.name, domains: members, isNameAsSent: true }]),
    ]
  })
  return combinationsOf(options).map((groups) => groups.filter((group) => group !== undefined))
}

/** What may be true of groups that the request does not name, if they could matter. */
function otherGroups(
  { name, names, ids }: RequestPurpose,
  knowledge: Knowledge,
  relies: Reliance,
  facts: Set<string>,
): readonly (readonly HypotheticalGroup[])[] {
  const mentioned = new Set(names)
  const loose = name === undefined ? undefined : loosely(name)
  const known: HypotheticalGroup[] = []
  for (const [id, group] of knowledge.groups) {
    if (!group.exists || ids.includes(id) || !(relies.onAll || relies.isOwn(group.name))) continue
    const isNamed = loose !== undefined && loosely(group.name) === loose
    if (!isNamed && !group.domains.some((member) => mentioned.has(member))) continue
    if (!relies.isOwn(group.name)) facts.add(`group ${id}`)
    known.push(groupOf(id, group))
    if (known.length >= 20) break
  }
  const mayBeTaken = name !== undefined && !relies.isOwn(name)
  const foreign = names.filter((each) => !relies.isOwn(each))
  if (!mayBeTaken && foreign.length === 0) return [known]
  if (knowledge.areGroupsComplete && relies.onAll) {
    facts.add('groups')
    return [known]
  }
  const possible: (readonly HypotheticalGroup[])[] = [known]
  if (mayBeTaken) possible.push([...known, { id: SOME_ID, name, domains: [], isNameAsSent: true }])
  if (foreign.length > 0) {
    possible.push([...known, { id: SOME_ID, name: SOME_NAME, domains: foreign }])
    if (mayBeTaken) possible.push([...known, { id: SOME_ID, name, domains: foreign, isNameAsSent: true }])
  }
  return possible
}

function groupOf(id: string, { name, domains, underOthers }: GroupFact): HypotheticalGroup {
  return underOthers === undefined ? { id, name, domains } : { id, name, domains, underOthers }
}

/** No id is used twice, so a deleted group never comes back. */
function isGone({ exists, by }: GroupFact): boolean {
  return !exists && by !== ''
}

/**
 * The same text for all names that any service could treat as equal. Characters that are not seen can be dropped, but
 * white space within a name is a part of it.
 */
export function loosely(name: string): string {
  return name
    .replaceAll(/[\p{Default_Ignorable_Code_Point}\p{Cf}]|(?![\t-\r])\p{Cc}/gu, '')
    .replaceAll(/[\ud800-\udfff]/gu, '\ufffd')
    .normalize('NFKC')
    .trim()
    .toUpperCase()
    .toLowerCase()
}

function listOf({ body }: RequestPurpose, name: string): readonly string[] {
  const list = body?.[name]
  return areTexts(list) ? list.map(comparable) : []
}
