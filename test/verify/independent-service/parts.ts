import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'

/**
 * What the independent service does, in parts that a deviation can replace one by one. It is written from the
 * specification and shares no code with the stand-in, so that both cannot be wrong in the same way.
 */

export interface Group {
  id: string
  name: string
  domains: string[]
}

export interface Account {
  /** When each was added, in milliseconds since the Unix epoch. */
  domains: Map<string, number>
  groups: Group[]
  /** How many groups were ever made. */
  created: number
}

export type Fields = Record<string, unknown>

/** A request that has passed the checks of its key and its quota. */
export interface Call {
  account: Account
  now: number
  method: string
  path: string
  id: string | undefined
  /** Empty for a request that needs no body. */
  fields: Fields
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Text is sent as it is, all else as JSON. */
  body: unknown
}

/** An expected refusal. */
export class Refusal extends Error {
  readonly code: string

  constructor(code: string) {
    super(`Refused: ${code.replaceAll('_', ' ')}.`)
    this.code = code
  }
}

/** What the fields of a body are: their types, and whether one is needed. */
export interface Shape {
  fields: Record<string, 'text' | 'texts'>
  required: string[]
}

const DAY = 86_400_000
const PROCESSING = 60_000
const POLICIES = ['none', 'quarantine', 'reject']
const INVISIBLE = /\u034f|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f]/
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export const SHAPES: Record<string, Shape> = {
  'POST /domains': { fields: { domains: 'texts' }, required: ['domains'] },
  'DELETE /domains': { fields: { domains: 'texts' }, required: ['domains'] },
  'POST /domaingroups': { fields: { name: 'text', domains: 'texts' }, required: ['name'] },
  'PATCH /domaingroups': {
    fields: { name: 'text', domains: 'texts', add_domains: 'texts', remove_domains: 'texts' },
    required: [],
  },
}

export class Parts {
  limits: Record<string, number> = { '/dmarc': 10, '/domains': 30, '/domaingroups': 100 }
  statuses: Record<string, number> = {
    unauthorized: 401,
    rate_limited: 429,
    not_found: 404,
    duplicate_name: 409,
    domain_delete_failed: 409,
    request_too_large: 413,
  }
  mostDomains = 50
  mostCharacters = 100

  /** The key of a request, if it has one that may be used. */
  keyOf(authorization: string | undefined, keys: ReadonlySet<string>): string | undefined {
    const [scheme, key = '', ...rest] = (authorization ?? '').split(' ')
    return scheme === 'Bearer' && rest.length === 0 && keys.has(key) ? key : undefined
  }

  /** What shares a limit. */
  bucketOf(key: string, path: string, _method: string): string {
    return `${key} ${path}`
  }

  /** Whether this request, the how manieth of its window it is, exceeds the limit. */
  exceeds(ordinal: number, limit: number): boolean {
    return ordinal > limit
  }

  /** The last look at what is sent. */
  finish(answer: Answer, _request: { method: string; path: string }): Answer {
    return answer
  }

  refuseMissingId(_call: Call): void {
    throw new Refusal('missing_id')
  }

  checkFields(call: Call): void {
    const { fields } = call
    const shape = SHAPES[`${call.method} ${call.path}`] as Shape
    if (Object.keys(fields).some((name) => !Object.hasOwn(shape.fields, name))) throw new Refusal('unknown_field')
    if (shape.required.some((name) => !Object.hasOwn(fields, name) || isEmptyOnDomains(call))) {
      throw new Refusal('missing_field')
    }
    if (call.method === 'PATCH' && Object.keys(fields).length === 0) throw new Refusal('no_fields_to_update')
    for (const [name, value] of Object.entries(fields)) {
      const fits = shape.fields[name] === 'text' ? typeof value === 'string' : isTexts(value)
      if (!fits) throw new Refusal('invalid_field_type')
    }
    const changes = fields['add_domains'] ?? fields['remove_domains']
    if (fields['domains'] !== undefined && changes !== undefined) throw new Refusal('conflicting_fields')
    const added = call.method === 'POST' && call.path === '/domains' ? textsIn(fields, 'domains') : []
    if (added.length > this.mostDomains) throw new Refusal('request_too_large')
    if (typeof fields['name'] === 'string') this.checkName(fields['name'])
    for (const list of ['domains', 'add_domains']) this.readHostnames(textsIn(fields, list))
  }

  checkName(name: string): void {
    const characters = [...name]
    const visible = characters.some((each) => !/\s/.test(each) && !INVISIBLE.test(each))
    if (!visible || characters.length > this.mostCharacters || name.includes('\0')) throw new Refusal('invalid_name')
    // Half of a surrogate pair is no character.
    if (/\p{Surrogate}/u.test(name)) throw new Refusal('invalid_name')
  }

  readHostnames(texts: readonly string[]): string[] {
    return texts.map((text) => {
      const hostname = this.readHostname(text)
      if (hostname === undefined) throw new Refusal('invalid_domain')
      return hostname
    })
  }

