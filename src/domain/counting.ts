import type { AccountState } from './account.ts'
import { type Fault, type FaultTally, type MatchingRule, type TriggeredRule, triggerRule } from './faults.ts'
import type { PersistentMap } from './persistent-map.ts'
import { type Allowance, chargeQuota, type Hits, keyHashOf } from './quotas.ts'

/** What is counted beside the state of an account: the quotas by bucket, and the fault rules by id. */
export interface Counters {
  quotas: ReadonlyMap<string, Hits>
  tallies: ReadonlyMap<string, FaultTally>
}

/**
 * The same where it is counted. The fields are changed in place, because every request changes them. The maps are
 * immutable, so that the journal can keep what was counted before a request without a copy.
 */
export interface Counting {
  quotas: PersistentMap<string, Hits>
  tallies: PersistentMap<string, FaultTally>
  /** How many requests the account has received. */
  requests: number
}

/** What a decision reads of the counters. */
export interface CountersRead {
  quotas: Pick<Counters['quotas'], 'get'>
  tallies: Pick<Counters['tallies'], 'get'>
  requests: number
}

/**
 * What a request will count, as far as the state of its account decides that. What the counters hold is known only where
 * they are, which may be another machine.
 */
export interface CountingPlan {
  /** Whether it is one of the requests of the account. One that is not has no charge and no rules. */
  isCounted: boolean
  charge: PlannedCharge | undefined
  /** The bucket whose hits the response tells without a charge. */
  told: string | undefined
  /** The fault rules that are asked unless the quota refuses the request. */
  rules: readonly MatchingRule[]
}

/** A charge of one request. Times are in milliseconds on the account's clock. */
export interface PlannedCharge {
  bucket: string
  limit: number
  /** The limit until the end of the grace period of the key. */
  graceLimit: number
  graceEnds: number
  /** Seconds. */
  window: number
  start: 'aligned' | 'first-request'
  enforced: boolean
}

/** What a request counts by its plan. */
export interface PlannedCount extends Counted {
  /** The quota that it was charged to, or that refuses it. */
  allowance: Allowance | undefined
  /** What was used before in the bucket of the charge, or in that which the response tells. */
  formerHits: Hits | undefined
  /** The rule that acts on it. */
  triggered: TriggeredRule | undefined
}

const NOT_COUNTED: PlannedCount = {
  ordinal: 0,
  bucket: undefined,
  hits: undefined,
  tallies: undefined,
  allowance: undefined,
  formerHits: undefined,
  triggered: undefined,
}

/**
 * What the request counts by its plan where the counters are these. It changes nothing, see `countRequest`. `now` is in
 * milliseconds on the account's clock; for `draw`, see `triggerRule`. The script of the Redis store does the same.
 */
export function countPlanned(
  { isCounted, charge, told, rules }: CountingPlan,
  { quotas, tallies, requests }: CountersRead,
  now: number,
  draw: (rule: string, ordinal: number) => number,
): PlannedCount {
  if (!isCounted) return NOT_COUNTED
  const read = charge?.bucket ?? told
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

/** Takes one charge back if the window is still that which began then; what is used there now. */
export function refundCharge(counting: Pick<Counting, 'quotas'>, bucket: string, startedAt: number): Hits | undefined {
  const hits = counting.quotas.get(bucket)
  if (hits === undefined || hits.startedAt !== startedAt || hits.used === 0) return undefined
  const after = { startedAt, used: hits.used - 1 }
  counting.quotas = counting.quotas.set(bucket, after)
  return after
}

/** What one request changes in the counters of its account. */
export interface Counted {
  /** The ordinal of the request among those of the account, from 1; 0 where it is not counted. */
  ordinal: number
  /** The bucket that it was charged to and what is used there now; absent where it has no quota. */
  bucket: string | undefined
  hits: Hits | undefined
  /** The new tallies of the fault rules that it matched; absent where no rule was asked. */
  tallies: readonly (readonly [id: string, tally: FaultTally])[] | undefined
}

/**
 * Enters one request in the counters of an account that has these fault rules. When a window begins with it, those that
 * are over at `now` are forgotten, and those that are still to come because the clock was set back. `longest` is the
 * length of the longest window. Both are in milliseconds.
 */
export function countRequest(
  counting: Counting,
  counted: Counted,
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

/** The windows are in the order in which they began, so that each costs its own removal and nothing more. */
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

/** What was counted for keys and fault rules that one of these states of the account has. */
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
