import type { PolicyTags, RecordPin } from './dmarc.ts'
import type { ProfileName } from './profile.ts'

/** A fixture's description of a domain, monitored or not. `since` is a moment, see `Fixture`. */
export interface FixtureNature {
  name: string
  profile?: ProfileName
  since?: string
  volume?: number
  policy?: Partial<PolicyTags>
}

/** A domain of a fixture. `added_at` is a moment. */
export interface FixtureDomain extends FixtureNature {
  features?: readonly string[]
  added_at?: string
  record?: RecordPin
}

/** A key of a fixture, with its secret or its hash. Without either, no client can use it. */
export interface FixtureKey {
  label?: string
  key?: string
  id?: string
  /** SHA-256 of the secret, in hex. */
  hash?: string
  disabled?: boolean
  created_at?: string
}

/** A group of a fixture. Without an id, it gets the next id of the account. */
interface FixtureGroup {
  id?: string
  name: string
  domains?: readonly string[]
}

/** The view of the dashboard in a scene: a tab, with a highlighted domain or group by name, or a search. */
interface SceneView {
  tab: 'overview' | 'domains' | 'groups' | 'requests' | 'time' | 'scenes' | 'faults' | 'account' | 'coverage'
  domain?: string
  group?: string
  search?: string
}

/** A request at the beginning of a scene: to the service, or to the control plane about the account. */
export interface SceneCall {
  operation:
    | 'listDmarc'
    | 'listDomains'
    | 'addDomains'
    | 'deleteDomains'
    | 'listDomainGroups'
    | 'createDomainGroup'
    | 'updateDomainGroup'
    | 'deleteDomainGroup'
    | 'updateAccount'
    | 'addMonitoredDomains'
    | 'removeMonitoredDomains'
    | 'createGroup'
    | 'updateGroup'
    | 'deleteGroup'
    | 'setFeatures'
    | 'pinDmarc'
    | 'unpinDmarc'
    | 'updateClock'
    | 'updateQuota'
    | 'addFaultSet'
    | 'addFault'
    | 'clearFaults'
    | 'deleteFault'
  /** The path parameters other than the account. */
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: Readonly<Record<string, unknown>>
  /** The code of the refusal that the scene shows. Without it, the call must succeed. */
  expect?: string
}

/** A part of a guided story. It starts from the account as it was before the story. */
export interface Scene {
  title: string
  /** The text that the presenter reads aloud. A line break begins another paragraph. */
  text: string
  look_at?: SceneView
  calls?: readonly SceneCall[]
}

/** The scenes of a fixture, with its title and its description. */
export interface Story {
  title?: string
  description?: string
  scenes: readonly Scene[]
}

/**
 * An account in the form that a person writes; `fixtures/fixture.schema.json` describes every field. A moment is an RFC
 * 3339 instant, or an ISO 8601 duration before the creation of the account.
 */
export interface Fixture {
  title?: string
  description?: string
  plan?: string
  seed?: number
  clock?: { now: string; frozen?: boolean }
  keys?: readonly FixtureKey[]
  domains?: readonly (string | FixtureDomain)[]
  /** Removed domains. A domain has these properties when it is added again. */
  former_domains?: readonly FixtureNature[]
  groups?: readonly FixtureGroup[]
  /** The number of groups ever created, so that no id is used twice. */
  groups_created?: number
  /** A guided story of the account. */
  scenes?: readonly Scene[]
}
