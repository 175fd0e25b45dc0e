import type { Contract } from '../contract/contract.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Settings } from '../domain/settings.ts'
import { isObject, type Json } from '../ground/json.ts'

/**
 * The hostnames in a field of a conforming body, in canonical form. An entry that is no hostname stays unchanged. Only
 * a field whose schema permits any string can have such an entry.
 */
export function hostnamesIn(
  body: Json,
  field: string,
  { canonicalHostname }: Pick<Contract, 'canonicalHostname'>,
): string[] {
  const names = (body[field] ?? []) as string[]
  return names.map((name) => canonicalHostname(name) ?? name)
}

/** The name of a monitored domain in lists. */
export function spellingOf(name: string, { domains }: AccountState, { spelling }: Pick<Settings, 'spelling'>): string {
  return spelling === 'as-sent' ? (domains.get(name)?.spelling ?? name) : name
}

/** A group in the form of responses. */
export function presentGroup(
  group: DomainGroup,
  account: AccountState,
  settings: Pick<Settings, 'spelling'>,
): DomainGroup {
  if (settings.spelling !== 'as-sent') return group
  return { ...group, domains: group.domains.map((member) => spellingOf(member, account, settings)) }
}

/**
 * The domains that a request has added or removed, in the form of its response. `sent` are all entries of the request,
 * and `names` are the same entries in canonical form.
 */
export function echoDomains(
  changed: readonly string[],
  sent: readonly string[],
  names: readonly string[],
  settings: Pick<Settings, 'spelling'>,
): readonly string[] {
  if (settings.spelling === 'canonical') return changed
  const spellings = spellingsOf(sent, names)
  return changed.map((name) => spellings.get(name) ?? name)
}

/** The spelling of each name, by canonical form. No request that names a domain twice is accepted. */
export function spellingsOf(sent: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name, index) => [name, sent[index] ?? name]))
}

/** The order of a list in a response: by creation, by name, or the newest item first. */
export type ListOrder = 'addition' | 'alphabetical' | 'newest-first'

/** Items in order of creation, in another order. Names are compared by their code units. */
export function arrange<Item>(
  items: readonly Item[],
  order: ListOrder,
  nameOf: (item: Item) => string,
): readonly Item[] {
  switch (order) {
    case 'addition':
      return items
    case 'newest-first':
      return items.toReversed()
    case 'alphabetical':
      return items.toSorted((one, other) => compare(nameOf(one), nameOf(other)))
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

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
