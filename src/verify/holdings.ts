import { itemsOf, readGroup as readWholeGroup, textsIn } from '../behaviour/shown-data.ts'
import type { DomainGroup } from '../domain/account.ts'
import { isObject } from '../ground/json.ts'
import { readTarget } from '../ground/target.ts'
import type { Intent, Inventory, LedgerContent } from './ledger.ts'
import type { ProbeRequest } from './probe.ts'

/**
 * Knows what a run has in the account, and what belongs to others. A run notes what it is going to create before each
 * request, and learns from each answer. The ledger has both, so a sweep knows the same.
 */
export class Holdings {
  /** The text that every name of a run contains, and no other name. */
  readonly mark: string
  /** The domains of the run that a probe can use: the service has added them, and not removed. */
  readonly domains = new Set<string>()
  /** The groups of the run that a probe can use, by id. */
  readonly groups = new Map<string, DomainGroup>()
  /** Whether the run may have created anything. */
  hasIntents = false
  /** How many requests may have created something that no answer has named. */
  unknown = 0
  /** Names, with or without the mark, that the run asked the service to create. */
  readonly #asked = new Set<string>()
  /** The ids of groups that the run has created. */
  readonly #created = new Set<string>()
  readonly #foreignGroups = new Set<string>()
  /** The account before the run; `undefined` until it was read. */
  before: Inventory | undefined

  constructor(mark: string) {
    this.mark = mark
  }

  /** What a killed run may hold by its ledger. */
  static of({ head, before, intents, groups }: LedgerContent): Holdings {
    const holdings = new Holdings(markOf(head.run))
    if (before !== undefined) holdings.remember(before)
    for (const intent of intents) holdings.intend(intent)
    for (const id of groups) holdings.adopt({ id, name: '', domains: [] })
    // The run may have ended between a request and its answer.
    if (holdings.hasIntents) holdings.unknown++
    return holdings
  }

  remember(before: Inventory): void {
    this.before = before
    for (const { id } of before.groups) this.#foreignGroups.add(id)
  }

  intend({ domains = [] }: Partial<Intent>): void {
    this.hasIntents = true
    for (const name of domains) this.#asked.add(name)
  }

  /** Its name has the mark, or the run asked for exactly this name. */
  isOwnDomain(name: string): boolean {
    if (this.before?.domains.includes(name) === true) return false
    return name.toLowerCase().includes(this.mark) || this.#asked.has(name)
  }

  /** Whether the run made the group, or no service gives this id. */
  isOwnGroup(id: string): boolean {
    return this.#created.has(id) || id === this.mark
  }

  /** Whether a group of a response belongs to the run, even if its creation got no answer. */
  isOwnListedGroup({ id, name, domains }: DomainGroup): boolean {
    if (this.#foreignGroups.has(id)) return false
    if (this.#created.has(id) || name.toLowerCase().includes(this.mark)) return true
    return domains.length > 0 && domains.every((domain) => this.isOwnDomain(domain))
  }

  /** Whether the account had no groups, or no domains, before the run. */
  hasOnlyOwn(what: 'groups' | 'domains'): boolean {
    return this.before?.[what].length === 0
  }

  /** The own items of an inventory. */
  ownIn({ domains, groups }: Inventory): { domains: string[]; groups: DomainGroup[] } {
    return {
      domains: domains.filter((name) => this.isOwnDomain(name)),
      groups: groups.filter((group) => this.isOwnListedGroup(group)),
    }
  }

  /** The run may delete this group from now on, unless it was there before. */
  adopt(group: DomainGroup): void {
    if (this.#foreignGroups.has(group.id)) return
    this.#created.add(group.id)
    this.groups.set(group.id, group)
  }

  /**
   * Learns from the answer to a request. `data` is that of a success; `undefined` for anything else. Returns the id of
   * a group that the request has created for the run.
   */
  learn({ method, path: target }: ProbeRequest, data: unknown): string | undefined {
    if (!isObject(data)) return undefined
    const { path, query } = readTarget(target)
    if (path === '/domains') this.#learnDomains(method, data['domains'])
    if (path !== '/domaingroups') return undefined
    const group = readGroup(data['group'])
    const { id = '' } = query
    if (method === 'GET') this.#learnGroups(readGroups(data) ?? [])
    // Without its new content, nobody knows which members a changed group has.
    if (method === 'DELETE' || (method === 'PATCH' && group === undefined)) this.groups.delete(id)
    if (method === 'POST') {
      if (group === undefined || !this.isOwnListedGroup(group)) {
        this.unknown++
        return undefined
      }
      this.adopt(group)
    }
    if (group !== undefined && this.groups.has(group.id)) this.#place(group)
    return method === 'POST' ? group?.id : undefined
  }

  /** The answer to this request was lost. No probe can use what it names; the cleanup finds it in the lists. */
  doubt({ path, body }: ProbeRequest): void {
    this.unknown++
    const named = isObject(body) ? Object.values(body).flat() : []
    for (const each of [...named, readTarget(path).query['id']]) {
      if (typeof each !== 'string') continue
      this.domains.delete(each)
      this.groups.delete(each)
      this.#leave([each])
    }
  }

  /** Whether a list of the domains lacks one of the run; `undefined` if this is no such list, or the run has none. */
  lacksOwn({ method, path, key, scheme }: ProbeRequest, data: unknown): boolean | undefined {
    const isList = method === 'GET' && path === '/domains' && key === undefined && scheme === undefined
    const listed = isList ? readDomains(data) : undefined
    if (listed === undefined || this.domains.size === 0) return undefined
    return [...this.domains].some((name) => !listed.includes(name))
  }

  /**
   * Up to `count` domains that are in no group of the run. Names in an odd spelling are left out: a service may not
   * recognise them in a later request, so an answer to one shows less.
   */
  free(count: number): string[] {
    const members = new Set([...this.groups.values()].flatMap(({ domains }) => domains))
    const isPlain = (name: string) => name.startsWith(`${this.mark}-`) && !name.endsWith('.')
    return [...this.domains].filter((name) => isPlain(name) && !members.has(name)).slice(0, count)
  }

  /** A group with at least this many members, other than the groups in `others`. */
  groupWith(members: number, others: readonly DomainGroup[]): DomainGroup | undefined {
    return [...this.groups.values()].find(
      (group) => group.domains.length >= members && others.every(({ id }) => id !== group.id),
    )
  }

  /** A listed group that is not the run's belongs to another client, whatever a later answer says of it. */
  #learnGroups(listed: readonly DomainGroup[]): void {
    for (const group of listed) {
      if (this.groups.has(group.id)) this.groups.set(group.id, group)
      else if (!this.isOwnListedGroup(group)) this.#foreignGroups.add(group.id)
    }
  }

  /** A list that lacks a domain may be older than the domain, so it takes nothing away. */
  #learnDomains(method: string, shown: unknown): void {
    const names = Array.isArray(shown) ? shown.filter((each) => typeof each === 'string') : []
    if (method === 'POST' && names.length === 0) this.unknown++
    for (const name of names) {
      if (method === 'DELETE') this.domains.delete(name)
      else if (this.isOwnDomain(name)) this.domains.add(name)
    }
    if (method === 'DELETE') this.#leave(names)
  }

  /** Assumes that a domain can be in one group only, and so left the others. If wrong, it costs at most one request. */
  #place(placed: DomainGroup): void {
    this.#leave(placed.domains)
    this.groups.set(placed.id, placed)
  }

