import type { Contract } from '../contract/contract.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Settings } from '../domain/settings.ts'
import type { Json } from '../ground/json.ts'

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
