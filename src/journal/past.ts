import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Hits } from '../domain/quotas.ts'

/**
 * What a request found: its account, and what was counted there before it. It costs no copy, because states and counters
 * share with later ones what has not changed since. An old version of a map makes a copy of its own when it is read, so
 * whoever reads all of it reads `replicateAccount` instead.
 */
export interface Past extends Readonly<Counting> {
  /** For a write, the state on which the store decided in the end; else the state at the gate. */
  account: AccountState
  /** The bucket that the request was charged to; absent where it has no quota. */
  bucket: string | undefined
  /** What was used of that bucket; absent where nothing was. */
  hits: Hits | undefined
  /** How many bytes the account had left behind in older states by then. What came later, this one keeps in memory. */
  mark: number
}
