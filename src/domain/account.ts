import type { ClockSetting } from './clock.ts'
import type { PolicyTags, RecordPin } from './dmarc.ts'
import type { Fault, FaultRule } from './faults.ts'
import type { Fixture, Story } from './fixture.ts'
import type { ApiKey } from './keys.ts'
import type { PersistentMap } from './persistent-map.ts'
import type { ProfileName } from './profile.ts'

/**
 * What a domain is like, whoever monitors it and since when. By default, all of it follows from the account's seed and
 * the domain's name.
 */
export interface DomainNature {
  /** The profile of its figures. */
  profile?: ProfileName
  /** The refresh day on which the story of the profile began. */
  since?: number
  /** Messages in an ordinary month. */
  volume?: number
  /** Tags of the DMARC record that its DNS has, in place of those that the profile gives it. */
  policy?: Partial<PolicyTags>
}

export interface MonitoredDomain extends DomainNature {
  /** In canonical form. */
  name: string
  /** As it was spelt when it was added, where the contract returns it so and that is not its canonical form. */
  spelling?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  addedAt: number
  /** Monitoring features that use the domain, which cannot be removed until there are none. */
  features: readonly string[]
  /** Fields of its DMARC record that somebody has fixed. */
  pin?: RecordPin
  /** The first refresh day with a record, where the account began before the domain was added. */
  shownFrom?: number
}

export interface DomainGroup {
  id: string
  name: string
  domains: readonly string[]
}

/** The seed of an account for which nobody chose one. */
export const DEFAULT_SEED = 42

/** From what an account was made, so that it can be made again. */
export interface AccountOrigin {
  /** The name of a ready-made fixture, or a fixture whose keys are known by their hashes only. */
  fixture: string | Fixture
  seed?: number
  /** RFC 3339. */
  now?: string
  /** From when the durations of the fixture are counted back, in RFC 3339; by default the account's creation. */
  countedFrom?: string
  frozen?: boolean
  plan?: string
  /** Its first key. */
  key: Pick<ApiKey, 'id' | 'hash'>
  faults?: readonly { set?: string; rule: FaultRule }[]
  /** The story of a fixture that was imported since, in place of that of the fixture above. */
  story?: Story
}

/** Everything that behaviour reads and changes. No account can see another. */
export interface AccountState {
  id: string
  plan: string
  seed: number
  origin: AccountOrigin
  createdAt: number
  clock: ClockSetting
  keys: readonly ApiKey[]
  domains: PersistentMap<string, MonitoredDomain>
  /** The natures of domains that were removed and would otherwise be forgotten, by name. Absent while there are none. */
  formerDomains?: PersistentMap<string, DomainNature>
  groups: PersistentMap<string, DomainGroup>
  /** Compared form of a name → id of the group with the name. */
  groupNames: PersistentMap<string, string>
  /** How many groups were ever created. Ids are derived from it, so that none is used twice. */
  groupsCreated: number
  /** How many keys were ever created. Secrets are derived from it. */
  keysCreated: number
  /** In order of creation. */
  faults: readonly Fault[]
  /** How many faults were ever created. Ids are derived from it. */
  faultsCreated: number
}

/** Says that this state of an account is kept for long, see `PersistentMap.keep`. It shares its maps with later states. */
export function keepAccount({ domains, formerDomains, groups, groupNames }: AccountState): void {
  for (const map of [domains, formerDomains, groups, groupNames]) map?.keep()
}

/** The same account in maps of its own, as work that can pause. An old state stays as it is, see `PersistentMap`. */
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

/**
 * The same account in maps of its own. For a copy from which many versions are made: the account does not have to share
 * its maps with them.
 */
export function detachAccount(state: AccountState): AccountState {
  const { domains, formerDomains, groups, groupNames } = state
  return {
    ...state,
    domains: domains.copy(),
    ...(formerDomains && { formerDomains: formerDomains.copy() }),
    groups: groups.copy(),
    groupNames: groupNames.copy(),
  }
}
