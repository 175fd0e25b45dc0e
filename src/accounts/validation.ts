import type { Api } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { Violation } from '../contract/violations.ts'
import { timeOn } from '../domain/clock.ts'
import { contradictionIn, refreshDay } from '../domain/dmarc.ts'
import { comparedName } from '../domain/groups.ts'
import { recordOn } from '../figures/figures.ts'
import type { AccountRecord } from '../store/record.ts'

/** Beyond it, JavaScript knows no time. In milliseconds. */
const LAST_TIME = 8.64e15

/**
 * Why an account that comes out of a file cannot be served, because it was changed by hand or kept under another
 * contract; `undefined` when it can. It is held to the very answers that it would be read by. The text begins with a
 * JSON pointer into `{account}`.
 */
export function findDamage(account: AccountRecord, contract: Contract, real: number): string | undefined {
  const now = timeOn(account.clock, real)
  if (!(now >= 0 && now <= LAST_TIME)) return '/account/clock shows no time that there is'
  const { order } = contract.settings.plans
  if (!order.includes(account.plan)) {
    return `/account/plan ${JSON.stringify(account.plan)} must be one of ${order.join(', ')}`
  }
  return damagedDomain(account, contract) ?? damagedRecord(account, contract, now) ?? damagedGroup(account, contract)
}

function damagedDomain({ domains }: AccountRecord, contract: Contract): string | undefined {
  const names = domains.map(({ name }) => name)
  const [violation] = check(contract, 'listDomains', { domains: names })
  if (violation === undefined) return undefined
  return describe(violation.pointer.replace(/^\/data\/domains\/(\d+)/, '/account/domains/$1/name'), violation)
}

function damagedRecord({ domains, seed }: AccountRecord, contract: Contract, now: number): string | undefined {
  const day = refreshDay(now, contract.settings.refresh)
  for (const [index, domain] of domains.entries()) {
    if (domain.pin === undefined) continue
    const contradiction = contradictionIn(domain.pin)
    if (contradiction !== undefined) return `/account/domains/${index}/pin ${contradiction}`
    const record = recordOn(seed, domain, day, contract)
    const [violation] = check(contract, 'listDmarc', [record])
    if (violation === undefined) continue
    return describe(violation.pointer.replace('/data/0', `/account/domains/${index}/pin`), violation)
  }
  return undefined
}

function damagedGroup({ groups }: AccountRecord, contract: Contract): string | undefined {
  const [violation] = groups.length === 0 ? [] : check(contract, 'listDomainGroups', { groups, count: groups.length })
  if (violation !== undefined) return describe(violation.pointer.replace('/data', '/account'), violation)
  const names = new Set<string>()
  for (const [index, { name }] of groups.entries()) {
    const compared = comparedName(name, contract.settings.nameComparison)
    if (names.has(compared)) return `/account/groups/${index}/name ${JSON.stringify(name)} is the name of another group`
    names.add(compared)
  }
  return undefined
}

function check({ operations }: Api, operationId: string, data: unknown): readonly Violation[] {
  const operation = operations.find(({ id }) => id === operationId)
  return operation?.success.check({ success: true, data }) ?? []
}

function describe(place: string, { message, pointer, value }: Violation): string {
  const text = JSON.stringify(value) ?? 'undefined'
  const shown = text.length <= 100 ? text : `${text.slice(0, 99)}…`
  const demand = message.startsWith(pointer) ? message.slice(pointer.length).trim().replace(/\.$/, '') : message
  return `${place} ${shown} ${demand}`
}
