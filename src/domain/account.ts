import type { Map as ImmutableMap, OrderedMap } from 'immutable'
import type { ClockSetting } from './clock.ts'
import type { PolicyTags, ProfileName, RecordPin } from './dmarc.ts'
import type { Fault, FaultRule } from './faults.ts'
import type { Fixture, Story } from './fixture.ts'

/** The properties of a domain apart from its monitoring. By default, they follow from the seed and the name. */
interface DomainNature {
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

/**
 * The whole state that behaviour reads and changes; visible to no other account. It is a value: a change makes a new
 * state, and the old one stays as it was. Domains and groups are in the order of insertion.
 */
export interface AccountState {
  id: string
  plan: string
  seed: number
  origin: AccountOrigin
  createdAt: number
  clock: ClockSetting
  keys: readonly ApiKey[]
  domains: OrderedMap<string, MonitoredDomain>
  groups: OrderedMap<string, DomainGroup>
  /** Compared form of a name → id of the group with that name. */
  groupNames: ImmutableMap<string, string>
  /** The number of groups ever created. Ids are derived from it, so no id is used twice. */
  groupsCreated: number
  /** The number of keys ever created. Secrets are derived from it. */
  keysCreated: number
  /** In order of creation. */
  faults: readonly Fault[]
  /** The number of faults ever created. Ids are derived from it. */
  faultsCreated: number
}

type Contents = Pick<AccountState, 'domains' | 'groups' | 'groupNames' | 'groupsCreated'>

/** The account with other contents. Field by field, because a spread of so many takes longer than the whole change. */
export function withContents(state: AccountState, changed: Partial<Contents>): AccountState {
  const { id, plan, seed, origin, createdAt, clock, keys, keysCreated, faults, faultsCreated } = state
  const { domains = state.domains, groups = state.groups } = changed
  const { groupNames = state.groupNames, groupsCreated = state.groupsCreated } = changed
  // biome-ignore format: names side by side
  return {
    id, plan, seed, origin, createdAt, clock, keys,
    domains, groups, groupNames, groupsCreated, keysCreated, faults, faultsCreated,
  }
}

/** An API key without its secret, which is never stored. */
export interface ApiKey {
  /** The part that is safe to show and to log. */
  id: string
  /** SHA-256 of the whole key, in hex. */
  hash: string
  label?: string
  /** Milliseconds since the Unix epoch, on the account's clock. */
  createdAt: number
  disabled: boolean
}

/** Adds a key. If the account already has it, nothing changes. Source: "An account may hold several keys." */
export function addKey<State extends { keys: readonly ApiKey[] }>(state: State, key: ApiKey): State {
  return state.keys.some(({ hash }) => hash === key.hash) ? state : { ...state, keys: [...state.keys, key] }
}

/**
 * Source: "New keys have a one-week grace period with higher rate limits." `period` in seconds; its end is exclusive.
 */
export function isInGrace(key: ApiKey, now: number, period: number): boolean {
  return now < key.createdAt + period * 1000
}
