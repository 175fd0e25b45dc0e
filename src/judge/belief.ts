import { asciiLowered, loosely } from './names.ts'

/** What is believed of a domain. All times are in milliseconds on the clock of the service. */
interface DomainBelief {
  /** `undefined`: it is in doubt. */
  isMonitored: boolean | undefined
  /** As the last request or response spelt it. */
  spelling: string
  /** When it was first seen since it was last not monitored. */
  knownSince: number
  /** The id of the exchange that showed it last. */
  by: string
  /** The number of its addition among all that were seen, and when that was answered, if it is one of them. */
  order?: number
  addedAt?: number
  /** Whether it had a record in a list of all records. */
  hadRecord?: boolean
  /** Whether a group with it was deleted since the last list of all domains. */
  isReleased?: boolean
}

/** A group as a response shows it. Members are in comparable form. */
export interface SeenGroup {
  id: string
  name: string
  members: ReadonlySet<string>
  by: string
}

/** What is believed of a group that exists. */
interface GroupBelief extends Omit<SeenGroup, 'id'> {
  /** Members that may have left it for another group: a service may allow a domain in one group only. */
  mayHaveLeft: ReadonlySet<string>
  /** The number of its creation among all additions that were seen, if it is one of them. */
  order?: number | undefined
  /** Whether nothing but its creation was seen. */
  isNew: boolean
}

/** The exchange that shows something. */
export interface Source {
  by: string
  at: number
}

/** What other clients do with the account. */
export interface Others {
  /** Whether no other client adds a domain or a group with this name. It may remove or change it all the same. */
  isOwn(name: string): boolean
  /** Whether no other client changes the account at all. */
  isSoleWriter: boolean
}

/** How many domains, groups, and deleted groups are remembered. What is forgotten is unknown. */
const REMEMBERED = 100_000
const NONE: ReadonlySet<string> = new Set()

/**
 * What the traffic of one key has shown of its account, in the order of the traffic. What nothing showed is unknown,
 * unless a list of all has left it out; so is a group in doubt, while a domain in doubt is remembered as such. Another
 * client can change the account unseen, so a belief can be wrong: who draws a conclusion from it asks what others do, too.
 * Domains are named in the form of `comparable`.
 */
export class Belief implements Others {
  readonly isOwn: Others['isOwn']
  readonly isSoleWriter: boolean
  /** Whether each domain that is not in `domains` is certainly not monitored, as far as this traffic goes. */
  areDomainsComplete = false
  /** The same for groups. */
  areGroupsComplete = false
  readonly #domains = new Map<string, DomainBelief>()
  readonly #groups = new Map<string, GroupBelief>()
  readonly #gone = new Map<string, Pick<GroupBelief, 'name' | 'by'>>()
  readonly domains: ReadonlyMap<string, DomainBelief> = this.#domains
  /** The groups that exist, by id. */
  readonly groups: ReadonlyMap<string, GroupBelief> = this.#groups
  /** The groups that were deleted. */
  readonly gone: ReadonlyMap<string, Pick<GroupBelief, 'name' | 'by'>> = this.#gone
  /** The ids of groups by member, and by name in the form of `loosely`. */
  readonly #idsByMember = new Map<string, Set<string>>()
  readonly #idsByName = new Map<string, Set<string>>()
  #additions = 0

  constructor({ isOwn, isSoleWriter }: Others = { isOwn: () => false, isSoleWriter: false }) {
    this.isOwn = isOwn
    this.isSoleWriter = isSoleWriter
  }

  /** `undefined` if it is not known. */
  isMonitored(name: string): boolean | undefined {
    const known = this.#domains.get(name)
    return known === undefined ? (this.areDomainsComplete ? false : undefined) : known.isMonitored
  }

