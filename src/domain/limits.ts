/**
 * The limits of an account. Every entry point uses these numbers: fixtures, overlays, options, the control plane and
 * the service. Fixtures and the control plane have their own documents, and a test compares these with this table.
 *
 * All numbers are small enough for exact arithmetic. This also holds for the scripts of a shared store, whose numbers
 * are those of JavaScript.
 */
export const LIMITS = {
  /** The first and the last instant since 1970 that RFC 3339 can write, in milliseconds since the Unix epoch. */
  firstInstant: 0,
  lastInstant: 253_402_300_799_999,
  /** The last instant that a clock can be set to: a day before the last one, because a clock keeps running. */
  lastSetting: 253_402_214_400_000,
  /** In seconds: 100 years. */
  period: 3_155_760_000,
  /** Days of a list of records. */
  days: 366,
  /** In milliseconds. */
  delay: 600_000,

  seed: Number.MAX_SAFE_INTEGER,
  /** Messages in the record of a domain. The sum over 9,000 such domains is exact. */
  messages: 1e12,
  /** Messages of a domain in an ordinary month. */
  volume: 1e9,
  /** Groups that an account has ever created. After this number, the ids that are free are used again. */
  groupsCreated: 1e12,
  /** Requests that a fault rule skips, or acts on. */
  matches: 1e9,

  /** Requests of a quota, and the factor for a new key. The product is an exact number. */
  quota: 1e12,
  grace: 1_000,
  /** Bytes of a body. The bodies that are being received may together have as many. */
  body: 268_435_456,
  /** The longest value for which the coverage shows a request. */
  sample: 100_000,

  domains: 50_000,
  groups: 5_000,
  keys: 1_000,
  /** Derived keys that are compared with an account's keys, the newest first. Any client can compute derived keys. */
  derivedKeys: 100_000,
  faults: 500,
  snapshots: 100,
  features: 50,
  scenes: 50,
  /** Calls of a scene. */
  calls: 20,

  /** Characters of texts. */
  title: 500,
  description: 5_000,
  plan: 100,
  plans: 100,
  key: 200,
  keyId: 100,
  label: 200,
  feature: 100,
  groupName: 10_000,
  sceneTitle: 100,
  sceneText: 2_000,
  accountId: 100,
  snapshotName: 100,
} as const

/** The number in the range that is nearest to `value`. */
export function clamp(value: number, lowest: number, highest: number): number {
  return Math.min(Math.max(value, lowest), highest)
}