  #leave(names: readonly string[]): void {
    for (const [id, group] of this.groups) {
      this.groups.set(id, { ...group, domains: group.domains.filter((name) => !names.includes(name)) })
    }
  }
}

export function markOf(run: string): string {
  return `verify-${run}`
}

/** What a request may create if the service accepts it; `undefined` for a request that creates nothing. */
export function intentOf({ method, path, body }: ProbeRequest): Intent | undefined {
  if (method !== 'POST') return undefined
  const { domains = [], name = '' } = isObject(body) ? body : {}
  const named = [domains].flat().map(String)
  return path.startsWith('/domaingroups') ? { domains: named, group: String(name) } : { domains: named }
}

/** How others differ between `before` and `after`. The run can have caused only the losses. */
export function compareOthers(
  before: Inventory,
  after: Inventory,
  holdings: Holdings,
): { lost: string[]; gained: string[] } {
  const domains = new Set(after.domains)
  const groups = new Map(after.groups.map((group) => [group.id, contentOf(group)]))
  const changed = before.groups.filter((group) => groups.get(group.id) !== contentOf(group))
  const formerDomains = new Set(before.domains)
  const formerGroups = new Set(before.groups.map(({ id }) => id))
  const newDomains = after.domains.filter((name) => !formerDomains.has(name) && !holdings.isOwnDomain(name))
  const newGroups = after.groups.filter((group) => !formerGroups.has(group.id) && !holdings.isOwnListedGroup(group))
  return {
    lost: [
      ...before.domains.filter((name) => !domains.has(name)).map((name) => `the domain ${name} is gone`),
      ...changed.map(({ id }) => `the group ${id} ${groups.has(id) ? 'was changed' : 'is gone'}`),
    ],
    gained: [
      ...newDomains.map((name) => `the domain ${name} is new`),
      ...newGroups.map(({ id }) => `the group ${id} is new`),
    ],
  }
}

function contentOf({ name, domains }: DomainGroup): string {
  return JSON.stringify([name, domains.toSorted()])
}

/** The domains of a list; `undefined` if an entry cannot be read, because its domain would count as absent. */
export function readDomains(data: unknown): readonly string[] | undefined {
  return textsIn(data, 'domains')
}

/** The groups of a list; `undefined` if an entry cannot be read, because it may be a group of another client. */
export function readGroups(data: unknown): DomainGroup[] | undefined {
  return isObject(data) ? itemsOf(data['groups'], readGroup) : undefined
}

/** A group whose members can all be read, or that has no list of members. */
function readGroup(value: unknown): DomainGroup | undefined {
  return isObject(value) ? readWholeGroup({ domains: [], ...value }) : undefined
}
