import { asciiLowered, loosely } from './names.ts'

/** What is believed of a domain. All times are in milliseconds on the clock of the service. */
interface DomainBelief {
  /** `undefined`: it is in doubt. */
  isMonitored: boolean | undefined
  /** As the last request or response spelt it. */
  spelling: string
  /** The number of its addition among all that were seen, if it is one of them. */
  order?: number | undefined
  /** When the request that added it was answered, if that was seen. */
  addedAt?: number | undefined
  /** When it was first seen since it was last not monitored. */
  knownSince: number
  /** Whether it had a record in a list of all records. */
  hadRecord: boolean
  /** The id of the exchange that showed it last. */
  by: string
}

/** What is believed of a group. */
export interface GroupBelief {
  /** Of a group in doubt, the rest is what it was before. */
  state: 'there' | 'gone' | 'in doubt'
  name: string
  /** In comparable form; `undefined` if they are not known. */
  members: ReadonlySet<string> | undefined
  /** Members that may have left the group: to another one, as in services where a domain has one group, or for an unclear reason. */
  mayHaveLeft: ReadonlyMap<string, 'to another' | 'unclear'>
  /** The number of its creation among all additions that were seen, if it is one of them. */
  order?: number | undefined
  /** Whether nothing but its creation was seen. */
  isNew: boolean
  /** When the exchange that showed this was over. */
  at: number
  by: string
}

/** A group as a response shows it, with members in comparable form. */
export type SeenGroup = Pick<GroupBelief, 'name' | 'at' | 'by'> & { id: string; members: ReadonlySet<string> }

/** The exchange that shows something. */
export interface Source {
  by: string
  at: number
}

/** How many domains, and how many groups, are remembered. What is forgotten is unknown. */
const REMEMBERED = 100_000
const NONE: ReadonlySet<string> = new Set()
const NOBODY: GroupBelief['mayHaveLeft'] = new Map()
const UNKNOWN_GROUP: GroupBelief = {
  ...{ state: 'in doubt', name: '', members: undefined, mayHaveLeft: NOBODY },
  ...{ isNew: false, at: 0, by: '' },
}
const NOT_SEEN = { knownSince: 0, hadRecord: false, by: '' }

/**
 * What the traffic of one key has shown of its account, in the order of the traffic. A domain or group that nothing
 * showed is unknown, unless a list of all has left it out. Another client can change the account unseen, so a belief can
 * be wrong: who draws a conclusion from it asks `isCertain`, too. Domains are named in the form of `comparable`.
 */
export class Belief {
  /** Whether no other client changes the domain or the group with this name. */
  readonly isCertain: (name: string) => boolean
  /** Whether each domain that is not in `domains` is certainly not monitored, as far as this traffic goes. */
  areDomainsComplete = false
  /** The same for groups. */
  areGroupsComplete = false
  readonly #domains = new Map<string, DomainBelief>()
  readonly #groups = new Map<string, GroupBelief>()
  readonly #there = new Set<string>()
  readonly #inDoubt = new Set<string>()
  /** The ids of groups that are there or in doubt, by member and by name in the form of `loosely`. */
  readonly #idsByMember = new Map<string, Set<string>>()
  readonly #idsByName = new Map<string, Set<string>>()
  readonly #released = new Set<string>()
  #additions = 0

  constructor(isCertain: (name: string) => boolean = () => false) {
    this.isCertain = isCertain
  }

  get domains(): ReadonlyMap<string, DomainBelief> {
    return this.#domains
  }

  /** How much is remembered. */
  get size(): number {
    return this.#domains.size + this.#groups.size + this.#idsByMember.size
  }

  /** `undefined` if it is not known. */
  isMonitored(name: string): boolean | undefined {
    const known = this.#domains.get(name)
    return known === undefined ? (this.areDomainsComplete ? false : undefined) : known.isMonitored
  }

  domain(name: string): DomainBelief | undefined {
    return this.#domains.get(name)
  }

  /** `undefined` if nothing showed a group with this id. */
  group(id: string): GroupBelief | undefined {
    return this.#groups.get(id)
  }

  /** Whether a group with this id exists; `undefined` if it is not known. */
  isGroup(id: string): boolean | undefined {
    const known = this.#groups.get(id)
    if (known === undefined) return this.areGroupsComplete ? false : undefined
    return known.state === 'in doubt' ? undefined : known.state === 'there'
  }

