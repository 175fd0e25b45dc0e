import { countBelow } from '../ground/counting.ts'

/** What is known of a domain. */
export interface DomainFact {
  isMonitored: boolean
  /** As the last request or response spelt it. */
  spelling: string
  /** The number of the addition among all that were seen; absent if the addition was not seen. */
  order?: number
  /** How many additions were seen before the domain was first seen. Only if its own addition was not seen. */
  seenAfter?: number
  /** When the request that added it was answered, in milliseconds on the service's clock; absent if unknown. */
  addedAt?: number
  /** The exchange that showed it last. */
  by: string
}

/** The members of a group if the service has made another choice than ours. */
export interface OtherMembers {
  id: string
  number: number
  domains: readonly string[]
}

/** What is known of a group. */
export interface GroupFact {
  exists: boolean
  name: string
  /** In comparable form. */
  domains: readonly string[]
  underOthers?: readonly OtherMembers[]
  /** Whether the members are in the order in which they were added. */
  isInOrder: boolean
  order?: number
  seenAfter?: number
  /** Whether only its creation was seen. */
  isNew?: boolean
  by: string
}

/** What is known of the time at which an item came into a list. */
type Placed = Pick<DomainFact, 'order' | 'seenAfter'>

/** How many domains and groups of one account are remembered. */
const KNOWN_LIMIT = 100_000

/**
 * What is known of the account of one key. A domain or group that no exchange showed is unknown, not absent. Another
 * client can change the account at any time; the investigation decides what may still be concluded.
 */
export class Knowledge {
  readonly domains = new Map<string, DomainFact>()
  readonly groups = new Map<string, GroupFact>()
  /** Whether every unknown domain is certainly not monitored; the same for groups. */
  areDomainsComplete = false
  areGroupsComplete = false
  /** Members of groups that were deleted since the last list of domains. */
  readonly released = new Set<string>()
  #additions = 0

  /** `undefined` if it is not known. */
  isMonitored(name: string): boolean | undefined {
    const fact = this.domains.get(name)
    return fact === undefined ? (this.areDomainsComplete ? false : undefined) : fact.isMonitored
  }

  /** `undefined` if nothing is known of a group with this id. */
  groupOf(id: string): GroupFact | undefined {
    const fact = this.groups.get(id)
    if (fact !== undefined || !this.areGroupsComplete) return fact
    return { exists: false, name: '', domains: [], isInOrder: false, by: '' }
  }

  /** Notes that a domain was added just now. */
  addDomain(name: string, fact: Pick<DomainFact, 'spelling' | 'addedAt' | 'by'>): void {
    this.#setDomain(name, { ...fact, isMonitored: true, order: ++this.#additions })
  }

  /** Notes that a domain was seen in a list. */
  seeDomain(name: string, spelling: string, by: string): void {
    const known = this.domains.get(name)
    if (known?.isMonitored) this.#setDomain(name, { ...known, spelling, by })
    else this.#setDomain(name, { isMonitored: true, spelling, seenAfter: this.#additions, by })
  }

  removeDomain(name: string, by: string): void {
    this.#setDomain(name, { isMonitored: false, spelling: name, by })
    for (const [id, group] of this.groups) {
      if (!group.domains.includes(name)) continue
      this.groups.set(id, { ...group, domains: group.domains.filter((member) => member !== name) })
    }
  }

  /** Notes that a domain was a member of a group that was deleted. */
  release(name: string): void {
    if (this.released.size < KNOWN_LIMIT) this.released.add(name)
  }

  addGroup(id: string, fact: Pick<GroupFact, 'name' | 'domains' | 'isInOrder' | 'by'>): void {
    this.#setGroup(id, { ...fact, exists: true, isNew: true, order: ++this.#additions })
  }

  seeGroup(id: string, fact: Pick<GroupFact, 'name' | 'domains' | 'isInOrder' | 'by'>): void {
    const known = this.groups.get(id)
    const placed = known?.exists ? placeOf(known) : { seenAfter: this.#additions }
    this.#setGroup(id, { ...fact, ...placed, exists: true })
  }

  removeGroup(id: string, by: string): void {
    this.#setGroup(id, { exists: false, name: '', domains: [], isInOrder: false, by })
  }

  /** Forgets these domains and groups. After that, neither the domains nor the groups are complete. */
  forget(names: Iterable<string>, ids: Iterable<string>): void {
    for (const name of names) this.domains.delete(name)
    for (const id of ids) this.groups.delete(id)
    this.areDomainsComplete = false
    this.areGroupsComplete = false
  }

  #setDomain(name: string, fact: DomainFact): void {
    if (this.domains.size >= KNOWN_LIMIT && !this.domains.has(name)) this.areDomainsComplete = false
    else this.domains.set(name, fact)
  }

  #setGroup(id: string, fact: GroupFact): void {
    if (this.groups.size >= KNOWN_LIMIT && !this.groups.has(id)) this.areGroupsComplete = false
    else this.groups.set(id, fact)
  }
}

/**
 * How many items contradict what was seen, if the list is in the order of addition. Unknown items can be at any place,
 * and an item whose addition was not seen can be anywhere among the items that were there before it was first seen.
 */
export function countMisplaced(list: readonly (Placed | undefined)[]): number {
  const known = list.filter((each): each is Placed => each?.order !== undefined || each?.seenAfter !== undefined)
  const orders = known.flatMap(({ order }) => order ?? []).toSorted((one, other) => one - other)
  const ends = new PrefixMaximum(orders.length)
  // Finds the longest part of the list in which each item may come right after the one before it.
  let longest = 0
  let longestToUnseen = 0
  for (const { order, seenAfter = Number.POSITIVE_INFINITY } of known) {
    const before = order === undefined ? countBelow(orders, seenAfter + 1) : countBelow(orders, order)
    const length = Math.max(longestToUnseen, ends.below(before)) + 1
    if (order === undefined) longestToUnseen = Math.max(longestToUnseen, length)
    else ends.raise(before, length)
    longest = Math.max(longest, length)
  }
  return known.length - longest
}

/** The largest of the values below an index, which only grow (a Fenwick tree). */
class PrefixMaximum {
  readonly #nodes: number[]

  constructor(size: number) {
    this.#nodes = new Array<number>(size + 1).fill(0)
  }

  below(index: number): number {
    let most = 0
    for (let node = index; node > 0; node -= node & -node) most = Math.max(most, this.#nodes[node] ?? 0)
    return most
  }

  raise(index: number, value: number): void {
    for (let node = index + 1; node < this.#nodes.length; node += node & -node) {
      this.#nodes[node] = Math.max(this.#nodes[node] ?? 0, value)
    }
  }
}

function placeOf({ order, seenAfter }: Placed): Placed {
  return { ...(order !== undefined && { order }), ...(seenAfter !== undefined && { seenAfter }) }
}
