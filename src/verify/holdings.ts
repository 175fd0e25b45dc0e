import type { DomainGroup } from '../domain/account.ts'
import type { Exchange } from '../exchanges/exchange.ts'
import { codeIn } from '../exchanges/reading.ts'
import { isObject, readJson } from '../ground/json.ts'
import { readTarget } from '../http/target.ts'
import { type Intent, type Inventory, readableTexts, readDomains, readGroupLoosely, readGroups } from './inventory.ts'
import { dataOf, type LedgerContent } from './ledger.ts'
import { bytesOfBody, type ProbeRequest } from './probe.ts'

/**
 * Knows what a run has in the account, and what belongs to others. A run notes what it is going to create before each
 * request, and learns from each answer. The ledger has both, so a later run or a sweep knows the same.
 */
export class Holdings {
  /** The text that every name of a run contains, and no other name. */
  readonly mark: string
  /** The domains that the service has added for the run, and not removed. */
  readonly domains = new Set<string>()
  /** The groups that the service has created for the run, and not deleted, by id. */
  readonly groups = new Map<string, DomainGroup>()
  /** Whether the run may have created anything. */
  hasIntents = false
  /** How many requests may have created something that no answer has named. */
  unknown = 0
  /** Names, with or without the mark, that the run asked the service to create. */
  readonly #asked = new Set<string>()
  readonly #adopted = new Set<string>()
  /** Names and ids of items that a request without an answer may have changed. */
  readonly #suspects = new Set<string>()
  /** Names and ids of items that the service has removed. */
  readonly #removed = new Set<string>()
  readonly #foreignGroups = new Set<string>()
  #foreignDomains: ReadonlySet<string> = new Set()
  #before: Inventory | undefined

  constructor(mark: string) {
    this.mark = mark
  }

