import { areTexts, itemsOf, textsIn } from '../behaviour/shown-data.ts'
import type { DomainGroup } from '../domain/account.ts'
import { isObject } from '../ground/json.ts'
import type { ProbeAnswer, ProbeRequest } from './probe.ts'

/** The domains and groups of an account. */
export interface Inventory {
  domains: readonly string[]
  groups: readonly DomainGroup[]
}

/** What a request may create if the service accepts it, even if it is invalid. */
export interface Intent {
  domains?: readonly string[]
  group?: { name: string; domains: readonly string[] }
}

/** Sends a request; the answer, or a text that says why there is none. */
export type Ask = (request: ProbeRequest) => Promise<ProbeAnswer | string>

export const GROUPS: ProbeRequest = { method: 'GET', path: '/domaingroups' }
export const DOMAINS: ProbeRequest = { method: 'GET', path: '/domains' }

/** The content of the account, or a text that says why it is unknown. Only lists with a success status count. */
export async function takeInventory(ask: Ask): Promise<Inventory | string> {
  const groups = await readList(GROUPS, ask, readGroups)
  if (typeof groups === 'string') return groups
  const domains = await readList(DOMAINS, ask, readDomains)
  return typeof domains === 'string' ? domains : { groups, domains }
}

/** The items of a list, or why they are unknown. */
export async function readList<Item>(
  request: ProbeRequest,
  ask: Ask,
  read: (data: unknown) => readonly Item[] | undefined,
): Promise<readonly Item[] | string> {
  const answer = await ask(request)
  if (typeof answer === 'string') return answer
  const list = isDone(answer) ? read(answer.data) : undefined
  if (list !== undefined) return list
  const { status } = answer.response
  const said = answer.code === undefined ? `${status}` : `${status} ${answer.code}`
  return `GET ${request.path} was answered with ${said}${isDone(answer) ? ' and no list that can be read' : ''}`
}

export function isDone({ response: { status } }: ProbeAnswer): boolean {
  return status >= 200 && status < 300
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

/** The group of a response; `undefined` for anything else. */
export function readGroupLoosely(value: unknown): DomainGroup | undefined {
  if (!isObject(value)) return undefined
  const { id, name, domains } = value
  return typeof id === 'string' && typeof name === 'string' ? { id, name, domains: readableTexts(domains) } : undefined
}

/** The texts of a list, without its other entries; empty for anything else. */
export function readableTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
