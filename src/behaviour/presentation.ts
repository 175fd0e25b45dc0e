import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Settings } from '../domain/settings.ts'

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

/** The first spelling of each name, by canonical form. */
export function spellingsOf(sent: readonly string[], names: readonly string[]): ReadonlyMap<string, string> {
  // The first entry for a key must win, so it comes last.
  return new Map(names.map((name, index) => [name, sent[index] ?? name] as const).toReversed())
}
