import type { DomainGroup } from '../domain/account.ts'
import { isObject } from '../ground/json.ts'

/** What the `data` of a success shows of the account. What cannot be read is absent. Domains are spelt as in `data`. */
export interface ShownData {
  /** The domains that the request has added, or removed. */
  added?: readonly string[] | undefined
  removed?: readonly string[] | undefined
  /** Whether the data has everything of one kind that the account has: in `domains` or in `groups`. */
  lists?: 'domains' | 'records' | 'groups'
  domains?: readonly string[] | undefined
  groups?: readonly DomainGroup[] | undefined
  /** A group after the request. */
  group?: DomainGroup | undefined
  /** Whether the request has created the group, so that its id is the choice of the service. */
  isNew?: boolean
  /** Whether the request has deleted the group that it names. */
  isDeleted?: boolean
}

/** The texts in a field; `undefined` if it has anything else. */
export function textsIn(data: unknown, field: string): readonly string[] | undefined {
  const texts = isObject(data) ? data[field] : undefined
  return areTexts(texts) ? texts : undefined
}

/** The group in the field `group`; `undefined` if there is none. */
export function groupIn(data: unknown): DomainGroup | undefined {
  return isObject(data) ? readGroup(data['group']) : undefined
}

/** The items of a list; `undefined` if one of them cannot be read. */
export function itemsOf<Item>(list: unknown, read: (item: unknown) => Item | undefined): Item[] | undefined {
  if (!Array.isArray(list)) return undefined
  const items = list.flatMap((each) => read(each) ?? [])
  return items.length === list.length ? items : undefined
}

/** The group that `value` describes; `undefined` if it does not describe one. */
export function readGroup(value: unknown): DomainGroup | undefined {
  if (!isObject(value)) return undefined
  const { id, name, domains } = value
  return typeof id === 'string' && typeof name === 'string' && areTexts(domains) ? { id, name, domains } : undefined
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
