import type { AccountState } from '../../src/domain/account.ts'
import { timeOn } from '../../src/domain/clock.ts'
import { type FaultTarget, findMatchingRules, type TriggeredRule } from '../../src/domain/faults.ts'
import {
  type Allowance,
  type CountedRequest,
  type Counters,
  type CountingResult,
  decideCounts,
  type Hits,
  type PlannedCharge,
} from '../../src/domain/quotas.ts'
import { chanceOfFault, fraction } from '../../src/ground/chance.ts'
import type { Store } from '../../src/store/store.ts'

export const HOUR = 3_600_000

/** What `trigger` matches with every rule. */
export const target = { operation: 'listDmarc', method: 'GET', path: '/dmarc', key: 'k', answersWith: () => true }

/** The counters as data that tests can compare. */
export function plain({ quotas, tallies, requests }: Counters) {
  return { quotas: [...quotas], tallies: [...tallies], requests }
}

/** The present counters of the account. */
export async function countersOf(store: Store, id: string): Promise<Counters> {
  return (await store.read(id)).counters
}

function count(state: AccountState, counters: Counters, request: Partial<CountedRequest>, now: number): CountingResult {
  const draw = (rule: string, ordinal: number) => fraction(chanceOfFault(state, rule, ordinal)[0])
  return decideCounts({ charge: undefined, rules: [], ...request }, state, counters, now, { longestWindow: HOUR, draw })
}

/** Changes the counters of the account as this request does. */
async function change(
  store: Store,
  id: string,
  requestTo: (state: AccountState) => Partial<CountedRequest>,
  now = 0,
): Promise<CountingResult> {
  return store.transact(id, ({ state, counters }) => {
    const value = count(state, counters, requestTo(state), now)
    return { counters: value.counters, value }
  })
}

/** Charges one request of twenty to a bucket of the account. */
export async function hit(store: Store, id: string, bucket: string): Promise<Allowance | undefined> {
  const charge = plannedCharge({ bucket, limit: 20, start: 'aligned' })
  return (await change(store, id, () => ({ charge }))).allowance
}

export async function nextRequest(store: Store, id: string): Promise<number> {
  return (await change(store, id, () => ({}))).counters.requests
}

/** Counts a request on which each rule acts that matches it. */
export async function trigger(
  store: Store,
  id: string,
  target: FaultTarget,
  now: number,
): Promise<TriggeredRule | undefined> {
  const rulesOf = ({ faults }: AccountState) => ({ rules: findMatchingRules(faults, target) })
  return (await change(store, id, rulesOf, now)).triggered
}

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

/** Lets a request enter the account that has the key; what it has counted, with the hits of its bucket. */
export async function enter(
  store: Store,
  keyHash: string,
  request: Partial<CountedRequest> = {},
): Promise<CountingResult & { hits: Hits | undefined }> {
  const counted = await store.enter(keyHash, ({ state, counters }, real) => {
    const result = count(state, counters, request, timeOn(state.clock, real))
    return {
      counters: result.counters,
      value: { ...result, hits: result.counters.quotas.get(request.charge?.bucket ?? '') },
    }
  })
  if (counted === undefined) throw new Error(`Nobody has the key ${keyHash}.`)
  return counted
}

/** Lets a request enter that is not counted; the account that it finds. */
export async function look(store: Store, keyHash: string): Promise<{ id: string; incarnation: number } | undefined> {
  return store.enter(keyHash, ({ state: { id }, counters, incarnation }) => ({ counters, value: { id, incarnation } }))
}
