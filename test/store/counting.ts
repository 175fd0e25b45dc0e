import { chargeBucket, countRequest, countStrike } from '../../src/domain/counting.ts'
import type { FaultStrike, FaultTarget } from '../../src/domain/faults.ts'
import type { Allowance, Charge } from '../../src/domain/quotas.ts'
import type { Store } from '../../src/store/store.ts'

/** Charges one request to a bucket of the account. */
export function hit(store: Store, id: string, bucket: string, charge: Charge, now: number): Promise<Allowance> {
  return store.count(id, (_, counting) => chargeBucket(counting, bucket, charge, now))
}

export function nextRequest(store: Store, id: string): Promise<number> {
  return store.count(id, (_, counting) => countRequest(counting))
}

/** Counts a request that each rule strikes which is for it. */
export function strike(store: Store, id: string, target: FaultTarget, now: number): Promise<FaultStrike | undefined> {
  return store.count(id, ({ faults }, counting) => countStrike(counting, faults, target, now, () => 0))
}