  /** Whether a group with this id exists; `undefined` if it is not known. */
  isGroup(id: string): boolean | undefined {
    if (this.#groups.has(id)) return true
    return this.areGroupsComplete || this.#gone.has(id) ? false : undefined
  }

  /** The ids of groups that differ from this one only in case, unless a group has exactly this one. */
  groupsLike(id: string): readonly string[] {
    if (this.#groups.has(id)) return []
    const lowered = asciiLowered(id)
    return [...this.#groups.keys()].filter((each) => each.length === id.length && asciiLowered(each) === lowered)
  }

  /** The ids of groups that had this member when they were last seen. */
  groupsWith(member: string): ReadonlySet<string> {
    return this.#idsByMember.get(member) ?? NONE
  }

  /** The ids of groups whose name some service may find equal to this one. */
  groupsNamed(name: string): ReadonlySet<string> {
    return this.#idsByName.get(loosely(name)) ?? NONE
  }

  /** Whether a group may have a name that some service finds equal to this one. */
  mayBeTaken(name: string): boolean {
    return this.groupsNamed(name).size > 0 || !this.areGroupsComplete
  }

  /** Whether another group than these may have this member. */
  mayBeElsewhere(member: string, ids: readonly string[]): boolean {
    return !this.areGroupsComplete || [...this.groupsWith(member)].some((id) => !ids.includes(id))
  }

  /** A request has added the domain. */
  addDomain(name: string, spelling: string, { by, at }: Source): void {
    this.#setDomain(name, { isMonitored: true, spelling, order: ++this.#additions, addedAt: at, knownSince: at, by })
  }

  /** A response shows that the domain is monitored. */
  seeDomain(name: string, spelling: string, { by, at }: Source, hasRecord = false): void {
    const known = this.#domains.get(name)
    if (known?.isMonitored !== true) {
      this.#setDomain(name, { isMonitored: true, spelling, knownSince: at, hadRecord: hasRecord, by })
      return
    }
    known.spelling = spelling
    known.by = by
    known.hadRecord ||= hasRecord
  }

  /** The domain is not monitored any more, and so no member of a group. */
  removeDomain(name: string, by: string): void {
    this.#setDomain(name, { isMonitored: false, spelling: name, knownSince: 0, by })
    for (const id of this.groupsWith(name)) {
      const { members = NONE, mayHaveLeft = NONE } = this.#groups.get(id) ?? {}
      this.changeGroup(id, { members: without(members, name), mayHaveLeft: without(mayHaveLeft, name) })
    }
  }

  doubtDomain(name: string): void {
    const spelling = this.#domains.get(name)?.spelling ?? name
    this.#setDomain(name, { isMonitored: undefined, spelling, knownSince: 0, by: '' })
  }

  /** A list shows all domains: their spellings, by name. */
  takeAllDomains(spellings: ReadonlyMap<string, string>, source: Source): void {
    this.areDomainsComplete = true
    for (const [name, known] of this.#domains) {
      if (spellings.has(name)) known.isReleased = false
      else this.#domains.delete(name)
    }
    for (const [name, spelling] of spellings) this.seeDomain(name, spelling, source)
  }

  addGroup({ id, ...seen }: SeenGroup): void {
    this.#setGroup(id, { ...seen, mayHaveLeft: NONE, order: ++this.#additions, isNew: true })
  }

  /** A response shows the group. */
  seeGroup({ id, ...seen }: SeenGroup): void {
    const known = this.#groups.get(id)
    const isSame = known?.name === seen.name && areSame(known.members, seen.members)
    if (isSame) Object.assign(known, { by: seen.by, isNew: false, mayHaveLeft: NONE })
    else this.#setGroup(id, { ...seen, mayHaveLeft: NONE, order: known?.order, isNew: false })
  }

  /** What a request has changed of a group, which no response shows. */
  changeGroup(id: string, change: Partial<GroupBelief>): void {
    const known = this.#groups.get(id)
    if (known !== undefined) this.#setGroup(id, { ...known, isNew: false, ...change })
  }

  removeGroup(id: string, by: string): void {
    const { name = '', members = NONE } = this.#groups.get(id) ?? {}
    for (const member of members) {
      const known = this.#domains.get(member)
      if (known !== undefined) known.isReleased = true
    }
    this.#dropGroup(id)
    if (this.#gone.size < REMEMBERED) this.#gone.set(id, { name, by })
  }

  /** Nobody knows any more whether the groups exist, or how they are. A deleted group stays so: no id is used twice. */
  doubtGroups(ids: Iterable<string> = this.#groups.keys()): void {
    this.areGroupsComplete = false
    for (const id of [...ids]) this.#dropGroup(id)
  }

  /** Nobody knows what became of these members of groups. */
  doubtMembers(names: Iterable<string>): void {
    for (const name of names) if (this.groupsWith(name).size > 0) this.doubtGroups(this.groupsWith(name))
  }

  /** Other groups may have lost these members to a group. */
  mayLeave(names: Iterable<string>, to: string): void {
    for (const name of names) {
      for (const id of this.groupsWith(name)) {
        const group = this.#groups.get(id)
        if (id !== to && group !== undefined) group.mayHaveLeft = new Set([...group.mayHaveLeft, name])
      }
    }
  }

  /** A list shows all groups. It may be older than a group, so only a deletion shows that a group is gone for good. */
  takeAllGroups(groups: readonly SeenGroup[]): void {
    const listed = new Set(groups.map(({ id }) => id))
    for (const id of [...this.#groups.keys()]) if (!listed.has(id)) this.#dropGroup(id)
    this.areGroupsComplete = true
    for (const group of groups) this.seeGroup(group)
  }

  /** Nothing is known of the account any more. */
  forget(): void {
    for (const part of [this.#domains, this.#groups, this.#gone, this.#idsByMember, this.#idsByName]) part.clear()
    this.areDomainsComplete = false
    this.areGroupsComplete = false
  }

  #setDomain(name: string, belief: DomainBelief): void {
    if (this.#domains.size >= REMEMBERED && !this.#domains.has(name)) this.areDomainsComplete = false
    else this.#domains.set(name, belief)
  }

  #setGroup(id: string, belief: GroupBelief): void {
    this.#dropGroup(id)
    this.#gone.delete(id)
    if (this.#groups.size >= REMEMBERED) {
      this.areGroupsComplete = false
      return
    }
    this.#groups.set(id, belief)
    for (const [index, key] of this.#keysOf(belief)) index.set(key, (index.get(key) ?? new Set()).add(id))
  }

  #dropGroup(id: string): void {
    const known = this.#groups.get(id)
    if (known === undefined) return
    this.#groups.delete(id)
    for (const [index, key] of this.#keysOf(known)) {
      const ids = index.get(key)
      if (ids?.delete(id) && ids.size === 0) index.delete(key)
    }
  }

  /** Under what the ids of a group are found. */
  #keysOf({ name, members }: GroupBelief): [index: Map<string, Set<string>>, key: string][] {
    const byMember = [...members].map((member): [Map<string, Set<string>>, string] => [this.#idsByMember, member])
    return [[this.#idsByName, loosely(name)], ...byMember]
  }
}

/** Whether two sets have the same members. */
export function areSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one.size !== other.size) return false
  for (const each of one) if (!other.has(each)) return false
  return true
}

function without(set: ReadonlySet<string>, item: string): ReadonlySet<string> {
  return new Set([...set].filter((each) => each !== item))
}
