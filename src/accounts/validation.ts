import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { contradictionIn, refreshDay } from '../domain/dmarc.ts'
import { createGroup, type GroupToCreate, membersBeside, nameProblems } from '../domain/groups.ts'
import { OrderedMap } from '../domain/immutable.ts'
import { recordOn } from '../figures/figures.ts'
import type { Violation } from '../ground/schema.ts'
import { show } from '../ground/show.ts'
import { type AccountRecord, decodeAccount } from '../store/record.ts'

/** The reason why an account cannot be served. */
export interface Contradiction {
  /** JSON pointer into the account. */
  pointer: string
  /** The rest of a sentence about the value there. */
  reason: string
}

/** Why a group cannot be created, by the reason of the refusal, or else by its code. */
const GROUP_PROBLEMS: Readonly<Record<string, string>> = {
  duplicate_name: 'is the name of another group',
  not_monitored: 'is not among the domains',
  grouped: 'is a member of another group',
}

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
  const { plan, clock, groups } = account
  const { settings, canonicalHostname } = contract
  const { order } = settings.plans
  if (!order.includes(plan))
    return { pointer: '/plan', reason: `is ${show(plan)} but must be one of ${order.join(', ')}` }
  const names = account.domains.map(({ name }) => name)
  const [violation] = check(contract, 'listDomains', { domains: names })
  if (violation !== undefined) {
    const pointer = violation.pointer.replace(/^\/data\/domains\/(\d+)/, '/domains/$1/name')
    return { pointer, reason: violation.reason }
  }
  const index = names.findIndex((name) => canonicalHostname(name) !== name)
  if (index >= 0) return { pointer: `/domains/${index}/name`, reason: `is ${show(names[index])}, no canonical form` }
  // What a file repeats among the members of a group, `placeGroups` leaves out.
  const contradiction = contradictionInGroups(groups, contract)
  if (contradiction !== undefined) return contradiction
  const grouped = placeGroups(decodeAccount({ ...account, groups: [] }, settings), groups, contract)
  return 'pointer' in grouped ? grouped : contradictionInRecords(account, contract, timeOn(clock, real))
}

function contradictionInGroups(groups: readonly GroupToCreate[], contract: Contract): Contradiction | undefined {
  const [violation] = groups.length === 0 ? [] : check(contract, 'listDomainGroups', { groups, count: groups.length })
  return violation && { pointer: violation.pointer.replace('/data', ''), reason: violation.reason }
}

/** Gives an account without groups these groups; or why it cannot have one of them. */
export function placeGroups(
  account: AccountState,
  groups: readonly GroupToCreate[],
  contract: Contract,
): AccountState | Contradiction {
  const { settings, groupIds, nameLimit, document } = contract
  // Neither a fixture nor a file may move a domain from one group to another.
  const strict = settings.sharedDomains === 'moved' ? { ...settings, sharedDomains: 'refused' as const } : settings
  const members = membersBeside(undefined, account, strict)
  let state = account
  for (const [index, group] of groups.entries()) {
    const refusal = (field: string, value: unknown, text: string): Contradiction => {
      return { pointer: `/groups/${index}${field}`, reason: `is ${show(value)}, which ${text}` }
    }
    const { id, name } = group
    if (nameProblems(name).length > 0) return refusal('/name', name, 'is no name of a group')
    if (id !== undefined && state.groups.has(id)) return refusal('/id', id, 'is the id of a group before it')
    const decision = createGroup(state, group, groupIds, strict, members)
    if (!decision.ok) {
      const [{ code, reason = code, field = '', value }] = decision.problems
      return refusal(field, value, GROUP_PROBLEMS[reason] ?? reason)
    }
    state = decision.state
    if (members !== undefined) for (const member of decision.value.domains) members.add(member)
  }
  // Names and ids of our own need no check, and its validator takes time to compile.
  const isForeign = ({ id, name }: GroupToCreate) => id !== undefined || [...name].length > nameLimit
  if (!document.isChanged && !groups.some(isForeign)) return state
  return contradictionInGroups([...state.groups.values()], contract) ?? state
}

/**
 * Why the record of a domain cannot be served at `now`, in milliseconds on the account's clock. With the contract of the
 * package, only fixed fields and policies of a fixture can be wrong.
 */
export function contradictionInRecords(
  { domains, seed }: Pick<AccountRecord, 'domains' | 'seed'>,
  contract: Contract,
  now: number,
): Contradiction | undefined {
  const isChecked = ({ pin, policy }: AccountRecord['domains'][number]) =>
    pin !== undefined || policy !== undefined || contract.document.isChanged
  // Nearly no account has any, and the check makes a copy of each domain.
  if (!domains.some(isChecked)) return undefined
  const day = refreshDay(now, contract.settings.refresh)
  // Before its first figures, a record does not show what the domain publishes.
  const present = domains.map(({ pinnedAt: _, ...domain }) => ({ ...domain, addedAt: 0 }))
  const known = OrderedMap(present.map((domain) => [domain.name, domain] as const))
  for (const [index, domain] of present.entries()) {
    if (!isChecked(domain)) continue
    const { pin = {}, policy = {} } = domain
    const place = `/domains/${index}`
    const contradiction = contradictionIn(pin)
    if (contradiction !== undefined) return { pointer: `${place}/pin`, reason: contradiction }
    const [violation] = check(contract, 'listDmarc', [recordOn({ seed, domains: known }, domain, day, contract)])
    if (violation === undefined) continue
    const field = violation.pointer.replace('/data/0/', '')
    const part = field in pin ? 'pin' : field in policy ? 'policy' : undefined
    if (part !== undefined) return { pointer: `${place}/${part}/${field}`, reason: violation.reason }
    return { pointer: place, reason: `would have a record whose ${field} ${violation.reason}` }
  }
  return undefined
}

/** Checks a response of one of the operations that show the whole account. */
function check({ operations }: Contract, operationId: string, data: unknown): readonly Violation[] {
  const operation = operations.find(({ id }) => id === operationId)
  return operation?.success.check({ success: true, data }) ?? []
}