  /** What a run holds by its ledger. */
  static of({ head, before, intents, groups, exchanges }: LedgerContent): Holdings {
    const holdings = new Holdings(markOf(head.run))
    if (before !== undefined) holdings.remember(before)
    for (const intent of intents) holdings.intend(intent)
    for (const id of groups) if (!holdings.#foreignGroups.has(id)) holdings.#adopted.add(id)
    for (const { sent, exchange, data } of exchanges) {
      const { bytes } = exchange.request.body.isKnown ? exchange.request.body : { bytes: undefined }
      holdings.learn({ ...sent, body: bytes }, data)
    }
    // The run may have ended between a request and its answer.
    if (holdings.hasIntents) holdings.unknown++
    return holdings
  }

  copy(): Holdings {
    const copy = new Holdings(this.mark)
    for (const name of this.domains) copy.domains.add(name)
    for (const [id, group] of this.groups) copy.groups.set(id, group)
    for (const id of this.#adopted) copy.#adopted.add(id)
    return copy
  }

  /** The account before the run; `undefined` until it was read. */
  get before(): Inventory | undefined {
    return this.#before
  }

  remember(before: Inventory): void {
    this.#before = before
    this.#foreignDomains = new Set(before.domains)
    for (const { id } of before.groups) this.#foreignGroups.add(id)
  }

  intend({ domains = [] }: Intent): void {
    this.hasIntents = true
    for (const name of domains) this.#asked.add(name)
  }

  /** Its name has the mark, or the run asked for exactly this name. */
  isOwnDomain(name: string): boolean {
    return !this.#foreignDomains.has(name) && (name.toLowerCase().includes(this.mark) || this.#asked.has(name))
  }

  /** Whether the run made the group, or no service gives this id. */
  isOwnGroup(id: string): boolean {
    return this.#adopted.has(id) || id === this.mark
  }

  /** Whether a group of a response belongs to the run, even if its creation got no answer. */
  isOwnListedGroup({ id, name, domains }: DomainGroup): boolean {
    if (this.#foreignGroups.has(id)) return false
    if (this.#adopted.has(id) || name.toLowerCase().includes(this.mark)) return true
    return domains.length > 0 && domains.every((domain) => this.isOwnDomain(domain))
  }

  /** Whether the account had no groups, or no domains, before the run. */
  hasOnlyOwn(what: 'groups' | 'domains'): boolean {
    return this.#before?.[what].length === 0
  }

  /** The own items of an inventory. */
  ownIn({ domains, groups }: Inventory): { domains: string[]; groups: DomainGroup[] } {
    return {
      domains: domains.filter((name) => this.isOwnDomain(name)),
      groups: groups.filter((group) => this.isOwnListedGroup(group)),
    }
  }

  /** How others differ between `before` and `after`. The run can have caused only the losses. */
  changesOf(before: Inventory, after: Inventory): { lost: string[]; gained: string[] } {
    const former = { domains: new Set(before.domains), groups: new Set(before.groups.map(({ id }) => id)) }
    const domains = new Set(after.domains)
    const groups = new Map(after.groups.map((group) => [group.id, group]))
    const lost = before.domains.filter((name) => !domains.has(name)).map((name) => `the domain ${name} is gone`)
    for (const group of before.groups) {
      const now = groups.get(group.id)
      if (now === undefined) lost.push(`the group ${group.id} is gone`)
      else if (!isSame(group, now)) lost.push(`the group ${group.id} was changed`)
    }
    const newDomains = after.domains.filter((name) => !former.domains.has(name) && !this.isOwnDomain(name))
    const newGroups = after.groups.filter((group) => !former.groups.has(group.id) && !this.isOwnListedGroup(group))
    const gained = [...newDomains.map((name) => `domain ${name}`), ...newGroups.map(({ id }) => `group ${id}`)]
    return { lost, gained: gained.map((what) => `the ${what} is new`) }
  }

  /** The run may delete this group from now on, whatever a later answer says of it. */
  adopt(group: DomainGroup): void {
    this.#adopted.add(group.id)
    this.groups.set(group.id, group)
  }

  /**
   * Learns from the answer to a request. `data` is that of a success; `undefined` for anything else. Returns the id of
   * a group that the request has created for the run.
   */
  learn(request: ProbeRequest, data: unknown): string | undefined {
    if (!isObject(data)) return undefined
    const { path, query } = readTarget(request.path)
    const { method } = request
    if (path === '/domains') {
      this.#learnDomains(method, data['domains'])
      if (method === 'POST' && readableTexts(data['domains']).length === 0) this.unknown++
    }
    if (path !== '/domaingroups') return undefined
    const group = readGroupLoosely(data['group'])
    if (method === 'GET') this.#learnGroups(readGroups(data) ?? [])
    if (method === 'DELETE' && query['id'] !== undefined && this.groups.delete(query['id']))
      this.#removed.add(query['id'])
    if (method === 'POST') return this.#learnCreation(group)
    if (group !== undefined && this.groups.has(group.id)) this.#place(group)
    return undefined
  }

  /** Whether the answer to a read may be older than the last changes: it lacks own items, or has removed ones. */
  isOlder({ method, path: target, key, scheme }: ProbeRequest, { request, response }: Exchange): boolean {
    const { path, query } = readTarget(target)
    if (method !== 'GET' || key !== undefined || scheme !== undefined || response === undefined) return false
    const { id } = query
    if (path === '/domaingroups' && id !== undefined) return this.groups.has(id) && codeIn(response) === 'not_found'
    const data = dataOf({ request, response })
    const groups = readGroups(data)?.map((group) => group.id)
    const records = Array.isArray(data) ? data.map((record) => isObject(record) && record['domain']) : undefined
    const shown: readonly unknown[] | undefined = groups ?? records ?? readDomains(data)
    if (shown === undefined) return false
    const own = groups === undefined ? this.domains : new Set(this.groups.keys())
    return [...own].some((each) => !shown.includes(each)) || shown.some((each) => this.#removed.has(String(each)))
  }

  /** The answer to this request was lost. What it names is still to be removed, but no probe can use it. */
  suspect(request: ProbeRequest): void {
    this.unknown++
    const { id } = readTarget(request.path).query
    const body = readJson(bytesOfBody(request)?.toString() ?? '')
    const named = isObject(body) ? Object.values(body).flatMap(readableTexts) : []
    for (const each of [...named, ...(id === undefined ? [] : [id])]) this.#suspects.add(each)
  }

  /** Up to `count` domains that are in no group of the run. */
  free(count: number): string[] {
    const members = new Set([...this.groups.values()].flatMap(({ domains }) => domains))
    return [...this.domains].filter((name) => !members.has(name) && !this.#suspects.has(name)).slice(0, count)
  }

  /** A group with at least this many members, other than the groups in `others`. */
  groupWith(members: number, others: ReadonlySet<string>): DomainGroup | undefined {
    for (const group of this.groups.values()) {
      const isUsable = !others.has(group.id) && !this.#suspects.has(group.id)
      if (isUsable && group.domains.length >= members) return group
    }
    return undefined
  }

  #learnCreation(group: DomainGroup | undefined): string | undefined {
    if (group === undefined || !this.isOwnListedGroup(group)) {
      this.unknown++
      return undefined
    }
    this.#adopted.add(group.id)
    this.#place(group)
    return group.id
  }

  /** A listed group that is not the run's belongs to another client, whatever a later answer says of it. */
  #learnGroups(listed: readonly DomainGroup[]): void {
    for (const group of listed) {
      if (this.groups.has(group.id)) this.groups.set(group.id, group)
      else if (!this.isOwnListedGroup(group)) this.#foreignGroups.add(group.id)
    }
  }

  /** A list that lacks a domain may be older than the domain, so it takes nothing away. */
  #learnDomains(method: string, listed: unknown): void {
    for (const name of readableTexts(listed)) {
      if (method === 'DELETE') this.#drop(name)
      else if (this.isOwnDomain(name)) this.domains.add(name)
    }
  }

  #drop(name: string): void {
    if (this.domains.delete(name)) this.#removed.add(name)
    for (const group of this.groups.values()) {
      if (!group.domains.includes(name)) continue
      this.groups.set(group.id, { ...group, domains: group.domains.filter((each) => each !== name) })
    }
  }

  /** Assumes that a domain can be in one group only, and so left the others. If wrong, it costs at most one request. */
  #place(placed: DomainGroup): void {
    for (const group of this.groups.values()) {
      if (!group.domains.some((name) => placed.domains.includes(name))) continue
      this.groups.set(group.id, { ...group, domains: group.domains.filter((name) => !placed.domains.includes(name)) })
    }
    this.groups.set(placed.id, placed)
  }
}

export function markOf(run: string): string {
  return `verify-${run}`
}

/** `undefined` for a request that creates nothing. */
export function intentOf(request: ProbeRequest): Intent | undefined {
  if (request.method !== 'POST') return undefined
  const { path } = readTarget(request.path)
  const text = bytesOfBody({ body: request.body })?.toString() ?? ''
  const body = readJson(text.replace(/^\ufeff/, ''))
  const { domains, name } = isObject(body) ? body : {}
  const named = (Array.isArray(domains) ? domains : [domains]).filter((each) => each !== undefined).map(String)
  if (path.toLowerCase().startsWith('/domaingroups')) {
    return { group: { name: typeof name === 'string' ? name : text.slice(0, 200), domains: named } }
  }
  return { domains: named.length > 0 ? named : [text.slice(0, 200)] }
}

function isSame(one: DomainGroup, other: DomainGroup): boolean {
  const [some, others] = [one.domains.toSorted(), other.domains.toSorted()]
  return one.name === other.name && some.length === others.length && some.every((name, index) => name === others[index])
}
