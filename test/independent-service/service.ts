import { domainToASCII } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Departure } from './departures.ts'
import { hash } from './draw.ts'
import { CALLS, type Call, type Check, type Code, type ListOrder, type Profile } from './profile.ts'

/*
 * One service, written from the specification alone and sharing no line with the stand-in. What the specification
 * leaves open is in its profile, what it does wrong in its departure. It knows no socket and no clock.
 */

export type Path = '/dmarc' | '/domains' | '/domaingroups'

export interface ServiceRequest {
  method: string
  /** What stands in the request line, e.g. `/api/v1/domaingroups?id=g1`. */
  target: string
  /** Names in lower case. */
  headers: Record<string, string>
  body: Uint8Array
}

export interface ServiceResponse {
  status: number
  headers: [name: string, value: string][]
  body: Uint8Array
}

export interface Group {
  id: string
  name: string
  domains: string[]
}

export interface Key {
  secret: string
  /** In its first week, it has higher limits. */
  createdAt: number
  disabled: boolean
  label?: string
}

/** All that a service keeps of an account, as plain data. */
export interface Account {
  keys: Key[]
  /** Whether its plan includes the service. */
  hasAccess: boolean
  domains: string[]
  addedAt: Map<string, number>
  groups: Group[]
  groupsMade: number
  /** The monitoring features that use a domain. */
  inUse: Map<string, string[]>
  /** The instants of the requests that were counted, by what they are counted together for. */
  charged: Map<string, number[]>
}

/** What answers in the place of the service: a refusal, a failure, or nobody, `isAfter` the work was done. */
export interface Strike {
  code: Code | 'crash' | 'lost'
  status?: number | undefined
  isAfter: boolean
}

/** A request as the service sees it. */
export interface Asked {
  request: ServiceRequest
  call: Call | undefined
  path: Path | undefined
  id: string | undefined
  query: URLSearchParams
  /** The body as a JSON object, where it is one. */
  fields: Record<string, unknown> | undefined
  account: Account
  now: number
  profile: Profile
}

export interface QuotaShown {
  limit: number
  remaining: number
  reset: number
}

export interface Bucket {
  name: string
  limit: number
}

const BASE = '/api/v1'
export const PATHS: readonly Path[] = ['/dmarc', '/domains', '/domaingroups']
const LIMITS: Record<Path, number> = { '/dmarc': 10, '/domains': 30, '/domaingroups': 100 }
const HOUR = 3_600_000
const DAY = 24 * HOUR
const WEEK = 7 * DAY
const PROCESSING = 30_000

const FIELDS: Partial<Record<Call, { required: string[]; lists: string[]; texts: string[] }>> = {
  'POST /domains': { required: ['domains'], lists: ['domains'], texts: [] },
  'DELETE /domains': { required: ['domains'], lists: ['domains'], texts: [] },
  'POST /domaingroups': { required: ['name'], lists: ['domains'], texts: ['name'] },
  'PATCH /domaingroups': { required: [], lists: ['domains', 'add_domains', 'remove_domains'], texts: ['name'] },
}

export function emptyAccount(secrets: readonly string[] = ['key-of-the-account']): Account {
  const keys = secrets.map((secret) => ({ secret, createdAt: 0, disabled: false }))
  const lists = { keys, domains: [], addedAt: new Map(), groups: [], inUse: new Map(), charged: new Map() }
  return { ...lists, hasAccess: true, groupsMade: 0 }
}

/** Whether the key has higher limits: "New keys have a one-week grace period with higher rate limits." */
function isInGrace({ createdAt }: Key, now: number): boolean {
  return now - createdAt < WEEK
}

/** What a hostname never has, although `domainToASCII` drops it. */
const INVISIBLE = /[\p{Cc}\u00ad\u200b-\u200f\u2060\ufeff]/u

/** Whether every service must take it for a hostname, or none, or each as it likes. */
function isHostname(text: string, { hostnames }: Profile): boolean {
  let name = text
  if (/[^\x20-\x7e]/.test(name)) {
    const ascii = domainToASCII(name)
    if (hostnames.unicode === 'refused' || ascii === '' || INVISIBLE.test(name)) return false
    name = ascii
  } else if (hostnames.unicode === 'punycode' && /(^|\.)xn--/i.test(name) && domainToASCII(name) === '') return false
  if (name.endsWith('.')) {
    if (!hostnames.trailingDot) return false
    name = name.slice(0, -1)
  }
  const labels = name.split('.')
  const label = hostnames.underscore ? /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/i : /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i
  if (name.length > 253 || !labels.every((each) => label.test(each))) return false
  if (labels.length === 1 && !hostnames.singleLabel) return false
  return hostnames.numericEnd || !/^\d+$/.test(labels.at(-1) ?? '')
}

