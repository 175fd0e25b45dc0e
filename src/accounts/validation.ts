import type { Api } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { MonitoredDomain } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { contradictionIn, refreshDay } from '../domain/dmarc.ts'
import { comparedName } from '../domain/groups.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import { recordOn } from '../figures/figures.ts'
import type { Violation } from '../ground/schema.ts'
import { show } from '../ground/show.ts'
import type { AccountRecord } from '../store/record.ts'

/** The last time that JavaScript can represent, in milliseconds. */
const LAST_TIME = 8.64e15

/**
 * The operations whose responses contain the parts of an account. Their validators are compiled already, and the parts
 * would appear in exactly these responses; the schemas alone would have to be compiled once more.
 */
const READERS = { domains: 'listDomains', records: 'listDmarc', groups: 'listDomainGroups' } as const

/**
 * Why an account that was read from a file cannot be served, because somebody has edited it or because it was stored
 * under another contract; `undefined` when it can be served. The text begins with a JSON pointer into the file.
 */
export function validateAccount(account: AccountRecord, contract: Contract, real: number): string | undefined {
  const now = timeOn(account.clock, real)
  if (!(now >= 0 && now <= LAST_TIME)) return '/account/clock shows a time that does not exist'
  const { order } = contract.settings.plans
  if (!order.includes(account.plan)) {
    return `/account/plan ${show(account.plan)} must be one of ${order.join(', ')}`
  }
  return validateDomains(account, contract) ?? validatePins(account, contract, now) ?? validateGroups(account, contract)
}

function validateDomains({ domains, formerDomains = [] }: AccountRecord, contract: Contract): string | undefined {
  for (const [list, named] of Object.entries({ domains, formerDomains })) {
    const [violation] = check(contract, READERS.domains, { domains: named.map(({ name }) => name) })
    if (violation === undefined) continue
    const pointer = violation.pointer.replace(/^\/data\/domains\/(\d+)/, `/account/${list}/$1/name`)
    return `${pointer} ${violation.reason}`
  }
  return undefined
}

/** All other fields of DMARC records are computed, hence valid. */
function validatePins(
  { domains, formerDomains = [], seed }: AccountRecord,
  contract: Contract,
  now: number,
): string | undefined {
  const day = refreshDay(now, contract.settings.refresh)
  // As they are once they have figures: until then, a record does not show what the domain publishes.
  const present = domains.map((domain) => ({ ...domain, addedAt: 0 }))
  const former = formerDomains.map(({ name, nature }) => ({ name, addedAt: 0, features: [], ...nature }))
  const known = PersistentMap.of(present.map((domain) => [domain.name, domain] as const))
  const places = [
    ...present.map((domain, index) => ({ domain, place: `/account/domains/${index}` })),
    ...former.map((domain, index) => ({ domain, place: `/account/formerDomains/${index}` })),
  ]
  for (const { domain, place } of places) {
    const { pin, policy }: MonitoredDomain = domain
    if (pin === undefined && policy === undefined) continue
    const contradiction = contradictionIn(pin ?? {})
    if (contradiction !== undefined) return `${place}/pin ${contradiction}`
    const [violation] = check(contract, READERS.records, [recordOn({ seed, domains: known }, domain, day, contract)])
    if (violation === undefined) continue
    const field = pin === undefined ? (place.includes('former') ? 'nature/policy' : 'policy') : 'pin'
    return `${violation.pointer.replace('/data/0', `${place}/${field}`)} ${violation.reason}`
  }
  return undefined
}

function validateGroups({ groups }: AccountRecord, contract: Contract): string | undefined {
  const [violation] = groups.length === 0 ? [] : check(contract, READERS.groups, { groups, count: groups.length })
  if (violation !== undefined) return `${violation.pointer.replace('/data', '/account')} ${violation.reason}`
  const names = new Set<string>()
  for (const [index, { name }] of groups.entries()) {
    const compared = comparedName(name, contract.settings.nameComparison)
    if (names.has(compared)) return `/account/groups/${index}/name ${show(name)} is the name of another group`
    names.add(compared)
  }
  return undefined
}

function check({ operations }: Api, operationId: string, data: unknown): readonly Violation[] {
  const operation = operations.find(({ id }) => id === operationId)
  return operation?.success.check({ success: true, data }) ?? []
}
