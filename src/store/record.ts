import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import { comparedName } from '../domain/groups.ts'
import { ImmutableMap, OrderedMap } from '../domain/immutable.ts'
import type { Settings } from '../domain/settings.ts'

/** An account as plain JSON. Stores keep it outside of the process. */
export interface AccountRecord extends Omit<AccountState, 'domains' | 'groups' | 'groupNames'> {
  domains: readonly MonitoredDomain[]
  groups: readonly DomainGroup[]
}

export function encodeAccount(state: AccountState): AccountRecord {
  const { groupNames: _, domains, groups, ...rest } = state
  return {
    ...rest,
    domains: [...domains.values()],
    groups: [...groups.values()],
  }
}

/** A record has no index of group names, because the contract may compare names in another way than before. */
export function decodeAccount(
  record: AccountRecord,
  { nameComparison }: Pick<Settings, 'nameComparison'>,
): AccountState {
  const { domains, groups } = record
  return {
    ...record,
    domains: OrderedMap(domains.map((domain) => [domain.name, domain] as const)),
    groups: OrderedMap(groups.map((group) => [group.id, group] as const)),
    groupNames: ImmutableMap(groups.map(({ id, name }) => [comparedName(name, nameComparison), id] as const)),
  }
}
