import { type Fault, type FaultStrike, type FaultTally, type FaultTarget, strikeFault } from './faults.ts'
import { type Allowance, type Charge, chargeQuota, type Hits } from './quotas.ts'

/** What is counted beside the state of an account; changed in place, because it is at every request. */
export interface Counting {
  /** By bucket. */
  quotas: Map<string, Hits>
  /** By id of a fault rule. */
  tallies: Map<string, FaultTally>
  /** How many requests the account was asked. */
  requests: number
}

/** Charges one request to a bucket at `now` (milliseconds on the account's clock). */
export function chargeBucket({ quotas }: Counting, bucket: string, charge: Charge, now: number): Allowance {
  const { hits, allowance } = chargeQuota(quotas.get(bucket), charge, now)
  quotas.set(bucket, hits)
  return allowance
}

/** Finds the rule that strikes a request, and counts what it was for; see `strikeFault`. */
export function countStrike(
  { tallies }: Counting,
  faults: readonly Fault[],
  target: FaultTarget,
  now: number,
  draw: (fault: Fault, ordinal: number) => number,
): FaultStrike | undefined {
  const { counted, strike } = strikeFault(faults, tallies, target, now, draw)
  for (const [id, tally] of counted) tallies.set(id, tally)
  if (tallies.size > faults.length) forgetRemoved(tallies, faults)
  return strike
}

/** The ordinal of a request, from 1. */
export function countRequest(counting: Counting): number {
  counting.requests += 1
  return counting.requests
}

function forgetRemoved(tallies: Map<string, FaultTally>, faults: readonly Fault[]): void {
  const there = new Set(faults.map(({ id }) => id))
  for (const id of tallies.keys()) if (!there.has(id)) tallies.delete(id)
}
