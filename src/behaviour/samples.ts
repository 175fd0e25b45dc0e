import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { IdFormat } from '../domain/group-ids.ts'
import { cutName } from '../domain/group-names.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'

/** `count` names `example-1.com`, `example-2.com` and so on that the account does not monitor. */
export function freshDomains({ domains }: AccountState, count: number): string[] {
  const names: string[] = []
  for (let number = 1; names.length < count; number++) {
    const name = `example-${number}.com`
    if (!domains.has(name)) names.push(name)
  }
  return names
}

/** An id of the account's format that no group has. */
export function unknownGroupId({ groups }: AccountState, { alphabet, length }: IdFormat): string {
  for (let number = 0; ; number++) {
    const digits = number.toString(2).padStart(length, '0')
    const id = [...digits].map((digit) => alphabet[Number(digit)]).join('')
    if (!groups.has(id)) return id
  }
}

/**
 * `base`, or `base 2` and so on: the first one that no group has. If it is longer than `limit`, the end of `base` is
 * cut off.
 */
export function freshName(
  { groupNames }: AccountState,
  base: string,
  settings: Pick<Settings, 'nameComparison'>,
  limit = Number.POSITIVE_INFINITY,
): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : ` ${number}`
    const name = cutName(base, limit - suffix.length) + suffix
    if (!groupNames.has(comparedName(name, settings.nameComparison))) return name
  }
}

/** The first `count` domains that can be removed, or all of them if there are fewer. */
export function removableDomains({ domains, groups }: AccountState, count: number, settings: Settings): string[] {
  const members = new Set(
    settings.deletionOfMembers === 'refused' ? [...groups.values()].flatMap((group) => group.domains) : [],
  )
  const names: string[] = []
  for (const { name, features } of domains.values()) {
    if (names.length === count) break
    if (features.length === 0 && !members.has(name)) names.push(name)
  }
  return names
}

/** The first `count` domains that are in no group, or all of them if there are fewer. */
export function ungroupedDomains({ domains, groups }: AccountState, count: number): string[] {
  const members = new Set([...groups.values()].flatMap((group) => group.domains))
  return [...domains.keys()].filter((name) => !members.has(name)).slice(0, count)
}

export function someGroup({ groups }: AccountState): DomainGroup | undefined {
  for (const group of groups.values()) return group
  return undefined
}
