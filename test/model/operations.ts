import { expect } from 'vitest'
import { type Account, type Group, type Nature, nextVersion, type Pin } from './account.ts'
import { type Expected, type ExpectedRecord, refusal, success } from './expected.ts'
import { isSameName, keptForm } from './pool.ts'

/** A JSON value that arrives as it was sent, or what is wrong with the body before it is one. */
export type Body = { value: unknown } | { refused: string }

export interface Operation {
  method: string
  path: string
  /** The value of the query parameter `id`, the first if there are several. */
  id: string | undefined
  body: Body
}

const MINUTE = 60_000
const DAY = 86_400_000

/** What an operation must answer, and does, when the caller may ask for it. */
export function operate(account: Account, { method, path, id, body }: Operation, now: number): Expected {
  switch (`${method} ${path}`) {
    case 'GET /dmarc':
      return { status: 200, records: records(account, now) }
    case 'GET /domains':
      return success({ domains: [...account.domains.keys()] })
    case 'POST /domains':
      return withFields(body, (fields) => addDomains(account, fields, now))
    case 'DELETE /domains':
      return withFields(body, (fields) => deleteDomains(account, fields))
    case 'GET /domaingroups':
      return id === undefined ? listGroups(account) : withGroup(account, id, showGroup)
    case 'POST /domaingroups':
      return withFields(body, (fields) => createGroup(account, fields))
    case 'PATCH /domaingroups':
      return withId(id, (known) => withFields(body, (fields) => updateGroup(account, known, fields)))
    case 'DELETE /domaingroups':
      return withId(id, (known) => withGroup(account, known, (group) => deleteGroup(account, group)))
    default:
      throw new Error(`The model has no ${method} ${path}.`)
  }
}

/** "One record is returned per monitored domain"; with figures from the first refresh after a minute of processing. */
export function records({ domains, contents }: Account, now: number): ExpectedRecord[] {
  const lastRefresh = now - (now % DAY)
  return [...domains].map(([domain, { addedAt, pin, nature }]) => {
    const above = [...domains].filter(([name]) => domain.endsWith(`.${name}`))
    const processedAt = addedAt + MINUTE
    const reported = processedAt <= lastRefresh
    const justInTime = processedAt === lastRefresh
    return { domain, addedAt, seed: contents.seed, pin, nature, above, reported, justInTime }
  })
}

type Fields = Readonly<Record<string, unknown>>

function addDomains(account: Account, fields: Fields, now: number): Expected {
  if (!hasOnly(fields, ['domains'])) return refusal('unknown_field')
  const { domains: given } = fields
  if (given === undefined || isEmpty(given)) return refusal('missing_field')
  if (!areTexts(given)) return refusal('invalid_field_type')
  if (given.length > 50) return refusal('request_too_large')
  const domains = keptForms(given)
  const isNew = (domain: string) => !account.domains.has(domain)
  if (domains === undefined || repeats(domains) || !domains.every(isNew)) return refusal('invalid_domain')

  for (const domain of domains) {
    const nature = account.contents.former.get(domain)
    account.domains.set(domain, { addedAt: now, features: [], ...(nature && { nature }) })
  }
  account.contents.version = nextVersion()
  return success({ message: expect.any(String), domains, count: domains.length })
}

function deleteDomains(account: Account, fields: Fields): Expected {
  if (!hasOnly(fields, ['domains'])) return refusal('unknown_field')
  const { domains: given } = fields
  if (given === undefined || isEmpty(given)) return refusal('missing_field')
  if (!areTexts(given)) return refusal('invalid_field_type')
  const domains = keptForms(given)
  if (domains === undefined || repeats(domains)) return refusal('invalid_domain')
  const canGo = (domain: string) => account.domains.get(domain)?.features.length === 0
  if (!domains.every(canGo)) return refusal('domain_delete_failed')

  for (const domain of domains) {
    rememberNature(account, domain)
    account.domains.delete(domain)
  }
  account.contents.version = nextVersion()
  const affected = account.groups.filter((group) => !areMonitored(account, group.domains))
  for (const group of affected) group.domains = group.domains.filter((member) => account.domains.has(member))
  const answer = success({ message: expect.any(String), domains, count: domains.length })
  if (domains.length > 50) return { ...answer, turn: 'more than 50 domains removed at once' }
  return affected.length > 0 ? { ...answer, turn: 'a removed domain that left its groups' } : answer
}

/** "A domain that is removed and added again is the same domain: it has the same policy and profile." */
function rememberNature(account: Account, name: string): void {
  const { pin = {}, nature = {} } = account.domains.get(name) ?? {}
  const { p, sp, np, pct, testing } = pin
  const { sp: oldSp, np: oldNp, ...old } = nature.policy ?? {}
  const inherited = p === undefined ? { ...old, sp: oldSp, ...(sp === undefined && { np: oldNp }) } : old
  const all = { ...inherited, ...defined({ p, sp, np, pct, testing }) }
  const policy = defined(all)
  const { policy: _, ...rest } = nature
  const kept: Nature = { ...rest, ...(Object.keys(policy).length > 0 && { policy }) }
  account.contents.former.delete(name)
  if (Object.keys(kept).length > 0) account.contents.former.set(name, kept)
}

