import type { AccountState } from './account.ts'
import { type FaultTally, type MatchingRule, type TriggeredRule, triggerRule } from './faults.ts'
import { ImmutableMap } from './immutable.ts'
import type { Settings } from './settings.ts'

/** The `x-quota` of a path: requests per window of so many seconds. The setting `grace` multiplies it for a new key. */
export interface Quota {
  limit: number
  window: number
  grace: number
}

/** The charged requests in the current window. */
export interface Hits {
  /** Milliseconds since the Unix epoch, on the account's clock. */
  startedAt: number
  used: number
}

export interface Charge {
  limit: number
  /** Seconds. */
  window: number
  start: 'aligned' | 'first-request'
  /** Whether a request over the limit is refused. If not, requests are only counted. */
  enforced: boolean
}

/** The name of the counter for the requests of a key to a path. The keys of an account may share it. */
export function bucketOf(keyHash: string, path: string, scope: Settings['quotaScope']): string {
  return scope === 'key' ? `${keyHash} ${path}` : path
}

/** The maximum number of requests per key and window. Source: "higher rate limits" in the week of grace of new keys. */
export function limitOf({ limit, grace }: Quota, inGrace: boolean): number {
  return inGrace ? Math.floor(limit * grace) : limit
}

/** The hash of the key that this counter belongs to; `undefined` if the keys share it. */
export function keyHashOf(bucket: string): string | undefined {
  const end = bucket.indexOf(' ')
  return end < 0 ? undefined : bucket.slice(0, end)
}

export interface Allowance {
  allowed: boolean
  limit: number
  remaining: number
  /** The end of the window, in Unix seconds. */
  resetAt: number
}

/**
 * Charges one request at `now` (milliseconds). A refused request is not charged. A clock that was set back starts a new
 * window. Source: "Exceeding a rate limit gives error rate_limited."
 */
export function chargeQuota(
  hits: Hits | undefined,
  { limit, window, start, enforced }: Charge,
  now: number,
): { hits: Hits; allowance: Allowance } {
  const { startedAt, used } = currentHits(hits, { window, start }, now)
  const allowed = used < limit || !enforced
  const after = { startedAt, used: allowed ? used + 1 : used }
  return { hits: after, allowance: whatIsLeft(after, limit, window, allowed) }
}

/** The charged requests in the window that contains `now`. */
export function currentHits(
  hits: Hits | undefined,
  { window, start }: Pick<Charge, 'window' | 'start'>,
  now: number,
): Hits {
  const length = window * 1000
  if (hits !== undefined && now >= hits.startedAt && now < hits.startedAt + length) return hits
  return { startedAt: start === 'aligned' ? Math.floor(now / length) * length : now, used: 0 }
}

export function whatIsLeft({ startedAt, used }: Hits, limit: number, window: number, allowed = true): Allowance {
  return { allowed, limit, remaining: Math.max(0, limit - used), resetAt: Math.ceil(startedAt / 1000 + window) }
}

/** The counts beside the state of an account. A value: a change makes new ones. */
export interface Counters {
  /** By bucket. */
  readonly quotas: ImmutableMap<string, Hits>
  /** By the id of the fault rule. */
  readonly tallies: ImmutableMap<string, FaultTally>
  /** How many requests the account has received. */
  readonly requests: number
}

export const NO_COUNTERS: Counters = { quotas: ImmutableMap(), tallies: ImmutableMap(), requests: 0 }

/** What the gate wants to count of a request. */
export interface CountedRequest {
  charge: PlannedCharge | undefined
  /** The fault rules that are tried unless the quota refuses the request. */
  rules: readonly MatchingRule[]
}

/** The charge of one request. Times are in milliseconds on the account's clock. */
export interface PlannedCharge {
  bucket: string
  limit: number
  /** The limit until the end of the key's grace period. */
  graceLimit: number
  graceEnds: number
  /** Seconds. */
  window: number
  start: 'aligned' | 'first-request'
  enforced: boolean
}

/** The decision of the counters about a request. */
export interface CountingResult {
  /** The counters after the request. */
  counters: Counters
  /** The quota that the request was charged to, or that refuses it. */
  allowance: Allowance | undefined
  /** The rule that acts on the request. */
  triggered: TriggeredRule | undefined
}

