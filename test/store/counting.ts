import {
  applyCounts,
  type Counters,
  type CountingPlan,
  type CountingResult,
  type PlannedCharge,
} from '../../src/domain/counting.ts'
import { type FaultTarget, findMatchingRules, type TriggeredRule, triggerRule } from '../../src/domain/faults.ts'
import { type Allowance, type Charge, chargeQuota } from '../../src/domain/quotas.ts'
import { type Clock, systemClock } from '../../src/ground/clock.ts'
import type { Store } from '../../src/store/store.ts'

export const HOUR = 3_600_000

/** What `trigger` matches with every rule. */
export const target = { operation: 'listDmarc', method: 'GET', path: '/dmarc', key: 'k', answersWith: () => true }

const CHARGE: Charge = { limit: 20, window: 3600, start: 'aligned', enforced: true }
const NOTHING = { ordinal: 0, bucket: undefined, hits: undefined, tallies: undefined }

/** The present counters of the account. */
export function countersOf(store: Store, id: string): Promise<Counters> {
  return store.count(id, (_, { quotas, tallies }) => ({
    quotas: new Map(quotas.entries()),
    tallies: new Map(tallies.entries()),
  }))
}

/** Charges one request of twenty to a bucket of the account. */
export function hit(store: Store, id: string, bucket: string): Promise<Allowance> {
  return store.count(id, ({ faults }, counting) => {
    const { hits, allowance } = chargeQuota(counting.quotas.get(bucket), CHARGE, 0)
    applyCounts(counting, { ...NOTHING, bucket, hits }, faults, 0, HOUR)
    return allowance
  })
}

export function nextRequest(store: Store, id: string): Promise<number> {
  return store.count(id, ({ faults }, counting) => {
    applyCounts(counting, { ...NOTHING, ordinal: counting.requests + 1 }, faults)
    return counting.requests
  })
}

/** Counts a request on which each rule acts that matches it. */
export function trigger(
  store: Store,
  id: string,
  target: FaultTarget,
  now: number,
): Promise<TriggeredRule | undefined> {
  return store.count(id, ({ faults }, counting) => {
    const { counted, triggered } = triggerRule(findMatchingRules(faults, target), counting.tallies, now, () => 0)
    applyCounts(counting, { ...NOTHING, tallies: counted }, faults)
    return triggered
  })
}

/** The plan of a request that is counted, and nothing more. */
const COUNTED: CountingPlan = { isCounted: true, charge: undefined, toldBucket: undefined, rules: [] }

/** A charge of a request to the quota of its path, without a grace period. */
export function plannedCharge(chosen: Partial<PlannedCharge> = {}): PlannedCharge {
  return {
    bucket: '/dmarc',
    limit: 30,
    graceLimit: 30,
    graceEnds: 0,
    window: 3600,
    start: 'first-request',
    enforced: true,
    ...chosen,
  }
}

/** Lets a request with this plan enter the account that has the key; what it has counted. */
export async function enter(
  store: Store,
  keyHash: string,
  planned: Partial<CountingPlan>,
  clock: Clock,
): Promise<CountingResult> {
  const plan = () => ({ ...COUNTED, ...planned })
  const counted = await store.enter(
    keyHash,
    {
      clock,
      longestWindow: HOUR,
      plan,
      conclude: (_, entered) => entered.counted,
    },
    undefined,
  )
  if (counted === undefined) throw new Error(`Nobody has the key ${keyHash}.`)
  return counted
}

/** Lets a request enter that is not counted; the account that it finds. */
export async function look(store: Store, keyHash: string): Promise<{ id: string; incarnation: number } | undefined> {
  return store.enter(
    keyHash,
    {
      clock: systemClock,
      longestWindow: HOUR,
      plan: () => ({ ...COUNTED, isCounted: false }),
      conclude: (_, { account: { id }, incarnation }) => ({ id, incarnation }),
    },
    undefined,
  )
}