  /** The canonical form: lower case, A-labels, no final dot. */
  readHostname(text: string): string | undefined {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of these belongs to a hostname
    if (text.length > 1024 || /[\u0000-\u0020\u007f%:/\\@?#[\]*]/.test(text) || INVISIBLE.test(text)) return undefined
    const hostname = domainToASCII(text.replace(/\.$/, ''))
    const labels = hostname.split('.')
    const isLabel = (label: string) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label)
    if (hostname.length > 253 || labels.length < 2 || !labels.every(isLabel)) return undefined
    return isIP(hostname) > 0 || /^\d+$/.test(labels.at(-1) ?? '') ? undefined : hostname
  }

  /** Names with the same identity are the same name. */
  identityOf(name: string): string {
    return name.normalize('NFC').toUpperCase().toLowerCase()
  }

  checkUnique({ account }: Call, name: string, own?: Group): void {
    const identity = this.identityOf(name)
    const others = account.groups.filter((group) => group !== own)
    if (others.some((group) => this.identityOf(group.name) === identity)) throw new Refusal('duplicate_name')
  }

  /** Domains that become members: each once, and all of them monitored. */
  readMembers({ account }: Call, texts: readonly string[]): string[] {
    const members = [...new Set(this.readHostnames(texts))]
    if (members.some((domain) => !account.domains.has(domain))) throw new Refusal('not_monitored')
    return members
  }

  findGroup({ account, id }: Call): Group {
    const group = account.groups.find((each) => each.id === id)
    if (group === undefined) throw new Refusal('not_found')
    return group
  }

  recordOf(domain: string, addedAt: number, now: number): Fields {
    const refreshed = Math.floor(now / DAY) * DAY
    const days = Math.min(30, Math.ceil((refreshed - addedAt) / DAY))
    const isEmpty = addedAt + PROCESSING > refreshed
    const [policy = 0, mails = 0] = createHash('sha256').update(domain).digest()
    const [dkim = 0, spf = 0] = createHash('sha256').update(`${domain} ${refreshed}`).digest()
    const p = isEmpty ? 'none' : POLICIES[policy % 3]
    const shares = isEmpty ? [0, 0] : [800 + (dkim % 200), 600 + (spf % 300)].map((tenths) => tenths / 10)
    const [ofDkim = 0, ofSpf = 0] = shares
    return {
      ...{ domain, p, sp: p, np: p, pct: 100, testing: 'n' },
      ...{ dmarc: Math.max(ofDkim, ofSpf), dkim: ofDkim, spf: ofSpf },
      count: isEmpty ? 0 : days * (10 + mails),
    }
  }

  listDmarc({ account, now }: Call): unknown {
    return [...account.domains].map(([domain, addedAt]) => this.recordOf(domain, addedAt, now))
  }

  listDomains({ account }: Call): Fields {
    return { domains: [...account.domains.keys()] }
  }

  addDomains({ account, fields, now }: Call): Fields {
    const domains = this.readHostnames(textsIn(fields, 'domains'))
    const isRepeated = new Set(domains).size < domains.length
    if (isRepeated || domains.some((domain) => account.domains.has(domain))) throw new Refusal('invalid_domain')
    for (const domain of domains) account.domains.set(domain, now)
    return { message: 'Domains added. Background processing has started.', domains, count: domains.length }
  }

  deleteDomains({ account, fields }: Call): Fields {
    const domains = this.readHostnames(textsIn(fields, 'domains'))
    if (new Set(domains).size < domains.length) throw new Refusal('invalid_domain')
    if (domains.some((domain) => !account.domains.has(domain))) throw new Refusal('domain_delete_failed')
    for (const domain of domains) account.domains.delete(domain)
    for (const group of account.groups) group.domains = group.domains.filter((domain) => !domains.includes(domain))
    return { message: 'Domains removed.', domains, count: domains.length }
  }

  listGroups(call: Call): Fields {
    const { account, id } = call
    if (id !== undefined) return { group: this.findGroup(call) }
    return { groups: account.groups, count: account.groups.length }
  }

  createGroup(call: Call): Fields {
    const { account, fields } = call
    const name = String(fields['name'])
    const domains = this.readMembers(call, textsIn(fields, 'domains'))
    this.checkUnique(call, name)
    const group = { id: idOf(++account.created), name, domains }
    account.groups.push(group)
    return { group }
  }

  updateGroup(call: Call): Fields {
    const { fields } = call
    const group = this.findGroup(call)
    const members = this.changeMembers(call, group)
    if (typeof fields['name'] === 'string') {
      this.checkUnique(call, fields['name'], group)
      group.name = fields['name']
    }
    group.domains = members
    return { group }
  }

  changeMembers(call: Call, group: Group): string[] {
    const { fields } = call
    if (fields['domains'] !== undefined) return this.readMembers(call, textsIn(fields, 'domains'))
    const added = this.readMembers(call, textsIn(fields, 'add_domains'))
    const removed = textsIn(fields, 'remove_domains').map((text) => this.readHostname(text))
    return [...new Set([...group.domains, ...added])].filter((domain) => !removed.includes(domain))
  }

  deleteGroup(call: Call): Fields {
    const group = this.findGroup(call)
    call.account.groups = call.account.groups.filter((each) => each !== group)
    return { message: 'Domain group deleted.' }
  }
}

export function textsIn(fields: Fields, name: string): string[] {
  const value = fields[name]
  return isTexts(value) ? value : []
}

/** 8 characters of which nobody can guess the next one. */
function idOf(ordinal: number): string {
  const bytes = createHash('sha256').update(`group ${ordinal}`).digest().subarray(0, 8)
  return [...bytes].map((byte) => DIGITS[byte % DIGITS.length]).join('')
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function isEmptyOnDomains({ path, fields }: Call): boolean {
  const { domains } = fields
  return path === '/domains' && Array.isArray(domains) && domains.length === 0
}
