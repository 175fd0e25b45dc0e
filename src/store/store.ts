import type { AccountState } from '../domain/account.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import type { Counters } from '../domain/quotas.ts'
import type { Awaitable } from '../ground/awaitable.ts'

/** An account as the store has it. Everything in it is a value that stays readable. */
export interface Account {
  readonly state: AccountState
  readonly counters: Counters
  /** Given at creation and kept until deletion; no other account of this store ever has the same. */
  readonly incarnation: number
  /** Grows with each change of the state (not of the counters). With the incarnation it names one state. */
  readonly version: number
}

/** How `create` makes room for an account. */
export interface Capacity {
  /** How many accounts there may be, this one included. Default: any number. */
  limit?: number
  /** Whether this account may be evicted: deleted later, if there are too many accounts. Default: false. */
  evictable?: boolean
}

/** What `transact` changes. An absent part stays as it is. */
export interface Change<Value> {
  state?: AccountState
  counters?: Counters
  value: Value
}

/** The request for a new snapshot. */
export interface SnapshotRequest {
  name: string
  /** The machine's time in milliseconds, on which the account's clock is based, if the store has no time of its own. */
  real: number
  /** Whether it may replace a snapshot with the same name. */
  replace: boolean
  /** How many snapshots the account may have, this one included. */
  limit: number
}

/** The data of a snapshot that is known without reading the snapshot. */
export interface SnapshotSummary {
  name: string
  /** The time of the account's clock, in milliseconds. */
  takenAt: number
  /** How many domains and groups the account had. */
  domains: number
  groups: number
}

/** The new snapshot, or why there is none: the name is taken, or the account has as many as it may have. */
export type SnapshotOutcome = { ok: true; snapshot: SnapshotSummary } | { ok: false; reason: 'taken' | 'too-many' }

/** An earlier state of an account, with the counters and the time that it had. */
export interface Snapshot extends Omit<Account, 'version'> {
  /** The time of the account's clock, in milliseconds. */
  takenAt: number
}

/** The snapshots of all accounts. Every method rejects with `unknown-account` if there is no such account. */
export interface AccountSnapshots {
  /**
   * Keeps a copy of state and counters under a name. The account counts as changed, see `create`, because a user wants
   * to return to it. A snapshot ends with its account. The cost does not depend on the size of the account.
   */
  take(accountId: string, request: SnapshotRequest): Promise<SnapshotOutcome>
  /** In the order of their creation. */
  list(accountId: string): Promise<SnapshotSummary[]>
  /** `undefined` if the account has no snapshot with this name. */
  read(accountId: string, name: string): Promise<Snapshot | undefined>
  /** Resolves to whether there was a snapshot with this name. */
  delete(accountId: string, name: string): Promise<boolean>
}

/**
 * The place of the accounts, and of everything on which processes with the same accounts must agree: the taken ids and
 * keys, the number of accounts, the order of eviction, and the counts. Every method is atomic, also if several
 * processes call it at the same time: it acts as if nothing else happened meanwhile. A method that cannot do its work
 * rejects with a `StoreError`, which gives the reason. Reads and refusals may see a state that is accepted but not
 * stored yet. One test suite, `test/store/conformance.ts`, runs against every implementation.
 *
 * The functions that `update`, `transact` and `enter` get are pure, because they run again if another process was
 * faster. `real` is the time of the store's clock in milliseconds since the Unix epoch, to which the clocks of accounts
 * relate. With an incarnation, only the account with that incarnation is changed; another account with the same id makes
 * the call reject with `unknown-account`.
 *
 * Journal and coverage are not part of the store.
 */
export interface Store {
  /**
   * The ids of all accounts in the order of their creation, so that a list of them can be read page by page. Accounts
   * from before the opening of the store come first; they keep their order until it is closed.
   */
  list(): Promise<string[]>
  /**
   * The id of the account with this id, or of the account that has the key with this hash, disabled or not. An account
   * has a key from the moment when a state with the key is accepted until a state without it is stored.
   */
  find(by: 'id' | 'key', name: string): Promise<string | undefined>
  /**
   * An id for an account without a chosen id. No account of this store has it, and no other call returns it again until
   * the last process closes the store. It is not reserved: a client may choose the same id for another account.
   */
  newId(): Promise<string>
  /**
   * Adds an account and resolves once it is stored. If there are `limit` accounts already, evictable accounts are
   * deleted until there is room, and their ids are the result. The least recently used account without changes comes
   * first; if there is none, the least recently used of the others. A creation, an `enter` and each change count as
   * use. `update` with another state, `transact` with another state or other counters, and a snapshot are changes. All
   * of this outlives the process as well as the account does, except for uses after the last write, which only a clean
   * `close` keeps.
   * Rejects with `taken` if another account has the id or one of the keys, with `full` if not enough accounts can be
   * evicted, and with `too-large` as `update` does; then nothing has changed.
   * Of several calls with the same id, one succeeds. As soon as another call was refused, `enter` finds the account.
   * Thus two processes can open the account of the same key.
   */
  create(state: AccountState, capacity?: Capacity): Promise<string[]>
  read(accountId: string): Promise<Account>
  /**
   * Stores the state that `decide` accepts, and resolves once it is stored. A refusal changes nothing. `version` is that
   * of the state. Changes nothing and rejects with `taken` if another account has a key of the state, and with `too-large`
   * if the state has more domains or groups than before and than an account may have, see `LIMITS`. If the state cannot
   * be stored, this update rejects, and so does every change that is based on that state; the account is then as it was. The counts of a key or a fault rule go with it.
   */
  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version: number) => Decision<AccountState, Value, Code>,
    incarnation?: number,
  ): Awaitable<Decision<AccountState, Value, Code>>
  /** The same for state and counters together. A failed write restores both. */
  transact<Value>(
    accountId: string,
    change: (account: Account, real: number) => Change<Value>,
    incarnation?: number,
  ): Awaitable<Value>
  /**
   * Lets a request enter the account that has the key with this hash, disabled or not, and keeps the counters that
   * `admit` returns; no other request counts in between. This is a use of the account, see `create`, but no change. The
   * counters are stored with the account's next write and at `close`, not before the answer; a store that other
   * processes share keeps them at once. `undefined` if no account has the key. A store that has the data in memory
   * answers at once.
   */
  enter<Value>(
    keyHash: string,
    admit: (account: Account, real: number) => { counters: Counters; value: Value },
  ): Awaitable<Value | undefined>
  /** Resolves once the account and its keys are deleted for good. */
  delete(accountId: string): Promise<void>
  readonly snapshots: AccountSnapshots
  /**
   * Writes all unwritten data and releases all resources, even if a write fails; then it rejects. From now on, the
   * methods above reject if they would read or change an account.
   */
  close(): Promise<void>
  /**
   * Only a store whose journal entries come from other processes has this: the state that the moment names; `undefined`
   * if it is not kept any more, or the account has ended.
   */
  recall?(accountId: string, moment: Moment): Promise<AccountState | undefined>
}

/** Names one state of one account. */
export type Moment = Pick<Account, 'incarnation' | 'version'>

/** Whether a store works now. */
export type StoreState =
  /** `limitation` is a sentence about what the store still refuses, if anything is known. */
  | { readonly isReady: true; readonly limitation?: string | undefined }
  /** `reason` is a sentence for the operator of the service. */
  | { readonly isReady: false; readonly reason: string }

/** Tells whether the accounts of a server can be reached. It does not ask the store, because the state is known. */
export interface Readiness {
  readonly kind: 'memory' | 'folder' | 'redis'
  readonly state: StoreState
}