/** What makes two names the same domain. With an invisible character, a text is no name. */
function sameness(name: string): string {
  const ascii = /[^\x20-\x7e]/.test(name) && !INVISIBLE.test(name) ? domainToASCII(name) : name
  return ascii.toLowerCase().replace(/\.$/, '')
}

function ordered<T>(items: readonly T[], order: ListOrder, nameOf: (item: T) => string): T[] {
  const byName = (a: T, b: T) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0)
  switch (order) {
    case 'insertion':
      return [...items]
    case 'reverse':
      return items.toReversed()
    case 'alphabet':
      return items.toSorted(byName)
    case 'length':
      return items.toSorted((a, b) => nameOf(a).length - nameOf(b).length || byName(a, b))
    case 'hash':
      return items.toSorted((a, b) => hash(nameOf(a)) - hash(nameOf(b)) || byName(a, b))
  }
}

type Change = (data: unknown, asked: Asked) => unknown

export class IndependentService {
  account: Account
  readonly profile: Profile
  readonly departure: Partial<Departure>
  private requests = 0
  /** What became of the last request, if nothing else answered. */
  outcome: Outcome = { kind: 'crash' }

  constructor(profile: Profile, departure: Partial<Departure> = {}, account = emptyAccount()) {
    this.profile = profile
    this.departure = departure
    this.account = account
  }

  answer(request: ServiceRequest, now: number): ServiceResponse {
    this.requests += 1
    const asked = this.read(request, now)
    const { outcome, bucket } = this.decide(asked)
    if (bucket !== undefined && this.isCharged(asked, outcome)) this.charge(bucket, now)
    if (outcome.kind === 'lost') return { status: 0, headers: [], body: new Uint8Array() }
    const response = this.reply(asked, outcome, bucket)
    return this.departure.sends?.(response, asked) ?? response
  }

  private read(request: ServiceRequest, now: number): Asked {
    const { profile, account } = this
    const [rawPath = '', rawQuery = ''] = request.target.split('?', 2)
    const query = new URLSearchParams(rawQuery)
    let name = rawPath.startsWith(BASE) ? rawPath.slice(BASE.length) : ''
    if (profile.trailingSlash === 'accepted') name = name.replace(/\/$/, '')
    const path = PATHS.find((each) => each === name)
    const method = request.method === 'HEAD' && profile.head === 'as GET' ? 'GET' : request.method
    const call = CALLS.find((each) => each === `${method} ${path}`)
    const id = profile.repeatedId === 'first' ? query.get('id') : query.getAll('id').at(-1)
    const value = readJson(request.body)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    const all = isObject ? (value as Record<string, unknown>) : undefined
    const dropsNull = profile.codes.nullField === 'absent' && all !== undefined
    const fields = dropsNull ? Object.fromEntries(Object.entries(all).filter(([, each]) => each !== null)) : all
    return { request, call, path, id: id ?? undefined, query, fields, account, now, profile }
  }

  private decide(asked: Asked): { outcome: Outcome; bucket: Bucket | undefined } {
    const bucket = this.bucketOf(asked)
    const { outcome, strike } = this.work(asked, bucket)
    this.outcome = outcome
    if (strike === undefined) return { outcome, bucket }
    const { code, status } = strike
    if (code === 'crash') return { outcome: { kind: 'crash' }, bucket }
    if (code === 'lost') return { outcome: { kind: 'lost' }, bucket }
    return { outcome: { kind: 'refused', code, status, check: 'fault' }, bucket }
  }

