import type { ServiceContract } from '../behaviour/operation.ts'
import type { AccountState, DomainGroup, MonitoredDomain } from '../domain/account.ts'
import { storedName } from '../domain/group-names.ts'
import { comparedName } from '../domain/groups.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { OtherMembers } from './knowledge.ts'
import type { Assignment } from './observation.ts'

/** What an account may hold, as far as it matters to a request. Names of domains are in comparable form. */
export interface World {
  domains: readonly WorldDomain[]
  groups: readonly WorldGroup[]
}

interface WorldGroup extends DomainGroup {
  /** Its members under other choices. */
  underOthers?: readonly OtherMembers[]
  /** Whether its name is that of a request, so that it is kept in the form in which the service stores names. */
  isNameAsSent?: boolean
}

interface WorldDomain {
  name: string
  spelling?: string
  isUsed?: boolean
  /** In milliseconds; long ago by default. */
  addedAt?: number
}

/** The world as an account under a contract. The contract says in which form names are kept and compared. */
export function accountOf({ domains, groups }: World, contract: ServiceContract, chosen: Assignment): AccountState {
  const { settings } = contract
  const keep = (name: string) => contract.canonicalHostname(name) ?? name
  const monitored = domains.map(({ name, spelling, isUsed, addedAt = 0 }): [string, MonitoredDomain] => {
    const kept = keep(name)
    const domain = { name: kept, addedAt, features: isUsed ? FEATURES : NO_FEATURES }
    return [kept, spelling === undefined || spelling === kept ? domain : { ...domain, spelling }]
  })
  const kept = groups.map(({ id, name, domains: members, underOthers, isNameAsSent }) => {
    const other = underOthers?.find((each) => (chosen[each.id] ?? 0) === each.number)
    const domains = (other?.domains ?? members).map(keep)
    return { id, name: isNameAsSent ? storedName(name, settings) : name, domains }
  })
  return {
    ...ACCOUNT,
    plan: settings.plans.lowest,
    domains: PersistentMap.of(monitored),
    groups: PersistentMap.of(kept.map((group) => [group.id, group] as const)),
    groupNames: PersistentMap.of(
      kept.map(({ id, name }) => [comparedName(name, settings.nameComparison), id] as const),
    ),
  }
}

const FEATURES = ['a feature']
const NO_FEATURES: readonly string[] = []
const ACCOUNT: Omit<AccountState, 'plan' | 'domains' | 'groups' | 'groupNames'> = {
  id: 'seen',
  seed: 0,
  origin: { fixture: 'empty', key: { id: 'key', hash: 'key' } },
  createdAt: 0,
  clock: { offset: 0 },
  keys: [],
  groupsCreated: 0,
  keysCreated: 0,
  faults: [],
  faultsCreated: 0,
}
