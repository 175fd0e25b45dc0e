import type { Api } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { DomainGroup, MonitoredDomain } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { contradictionIn, refreshDay } from '../domain/dmarc.ts'
import { nameProblems } from '../domain/group-names.ts'
import { comparedName } from '../domain/groups.ts'
import { OrderedMap } from '../domain/immutable.ts'
import { kebab, type Settings } from '../domain/settings.ts'
import { recordOn } from '../figures/figures.ts'
import type { Violation } from '../ground/schema.ts'
import { show } from '../ground/show.ts'
import type { AccountRecord } from '../store/record.ts'

/** The reason why an account cannot be served. */
export interface Contradiction {
  /** JSON pointer into the account. */
  pointer: string
  /** The rest of a sentence about the value there. */
  reason: string
}

/** The last time that JavaScript can represent, in milliseconds. */
const LAST_TIME = 8.64e15
/** SHA-256 in hex. */
const HASH = /^[0-9a-f]{64}$/

/** The operations whose responses contain the parts of an account: their validators are compiled already. */
const READERS = { domains: 'listDomains', records: 'listDmarc', groups: 'listDomainGroups' } as const
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const NOT_ASCII = /[^\u0000-\u007f]/

/** The schemas of the contract for the fields of a group. */
const SCHEMAS: Readonly<Record<string, string>> = { id: 'DomainGroupId', name: 'DomainGroupName', domains: 'Domain' }

/**
 * The reason why an account from a file cannot be served; `undefined` if it can. A user may have edited the file, or
 * the account was stored under another contract. The text begins with a JSON pointer into the file.
 */
export function validateAccount(account: AccountRecord, contract: Contract, real: number): string | undefined {
  const contradiction = findContradiction(account, contract, real)
  return contradiction && `/account${contradiction.pointer} ${contradiction.reason}`
}

/** The same check for any account. */
export function findContradiction(account: AccountRecord, contract: Contract, real: number): Contradiction | undefined {
  const { clock } = account
  const shown = 'frozenAt' in clock ? clock.frozenAt : real + clock.offset
  if (!(shown >= 0 && shown <= LAST_TIME)) return { pointer: '/clock', reason: 'shows a time that does not exist' }
  const now = timeOn(clock, real)
  const { order } = contract.settings.plans
  if (!order.includes(account.plan)) {
    return { pointer: '/plan', reason: `${show(account.plan)} must be one of ${order.join(', ')} (setting plans)` }
  }
  return (
    contradictionInKeys(account) ??
    contradictionInDomains(account, contract) ??
    contradictionInPins(account, contract, now) ??
    contradictionInGroups(account, contract) ??
    // All other fields of DMARC records are computed. They are valid unless an overlay has changed their schema.
    (contract.document.validated ? undefined : contradictionInRecords(account, contract, now))
  )
}

function contradictionInKeys({ keys, origin }: AccountRecord): Contradiction | undefined {
  const places = [
    { key: origin.key, pointer: '/origin/key' },
    ...keys.map((key, index) => ({ key, pointer: `/keys/${index}` })),
  ]
  for (const { key, pointer } of places) {
    if (!HASH.test(key.hash)) return { pointer: `${pointer}/hash`, reason: `${show(key.hash)} is no SHA-256 in hex` }
    if (key.id === '') return { pointer: `${pointer}/id`, reason: 'is empty' }
  }
  return undefined
}

function contradictionInDomains({ domains }: AccountRecord, contract: Contract): Contradiction | undefined {
  const { canonicalHostname, settings } = contract
  const names = domains.map(({ name }) => name)
  const [violation] = check(contract, READERS.domains, { domains: names })
  if (violation !== undefined) {
    const pointer = violation.pointer.replace(/^\/data\/domains\/(\d+)/, '/domains/$1/name')
    const name = String(violation.value)
    const isForeign = canonicalHostname(name) !== undefined || NOT_ASCII.test(name)
    const decisive = isForeign ? 'international-names' : undefined
    return { pointer, reason: violation.reason + because(decisive, settings) }
  }
  // The operation does not check this if the contract permits responses with other spellings.
  const index = names.findIndex((name) => canonicalHostname(name) !== name)
  if (index < 0) return undefined
  return { pointer: `/domains/${index}/name`, reason: `${show(names[index])} is not in canonical form` }
}

