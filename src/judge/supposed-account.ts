import type { ServiceContract } from '../behaviour/operation.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Belief } from './belief.ts'
import type { AskedRequest } from './request.ts'

/** As much of an account as a request names. Domains are in comparable form. */
interface Supposition {
  /** The monitored domains, and whether a monitoring feature uses each. */
  domains: ReadonlyMap<string, boolean>
  groups: ReadonlyMap<string, Omit<DomainGroup, 'id'>>
}

/** One thing that may be otherwise than believed, because another client may have changed it. */
type Doubt = (believed: Supposition) => Supposition

/** Of further doubts, which are like those before them in a request with many domains, none is looked at. */
const SUPPOSED = 24
/** In milliseconds. */
const JUST_NOW = 60_000

/**
 * The accounts that a request may have met: as believed, and with each thing that is not certain otherwise, one at a
 * time. Domains of which nothing is known are not monitored, or one of them is, or all. Empty if a group that the request
 * names is in doubt.
 */
export function accountsFor(
  asked: AskedRequest,
  belief: Belief,
  now: number,
  contract: ServiceContract,
): readonly AccountState[] {
  const domains = new Map<string, boolean>()
  const groups = new Map<string, Omit<DomainGroup, 'id'>>()
  const doubts: Doubt[] = []
  const unknown = new Set<string>()
  for (const name of asked.allNames) {
    const isMonitored = belief.isMonitored(name)
    if (isMonitored === undefined) unknown.add(name)
    if (isMonitored === true) domains.set(name, false)
    doubts.push(...doubtsAboutDomain(name, asked, belief, now))
  }
  const ids = new Set([...asked.ids, ...groupsBehind(asked, belief)])
  for (const id of ids) {
    const known = belief.group(id)
    if (known === undefined && belief.isGroup(id) === false) continue
    if (
      known === undefined ||
      known.state === 'in doubt' ||
      known.members === undefined ||
      known.mayHaveLeft.size > 0
    ) {
      return []
    }
    if (known.state === 'gone') continue
    const members = [...known.members]
    groups.set(id, { name: known.name, domains: members })
    for (const member of members) if (!domains.has(member) && !asked.allNames.has(member)) domains.set(member, false)
    if (!belief.isCertain(known.name)) doubts.push(without(id))
  }
  doubts.push(...doubtsAboutOtherGroups(asked, belief))
  if (unknown.size > 1) doubts.unshift(...[false, true].map((isUsed) => monitored(unknown, isUsed)))
  const believed = { domains, groups }
  const supposed = doubts.slice(0, SUPPOSED).map((doubt) => doubt(believed))
  return [believed, ...supposed].map((each) => accountOf(each, contract))
}

function doubtsAboutDomain(name: string, { call }: AskedRequest, belief: Belief, now: number): Doubt[] {
  const known = belief.domain(name)
  const isMonitored = belief.isMonitored(name)
  const isCertain = isMonitored !== undefined && belief.isCertain(name)
  const isDeleted = call === 'deleteDomains'
  const doubts: Doubt[] = []
  if (!isCertain) doubts.push(isMonitored === true ? unmonitored(name) : monitored([name], false))
  // Nothing shows whether a feature uses a domain, but nobody has had the time to use one that was added just now.
  const isNew = known?.addedAt !== undefined && now - known.addedAt <= JUST_NOW
  const isUnused = isCertain && (isMonitored === false || isNew)
  if (isDeleted && !isUnused) doubts.push(monitored([name], true))
  return doubts
}

/** The groups that the request may meet beside the one that it names: by a name, or by a member. */
function groupsBehind(asked: AskedRequest, belief: Belief): string[] {
  const name = asked.text('name')
  const named = name === undefined ? [] : [...belief.groupsNamed(name)]
  return [...named, ...[...asked.allNames].flatMap((member) => [...belief.groupsWith(member)])]
}

function doubtsAboutOtherGroups(asked: AskedRequest, belief: Belief): Doubt[] {
  const doubts: Doubt[] = []
  const name = asked.text('name')
  const isKnown = (each: string) => belief.areGroupsComplete && belief.isCertain(each)
  if (name !== undefined && !isKnown(name)) doubts.push(beside({ name, domains: [] }))
  for (const member of asked.allNames) {
    if (!isKnown(member)) doubts.push(beside({ name: OTHER_NAME, domains: [member] }))
    for (const id of belief.groupsWith(member)) if (!belief.isCertain(member)) doubts.push(withoutMember(id, member))
  }
  return doubts
}

const OTHER_ID = 'another group'
const OTHER_NAME = '\u2043 another group \u2043'

function unmonitored(name: string): Doubt {
  return ({ domains, groups }) => ({
    domains: new Map([...domains].filter(([each]) => each !== name)),
    groups: new Map(
      [...groups].map(([id, group]) => [id, { ...group, domains: group.domains.filter((each) => each !== name) }]),
    ),
  })
}

function monitored(names: Iterable<string>, isUsed: boolean): Doubt {
  return ({ domains, groups }) => ({
    domains: new Map([...domains, ...[...names].map((name) => [name, isUsed] as const)]),
    groups,
  })
}

function without(id: string): Doubt {
  return ({ domains, groups }) => ({ domains, groups: new Map([...groups].filter(([each]) => each !== id)) })
}

function withoutMember(id: string, member: string): Doubt {
  return ({ domains, groups }) => {
    const group = groups.get(id)
    if (group === undefined) return { domains, groups }
    const left = group.domains.filter((each) => each !== member)
    return { domains, groups: new Map(groups).set(id, { ...group, domains: left }) }
  }
}

/** With one more group. A member of it is monitored. */
function beside(group: Omit<DomainGroup, 'id'>): Doubt {
  return ({ domains, groups }) => ({
    domains: new Map([...domains, ...group.domains.map((member) => [member, domains.get(member) ?? false] as const)]),
    groups: new Map(groups).set(OTHER_ID, group),
  })
}

function accountOf({ domains, groups }: Supposition, contract: ServiceContract): AccountState {
  const { plans, nameComparison } = contract.settings
  const keep = (name: string) => contract.canonicalHostname(name) ?? name
  const monitored = [...domains].map(([name, isUsed]): [string, MonitoredDomain] => {
    return [keep(name), { name: keep(name), addedAt: 0, features: isUsed ? ['a feature'] : [] }]
  })
  const kept = [...groups].map(([id, { name, domains: members }]) => ({ id, name, domains: members.map(keep) }))
  return {
    ...ACCOUNT,
    plan: plans.lowest,
    domains: PersistentMap.of(monitored),
    groups: PersistentMap.of(kept.map((group) => [group.id, group] as const)),
    groupNames: PersistentMap.of(kept.map(({ id, name }) => [comparedName(name, nameComparison), id] as const)),
  }
}

const ACCOUNT: Omit<AccountState, 'plan' | 'domains' | 'groups' | 'groupNames'> = {
  id: 'seen',
  seed: 0,
  origin: { fixture: 'empty', key: { id: 'key', hash: 'key' } },
  createdAt: 0,
  clock: { offset: 0 },
  keys: [],
  groupsCreated: 0,
  keysCreated: 0,
  faults: [],
  faultsCreated: 0,
}
