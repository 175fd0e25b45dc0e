import type { PolicyTags, RecordPin } from './dmarc.ts'
import type { ProfileName } from './profile.ts'

/** What a fixture says about a domain, whether it is monitored or not. `since` is a moment, see `Fixture`. */
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

/** A key of a fixture, with its secret or its hash. Without either, nobody can use it. */
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

/** What the dashboard opens and highlights in a scene: a tab, and there a domain or a group by its name, or a search. */
interface SceneView {
  tab: 'overview' | 'domains' | 'groups' | 'requests' | 'time' | 'scenes' | 'faults' | 'account' | 'coverage'
  domain?: string
  group?: string
  search?: string
}

/** A request that is sent when a scene begins: to the service, or to the control plane about the account. */
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
  /** The parameters of the path, other than the account. */
  parameters?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
  body?: Readonly<Record<string, unknown>>
  /** The code of the refusal that the scene is about; without it, the call is expected to succeed. */
  expect?: string
}

/** A part of a guided story. It begins with the account as it was before the story. */
export interface Scene {
  title: string
  /** What the presenter reads aloud. A line break begins another paragraph. */
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
 * An account as a person writes it; `fixtures/fixture.schema.json` describes every field. A moment is an RFC 3339
 * instant, or an ISO 8601 duration: how long it was before the creation of the account.
 */
export interface Fixture {
  title?: string
  description?: string
  plan?: string
  seed?: number
  clock?: { now: string; frozen?: boolean }
  keys?: readonly FixtureKey[]
  domains?: readonly (string | FixtureDomain)[]
  /** Domains that were removed, which are as they were when they are added again. */
  former_domains?: readonly FixtureNature[]
  groups?: readonly FixtureGroup[]
  /** How many groups were ever created, so that no id is given twice. */
  groups_created?: number
  /** A guided story of the account. */
  scenes?: readonly Scene[]
}
