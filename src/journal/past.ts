import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Hits } from '../domain/quotas.ts'

/**
 * The state that a request found: its account, and the counts before it. It costs no copy, because states and counters
 * share unchanged parts with later ones. An old version of a map makes a copy when it is read. So a caller that reads
 * all of it reads `replicateAccount` instead.
 */
export interface Past extends Readonly<Counting> {
  /** For a write, the state of the store's final decision. For other requests, the state at the gate. */
  account: AccountState
  /** The bucket that the request was charged to; absent if it has no quota. */
  bucket: string | undefined
  /** The earlier hits of that bucket; absent if there were none. */
  hits: Hits | undefined
  /** The bytes that the account had left in older states at that time. This past keeps all later ones in memory. */
  mark: number
}
