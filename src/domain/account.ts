import type { ClockSetting } from './clock.ts'
import type { FormerPin, PolicyTags, RecordPin } from './dmarc.ts'
import type { Fault, FaultRule } from './faults.ts'
import type { Fixture, Story } from './fixture.ts'
import type { ApiKey } from './keys.ts'
import type { PersistentMap } from './persistent-map.ts'
import type { ProfileName } from './profile.ts'

/** The properties of a domain apart from its monitoring. By default, they follow from the seed and the name. */
export interface DomainNature {
  profile?: ProfileName
  /** The refresh day on which the history of the profile began. */
  since?: number
  /** Messages in an ordinary month. */
  volume?: number
  /** Tags of the DMARC record in its DNS. They replace those of the profile. */
  policy?: Partial<PolicyTags>
}

export interface MonitoredDomain extends DomainNature {
  /** In canonical form. */
  name: string
  /** The spelling at its addition. Absent if that is canonical or if the contract does not return it. */
  spelling?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  addedAt: number
  /** Monitoring features that use the domain. While there are any, it cannot be removed. */
  features: readonly string[]
  /** The fixed fields of its DMARC record. */
  pin?: RecordPin
  /** When they were fixed, in milliseconds on the account's clock. Absent if they are fixed from the beginning. */
  pinnedAt?: number
  /** The fields that were fixed before, the oldest first. They may be dropped after `LIMITS.formerPins` changes. */
  formerPins?: readonly FormerPin[]
  /** The first refresh day with a record, if the account began before the domain was added. */
  shownFrom?: number
}

export interface DomainGroup {
  id: string
  name: string
  domains: readonly string[]
}

/** The seed of an account if its creator chooses none. */
export const DEFAULT_SEED = 42

/** The parameters of an account's creation, so that it can be created again. */
export interface AccountOrigin {
  /** The name of a ready-made fixture, or a fixture with keys that are known only by their hashes. */
  fixture: string | Fixture
  seed?: number
  /** RFC 3339. */
  now?: string
  /** The instant that the fixture's durations are subtracted from, in RFC 3339; by default the account's creation. */
  countedFrom?: string
  frozen?: boolean
  plan?: string
  /** Its first key. */
  key: Pick<ApiKey, 'id' | 'hash'>
  faults?: readonly { set?: string; rule: FaultRule }[]
  /** The story of a fixture that was imported later. It replaces that of the fixture above. */
  story?: Story
}

/** The whole state that behaviour reads and changes. It is visible to no other account. */
export interface AccountState {
  id: string
  plan: string
  seed: number
  origin: AccountOrigin
  createdAt: number
  clock: ClockSetting
  keys: readonly ApiKey[]
  domains: PersistentMap<string, MonitoredDomain>
  /** The natures of removed domains that cannot be derived again, by name. Absent if there are none. */
  formerDomains?: PersistentMap<string, DomainNature>
  groups: PersistentMap<string, DomainGroup>
  /** Compared form of a name → id of the group with that name. */
  groupNames: PersistentMap<string, string>
  /** The number of groups ever created. Ids are derived from it, so no id is used twice. */
  groupsCreated: number
  /** The number of keys ever created. Secrets are derived from it. */
  keysCreated: number
  /** In order of creation. */
  faults: readonly Fault[]
  /** The number of faults ever created. Ids are derived from it. */
  faultsCreated: number
}

/** Declares that this state is kept for long, see `PersistentMap.keep`. It shares its maps with later states. */
export function keepAccount({ domains, formerDomains, groups, groupNames }: AccountState): void {
  for (const map of [domains, formerDomains, groups, groupNames]) map?.keep()
}

/** The same account in separate maps, as work that can pause. An old state does not change, see `PersistentMap`. */
export function* replicateAccount(state: AccountState): Generator<undefined, AccountState, undefined> {
  const { domains, formerDomains, groups, groupNames } = state
  return {
    ...state,
    domains: yield* domains.replicate(),
    ...(formerDomains && { formerDomains: yield* formerDomains.replicate() }),
    groups: yield* groups.replicate(),
    groupNames: yield* groupNames.replicate(),
  }
}