/** Why the fixed fields or the policy of a record cannot be served at `now`, in milliseconds on the account's clock. */
export function contradictionInPins(
  { domains, seed }: Pick<AccountRecord, 'domains' | 'seed'>,
  contract: Contract,
  now: number,
): Contradiction | undefined {
  const isFixed = ({ pin, policy }: MonitoredDomain) => pin !== undefined || policy !== undefined
  // Nearly no account has any, and the check makes a copy of each domain.
  if (!domains.some(isFixed)) return undefined
  const day = refreshDay(now, contract.settings.refresh)
  // The check uses records with figures. Before its first figures, a record does not show what the domain publishes.
  const present = domains.map(({ pinnedAt: _, ...domain }): MonitoredDomain => ({ ...domain, addedAt: 0 }))
  const known = OrderedMap(present.map((domain) => [domain.name, domain] as const))
  for (const [index, domain] of present.entries()) {
    if (!isFixed(domain)) continue
    const place = `/domains/${index}`
    const contradiction = contradictionIn(domain.pin ?? {})
    if (contradiction !== undefined) return { pointer: `${place}/pin`, reason: contradiction }
    const [violation] = check(contract, READERS.records, [recordOn({ seed, domains: known }, domain, day, contract)])
    if (violation === undefined) continue
    const field = domain.pin === undefined ? 'policy' : 'pin'
    return { pointer: violation.pointer.replace('/data/0', `${place}/${field}`), reason: violation.reason }
  }
  return undefined
}

/** The check includes the record of a domain that is added now. */
function contradictionInRecords({ domains, seed }: AccountRecord, contract: Contract, now: number) {
  const day = refreshDay(now, contract.settings.refresh)
  const added = { name: 'example.com', addedAt: now, features: [] }
  const known = OrderedMap(domains.map((domain) => [domain.name, domain] as const))
  for (const [index, domain] of [...domains, added].entries()) {
    const record = recordOn({ seed, domains: known }, domain, day, contract)
    const [violation] = record === undefined ? [] : check(contract, READERS.records, [record])
    if (violation === undefined) continue
    const field = violation.pointer.replace('/data/0/', '')
    const reason = `whose ${field} ${violation.reason} (/components/schemas/DmarcRecord)`
    return domain === added
      ? { pointer: '/domains', reason: `would get records ${reason}` }
      : { pointer: `/domains/${index}`, reason: `would have a record ${reason}` }
  }
  return undefined
}

function contradictionInGroups({ groups }: AccountRecord, contract: Contract): Contradiction | undefined {
  const { settings } = contract
  const [violation] = groups.length === 0 ? [] : check(contract, READERS.groups, { groups, count: groups.length })
  if (violation !== undefined) {
    const pointer = violation.pointer.replace('/data', '')
    const schema = SCHEMAS[pointer.split('/')[3] ?? '']
    const place = schema === undefined ? '' : ` (/components/schemas/${schema})`
    return { pointer, reason: violation.reason + place }
  }
  const names = new Set<string>()
  for (const [index, { name }] of groups.entries()) {
    const pointer = `/groups/${index}`
    if (nameProblems(name).length > 0) return { pointer: `${pointer}/name`, reason: `${show(name)} is no name` }
    const compared = comparedName(name, settings.nameComparison)
    if (names.has(compared)) {
      const reason = `${show(name)} is the name of another group${because('name-comparison', settings)}`
      return { pointer: `${pointer}/name`, reason }
    }
    names.add(compared)
  }
  return sharedDomain(groups, settings)
}

function sharedDomain(groups: readonly DomainGroup[], settings: Settings): Contradiction | undefined {
  if (settings.sharedDomains === 'allowed') return undefined
  const members = new Set<string>()
  for (const [index, { domains }] of groups.entries()) {
    const place = domains.findIndex((domain) => members.has(domain))
    if (place >= 0) {
      const reason = `${show(domains[place])} is a member of another group${because('shared-domains', settings)}`
      return { pointer: `/groups/${index}/domains/${place}`, reason }
    }
    for (const domain of domains) members.add(domain)
  }
  return undefined
}

/** The setting that decides, with its value, as the end of a sentence. */
export function because(setting: string | undefined, settings: Settings): string {
  const [, value] = Object.entries(settings).find(([name]) => kebab(name) === setting) ?? []
  return setting === undefined
    ? ''
    : ` (setting ${setting}: ${typeof value === 'string' ? value : JSON.stringify(value)})`
}

function check({ operations }: Api, operationId: string, data: unknown): readonly Violation[] {
  const operation = operations.find(({ id }) => id === operationId)
  return operation?.success.check({ success: true, data }) ?? []
}
