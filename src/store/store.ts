import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import type { FaultTally } from '../domain/faults.ts'
import type { Hits } from '../domain/quotas.ts'
import type { Awaitable } from '../ground/awaitable.ts'

/** What is counted beside the state of an account: the quotas by bucket, and the fault rules by id. */
export interface Counters {
  quotas: ReadonlyMap<string, Hits>
  tallies: ReadonlyMap<string, FaultTally>
}

/**
 * Where accounts live. What cannot be done fails with a `StoreError`, which says why: `unknown-account` (routes
 * ask `accountOf` or `has` first), `taken`, `closed`, or a store that is lost. Reads and refusals may see a state
 * that is accepted but not kept yet. One suite of tests runs against every implementation,
 * `test/store/conformance.ts`.
 */
export interface Store {
  /** The ids of all accounts, in no particular order. */
  list(): Promise<string[]>
  has(accountId: string): Promise<boolean>
  /**
   * The id of the account that holds the key with this hash, disabled or not. A key is held as soon as a state that
   * has it is accepted, and until a state without it is kept.
   */
  accountOf(keyHash: string): Promise<string | undefined>
  /** Adds an account and answers once it is kept. Rejects when the id or one of its keys is taken. */
  create(state: AccountState): Promise<void>
  read(accountId: string): Promise<AccountState>
  /**
   * Keeps the state that `decide` accepts and answers once it is kept, which may be at once; a refusal keeps nothing.
   * `decide` must be pure: it runs again when another replica wrote first. Fails with `taken`, and keeps nothing, when
   * the state has a key of another account. When the state cannot be kept, it fails, as does every update that was
   * built on that state, and the account is as it was before.
   */
  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState) => Decision<AccountState, Value, Code>,
  ): Awaitable<Decision<AccountState, Value, Code>>
  /** Puts another state and other counters in the place of the account's. Without `requests`, that count goes on. */
  replace(accountId: string, state: AccountState, counters: Counters & { requests?: number }): Promise<void>
  /** Answers once the account and its keys are forgotten. */
  delete(accountId: string): Promise<void>
  /**
   * Shows `visit` the account that holds the key with this hash, disabled or not, and lets it count, atomically: no
   * other request is counted in between. `visit` must be pure but for the counting: it runs again when another
   * replica counted first. What was counted is kept with the account's next write and at `close`, not before it
   * answers. `undefined` where no account holds the key. A store that has it at hand answers at once.
   */
  enter<Value extends object>(
    keyHash: string,
    visit: (account: AccountState, counting: Counting) => Value,
  ): Awaitable<Value | undefined>
  /** The same for the account of this id. */
  count<Value>(accountId: string, visit: (account: AccountState, counting: Counting) => Value): Promise<Value>
  /** The counters as they are, in maps of their own. */
  counters(accountId: string): Promise<Counters>
  /**
   * Writes what is pending and lets go of everything held, even when a write fails, and then rejects. The methods
   * above reject from now on where they would read or change an account.
   */
  close(): Promise<void>
}
