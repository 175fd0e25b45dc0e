import { countRequest } from '../../src/domain/counting.ts'
import { type FaultTarget, type TriggeredFault, triggerFault } from '../../src/domain/faults.ts'
import { type Allowance, type Charge, chargeQuota } from '../../src/domain/quotas.ts'
import type { Store } from '../../src/store/store.ts'

const NOTHING = { ordinal: 0, bucket: undefined, hits: undefined, tallies: undefined }

/** Charges one request to a bucket of the account. */
export function hit(store: Store, id: string, bucket: string, charge: Charge, now: number): Promise<Allowance> {
  return store.count(id, ({ faults }, counting) => {
    const { hits, allowance } = chargeQuota(counting.quotas.get(bucket), charge, now)
    countRequest(counting, { ...NOTHING, bucket, hits }, faults, now, charge.window * 1000)
    return allowance
  })
}

export function nextRequest(store: Store, id: string): Promise<number> {
  return store.count(id, ({ faults }, counting) => {
    countRequest(counting, { ...NOTHING, ordinal: counting.requests + 1 }, faults)
    return counting.requests
  })
}

/** Counts a request on which each rule acts that matches it. */
export function trigger(
  store: Store,
  id: string,
  target: FaultTarget,
  now: number,
): Promise<TriggeredFault | undefined> {
  return store.count(id, ({ faults }, counting) => {
    const { counted, triggered } = triggerFault(faults, counting.tallies, target, now, () => 0)
    countRequest(counting, { ...NOTHING, tallies: counted }, faults)
    return triggered
  })
}