  private work(asked: Asked, bucket: Bucket | undefined): { outcome: Outcome; strike?: Strike | undefined } {
    const { departure, profile } = this
    let strike: Strike | undefined
    if (departure.crashes?.(asked)) return { outcome: { kind: 'crash' } }
    for (const check of profile.checks) {
      if (departure.skips?.(check, asked)) continue
      if (check === 'fault') {
        strike = departure.strikes?.(asked)
        if (strike?.isAfter === false) return { outcome: { kind: 'crash' }, strike }
        continue
      }
      const code = this.refusal(check, asked, bucket)
      if (code === undefined) continue
      const refused = asked.fields === undefined ? undefined : departure.afterRefusal
      refused?.(asked, code, this.makeGroup)
      return { outcome: { kind: 'refused', code, check }, strike }
    }
    const extra = departure.refuses?.(asked)
    if (extra !== undefined) return { outcome: { kind: 'refused', code: extra, check: 'object' } }
    const before = structuredClone(this.account)
    const data = this.perform(asked)
    departure.afterwards?.(asked, before)
    const change = asked.call && (departure.data?.[asked.call] as Change | undefined)
    return { outcome: { kind: 'done', data: change === undefined ? data : change(data, asked) }, strike }
  }

  // Quotas

  private hasGoodKey({ request, account }: Asked): boolean {
    const header = request.headers.authorization ?? ''
    const secrets = account.keys.map(({ secret }) => secret)
    return this.departure.goodKey?.(header, secrets) || this.keyOf(header)?.disabled === false
  }

  /** The key of the account that a value of Authorization presents. */
  keyOf(header: string): Key | undefined {
    const scheme = this.profile.scheme === 'exact' ? /^Bearer (\S+)$/ : /^Bearer +(\S+)$/i
    const presented = scheme.exec(header)?.[1]
    return this.account.keys.find(({ secret }) => secret === presented)
  }

  private bucketOf(asked: Asked): Bucket | undefined {
    const { profile, departure } = this
    const { path, now, request } = asked
    if (path === undefined) return undefined
    if (!this.hasGoodKey(asked) && !departure.skips?.('key', asked)) {
      const limit = profile.quota.anonymous
      return limit === undefined ? undefined : { name: `nobody ${path}`, limit }
    }
    const header = request.headers.authorization ?? ''
    const secret = header.split(' ').at(-1) ?? ''
    const key = this.keyOf(header) ?? { secret, createdAt: 0, disabled: false }
    const bucket = this.quotaOf(key, path, now)
    return departure.counts === undefined ? bucket : { ...bucket, name: `${secret} ${departure.counts(asked)}` }
  }

  /** What the requests of a key to a path are counted together for. */
  quotaOf(key: Key, path: Path, now: number): Bucket {
    const { per, graceFactor } = this.profile.quota
    const limit = this.departure.limits?.[path] ?? LIMITS[path]
    const name = `${per === 'account' ? '' : key.secret} ${path}`
    return { name, limit: isInGrace(key, now) ? limit * graceFactor : limit }
  }

  /** The instants of the requests that count now, and when that changes. */
  used(bucket: Pick<Bucket, 'name'>, now: number): { used: number; resets: number } {
    const window = HOUR * (this.departure.hours ?? 1)
    const stamps = this.account.charged.get(bucket.name) ?? []
    const kind = this.profile.quota.window
    if (kind === 'sliding') {
      const recent = stamps.filter((stamp) => stamp > now - window)
      return { used: recent.length, resets: (recent[0] ?? now) + window }
    }
    let start = Math.floor(now / window) * window
    if (kind === 'from the first') {
      start = now
      let opened: number | undefined
      for (const stamp of stamps) if (opened === undefined || stamp >= opened + window) opened = stamp
      if (opened !== undefined && now < opened + window) start = opened
    }
    const isIn = (stamp: number) => stamp >= start && stamp < start + window
    return { used: stamps.filter(isIn).length, resets: start + window }
  }

  private charge(bucket: Bucket, now: number) {
    const { charged } = this.account
    if (this.profile.quota.window === 'aligned' && this.used(bucket, now).used === 0) this.forgetOtherWindows(now)
    charged.set(bucket.name, [...(charged.get(bucket.name) ?? []), now])
  }

  /** With the first request of an hour, what was counted in others is forgotten, also in those to come. */
  private forgetOtherWindows(now: number) {
    const { charged } = this.account
    for (const name of charged.keys()) if (this.used({ name }, now).used === 0) charged.delete(name)
  }

