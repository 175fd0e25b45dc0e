import type { AccountState } from './account.ts'
import type { Fault, FaultTally } from './faults.ts'
import type { PersistentMap } from './persistent-map.ts'
import { type Hits, keyHashOf } from './quotas.ts'

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
