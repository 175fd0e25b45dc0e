import type { DomainGroup } from '../domain/account.ts'
import { isObject, readJson } from '../ground/json.ts'
import { readTarget } from '../http/target.ts'
import { bytesOfBody, type ProbeRequest } from './probe.ts'

/** What the run has in the account, by the answers to its own requests. */
export class CreatedItems {
  readonly domains = new Set<string>()
  readonly groups = new Map<string, DomainGroup>()
  readonly #isOwn: (domain: string) => boolean
  readonly #isOwnGroup: (group: DomainGroup) => boolean

  constructor(isOwn: (domain: string) => boolean, isOwnGroup: (group: DomainGroup) => boolean = () => true) {
    this.#isOwn = isOwn
    this.#isOwnGroup = isOwnGroup
  }

  copy(): CreatedItems {
    const copy = new CreatedItems(this.#isOwn, this.#isOwnGroup)
    for (const name of this.domains) copy.domains.add(name)
    for (const [id, group] of this.groups) copy.groups.set(id, group)
    return copy
  }

  /** Updates the items from the answer to a request. `data` is that of a success; `undefined` for anything else. */
  learn(request: ProbeRequest, data: unknown): void {
    if (!isObject(data)) return
    const { path, query } = readTarget(request.path)
    const { method } = request
    if (path === '/domains') this.#learnDomains(method, textsIn(data['domains']))
    if (path !== '/domaingroups') return
    const group = readGroupLoosely(data['group'])
    if (group !== undefined && (method === 'POST' ? this.#isOwnGroup(group) : this.groups.has(group.id))) {
      this.groups.set(group.id, group)
      this.#separate(group)
    }
    if (method === 'GET' && Array.isArray(data['groups'])) this.#refresh(data['groups'].map(readGroupLoosely))
    if (method === 'DELETE' && query['id'] !== undefined) this.groups.delete(query['id'])
  }

  /** Up to `count` domains that are in no group of the run. */
  free(count: number): string[] {
    const members = new Set([...this.groups.values()].flatMap(({ domains }) => domains))
    return [...this.domains].filter((name) => !members.has(name)).slice(0, count)
  }

  /** A group with at least this many members, other than the groups in `others`. */
  groupWith(members: number, others: ReadonlySet<string>): DomainGroup | undefined {
    for (const group of this.groups.values()) {
      if (group.domains.length >= members && !others.has(group.id)) return group
    }
    return undefined
  }

  #learnDomains(method: string, names: readonly string[]): void {
    if (method === 'GET') for (const name of [...this.domains]) if (!names.includes(name)) this.domains.delete(name)
    for (const name of names) {
      if (method === 'DELETE') this.#drop(name)
      else if (this.#isOwn(name)) this.domains.add(name)
    }
  }

  #drop(name: string): void {
    this.domains.delete(name)
    for (const group of this.groups.values()) {
      if (!group.domains.includes(name)) continue
      this.groups.set(group.id, { ...group, domains: group.domains.filter((each) => each !== name) })
    }
  }

  /** Assumes that a domain can be in one group only, and so left the others. If wrong, it costs at most one request. */
  #separate({ id, domains }: DomainGroup): void {
    for (const group of this.groups.values()) {
      if (group.id === id || !group.domains.some((name) => domains.includes(name))) continue
      this.groups.set(group.id, { ...group, domains: group.domains.filter((name) => !domains.includes(name)) })
    }
  }

  #refresh(listed: readonly (DomainGroup | undefined)[]): void {
    const known = new Map(listed.flatMap((group) => (group === undefined ? [] : [[group.id, group] as const])))
    for (const id of [...this.groups.keys()]) {
      const group = known.get(id)
      if (group === undefined) this.groups.delete(id)
      else this.groups.set(id, group)
    }
  }
}

/** The group of a response; `undefined` for anything else. */
export function readGroupLoosely(value: unknown): DomainGroup | undefined {
  if (!isObject(value)) return undefined
  const { id, name, domains } = value
  if (typeof id !== 'string' || typeof name !== 'string') return undefined
  return { id, name, domains: textsIn(domains) }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** What a request may create if the service accepts it, even if it is invalid. */
export interface Intent {
  domains?: readonly string[]
  group?: { name: string; domains: readonly string[] }
}

/** `undefined` for a request that creates nothing. */
export function intentOf(request: ProbeRequest): Intent | undefined {
  if (request.method !== 'POST') return undefined
  const { path } = readTarget(request.path)
  const text = bytesOfBody({ body: request.body })?.toString() ?? ''
  const body = readJson(text.replace(/^\ufeff/, ''))
  const fields = isObject(body) ? body : {}
  const { domains, name } = fields
  const named = (Array.isArray(domains) ? domains : [domains]).filter((each) => each !== undefined).map(String)
  if (path.toLowerCase().startsWith('/domaingroups')) {
    return { group: { name: typeof name === 'string' ? name : text.slice(0, 200), domains: named } }
  }
  return { domains: named.length > 0 ? named : [text.slice(0, 200)] }
}
