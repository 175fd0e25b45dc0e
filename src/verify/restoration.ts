import { areTexts, itemsOf, textsIn } from '../behaviour/shown-data.ts'
import type { DomainGroup } from '../domain/account.ts'
import { isObject } from '../ground/json.ts'
import type { ProbeAnswer } from './conversation.ts'
import { readGroupLoosely } from './created-items.ts'
import type { Inventory } from './ledger.ts'
import type { Ownership } from './ownership.ts'
import type { ProbeRequest } from './probe.ts'

/** What the cleanup found in the account, and what it did. */
export interface Cleanup {
  /** Whether two lists of the account show that nothing of the run is left and everything else is unchanged. */
  restored: boolean
  removed: { domains: number; groups: number }
  /** The remaining items of the run. */
  left: { domains: readonly string[]; groups: readonly string[] }
  /** Changes by other clients or by the service, one sentence each. They concern no name of the run. */
  changes: readonly string[]
  /** Why the state is unknown, or the cleanup incomplete. */
  reason?: string
}

export const NOTHING_REMOVED: Omit<Cleanup, 'restored'> = {
  removed: { domains: 0, groups: 0 },
  left: { domains: [], groups: [] },
  changes: [],
}

/** Sends a request of the cleanup; `undefined` if the quota does not allow it any more. */
export type AskToRestore = (request: ProbeRequest) => Promise<ProbeAnswer | undefined>

const GROUPS: ProbeRequest = { method: 'GET', path: '/domaingroups' }
const DOMAINS: ProbeRequest = { method: 'GET', path: '/domains' }
/** How many domains a request removes. The contract has no limit, but a service may apply the limit of POST. */
export const REMOVED_AT_ONCE = 50
const NO_QUOTA = 'the quota is used up'

/** How many requests `restore` sends to each path if nothing unexpected happens. */
export function costOfRestoring(groups: number, domains: number): Record<string, number> {
  return { '/domaingroups': 2 + groups, '/domains': 2 + Math.max(1, Math.ceil(domains / REMOVED_AT_ONCE)) }
}

/** The content of the account, or a text that says why it is unknown. Only lists with a success status count. */
export async function takeInventory(ask: AskToRestore): Promise<Inventory | string> {
  const listed = await ask(GROUPS)
  const groups = listed && isDone(listed) ? readGroups(listed.data) : undefined
  if (groups === undefined)
    return listed === undefined ? NO_QUOTA : `GET /domaingroups was answered with ${toldOfList(listed)}`
  const answer = await ask(DOMAINS)
  const domains = answer && isDone(answer) ? readDomains(answer.data) : undefined
  if (domains === undefined)
    return answer === undefined ? NO_QUOTA : `GET /domains was answered with ${toldOfList(answer)}`
  return { groups, domains }
}

/**
 * Removes everything that the run created, and nothing else. Then it checks that the account is as it was before. It
 * takes the items from the lists of the service, so a killed run need not know them.
 */
export async function restore(ownership: Ownership, ask: AskToRestore): Promise<Cleanup> {
  const removed = { domains: 0, groups: 0 }
  const found = await takeInventory(ask)
  if (typeof found === 'string') return unknown(found, removed)
  const groups = found.groups.filter((group) => ownership.isOwnListedGroup(group))
  const domains = found.domains.filter((name) => ownership.isOwnDomain(name))
  if (groups.length === 0 && domains.length === 0) return compare(ownership, found, removed)
  for (const { id } of groups) {
    ownership.adopt(id)
    const answer = await ask({ method: 'DELETE', path: `/domaingroups?id=${encodeURIComponent(id)}` })
    if (answer === undefined) return unknown(NO_QUOTA, removed, { groups, domains })
    if (isDone(answer)) removed.groups++
  }
  for (let start = 0; start < domains.length; start += REMOVED_AT_ONCE) {
    const names = domains.slice(start, start + REMOVED_AT_ONCE)
    const answer = await ask(removal(names))
    if (answer === undefined) return unknown(NO_QUOTA, removed, { groups: [], domains: domains.slice(start) })
    if (isDone(answer)) removed.domains += names.length
    else if (names.length > 1) removed.domains += await removeSingly(names, ask)
  }
  const after = await takeInventory(ask)
  return typeof after === 'string' ? unknown(after, removed) : compare(ownership, after, removed)
}

