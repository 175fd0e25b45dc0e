/** What is known of a domain. */
export interface DomainFact {
  isMonitored: boolean
  /** As a request or a response spelt it last. */
  spelling: string
  /** Counts additions that were seen; absent where the addition was not seen. */
  order?: number
  /** How many additions had been seen when it was first seen, where its own was not. */
  seenAfter?: number
  /** When the request that added it was answered, in milliseconds on the service's clock; absent where that is unknown. */
  addedAt?: number
  /** The exchange that showed it last. */
  by: string
}

/** What the members of a group are if the service has chosen otherwise than we. */
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
  otherwise?: readonly OtherMembers[]
  /** Whether the members are in the order in which they were added. */
  isInOrder: boolean
  order?: number
  seenAfter?: number
  /** Whether nothing but its creation was seen. */
  isNew?: boolean
  by: string
}

/** The order in which something came into a list: as far as it is known. */
type Placed = Pick<DomainFact, 'order' | 'seenAfter'>

/** How many domains and groups are known of one account; more are not remembered. */
export const KNOWN_LIMIT = 100_000

/**
 * What is known of the account of one key. What nobody has asked about is unknown, not absent. Another client can change
 * what is known at any time; the investigation decides what may be concluded nevertheless.
 */
export class Knowledge {
  readonly domains = new Map<string, DomainFact>()
  readonly groups = new Map<string, GroupFact>()
  /** Whether every domain that is not known is not monitored; the same for groups. */
  areDomainsComplete = false
  areGroupsComplete = false
  /** Members of groups that were deleted since domains were listed last. */
  readonly released = new Set<string>()
  #additions = 0

  /** `undefined` where it is not known. */
  isMonitored(name: string): boolean | undefined {
    const fact = this.domains.get(name)
    return fact === undefined ? (this.areDomainsComplete ? false : undefined) : fact.isMonitored
  }

  /** `undefined` where nothing is known of a group with the id. */
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

  /** Nothing is known any more of these; what is complete is no longer so. */
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
 * How many items of a list must have come to it at another time than was seen, if it is in the order of addition. Items
 * that are not known can stand anywhere.
 */
export function countMisplaced(list: readonly (Placed | undefined)[]): number {
  const known = list.filter((each): each is Placed => each?.order !== undefined || each?.seenAfter !== undefined)
  // The longest part of the list in which each item may come after all items before it.
  const ends: number[] = []
  for (const item of known) ends.push(longestBefore(item, known, ends))
  return known.length - ends.reduce((most, length) => Math.max(most, length), 0)
}

/** The length of the longest such part that ends with the item, which is the next after those of `ends`. */
function longestBefore(item: Placed, known: readonly Placed[], ends: readonly number[]): number {
  let longest = 0
  for (const [index, length] of ends.entries()) {
    if (length > longest && mayPrecede(known[index] as Placed, item)) longest = length
  }
  return longest + 1
}

/** Whether one may have come before the other. Of two whose additions were not seen, either may have. */
function mayPrecede(one: Placed, other: Placed): boolean {
  if (one.order === undefined) return true
  if (other.order === undefined) return one.order <= (other.seenAfter ?? Number.POSITIVE_INFINITY)
  return one.order < other.order
}

function placeOf({ order, seenAfter }: Placed): Placed {
  return { ...(order !== undefined && { order }), ...(seenAfter !== undefined && { seenAfter }) }
}
