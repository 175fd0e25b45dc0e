import type { RecordPin } from './dmarc.ts'
import type { ProfileName } from './profile.ts'

/** A domain of a fixture. `added_at` and `since` are moments, see `Fixture`. */
export interface FixtureDomain {
  name: string
  features?: readonly string[]
  added_at?: string
  profile?: ProfileName
  since?: string
  volume?: number
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
  groups?: readonly FixtureGroup[]
  /** How many groups were ever created, so that no id is given twice. */
  groups_created?: number
}
