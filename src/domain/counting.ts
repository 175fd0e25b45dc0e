import type { AccountState } from './account.ts'
import type { Fault, FaultTally } from './faults.ts'
import { type Hits, keyHashOf } from './quotas.ts'

/** What is counted beside the state of an account: the quotas by bucket, and the fault rules by id. */
export interface Counters {
  quotas: ReadonlyMap<string, Hits>
  tallies: ReadonlyMap<string, FaultTally>
}

/** The same where it is counted: changed in place, because every request changes it. */
export interface Counting extends Counters {
  quotas: Map<string, Hits>
  tallies: Map<string, FaultTally>
  /** How many requests the account has received. */
  requests: number
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
    if (hits.used === 1) beginWindow(counting.quotas, bucket, hits, now, longest)
    else counting.quotas.set(bucket, hits)
  }
  if (tallies === undefined) return
  for (const [id, tally] of tallies) counting.tallies.set(id, tally)
  if (counting.tallies.size > faults.length) forgetRemoved(counting.tallies, faults)
}

/** The windows are in the order in which they began, so that each costs its own removal and nothing more. */
function beginWindow(quotas: Map<string, Hits>, bucket: string, hits: Hits, now: number, longest: number): void {
  quotas.delete(bucket)
  for (const [name, { startedAt }] of quotas) {
    if (startedAt > now - longest && startedAt <= now) break
    quotas.delete(name)
  }
  quotas.set(bucket, hits)
}

/** What was counted for keys and fault rules that one of these states of the account has. */
export function countersFor(
  { quotas, tallies }: Counters,
  states: readonly Pick<AccountState, 'keys' | 'faults'>[],
): { quotas: [string, Hits][]; tallies: [string, FaultTally][] } {
  const hashes = new Set(states.flatMap(({ keys }) => keys.map(({ hash }) => hash)))
  const ids = new Set(states.flatMap(({ faults }) => faults.map(({ id }) => id)))
  return {
    quotas: [...quotas].filter(([bucket]) => {
      const hash = keyHashOf(bucket)
      return hash === undefined || hashes.has(hash)
    }),
    tallies: [...tallies].filter(([id]) => ids.has(id)),
  }
}

function forgetRemoved(tallies: Map<string, FaultTally>, faults: readonly Fault[]): void {
  const ids = new Set(faults.map(({ id }) => id))
  for (const id of tallies.keys()) if (!ids.has(id)) tallies.delete(id)
}