/** Removes domains one by one, because one that cannot be removed blocks the others in the same request. */
async function removeSingly(names: readonly string[], ask: AskToRestore): Promise<number> {
  let removed = 0
  for (const name of names) {
    const answer = await ask(removal([name]))
    if (answer === undefined) break
    if (isDone(answer)) removed++
  }
  return removed
}

function removal(domains: readonly string[]): ProbeRequest {
  return { method: 'DELETE', path: '/domains', body: { domains } }
}

function compare(ownership: Ownership, after: Inventory, removed: Cleanup['removed']): Cleanup {
  const domains = after.domains.filter((name) => ownership.isOwnDomain(name))
  const groups = after.groups.filter((group) => ownership.isOwnListedGroup(group))
  const left = { domains, groups: groups.map(({ id }) => id) }
  const { before } = ownership
  if (before === undefined) return { ...unknown('it is not known what was there before', removed), left }
  const { lost, gained } = differencesOf(ownership, before, after)
  const isClean = domains.length === 0 && groups.length === 0
  return {
    restored: isClean && lost.length === 0,
    removed,
    left,
    changes: [...lost, ...gained],
    ...(!isClean && { reason: 'the service did not remove everything' }),
    ...(isClean && lost.length > 0 && { reason: 'something that was there before is gone or different' }),
  }
}

/** The differences that do not belong to the run. The run can have caused only the losses. */
function differencesOf(
  ownership: Ownership,
  before: Inventory,
  after: Inventory,
): { lost: string[]; gained: string[] } {
  const domains = new Set(after.domains)
  const former = new Set(before.domains)
  const groups = new Map(after.groups.map((group) => [group.id, group]))
  const formerGroups = new Set(before.groups.map(({ id }) => id))
  const lost = before.domains.filter((name) => !domains.has(name)).map((name) => `the domain ${name} is gone`)
  for (const group of before.groups) {
    const now = groups.get(group.id)
    if (now === undefined) lost.push(`the group ${group.id} is gone`)
    else if (!isSame(group, now)) lost.push(`the group ${group.id} was changed`)
  }
  const gained = after.domains
    .filter((name) => !former.has(name) && !ownership.isOwnDomain(name))
    .map((name) => `the domain ${name} is new`)
  for (const group of after.groups) {
    if (!formerGroups.has(group.id) && !ownership.isOwnListedGroup(group)) gained.push(`the group ${group.id} is new`)
  }
  return { lost, gained }
}

function isSame(one: DomainGroup, other: DomainGroup): boolean {
  const [some, others] = [one.domains.toSorted(), other.domains.toSorted()]
  return one.name === other.name && some.length === others.length && some.every((name, index) => name === others[index])
}

function unknown(reason: string, removed: Cleanup['removed'], left?: Partial<Inventory>): Cleanup {
  const { domains = [], groups = [] } = left ?? {}
  return { restored: false, removed, left: { domains, groups: groups.map(({ id }) => id) }, changes: [], reason }
}

function isDone({ response: { status } }: ProbeAnswer): boolean {
  return status >= 200 && status < 300
}

function told({ response: { status }, code }: ProbeAnswer): string {
  return code === undefined ? `${status}` : `${status} ${code}`
}

function toldOfList(answer: ProbeAnswer): string {
  return isDone(answer) ? `${told(answer)} and no list that can be read` : told(answer)
}

/** The domains of a list; `undefined` if an entry cannot be read, because its domain would count as absent. */
export function readDomains(data: unknown): readonly string[] | undefined {
  return textsIn(data, 'domains')
}

/** The groups of a list; `undefined` if an entry cannot be read, because it may be a group of another client. */
export function readGroups(data: unknown): DomainGroup[] | undefined {
  return isObject(data) ? itemsOf(data['groups'], readListedGroup) : undefined
}

/** A group whose members can all be read, or that has no list of members. */
function readListedGroup(group: unknown): DomainGroup | undefined {
  const members = isObject(group) ? group['domains'] : undefined
  return members === undefined || areTexts(members) ? readGroupLoosely(group) : undefined
}
