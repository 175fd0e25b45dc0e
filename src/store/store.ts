import type { AccountState } from '../domain/account.ts'
import type { Counters, Counting, CountingPlan, CountingResult } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import type { Hits } from '../domain/quotas.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'

export type { Counters }

/** How `create` makes room for an account. */
export interface Capacity {
  /** How many accounts there may be, this one included. Default: any number. */
  limit?: number
  /** Whether this account may be evicted: deleted later, if there are too many accounts. Default: false. */
  evictable?: boolean
  /**
   * How long a changed evictable account must be idle before it is evicted, in milliseconds on the clock of the store.
   * Default: it is never evicted.
   */
  idle?: number
}

/** Counters that replace others. */
export interface Replacement extends Counters {
  /** How many requests the account has received. If absent, that count continues. */
  requests?: number
  /** The snapshot that the state comes from, if there is one. The state may share its parts. */
  snapshot?: string
  /** The expected incarnation, see `Visitor`. Another account with the same id is not replaced. */
  incarnation?: number
  /** For a copy of an older state that shares its parts: how many bytes have become outdated since that state. */
  outdatedSince?: number
}

/**
 * Reads an account, and may set its counters in place. Their maps are immutable, so it may also hand them out.
 * `incarnation` is a number that the store gives to each account at its creation.
 * The account keeps it through every change, `replace` included. No other account of this store ever gets the same
 * number. It shows whether a long request still belongs to the account that has the id now. It need not survive the
 * processes that use the store, because their requests end with them.
 */
export type Visitor<Value> = (account: AccountState, counting: Counting, incarnation: number) => Value

/** How `count` answers. */
export interface CountOptions {
  /**
   * Whether it resolves only once the counts are stored, like every change that a user has requested. If they cannot be
   * stored, it rejects; until the store is closed, the account may use the new counts nevertheless. Default: the counts
   * are stored as after `enter`.
   */
  stored?: boolean
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
  read(accountId: string, name: string): Promise<(FormerAccount & { takenAt: number }) | undefined>
  /** Resolves to whether there was a snapshot with this name. */
  delete(accountId: string, name: string): Promise<boolean>
  /** The hashes of all keys that a snapshot of the account could restore. */
  keyHashes(accountId: string): Promise<Set<string>>
}

/** An earlier state of an account, which `replace` can restore. */
export interface FormerAccount {
  incarnation: number
  state: AccountState
  counters: Counters
}

/**
 * Identifies what a request has found in its account: a version of the state, and the position of the counters. Only
 * the store that has created it can read it.
 */
export interface Moment {
  readonly incarnation: number
  readonly version: string
  readonly sequence: number
  /** What undoes the counts of the request, if it was counted. Whoever keeps the moment keeps it where the store finds it. */
  readonly undo?: string | undefined
}

/**
 * How requests enter accounts. One object serves all requests. The plan of the counts of a request depends only on the
 * state of the account. So the store can count where the counters are, in one step with the counts of other processes.
 */
export interface Admission<Request, Plan extends CountingPlan, Value> {
  /** Gives the time if the store has no time of its own. */
  clock: Clock
  /** In milliseconds, the length of the longest window of the service. Older windows are removed. */
  longestWindow: number
  /**
   * It is pure, because it runs again if the account was changed meanwhile. It reads only the id, the seed, the plan,
   * the keys and the fault rules of the state.
   */
  plan(request: Request, account: AccountState): Plan
  /** Runs once, when the request is counted. */
  conclude(request: Request, entered: Entered<Plan>): Value
}

/** An account that a request has entered. A later account with the same id is another one. */
export interface Incarnate {
  id: string
  /** See `Visitor`. */
  incarnation: number
}

/** What a request has found and counted in the account that it has entered. */
export interface Entered<Plan> {
  account: AccountState
  /** See `Visitor`. */
  incarnation: number
  /** The time of the machine, to which the clocks of accounts relate, in milliseconds since the Unix epoch. */
  real: number
  plan: Plan
  counted: CountingResult
  /** The counters before the request, if the store has them in memory. */
  countersBefore: Readonly<Counting> | undefined
  /** Identifies what the request has found, if the store can recall it. */
  moment: Moment | undefined
}

