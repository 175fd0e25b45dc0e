import type { AccountState, DomainGroup } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'

/** The first of `example-1.com`, `example-2.com` and so on that the account does not monitor, nor `others` name. */
export function freshDomain({ domains }: AccountState, others: readonly string[] = []): string {
  for (let number = 1; ; number++) {
    const name = `example-${number}.com`
    if (!domains.has(name) && !others.includes(name)) return name
  }
}

/** `base`, or `base 2` and so on, whichever is the name of no group yet. */
export function freshName({ groupNames }: AccountState, base: string, settings: Settings): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} ${number}`
    if (!groupNames.has(comparedName(name, settings.nameComparison))) return name
  }
}

/** The first domain that may be removed, if any. */
export function removableDomain({ domains, groups }: AccountState, settings: Settings): string | undefined {
  const members = new Set(
    settings.deletionOfMembers === 'refused' ? [...groups.values()].flatMap((group) => group.domains) : [],
  )
  for (const { name, features } of domains.values()) if (features.length === 0 && !members.has(name)) return name
  return undefined
}

export function someGroup({ groups }: AccountState): DomainGroup | undefined {
  for (const group of groups.values()) return group
  return undefined
}