function defined(fields: Pin): Pin {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function listGroups({ groups }: Account): Expected {
  return success({ groups: groups.map((group) => ({ ...group })), count: groups.length })
}

function createGroup(account: Account, fields: Fields): Expected {
  if (!hasOnly(fields, ['name', 'domains'])) return refusal('unknown_field')
  const { name, domains: given = [] } = fields
  if (name === undefined) return refusal('missing_field')
  if (typeof name !== 'string' || !areTexts(given)) return refusal('invalid_field_type')
  if (!isName(name)) return refusal('invalid_name')
  const domains = keptForms(given)
  if (domains === undefined) return refusal('invalid_domain')
  if (!areMonitored(account, domains)) return refusal('not_monitored')
  const holder = account.groups.find((group) => isSameName(group.name, name))
  if (holder !== undefined) {
    return { ...refusal('duplicate_name'), ...(holder.name !== name && { turn: 'a name taken in another spelling' }) }
  }

  const created = { id: '', name, domains: once(domains) }
  account.groups.push(created)
  return { status: 200, created }
}

function updateGroup(account: Account, id: string, fields: Fields): Expected {
  if (!hasOnly(fields, ['name', 'domains', 'add_domains', 'remove_domains'])) return refusal('unknown_field')
  if (Object.keys(fields).length === 0) return refusal('no_fields_to_update')
  const { name, domains = [], add_domains: additions = [], remove_domains: removals = [] } = fields
  if (name !== undefined && typeof name !== 'string') return refusal('invalid_field_type')
  if (!areTexts(domains) || !areTexts(additions) || !areTexts(removals)) return refusal('invalid_field_type')
  const replaces = 'domains' in fields
  if (replaces && ('add_domains' in fields || 'remove_domains' in fields)) return refusal('conflicting_fields')
  if (name !== undefined && !isName(name)) return refusal('invalid_name')
  const added = keptForms([...domains, ...additions])
  if (added === undefined) return refusal('invalid_domain')

  return withGroup(account, id, (group) => {
    if (!areMonitored(account, added)) return refusal('not_monitored')
    const others = account.groups.filter((other) => other !== group)
    if (name !== undefined && others.some((other) => isSameName(other.name, name))) return refusal('duplicate_name')

    // "Additions are applied first, then removals"; "unrecognised entries are silently ignored".
    const removed = removals.map(keptForm)
    const members = once([...(replaces ? [] : group.domains), ...added])
    group.domains = members.filter((domain) => !removed.includes(domain))
    const respelt = name !== undefined && name !== group.name && isSameName(name, group.name)
    group.name = name ?? group.name
    if (respelt) return { ...showGroup(group), turn: 'a name spelt anew' }
    const passing = additions.some((text) => removed.includes(keptForm(text)))
    return passing ? { ...showGroup(group), turn: 'a domain added and removed at once' } : showGroup(group)
  })
}

/** "Deleting a group never removes its member domains from the account." */
function deleteGroup(account: Account, group: Group): Expected {
  account.groups.splice(account.groups.indexOf(group), 1)
  return success({ message: expect.any(String) })
}

function withId(id: string | undefined, next: (id: string) => Expected): Expected {
  return id === undefined || id === '' ? refusal('missing_id') : next(id)
}

function withFields(body: Body, next: (fields: Fields) => Expected): Expected {
  if ('refused' in body) return refusal(body.refused)
  const { value } = body
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? next(value as Fields) : refusal('invalid_request_body')
}

function withGroup({ groups }: Account, id: string, next: (group: Group) => Expected): Expected {
  const group = groups.find((each) => each.id === id)
  return group === undefined ? refusal('not_found') : next(group)
}

/** A copy, which later changes of the group do not reach. */
function showGroup(group: Group): Expected {
  return success({ group: { ...group } })
}

function hasOnly(fields: Fields, known: readonly string[]): boolean {
  return Object.keys(fields).every((name) => known.includes(name))
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
}

/** "1 to 100 characters", at least one of them visible. */
function isName(text: string): boolean {
  const seen = text.replaceAll('\u200b', '').trim()
  return seen !== '' && Array.from(text).length <= 100 && !text.includes('\0') && !/\p{Surrogate}/u.test(text)
}

/** The kept form of each, or `undefined` when one of them is no hostname. */
function keptForms(texts: readonly string[]): string[] | undefined {
  const forms = texts.map(keptForm)
  return forms.every((form) => form !== null) ? forms : undefined
}

function areMonitored(account: Account, domains: readonly string[]): boolean {
  return domains.every((domain) => account.domains.has(domain))
}

function repeats(domains: readonly string[]): boolean {
  return once(domains).length < domains.length
}

function once(domains: readonly string[]): string[] {
  return domains.filter((domain, index) => domains.indexOf(domain) === index)
}
