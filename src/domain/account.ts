import type { ClockSetting } from './clock.ts'
import type { RecordPin } from './dmarc.ts'
import type { Fault, FaultRule } from './faults.ts'
import type { Fixture } from './fixture.ts'
import type { ApiKey } from './keys.ts'
import type { PersistentMap } from './persistent-map.ts'
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

/**
 * The same account in maps of its own. For a copy that is kept for later, or from which many versions are made: later
 * versions of the original do not hold on to it, nor the original to them.
 */
export function detachAccount(state: AccountState): AccountState {
  const { domains, groups, groupNames } = state
  return { ...state, domains: domains.copy(), groups: groups.copy(), groupNames: groupNames.copy() }
}