  private isCharged(asked: Asked, outcome: Outcome): boolean {
    const { charges } = this.profile.quota
    if (outcome.kind !== 'refused' || outcome.check === 'fault') return true
    if (outcome.check === 'plan') return false
    if (outcome.code === 'rate_limited') return charges.limited
    if (asked.call === undefined) return charges.unrouted
    return outcome.code === 'unauthorized' || charges.refusals
  }

  // Checks

  private refusal(check: Check, asked: Asked, bucket: Bucket | undefined): Code | undefined {
    switch (check) {
      case 'route':
        return asked.call === undefined ? 'not_found' : undefined
      case 'key':
        return this.hasGoodKey(asked) ? undefined : 'unauthorized'
      case 'plan':
        return asked.account.hasAccess ? undefined : 'unauthorized'
      case 'limit':
        if (bucket === undefined) return undefined
        return this.used(bucket, asked.now).used >= bucket.limit ? 'rate_limited' : undefined
      case 'query':
        return this.strangeQuery(asked)
      case 'missing id':
      case 'unknown id':
        return this.wrongId(check, asked)
      case 'media':
      case 'size':
      case 'json':
      case 'object':
        return asked.call !== undefined && FIELDS[asked.call] !== undefined ? this.badBody(check, asked) : undefined
      default:
        return asked.fields === undefined ? undefined : this.badFields(check, asked, asked.fields)
    }
  }

  private strangeQuery({ call, query }: Asked): Code | undefined {
    const { unknownQuery } = this.profile.codes
    if (unknownQuery === 'accepted' || call === undefined) return undefined
    const known = call.endsWith('/domaingroups') && call !== 'POST /domaingroups' ? ['id'] : []
    return [...query.keys()].every((name) => known.includes(name)) ? undefined : unknownQuery
  }

  private wrongId(check: 'missing id' | 'unknown id', { call, id, account }: Asked): Code | undefined {
    const { emptyIdRead, emptyIdWrite } = this.profile.codes
    const exists = account.groups.some((group) => group.id === id)
    if (call === 'GET /domaingroups') {
      if (id === undefined || exists) return undefined
      if (id !== '') return check === 'unknown id' ? 'not_found' : undefined
      const code = emptyIdRead === 'list' ? undefined : emptyIdRead
      return (check === 'unknown id') === (code === 'not_found') ? code : undefined
    }
    if (call !== 'PATCH /domaingroups' && call !== 'DELETE /domaingroups') return undefined
    if (id === undefined) return check === 'missing id' ? 'missing_id' : undefined
    if (id === '') return emptyIdWrite
    return check === 'unknown id' && !exists ? 'not_found' : undefined
  }