/**
 * The place of the accounts, and of everything on which processes with the same accounts must agree: the taken ids and
 * keys, the number of accounts, the order of eviction, and the counts. Every method is atomic, also if several
 * processes call it at the same time: it acts as if nothing else happened meanwhile. A method that cannot do its work
 * rejects with a `StoreError`, which gives the reason: `unknown-account` (ask `find` first), `taken`,
 * `full`, `damaged`, `closed`, or a lost store. Reads and refusals may see a state that is accepted but not stored yet.
 * One test suite, `test/store/conformance.ts`, runs against every implementation.
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
   * An id for an account without a chosen id. No account has it, and no other call returns it again, also after the
   * account was deleted. It is not reserved: a client may choose the same id for another account.
   */
  newId(): Promise<string>
  /** Whether `create` finds room now. The call is very cheap. Another call may take the room. */
  hasRoom(capacity: Capacity): Promise<boolean>
  /**
   * Adds an account and resolves once it is stored. If there are `limit` accounts already, an evictable account is
   * deleted, and its id is the result. It is the least recently used account without changes. If there is none, it is
   * the least recently used of the others, if it was idle for `idle`. A creation, an `enter` and each change count as
   * use. `update` with another state, `replace`, a snapshot, and `count` with other counters are changes. All of this
   * outlives the process as well as the account does, except for uses after the last write, which only a clean `close`
   * keeps.
   * Rejects with `taken` if another account has the id or one of the keys, and with `full` if no account can be
   * evicted; then nothing has changed. The cost does not depend on the number of accounts.
   * Of several calls with the same id, one succeeds. As soon as another call was refused, `enter` finds the account.
   * Thus two processes can open the account of the same key.
   */
  create(state: AccountState, capacity?: Capacity): Promise<string | undefined>
  read(accountId: string): Promise<AccountState>
  /**
   * Stores the state that `decide` accepts, and resolves once it is stored, which may be at once. A refusal changes
   * nothing. `decide` must be pure, because it runs again if another process was faster. It gets the version of the
   * state, as in a `Moment`, if the store gives moments. With an incarnation, only the account with that incarnation is
   * changed; another account with the same id makes the call reject with `unknown-account`. Rejects with `taken`, and
   * changes nothing, if another account has a key of the state. If the state cannot be stored, this update rejects, and
   * so does every update that is based on that state; the account is then as it was before.
   */
  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version?: string) => Decision<AccountState, Value, Code>,
    incarnation?: number,
  ): Awaitable<Decision<AccountState, Value, Code>>
  /**
   * Replaces state and counters of the account. Rejects with `unknown-account` if the account with this id has another
   * incarnation than expected.
   */
  replace(accountId: string, state: AccountState, counters: Replacement): Promise<void>
  /** Resolves once the account and its keys are deleted for good. */
  delete(accountId: string): Promise<void>
  /**
   * Lets a request enter the account that has the key with this hash, disabled or not, and counts the request as
   * planned; no other request counts in between. This is a use of the account, see `create`. The counts are stored with
   * the account's next write and at `close`, not before the answer. `undefined` if no account has the key. A store that
   * has the data in memory answers at once.
   */
  enter<Request, Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Request, Plan, Value>,
    request: Request,
  ): Awaitable<Value | undefined>
  /**
   * Takes back one charge of the bucket's window that began at `startedAt`. Resolves to the window after that.
   * `undefined`, and nothing has changed, if that window is over or there is no such account.
   */
  refund(account: Incarnate, bucket: string, startedAt: number): Awaitable<Hits | undefined>
  /**
   * Lets `visit` read the account with this id and its counters, and set the counters; no request counts in between. If
   * it sets none, nothing has changed. Otherwise, this is a change of the account, see `create`. `visit` must be pure
   * except for the counting, because it runs again if another process was faster. The counts of a key or a fault rule
   * are removed as soon as a state without it is stored, and are not stored with that state.
   */
  count<Value>(accountId: string, visit: Visitor<Value>, options?: CountOptions): Promise<Value>
  readonly snapshots: AccountSnapshots
  /**
   * Writes all unwritten data and releases all resources, even if a write fails; then it rejects. From now on, the
   * methods above reject if they would read or change an account.
   */
  close(): Promise<void>
}

/** What only some stores have. */
export interface StoreExtras {
  /**
   * The account at a moment, in maps of its own; `undefined` if that state is not kept any more, or the account has
   * ended. Every store that gives moments has this. The users of other stores can keep states and counters themselves.
   */
  recall?(moment: Moment): Promise<FormerAccount | undefined>
  /**
   * Calls the listener with the bytes that only older states and counters of an account hold, as soon as the account
   * itself no longer holds them. A module that keeps such states must count these bytes. There is only one listener. It
   * is called for every account.
   */
  listenOutdated?(listener: OutdatedListener): void
}

export type OutdatedListener = (accountId: string, bytes: number) => void
