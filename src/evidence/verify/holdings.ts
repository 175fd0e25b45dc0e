import type { DomainGroup } from '../../domain/account.ts'
import { isObject, readJson } from '../../ground/json.ts'
import { readTarget } from '../../http/target.ts'
import { bytesOfBody, type ProbeRequest } from './probe.ts'

/** Why something belongs to a run: it has the mark in its name, or the run asked for it by this very name. */
export interface Ownership {
  mark: string
  /** What a run asked to be created without a mark in the name. */
  asked: ReadonlySet<string>
  /** What was there before, which never belongs to a run. */
  foreign: ReadonlySet<string>
}

/** Whether a domain belongs to a run. */
export function isOwnDomain(name: string, { mark, asked, foreign }: Ownership): boolean {
  return !foreign.has(name) && (name.toLowerCase().includes(mark) || asked.has(name))
}

/** What a run has in the account by now, as far as the answers to its own requests tell. */
export class Holdings {
  readonly domains = new Set<string>()
  readonly groups = new Map<string, DomainGroup>()
  readonly #isOwn: (domain: string) => boolean
  readonly #isOwnGroup: (group: DomainGroup) => boolean

  constructor(isOwn: (domain: string) => boolean, isOwnGroup: (group: DomainGroup) => boolean = () => true) {
    this.#isOwn = isOwn
    this.#isOwnGroup = isOwnGroup
  }

  copy(): Holdings {
    const copy = new Holdings(this.#isOwn, this.#isOwnGroup)
    for (const name of this.domains) copy.domains.add(name)
    for (const [id, group] of this.groups) copy.groups.set(id, group)
    return copy
  }

  /** Takes over what the answer to a request says. `data` is that of a success; `undefined` for anything else. */
  learn(request: ProbeRequest, data: unknown): void {
    if (!isObject(data)) return
    const { path, query } = readTarget(request.path)
    const { method } = request
    if (path === '/domains') this.#learnDomains(method, textsIn(data['domains']))
    if (path !== '/domaingroups') return
    const group = readGroup(data['group'])
    if (group !== undefined && (method === 'POST' ? this.#isOwnGroup(group) : this.groups.has(group.id))) {
      this.groups.set(group.id, group)
      this.#separate(group)
    }
    if (method === 'GET' && Array.isArray(data['groups'])) this.#refresh(data['groups'].map(readGroup))
    if (method === 'DELETE' && query['id'] !== undefined) this.groups.delete(query['id'])
  }

  /** So many domains in no group of the run; fewer where there are not so many. */
  free(count: number): string[] {
    const members = new Set([...this.groups.values()].flatMap(({ domains }) => domains))
    return [...this.domains].filter((name) => !members.has(name)).slice(0, count)
  }

  /** A group with at least so many members, other than these. */
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

  /** Where a domain is in one group only, it has left the others. To think so costs at most another request. */
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

/** A group as responses have it; `undefined` for anything else. */
export function readGroup(value: unknown): DomainGroup | undefined {
  if (!isObject(value)) return undefined
  const { id, name, domains } = value
  if (typeof id !== 'string' || typeof name !== 'string') return undefined
  return { id, name, domains: textsIn(domains) }
}

export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}

/** What a request may create if it is accepted, however wrong it is. */
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
