import type { PolicyTags, ProfileName, RecordPin } from './dmarc.ts'

/** A fixture's description of a domain, monitored or not. `since` is a moment, see `Fixture`. */
interface FixtureNature {
  name: string
  profile?: ProfileName
  since?: string
  volume?: number
  policy?: Partial<PolicyTags>
}

/** A domain of a fixture. `added_at` and `record_since` are moments. */
export interface FixtureDomain extends FixtureNature {
  features?: readonly string[]
  added_at?: string
  record?: RecordPin
  record_since?: string
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

/** The parts of a request to an operation. */
export interface SceneOperation {
  /** The path parameters, which are all required. The page adds the account. */
  parameters?: readonly string[]
  query?: readonly string[]
  body?: true
}

const BODY: SceneOperation = { body: true }

/**
 * The operations that a scene can call. These are operations of the service, and operations of the control plane whose
 * effect on one account a snapshot can undo. None of them hands out a key or deletes anything for good. A test compares
 * them with both documents.
 */
export const SCENE_OPERATIONS = {
  listDmarc: {},
  listDomains: {},
  addDomains: BODY,
  deleteDomains: BODY,
  listDomainGroups: { query: ['id'] },
  createDomainGroup: BODY,
  updateDomainGroup: { query: ['id'], body: true },
  deleteDomainGroup: { query: ['id'] },
  updateAccount: BODY,
  addMonitoredDomains: BODY,
  removeMonitoredDomains: BODY,
  createGroup: BODY,
  updateGroup: { parameters: ['group'], body: true },
  deleteGroup: { parameters: ['group'] },
  setFeatures: { parameters: ['domain'], body: true },
  pinDmarc: { parameters: ['domain'], body: true },
  unpinDmarc: { parameters: ['domain'] },
  updateClock: BODY,
  updateQuota: BODY,
  addFaultSet: { parameters: ['set'] },
  addFault: BODY,
  clearFaults: {},
  deleteFault: { parameters: ['fault'] },
} as const satisfies Record<string, SceneOperation>

/** A request at the beginning of a scene: to the service, or to the control plane about the account. */
export interface SceneCall {
  operation: keyof typeof SCENE_OPERATIONS
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
  groups?: readonly FixtureGroup[]
  /** The number of groups ever created, so that no id is used twice. */
  groups_created?: number
  scenes?: readonly Scene[]
}