/** What the counting needs besides the request, the account and its counters. */
export interface CountingTerms {
  /** In milliseconds, the length of the longest window of the service. Older windows are removed. */
  longestWindow: number
  /** See `triggerRule`. */
  draw(rule: string, ordinal: number): number
}

/**
 * Counts one request of the account: decides whether the quota permits it and which fault rule acts on it, and makes the
 * new counters. It is pure. `now` is in milliseconds on the account's clock.
 */
export function decideCounts(
  { charge, rules }: CountedRequest,
  { faults }: Pick<AccountState, 'faults'>,
  { quotas, tallies, requests }: Counters,
  now: number,
  { longestWindow, draw }: CountingTerms,
): CountingResult {
  const charged = charge && chargeQuota(quotas.get(charge.bucket), limitAt(charge, now), now)
  const isTried = rules.length > 0 && charged?.allowance.allowed !== false
  const ruled = isTried ? triggerRule(rules, tallies, now, draw) : undefined
  return {
    counters: {
      quotas: charge && charged ? setHits(quotas, charge.bucket, charged.hits, now - longestWindow, now) : quotas,
      tallies: ruled ? tallyRules(tallies, ruled.counted, faults) : tallies,
      requests: requests + 1,
    },
    allowance: charged?.allowance,
    triggered: ruled?.triggered,
  }
}

/** Written field by field, because every request is counted, and a spread takes longer. */
function limitAt({ limit, graceLimit, graceEnds, window, start, enforced }: PlannedCharge, now: number): Charge {
  return { limit: now < graceEnds ? graceLimit : limit, window, start, enforced }
}

/**
 * When a window begins, those that are over are dropped. So are those in the future, because the clock was set back.
 */
function setHits(
  quotas: Counters['quotas'],
  bucket: string,
  hits: Hits,
  oldest: number,
  now: number,
): Counters['quotas'] {
  if (hits.used !== 1) return quotas.set(bucket, hits)
  const over: string[] = []
  for (const [name, { startedAt }] of quotas) if (startedAt <= oldest || startedAt > now) over.push(name)
  return quotas.deleteAll(over).set(bucket, hits)
}

function tallyRules(
  tallies: Counters['tallies'],
  counted: readonly (readonly [id: string, tally: FaultTally])[],
  faults: AccountState['faults'],
): Counters['tallies'] {
  if (counted.length === 0) return tallies
  const all = counted.reduce((map, [id, tally]) => map.set(id, tally), tallies)
  return all.size > faults.length ? keepTallies(all, faults) : all
}

/** Takes one charge back; `undefined` if the window from `startedAt` is over. `hits` are those after that. */
export function refundCharge(
  counters: Counters,
  bucket: string,
  startedAt: number,
): { counters: Counters; hits: Hits } | undefined {
  const hits = counters.quotas.get(bucket)
  if (hits === undefined || hits.startedAt !== startedAt || hits.used === 0) return undefined
  const after = { startedAt, used: hits.used - 1 }
  return { counters: { ...counters, quotas: counters.quotas.set(bucket, after) }, hits: after }
}

/** Begins a window of the bucket, or replaces its hits. */
export function setWindow(counters: Counters, bucket: string, hits: Hits): Counters {
  return { ...counters, quotas: counters.quotas.set(bucket, hits) }
}

/** The counters without the counts of keys and fault rules that the account does not have. */
export function countersFor(counters: Counters, { keys, faults }: Pick<AccountState, 'keys' | 'faults'>): Counters {
  const hashes = new Set(keys.map(({ hash }) => hash))
  const quotas = counters.quotas.filter((_, bucket) => {
    const hash = keyHashOf(bucket)
    return hash === undefined || hashes.has(hash)
  })
  return { ...counters, quotas, tallies: keepTallies(counters.tallies, faults) }
}

function keepTallies(tallies: Counters['tallies'], faults: AccountState['faults']): Counters['tallies'] {
  const ids = new Set(faults.map(({ id }) => id))
  return tallies.filter((_, id) => ids.has(id))
}
