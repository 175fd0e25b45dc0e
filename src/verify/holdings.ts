import { itemsOf, readGroup as readWholeGroup, textsIn } from '../behaviour/presentation.ts'
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
  /** Whether a request may have created something that no answer has named. */
  isUncertain = false
  /** The account before the run; `undefined` until it was read. */
  before: Inventory | undefined
  /** The ids of groups that the run has created. */
  readonly #created = new Set<string>()
  readonly #foreignGroups = new Set<string>()

  constructor(mark: string) {
    this.mark = mark
  }

  /** What a killed run may hold by its ledger. */
  static of({ head, before, hasIntents, groups }: LedgerContent): Holdings {
    const holdings = new Holdings(markOf(head.run))
    if (before !== undefined) holdings.remember(before)
    holdings.hasIntents = hasIntents
    // The run may have ended between a request and its answer.
    holdings.isUncertain = hasIntents
    for (const id of groups) holdings.adopt({ id, name: '', domains: [] })
    return holdings
  }

  remember(before: Inventory): void {
    this.before = before
    for (const { id } of before.groups) this.#foreignGroups.add(id)
  }

  isOwnDomain(name: string): boolean {
    return name.toLowerCase().includes(this.mark) && this.before?.domains.includes(name) !== true
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
   * Learns from the data of a success. Returns the id of a group that the request has created for the run.
   */
  learn({ method, path: target, body }: ProbeRequest, data: unknown): string | undefined {
    if (!isObject(data)) return undefined
    const { path, query } = readTarget(target)
    if (path === '/domains') this.#learnDomains(method, data['domains'])
    if (path !== '/domaingroups') return undefined
    const former = this.groups.get(query['id'] ?? '')
    // The specification does not show what PATCH answers, but what it does.
    const isSilent = method === 'PATCH' && former !== undefined && readGroup(data['group']) === undefined
    const group = isSilent ? changeGroup(former, body) : readGroup(data['group'])
    const isCreated = method === 'POST' && group !== undefined && this.isOwnListedGroup(group)
    if (method === 'GET') this.#learnGroups(readGroups(data) ?? [])
    if (method === 'DELETE') this.groups.delete(query['id'] ?? '')
    if (isCreated) this.adopt(group)
    else if (method === 'POST') this.isUncertain = true
    if (group !== undefined && this.groups.has(group.id)) {
      // A domain may be in one group only, and so have left the others. If it has not, that costs at most one request.
      this.#leave(group.domains)
      this.groups.set(group.id, group)
    }
    return isCreated ? group.id : undefined
  }

  /** The answer to this request was lost. No probe can use what it names; the cleanup finds it in the lists. */
  doubt({ path, body }: ProbeRequest): void {
    this.isUncertain = true
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
   * The domains that are in no group of the run. Names in an odd spelling are left out: a service may not recognise them
   * in a later request, so an answer to one shows less.
   */
  get free(): string[] {
    const members = new Set([...this.groups.values()].flatMap(({ domains }) => domains))
    const isPlain = (name: string) => name.startsWith(`${this.mark}-`) && !name.endsWith('.')
    return [...this.domains].filter((name) => isPlain(name) && !members.has(name))
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
    if (method === 'POST' && names.length === 0) this.isUncertain = true
    for (const name of names) {
      if (method === 'DELETE') this.domains.delete(name)
      else if (this.isOwnDomain(name)) this.domains.add(name)
    }
    if (method === 'DELETE') this.#leave(names)
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

/** The group after a PATCH with this body. */
function changeGroup({ id, name, domains }: DomainGroup, body: unknown): DomainGroup {
  const fields = isObject(body) ? body : {}
  const members = new Set(textsIn(fields, 'domains') ?? domains)
  for (const added of textsIn(fields, 'add_domains') ?? []) members.add(added)
  for (const removed of textsIn(fields, 'remove_domains') ?? []) members.delete(removed)
  return { id, name: typeof fields['name'] === 'string' ? fields['name'] : name, domains: [...members] }
}

/** What a request may create if the service accepts it; `undefined` for a request that creates nothing. */
export function intentOf({ method, path, body }: ProbeRequest): Intent | undefined {
  if (method !== 'POST') return undefined
  const { domains = [], name = '' } = isObject(body) ? body : {}
  const named = [domains].flat().map(String)
  return path.startsWith('/domaingroups') ? { domains: named, group: String(name) } : { domains: named }
}

/** How others differ between `before` and `after`, one sentence each. The run can have caused only the losses. */
export function compareOthers(
  before: Inventory,
  after: Inventory,
  own: Holdings,
): { lost: string[]; gained: string[] } {
  const formerDomains = new Set(before.domains)
  const domains = new Set(after.domains)
  const formerGroups = new Set(before.groups.map(({ id }) => id))
  const groups = new Map(after.groups.map((group) => [group.id, contentOf(group)]))
  const changed = before.groups.filter((group) => groups.get(group.id) !== contentOf(group))
  const newDomains = after.domains.filter((name) => !formerDomains.has(name) && !own.isOwnDomain(name))
  const newGroups = after.groups.filter((group) => !formerGroups.has(group.id) && !own.isOwnListedGroup(group))
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