  private badBody(check: 'media' | 'size' | 'json' | 'object', asked: Asked): Code | undefined {
    const { codes, bodyLimit } = this.profile
    const { headers, body } = asked.request
    const refused = (code: Code | 'accepted') => (code === 'accepted' ? undefined : code)
    if (check === 'size') return body.length > bodyLimit ? 'request_too_large' : undefined
    if (check === 'media') {
      const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
      const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='))
      if (body.length === 0) return undefined
      if (type.trim() !== 'application/json') return refused(codes.otherMedia)
      if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset)) return refused(codes.otherCharset)
      const encoding = headers['content-encoding'] ?? 'identity'
      return encoding === 'identity' ? undefined : refused(codes.otherEncoding)
    }
    if (body.length === 0) return codes.emptyBody
    const value = readJson(body)
    if (check === 'json') {
      if (value !== NOT_JSON) return undefined
      return isUtf8(body) ? 'invalid_json' : codes.badUtf8
    }
    if (value === NOT_JSON) return undefined
    return asked.fields === undefined ? codes.notAnObject : undefined
  }

  private badFields(check: Check, asked: Asked, fields: Record<string, unknown>): Code | undefined {
    const { codes } = this.profile
    const { call, account, id } = asked
    const form = call === undefined ? undefined : FIELDS[call]
    if (form === undefined) return undefined
    const refused = (code: Code | 'accepted') => (code === 'accepted' ? undefined : code)
    const list = (name: string) => (isTexts(fields[name]) ? fields[name] : [])
    const given = list('domains')
    const isAddition = call === 'POST /domains'
    const isRemoval = call === 'DELETE /domains'
    const isMonitored = (name: string) => account.domains.some((each) => sameness(each) === sameness(name))
    const members = isAddition || isRemoval ? [] : [...given, ...list('add_domains')]
    const validity = (name: string) => this.departure.hostname?.(name) ?? isHostname(name, this.profile)
    const mostDomains = this.departure.mostDomains ?? 50
    switch (check) {
      case 'unknown field':
        return Object.keys(fields).every((name) => [...form.lists, ...form.texts].includes(name))
          ? undefined
          : 'unknown_field'
      case 'missing field':
        return form.required.every((name) => name in fields) ? undefined : 'missing_field'
      case 'field type':
        if (form.texts.some((name) => name in fields && typeof fields[name] !== 'string')) return 'invalid_field_type'
        return form.lists.some((name) => name in fields && !isTexts(fields[name])) ? 'invalid_field_type' : undefined
      case 'nothing to update':
        if (call !== 'PATCH /domaingroups') return undefined
        return [...form.lists, ...form.texts].some((name) => name in fields) ? undefined : 'no_fields_to_update'
      case 'conflict':
        return 'domains' in fields && ('add_domains' in fields || 'remove_domains' in fields)
          ? 'conflicting_fields'
          : undefined
      case 'too many':
        return isAddition && given.length > mostDomains ? codes.tooMany : undefined
      case 'no domains':
        if ((!isAddition && !isRemoval) || !isTexts(fields.domains) || given.length > 0) return undefined
        return refused(codes.noDomains)
      case 'hostname':
        if (isAddition) return given.every(validity) ? undefined : 'invalid_domain'
        if (isRemoval) return given.every(validity) ? undefined : refused(codes.invalidRemoval)
        return members.every(validity) ? undefined : codes.invalidMember
      case 'duplicates':
        if ((!isAddition && !isRemoval) || this.distinct(given).length === given.length) return undefined
        return isAddition ? codes.duplicates : refused(codes.repeatedRemoval)
      case 'already monitored':
        return isAddition && given.some(isMonitored) ? refused(codes.alreadyMonitored) : undefined
      case 'unmonitored removal':
        return isRemoval && !given.every(isMonitored) ? refused(codes.unmonitoredRemoval) : undefined
      case 'in use':
        return isRemoval && given.some((name) => this.isInUse(name)) ? 'domain_delete_failed' : undefined
      case 'name length': {
        if (typeof fields.name !== 'string') return undefined
        const { names } = this.profile
        const name = names.trimmed ? fields.name.trim() : fields.name
        const length = names.length === 'code points' ? [...name].length : name.length
        const isBlank = names.refuses.blank && /^[\s\u200b]+$/.test(name)
        const isStrange = isBlank || names.refuses.characters?.test(name)
        const longest = this.departure.longestName ?? 100
        return length < 1 || length > longest || isStrange ? 'invalid_name' : undefined
      }
      case 'duplicate name': {
        const { name } = fields
        if (typeof name !== 'string') return undefined
        const own = call === 'PATCH /domaingroups' ? id : undefined
        const isTaken = account.groups.some((each) => each.id !== own && this.isSameName(each.name, name))
        return isTaken ? 'duplicate_name' : undefined
      }
      case 'members':
        return members.every(isMonitored) ? undefined : 'not_monitored'
      case 'member duplicates':
        return ['domains', 'add_domains'].some(
          (name) => members.length > 0 && new Set(list(name).map(sameness)).size < list(name).length,
        )
          ? refused(codes.memberDuplicates)
          : undefined
      default:
        return undefined
    }
  }

  private isInUse(name: string): boolean {
    const { account, profile } = this
    const isIt = (each: string) => sameness(each) === sameness(name)
    if ([...account.inUse.keys()].some(isIt)) return true
    return profile.removal === 'refused for members' && account.groups.some((group) => group.domains.some(isIt))
  }

  private isSameName(one: string, other: string): boolean {
    const { fold, trimmed } = this.profile.names
    const folded = (name: string) => {
      const text = (trimmed ? name.trim() : name).normalize('NFC')
      return fold === 'lower' ? text.toLowerCase() : text.toUpperCase().toLowerCase()
    }
    return this.departure.sameName?.(one, other) ?? folded(one) === folded(other)
  }

  // Operations

  private perform(asked: Asked): unknown {
    const { account, profile, now } = asked
    const fields = asked.fields ?? {}
    const given = isTexts(fields.domains) ? fields.domains : []
    const list = (names: string[], order: ListOrder) => ordered(names, order, (name) => name)
    switch (asked.call) {
      case 'GET /dmarc':
        return ordered(account.domains, profile.lists.records, (name) => name).map((name) => this.record(name, now))
      case 'GET /domains':
        return { domains: list(account.domains, profile.lists.domains) }
      case 'POST /domains': {
        const names = this.distinct(given).map((name) => this.stored(name))
        const fresh = names.filter((name) => !this.monitored(name))
        for (const name of fresh) {
          account.domains.push(name)
          account.addedAt.set(name, now)
        }
        const shown = profile.echoes === 'added' ? fresh : names
        return this.counted('added', list(shown, profile.lists.echoed), fresh.length)
      }
      case 'DELETE /domains': {
        const gone = this.distinct(given).flatMap((name) => this.monitored(name) ?? [])
        account.domains = account.domains.filter((name) => !gone.includes(name))
        for (const group of account.groups) group.domains = group.domains.filter((name) => !gone.includes(name))
        return this.counted('removed', list(gone, profile.lists.echoed), gone.length)
      }
      case 'GET /domaingroups': {
        const group = account.groups.find(({ id }) => id === asked.id)
        if (group !== undefined) return { group: this.shown(group) }
        const groups = ordered(account.groups, profile.lists.groups, ({ name }) => name)
        return { groups: groups.map((each) => this.shown(each)), count: groups.length }
      }
      case 'POST /domaingroups': {
        const group = this.makeGroup(String(fields.name), this.memberNames(given))
        return { group: this.shown(group) }
      }
      case 'PATCH /domaingroups': {
        const group = account.groups.find(({ id }) => id === asked.id)
        if (group === undefined) return {}
        if (typeof fields.name === 'string') group.name = this.storedName(fields.name)
        group.domains = this.departure.members?.(group.domains, fields) ?? this.members(group.domains, fields)
        const wording = this.wording('updated', 1)
        const shown = this.shown(group)
        const shapes = {
          group: { group: shown },
          empty: {},
          message: { message: wording },
          'message and group': { message: wording, group: shown },
          'bare group': shown,
          null: null,
        }
        return shapes[profile.patch]
      }
      case 'DELETE /domaingroups':
        account.groups = account.groups.filter(({ id }) => id !== asked.id)
        return { message: this.wording('deleted', 1) }
      default:
        return {}
    }
  }

  private counted(verb: string, domains: string[], count: number) {
    return { message: this.wording(verb, count), domains, count }
  }

  private monitored(name: string): string | undefined {
    return this.account.domains.find((each) => sameness(each) === sameness(name))
  }

  private distinct(names: readonly string[]): string[] {
    return names.filter((name, at) => names.findIndex((each) => sameness(each) === sameness(name)) === at)
  }

  private stored(name: string): string {
    const { stored, hostnames } = this.profile
    const ascii = hostnames.unicode === 'punycode' && /[^\x20-\x7e]/.test(name) ? domainToASCII(name) : name
    return stored === 'lower case' ? ascii.toLowerCase().replace(/\.$/, '') : ascii
  }

  private storedName(name: string): string {
    return this.profile.names.trimmed ? name.trim() : name
  }

  /** Members as the account has them; one that is not monitored stays as it was sent. */
  private memberNames(names: readonly string[]): string[] {
    return this.distinct(names).map((name) => this.monitored(name) ?? this.stored(name))
  }

  private members(before: readonly string[], fields: Record<string, unknown>): string[] {
    if (isTexts(fields.domains)) return this.memberNames(fields.domains)
    const added = isTexts(fields.add_domains) ? fields.add_domains : []
    const removed = new Set((isTexts(fields.remove_domains) ? fields.remove_domains : []).map(sameness))
    return this.memberNames([...before, ...added]).filter((name) => !removed.has(sameness(name)))
  }

  readonly makeGroup = (name: string, domains: string[]): Group => {
    this.account.groupsMade += 1
    const group = { id: this.newId(), name: this.storedName(name), domains }
    this.account.groups.push(group)
    return group
  }

  private shown({ id, name, domains }: Group) {
    return { id, name, domains: ordered(domains, this.profile.lists.members, (each) => each) }
  }

  private newId(): string {
    const { groupsMade } = this.account
    const drawn = hash(`group ${groupsMade} of ${this.profile.name}`)
    switch (this.profile.ids) {
      case 'letters':
        return drawn.toString(36).padStart(8, 'x')
      case 'number':
        return String(1000 + groupsMade)
      case 'uuid':
        return uuid(drawn)
      case 'prefixed':
        return `grp_${drawn.toString(16)}`
      case 'url-safe':
        return `-${Buffer.from(String(drawn)).toString('base64url')}_~.`
    }
  }

  /** The figures of one domain on one day. */
  private record(domain: string, now: number) {
    const { figures } = this.profile
    const refreshed = (instant: number) => Math.floor((instant - figures.refreshHour * HOUR) / DAY)
    const today = refreshed(now)
    const addedAt = this.account.addedAt.get(domain) ?? 0
    const waits = {
      'at once': false,
      'after processing': now < addedAt + PROCESSING,
      'next refresh': today <= refreshed(addedAt),
    }
    const draw = (what: string, below: number) => hash(`${domain} ${what} ${today}`) % below
    const share = (from: number, to: number) => (what: string) =>
      Number((from + ((to - from) * draw(what, 10_001)) / 10_000).toFixed(figures.decimals))
    const has = !waits[figures.firstFigures]
    const dkim = has ? share(40, 100)('dkim') : 0
    const spf = has ? share(40, 100)('spf') : 0
    const combined = figures.combined === 'independent' ? share(0, 100) : share(Math.max(dkim, spf), 100)
    const policy = (what: string) => figures.policies[hash(`${domain} ${what}`) % figures.policies.length]
    return {
      domain,
      p: policy('p'),
      sp: policy('sp'),
      np: policy('np'),
      pct: 100 - (hash(domain) % 3) * 25,
      testing: figures.testing[hash(`${domain} t`) % figures.testing.length],
      dmarc: has ? combined('dmarc') : 0,
      dkim,
      spf,
      count: has ? draw('count', 20_000) : 0,
    }
  }

  // Answers

  private wording(verb: string, count: number): string {
    const sentences = { sentences: `Successfully ${verb} ${count}.`, terse: 'ok', codes: verb.toUpperCase() }
    return this.profile.wording === 'other language' ? `Opération réussie (${count})` : sentences[this.profile.wording]
  }

  private refusalText(code: Code, { fields }: Asked): string {
    switch (this.profile.wording) {
      case 'sentences':
        return `The request was refused: ${code.replaceAll('_', ' ')} (${Object.keys(fields ?? {}).join(', ')}).`
      case 'terse':
        return 'no'
      case 'codes':
        return code.toUpperCase()
      case 'other language':
        return 'Demande refusée — veuillez réessayer'
    }
  }

  private reply(asked: Asked, outcome: Outcome, bucket: Bucket | undefined): ServiceResponse {
    const { profile, departure } = this
    if (outcome.kind === 'crash') {
      const crash = { success: false, error: { code: 'internal_error', message: 'Something went wrong.' } }
      return this.send(asked, 500, crash, [])
    }
    if (outcome.kind === 'done') {
      const envelope = this.envelope(true, { data: outcome.data })
      const status = asked.call === undefined ? 200 : profile.successes[asked.call]
      return this.send(asked, status, envelope, this.quotaHeaders('success', bucket, asked))
    }
    if (outcome.kind === 'lost') throw new Error('Nobody answers.')
    const { code, check, status } = outcome
    const error: Record<string, string> = {
      code: departure.code?.(code, asked) ?? code,
      message: this.refusalText(code, asked),
    }
    const isUnrouted = check === 'route'
    const unroutedStatus = asked.path === undefined ? profile.unknownPath : profile.unknownMethod
    const usualStatus = check === 'plan' ? profile.planStatus : profile.statuses[code]
    const kinds = { unauthorized: 'unauthorized', rate_limited: 'limited' } as const
    const kind = isUnrouted ? 'unrouted' : code in kinds ? kinds[code as keyof typeof kinds] : 'refusal'
    const isSpent = check === 'fault' && code === 'rate_limited'
    const headers = this.quotaHeaders(kind, bucket, asked, isSpent)
    if (profile.wire.challenge && code === 'unauthorized') headers.push(['WWW-Authenticate', 'Bearer'])
    if (profile.quota.retryAfter && code === 'rate_limited' && bucket !== undefined) {
      headers.push(['Retry-After', String(Math.ceil((this.used(bucket, asked.now).resets - asked.now) / 1000))])
    }
    return this.send(
      asked,
      isUnrouted ? unroutedStatus : (status ?? usualStatus),
      this.envelope(false, { error }),
      headers,
    )
  }

  private envelope(success: boolean, rest: Record<string, unknown>): Record<string, unknown> {
    return this.profile.wire.dataFirst ? { ...rest, success } : { success, ...rest }
  }

  private quotaHeaders(
    kind: Profile['quota']['headersOn'][number],
    bucket: Bucket | undefined,
    { now, path }: Asked,
    isSpent = false,
  ): [string, string][] {
    const { quota } = this.profile
    if (bucket === undefined || path === undefined || !quota.headersOn.includes(kind)) return []
    const { used, resets } = this.used(bucket, now)
    const seconds = quota.reset === 'instant' ? Math.ceil(resets / 1000) : Math.ceil((resets - now) / 1000)
    const remaining = isSpent ? 0 : Math.max(0, bucket.limit - used)
    const real = { limit: bucket.limit, remaining, reset: seconds }
    const shown = this.departure.shows?.(real, path) ?? real
    const named = (name: string) => (quota.lowerCaseHeaders ? name.toLowerCase() : name)
    return [
      [named('X-RateLimit-Limit'), String(shown.limit)],
      [named('X-RateLimit-Remaining'), String(shown.remaining)],
      [named('X-RateLimit-Reset'), String(shown.reset)],
    ]
  }

  private send(asked: Asked, status: number, envelope: unknown, more: [string, string][]): ServiceResponse {
    const { profile, departure } = this
    const { wire } = profile
    const content = departure.envelope ? departure.envelope(envelope as Envelope, asked) : envelope
    let text = JSON.stringify(content, undefined, wire.pretty ? 2 : undefined)
    if (profile.figures.decimals === 2) {
      text = text.replace(/("(?:dmarc|dkim|spf)": ?)([\d.]+)/g, (_, name, value) => name + Number(value).toFixed(2))
    }
    if (wire.escaped) {
      const escaped = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
      text = text.replace(/[\u0080-\uffff]/g, escaped)
    }
    let body: Uint8Array = Buffer.from(text)
    const headers: [string, string][] = [
      ['Content-Type', wire.contentType],
      ['X-Request-Id', this.requestId(asked.request)],
      ...more,
    ]
    const wantsGzip = /\bgzip\b/.test(asked.request.headers['accept-encoding'] ?? '')
    if (wire.gzip === 'always' || (wire.gzip === 'when asked' && wantsGzip)) {
      body = gzipSync(body)
      headers.push(['Content-Encoding', 'gzip'])
    }
    if (asked.request.method === 'HEAD') body = new Uint8Array()
    else if (!wire.chunked) headers.push(['Content-Length', String(body.length)])
    return { status, headers, body }
  }

  private requestId({ headers }: ServiceRequest): string {
    const sent = headers['x-request-id']
    if (this.profile.echoesRequestId && sent !== undefined) return sent
    const drawn = hash(`request ${this.requests} of ${this.profile.name}`)
    switch (this.profile.requestIds) {
      case 'uuid':
        return uuid(drawn)
      case 'hex':
        return `${drawn.toString(16)}${this.requests.toString(16).padStart(6, '0')}`
      case 'number':
        return String(700_000 + this.requests)
      case 'prefixed':
        return `req_${drawn.toString(36)}_${this.requests}`
    }
  }
}

export type Outcome =
  | { kind: 'done'; data: unknown }
  | { kind: 'refused'; code: Code; check: Check; status?: number | undefined }
  | { kind: 'crash' }
  | { kind: 'lost' }

export interface Envelope {
  success: boolean
  data?: unknown
  error?: { code: string; message: string }
}

const NOT_JSON = Symbol('not JSON')

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    return NOT_JSON
  }
}

function isUtf8(body: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body)
    return true
  } catch {
    return false
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function uuid(seed: number): string {
  const hex = [1, 2, 3, 4].map((part) => hash(`${seed} ${part}`).toString(16).padStart(8, '0')).join('')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
