import type { AccountState } from './account.ts'
import { type Fault, type FaultTally, type MatchingRule, type TriggeredRule, triggerRule } from './faults.ts'
import type { PersistentMap } from './persistent-map.ts'
import { type Allowance, chargeQuota, type Hits, keyHashOf } from './quotas.ts'

// A request is counted in two steps, because the state and the counters of an account may be in different places:
// 1. From the state, the gate makes a `CountingPlan`: the charge (`PlannedCharge`), and the matching fault rules.
// 2. From the plan and the counters, `decideCounts` makes a `CountingResult`: whether the quota permits the request
//    (`chargeQuota`), which rule acts on it (`triggerRule`), and the `NewCounts`. `applyCounts` enters these.
// `Counters` are the counters as data, `Counting` is where they change, `ReadableCounters` is what a decision reads.

/** The counts beside the state of an account: the quotas by bucket, and the fault rules by id. */
export interface Counters {
  quotas: ReadonlyMap<string, Hits>
  tallies: ReadonlyMap<string, FaultTally>
}

/**
 * The same counts in the place where requests are counted. The fields change in place, because every request changes
 * them. The maps are immutable, so the journal keeps the counts before a request without a copy.
 */
export interface Counting {
  quotas: PersistentMap<string, Hits>
  tallies: PersistentMap<string, FaultTally>
  requests: number
}

/** The counters that a decision reads. */
export interface ReadableCounters {
  quotas: Pick<Counters['quotas'], 'get'>
  tallies: Pick<Counters['tallies'], 'get'>
  requests: number
}

/** The counts of a request, as far as the account decides them. Only the place of the counters knows their values. */
export interface CountingPlan {
  /** Whether it counts as a request of the account. If not, it has no charge and no rules. */
  isCounted: boolean
  charge: PlannedCharge | undefined
  /** The bucket whose hits the response reports without a charge. */
  toldBucket: string | undefined
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

/** What the counters of the account are after one request, as far as the request changes them. */
export interface NewCounts {
  /** The ordinal of the request within the account, from 1; 0 if it is not counted. */
  ordinal: number
  /** The bucket that it was charged to, with the present hits; absent if it has no quota. */
  bucket: string | undefined
  hits: Hits | undefined
  /** The new tallies of the matching fault rules; absent if no rule was tried. */
  tallies: readonly (readonly [id: string, tally: FaultTally])[] | undefined
}

/** The decision of the counters about a request. */
export interface CountingResult extends NewCounts {
  /** The quota that the request was charged to, or that refuses it. */
  allowance: Allowance | undefined
  /** The earlier hits in the bucket of the charge, or in the bucket that the response reports. */
  formerHits: Hits | undefined
  /** The rule that acts on the request. */
  triggered: TriggeredRule | undefined
}

const NOT_COUNTED: CountingResult = {
  ordinal: 0,
  bucket: undefined,
  hits: undefined,
  tallies: undefined,
  allowance: undefined,
  formerHits: undefined,
  triggered: undefined,
}

/**
 * Decides by plan and counters whether the quota permits the request, and which rule acts on it. It changes nothing, see
 * `applyCounts`. `now` is in milliseconds on the account's clock. For `draw`, see `triggerRule`. The function `enter`
 * of the Redis store does the same.
 */
export function decideCounts(
  { isCounted, charge, toldBucket, rules }: CountingPlan,
  { quotas, tallies, requests }: ReadableCounters,
  now: number,
  draw: (rule: string, ordinal: number) => number,
): CountingResult {
  if (!isCounted) return NOT_COUNTED
  const read = charge?.bucket ?? toldBucket
  const formerHits = read === undefined ? undefined : quotas.get(read)
  let charged: ReturnType<typeof chargeQuota> | undefined
  if (charge !== undefined) {
    const { limit, graceLimit, graceEnds, window, start, enforced } = charge
    charged = chargeQuota(formerHits, { limit: now < graceEnds ? graceLimit : limit, window, start, enforced }, now)
  }
  const asked = rules.length > 0 && charged?.allowance.allowed !== false
  const faults = asked ? triggerRule(rules, tallies, now, draw) : undefined
  return {
    ordinal: requests + 1,
    bucket: charge?.bucket,
    hits: charged?.hits,
    tallies: faults?.counted,
    allowance: charged?.allowance,
    formerHits,
    triggered: faults?.triggered,
  }
}

/** Takes one charge back if the window from `startedAt` is still current. Returns the present hits of that window. */
export function refundCharge(counting: Pick<Counting, 'quotas'>, bucket: string, startedAt: number): Hits | undefined {
  const hits = counting.quotas.get(bucket)
  if (hits === undefined || hits.startedAt !== startedAt || hits.used === 0) return undefined
  const after = { startedAt, used: hits.used - 1 }
  counting.quotas = counting.quotas.set(bucket, after)
  return after
}

/**
 * Enters one request in the counters of an account with these fault rules. If a window begins with it, the windows that
 * are over at `now` are dropped. Windows in the future, because the clock was set back, are also dropped. `longest` is
 * the length of the longest window. Both are in milliseconds.
 */
export function applyCounts(
  counting: Counting,
  counted: NewCounts,
  faults: readonly Fault[],
  now = Number.MAX_VALUE,
  longest = Number.POSITIVE_INFINITY,
): void {
  const { ordinal, bucket, hits, tallies } = counted
  if (ordinal > 0) counting.requests = ordinal
  if (bucket !== undefined && hits !== undefined) {
    const { quotas } = counting
    counting.quotas = hits.used === 1 ? beginWindow(quotas, bucket, hits, now, longest) : quotas.set(bucket, hits)
  }
  if (tallies === undefined || tallies.length === 0) return
  counting.tallies = counting.tallies.with(tallies)
  if (counting.tallies.size > faults.length) counting.tallies = forgetRemoved(counting.tallies, faults)
}

/** The windows are in the order of their beginning, so each one costs only its own removal. */
function beginWindow(
  quotas: Counting['quotas'],
  bucket: string,
  hits: Hits,
  now: number,
  longest: number,
): Counting['quotas'] {
  const others = quotas.delete(bucket)
  const over: string[] = []
  for (const [name, { startedAt }] of others.entries()) {
    if (startedAt > now - longest && startedAt <= now) break
    over.push(name)
  }
  return others.without(over).add(bucket, hits)
}

/** The counts of the keys and fault rules that one of these states of the account has. */
export function countersFor(
  { quotas, tallies }: Counters | Omit<Counting, 'requests'>,
  states: readonly Pick<AccountState, 'keys' | 'faults'>[],
): { quotas: [string, Hits][]; tallies: [string, FaultTally][] } {
  const hashes = new Set(states.flatMap(({ keys }) => keys.map(({ hash }) => hash)))
  const ids = new Set(states.flatMap(({ faults }) => faults.map(({ id }) => id)))
  return {
    quotas: [...quotas.entries()].filter(([bucket]) => {
      const hash = keyHashOf(bucket)
      return hash === undefined || hashes.has(hash)
    }),
    tallies: [...tallies.entries()].filter(([id]) => ids.has(id)),
  }
}

function forgetRemoved(tallies: Counting['tallies'], faults: readonly Fault[]): Counting['tallies'] {
  const ids = new Set(faults.map(({ id }) => id))
  return tallies.without([...tallies.keys()].filter((id) => !ids.has(id)))
}
