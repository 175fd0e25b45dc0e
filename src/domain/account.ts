import type { ClockSetting } from './clock.ts'
import type { RecordPin } from './dmarc.ts'
import type { Fault, FaultRule } from './faults.ts'
import type { Fixture } from './fixture.ts'
import type { ApiKey } from './keys.ts'
import { PersistentMap } from './persistent-map.ts'
import type { ProfileName } from './profile.ts'

export interface MonitoredDomain {
  /** Canonical form. */
  name: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  addedAt: number
  /** Monitoring features that use the domain; while there are any, it cannot be removed. */
  features: readonly string[]
  /** What kind of domain its figures are made for; by default chance decides, from the account's seed. */
  profile?: ProfileName
  /** The refresh day on which the story of the profile began; by default the first with figures. */
  since?: number
  /** Messages in an ordinary month; by default chance decides. */
  volume?: number
  /** Fields of its DMARC record that are fixed. */
  pin?: RecordPin
}

export interface DomainGroup {
  id: string
  name: string
  domains: readonly string[]
}

/** What an account was made of, so that it can be made again. */
export interface AccountOrigin {
  /** The name of a ready-made fixture, or a fixture whose keys are known by their hashes alone. */
  fixture: string | Fixture
  seed?: number
  /** RFC 3339. */
  now?: string
  frozen?: boolean
  plan?: string
  /** Its first key. */
  key: Pick<ApiKey, 'id' | 'hash'>
  faults?: readonly { set?: string; rule: FaultRule }[]
}

/** Everything that behaviour reads and changes; one account never sees another. */
export interface AccountState {
  id: string
  plan: string
  seed: number
  origin: AccountOrigin
  createdAt: number
  clock: ClockSetting
  keys: readonly ApiKey[]
  domains: PersistentMap<string, MonitoredDomain>
  groups: PersistentMap<string, DomainGroup>
  /** Compared form of a name → id of the group that has it. */
  groupNames: PersistentMap<string, string>
  /** How many groups were ever created; ids derive from it, so that none is used again. */
  groupsCreated: number
  /** How many keys were ever created; secrets derive from it. */
  keysCreated: number
  /** In order of creation. */
  faults: readonly Fault[]
  /** How many faults were ever created; ids derive from it. */
  faultsCreated: number
}

/** An account as JSON, as it is kept in files. */
export interface AccountRecord extends Omit<AccountState, 'domains' | 'groups' | 'groupNames'> {
  domains: readonly MonitoredDomain[]
  groups: readonly DomainGroup[]
}

/** `compared` is the form in which group names are unique, see `comparedName`. */
export function openAccount(record: AccountRecord, compared: (name: string) => string): AccountState {
  return {
    ...record,
    domains: PersistentMap.of(record.domains.map((domain) => [domain.name, domain] as const)),
    groups: PersistentMap.of(record.groups.map((group) => [group.id, group] as const)),
    groupNames: PersistentMap.of(record.groups.map((group) => [compared(group.name), group.id] as const)),
  }
}

/** The same account in collections of its own: one that is kept for later, or is the first of many to come. */
export function detachAccount(state: AccountState): AccountState {
  const { domains, groups, groupNames } = state
  return { ...state, domains: domains.copy(), groups: groups.copy(), groupNames: groupNames.copy() }
}

export function recordAccount(state: AccountState): AccountRecord {
  const { groupNames, domains, groups, ...rest } = state
  return { ...rest, domains: [...domains.values()], groups: [...groups.values()] }
}
