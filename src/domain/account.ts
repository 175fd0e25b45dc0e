import type { ApiKey } from './keys.ts'
import { PersistentMap } from './persistent-map.ts'

export interface MonitoredDomain {
  /** Canonical form. */
  name: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  addedAt: number
  /** Monitoring features that use the domain; while there are any, it cannot be removed. */
  features: readonly string[]
}

export interface DomainGroup {
  id: string
  name: string
  domains: readonly string[]
}

/** How an account's clock differs from the machine's: milliseconds ahead of it, or standing still at an instant. */
export type ClockSetting = { offset: number } | { frozenAt: number }

/** Everything that behaviour reads and changes; one account never sees another. */
export interface AccountState {
  id: string
  plan: string
  seed: number
  createdAt: number
  clock: ClockSetting
  keys: readonly ApiKey[]
  domains: PersistentMap<string, MonitoredDomain>
  groups: PersistentMap<string, DomainGroup>
  /** Compared form of a name → id of the group that has it. */
  groupNames: PersistentMap<string, string>
  /** How many groups were ever created; ids derive from it, so that none is used again. */
  groupsCreated: number
}

/** An account as JSON, as it is kept in files. */
export interface AccountRecord {
  id: string
  plan: string
  seed: number
  createdAt: number
  clock: ClockSetting
  keys: readonly ApiKey[]
  domains: readonly MonitoredDomain[]
  groups: readonly DomainGroup[]
  groupsCreated: number
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

export function recordAccount(state: AccountState): AccountRecord {
  const { groupNames, domains, groups, ...rest } = state
  return { ...rest, domains: [...domains.values()], groups: [...groups.values()] }
}