  /** The ids of groups, there or in doubt, that differ from this one only in case, unless a group has exactly this one. */
  *groupsLike(id: string): Iterable<string> {
    if (this.#there.has(id)) return
    const lowered = asciiLowered(id)
    for (const each of [...this.#there, ...this.#inDoubt]) {
      if (each.length === id.length && each !== id && asciiLowered(each) === lowered) yield each
    }
  }

  /** The ids of groups, there or in doubt, that had this member when it was last seen. */
  groupsWith(member: string): ReadonlySet<string> {
    return this.#idsByMember.get(member) ?? NONE
  }

  /** The ids of groups, there or in doubt, whose name some service may find equal to this one. */
  groupsNamed(name: string): ReadonlySet<string> {
    return this.#idsByName.get(loosely(name)) ?? NONE
  }

  /** The groups that exist. */
  *groupsThere(): Iterable<[id: string, group: GroupBelief]> {
    for (const id of this.#there) yield [id, this.#groups.get(id) as GroupBelief]
  }

  /** The ids of groups of which it is not known whether they exist, or how they are. */
  get groupsInDoubt(): ReadonlySet<string> {
    return this.#inDoubt
  }

  /** Whether the domain was a member of a group that was deleted since the last list of all domains. */
  isReleased(name: string): boolean {
    return this.#released.has(name)
  }

  /** A request has added the domain. */
  addDomain(name: string, spelling: string, { by, at }: Source): void {
    this.#additions++
    const [order, hadRecord] = [this.#additions, false]
    this.#setDomain(name, { isMonitored: true, spelling, order, addedAt: at, knownSince: at, hadRecord, by })
  }

  /** A response shows that the domain is monitored. */
  seeDomain(name: string, spelling: string, { by, at }: Source): void {
    const known = this.#domains.get(name)
    if (known?.isMonitored === true) {
      known.spelling = spelling
      known.by = by
      return
    }
    const [order, addedAt, hadRecord] = [undefined, undefined, false]
    this.#setDomain(name, { isMonitored: true, spelling, order, addedAt, knownSince: at, hadRecord, by })
  }

  /** A list of all records has one of the domain. */
  seeRecord(name: string, spelling: string, source: Source): void {
    this.seeDomain(name, spelling, source)
    const known = this.#domains.get(name)
    if (known !== undefined) known.hadRecord = true
  }

  /** The domain is not monitored any more, and so no member of a group. */
  removeDomain(name: string, by: string): void {
    this.#setDomain(name, { ...NOT_SEEN, isMonitored: false, spelling: name, by })
    for (const id of this.groupsWith(name)) {
      const group = this.#groups.get(id)
      if (group === undefined) continue
      const members = group.members && new Set([...group.members].filter((each) => each !== name))
      const mayHaveLeft = new Map([...group.mayHaveLeft].filter(([each]) => each !== name))
      this.#setGroup(id, { ...group, members, mayHaveLeft, isNew: false })
    }
  }

  doubtDomain(name: string): void {
    const spelling = this.#domains.get(name)?.spelling ?? name
    this.#setDomain(name, { ...NOT_SEEN, isMonitored: undefined, spelling })
  }

  /** A list shows all domains: their spellings, by name. */
  takeAllDomains(spellings: ReadonlyMap<string, string>, source: Source): void {
    this.areDomainsComplete = true
    for (const name of this.#domains.keys()) if (!spellings.has(name)) this.#domains.delete(name)
    for (const [name, spelling] of spellings) this.seeDomain(name, spelling, source)
    this.#released.clear()
  }

  addGroup({ id, ...seen }: SeenGroup): void {
    const order = ++this.#additions
    const { name, members, at, by } = seen
    this.#setGroup(id, { state: 'there', name, members, mayHaveLeft: NOBODY, order, isNew: true, at, by })
  }

  /** A response shows the group. */
  seeGroup({ id, ...seen }: SeenGroup): void {
    const known = this.#groups.get(id)
    const isSame = known?.members !== undefined && areSame(known.members, seen.members)
    if (isSame && known.state === 'there' && known.name === seen.name) {
      known.at = seen.at
      known.by = seen.by
      known.mayHaveLeft = NOBODY
      known.isNew = false
      return
    }
    const order = known === undefined || known.state === 'gone' ? undefined : known.order
    const { name, members, at, by } = seen
    this.#setGroup(id, { state: 'there', name, members, mayHaveLeft: NOBODY, order, isNew: false, at, by })
  }

  /** A request has changed the group, and the response does not show it. */
  changeGroup(id: string, change: Partial<GroupBelief>): void {
    const known = this.#groups.get(id)
    if (known !== undefined) this.#setGroup(id, { ...known, isNew: false, ...change })
  }

  removeGroup(id: string, { at, by }: Source): void {
    const { name = '', members = [] } = this.#groups.get(id) ?? {}
    for (const member of members) if (this.#released.size < REMEMBERED) this.#released.add(member)
    this.#setGroup(id, { ...UNKNOWN_GROUP, state: 'gone', name, members: NONE, at, by })
  }

  /** Nobody knows any more whether the group exists, or how it is. */
  doubtGroup(id: string): void {
    const known = this.#groups.get(id)
    if (known?.state === 'gone') return
    if (known !== undefined) this.#setGroup(id, { ...known, state: 'in doubt', isNew: false })
    else if (this.areGroupsComplete) this.#setGroup(id, { ...UNKNOWN_GROUP })
  }

  /** The same for all groups; there may be further ones. A group that was deleted stays so: no id is used twice. */
  doubtGroups(): void {
    this.areGroupsComplete = false
    for (const id of [...this.#there]) this.doubtGroup(id)
  }

  /**
   * Other groups may have lost these members to a group: a service may allow a domain in one group only. Without a group,
   * it is not known what became of the members.
   */
  mayLeave(names: Iterable<string>, to?: string): void {
    const left = new Map<GroupBelief, Map<string, 'to another' | 'unclear'>>()
    for (const name of names) {
      for (const id of this.groupsWith(name)) {
        const group = this.#groups.get(id)
        if (id === to || group === undefined || (to !== undefined && group.mayHaveLeft.has(name))) continue
        const mayHaveLeft = left.get(group) ?? new Map(group.mayHaveLeft)
        left.set(group, mayHaveLeft.set(name, to === undefined ? 'unclear' : 'to another'))
      }
    }
    for (const [group, mayHaveLeft] of left) group.mayHaveLeft = mayHaveLeft
  }

  /** A list shows all groups. */
  takeAllGroups(groups: readonly SeenGroup[]): void {
    const listed = new Set(groups.map(({ id }) => id))
    this.areGroupsComplete = true
    // The list may be older than a group, so only a deletion shows that a group is gone for good.
    for (const id of [...this.#there, ...this.#inDoubt]) if (!listed.has(id)) this.#dropGroup(id)
    for (const group of groups) this.seeGroup(group)
  }

  /** Nothing is known of the account any more. */
  forget(): void {
    const parts = [this.#domains, this.#groups, this.#there, this.#inDoubt, this.#idsByMember, this.#idsByName]
    for (const part of [...parts, this.#released]) part.clear()
    this.areDomainsComplete = false
    this.areGroupsComplete = false
  }

  #setDomain(name: string, belief: DomainBelief): void {
    if (this.#domains.size >= REMEMBERED && !this.#domains.has(name)) this.areDomainsComplete = false
    else this.#domains.set(name, belief)
  }

  #setGroup(id: string, belief: GroupBelief): void {
    this.#dropGroup(id)
    if (this.#groups.size >= REMEMBERED) {
      this.areGroupsComplete = false
      return
    }
    this.#groups.set(id, belief)
    if (belief.state === 'gone') return
    const ids = belief.state === 'there' ? this.#there : this.#inDoubt
    ids.add(id)
    add(this.#idsByName, loosely(belief.name), id)
    for (const member of belief.members ?? []) add(this.#idsByMember, member, id)
  }

  #dropGroup(id: string): void {
    const known = this.#groups.get(id)
    if (known === undefined) return
    this.#groups.delete(id)
    this.#there.delete(id)
    this.#inDoubt.delete(id)
    remove(this.#idsByName, loosely(known.name), id)
    for (const member of known.members ?? []) remove(this.#idsByMember, member, id)
  }
}

/** Whether two sets have the same members. */
function areSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((each) => other.has(each))
}

/** Whether there is an id that is none of `own`. */
export function hasOther(ids: ReadonlySet<string>, own: readonly string[]): boolean {
  for (const id of ids) if (!own.includes(id)) return true
  return false
}

function add(index: Map<string, Set<string>>, key: string, id: string): void {
  index.set(key, (index.get(key) ?? new Set()).add(id))
}

function remove(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key)
  if (ids?.delete(id) && ids.size === 0) index.delete(key)
}
