import type { AccountState } from '../domain/account.ts'
import type { Counters, Counting, CountingPlan, PlannedCount } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import type { Hits } from '../domain/quotas.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'

export type { Counters }

/** How `create` makes room for an account. */
export interface Capacity {
  /** How many accounts there may be, this one included; by default any number. */
  limit?: number
  /** Whether this account may be evicted: deleted later, when there are too many. By default it may not. */
  evictable?: boolean
  /**
   * How long an evictable account that somebody has changed must be idle before it is evicted, in milliseconds on the
   * clock of the store. By default it never is.
   */
  idle?: number
}

/**
 * Hears of what only older states and counters of an account still hold, in bytes, as soon as the account itself no
 * longer holds it. Whoever keeps such states must count it.
 */
export type OutdatedListener = (accountId: string, bytes: number) => void

/** Counters that take the place of others. */
export interface Replacement extends Counters {
  /** How many requests the account has received; without it, that count continues. */
  requests?: number
  /** The snapshot that the state comes from and perhaps shares its parts with, if it does. */
  snapshot?: string
  /** The incarnation that is meant, see `Visitor`. Another account of the same id is not replaced. */
  incarnation?: number
  /**
   * Where the state is a copy of an older one and shares its parts: how many bytes have become outdated since that.
   */
  outdatedSince?: number
}

/**
 * Looks at an account and counts in place. `incarnation` is a number that the store gives to each account at its
 * creation. The account keeps it through every change, `replace` included, and no other account of this store ever gets
 * the same number. It shows whether a request that takes long still belongs to the account that has the id now. It need
 * not survive the end of the processes that use the store, because their requests end with them.
 */
export type Visitor<Value> = (account: AccountState, counting: Counting, incarnation: number) => Value

/** What is wanted of a new snapshot. */
export interface SnapshotRequest {
  name: string
  /** The time of day in milliseconds, by which the account's clock goes, where the store has no time of its own. */
  real: number
  /** Whether it may take the place of a snapshot of the same name. */
  replace: boolean
  /** How many snapshots the account may have, this one included. */
  limit: number
}

/** What is known of a snapshot without reading it. */
export interface SnapshotSummary {
  name: string
  /** What the account's clock showed, in milliseconds. */
  takenAt: number
  /** How many domains and groups the account had. */
  domains: number
  groups: number
}

/** The snapshot that was taken, or why there is none: its name is taken, or the account has as many as it may have. */
export type SnapshotOutcome = { ok: true; snapshot: SnapshotSummary } | { ok: false; reason: 'taken' | 'too-many' }

/** An account as it was, which `replace` can bring back. */
export interface FormerAccount {
  incarnation: number
  state: AccountState
  counters: Counters
}

/**
 * Names what a request has found in its account: a version of the state, and how far the counters were by then. Only the
 * store that has given it understands it.
 */
export interface Moment {
  readonly incarnation: number
  readonly version: string
  readonly sequence: number
}

/**
 * A request that enters an account. What it counts is planned from the state of the account alone. So the store can count
 * where the counters are, in one step with those of other processes.
 */
export interface Admission<Plan extends CountingPlan, Value> {
  /** Says how late it is where the store has no time of its own. */
  clock: Clock
  /** The length of the longest window of the service, in milliseconds. Older windows are forgotten. */
  longestWindow: number
  /**
   * It is pure, because it runs again when the account was changed meanwhile. Of the state, it reads only the id, the
   * seed, the plan, the keys and the fault rules.
   */
  plan(account: AccountState): Plan
  /** Runs once, when the request is counted. */
  conclude(entered: Entered<Plan>): Value
}

/** An account that a request has entered, which is not another one that gets its id later. */
export interface Incarnate {
  id: string
  /** See `Visitor`. */
  incarnation: number
}

/** What a request has found in the account that it has entered, and what it has counted there. */
interface Entered<Plan> {
  account: AccountState
  /** See `Visitor`. */
  incarnation: number
  /** What the machine's clock shows to which the clocks of accounts relate, in milliseconds since the Unix epoch. */
  real: number
  plan: Plan
  counted: PlannedCount
  /** The counters before, where the store has them in memory. */
  before: Readonly<Counting> | undefined
  /** Names what the request has found, where the store can recall it. */
  moment: Moment | undefined
}

/**
 * Where accounts live, and everything that processes which serve the same accounts have to agree on: which ids and keys
 * are taken, how many accounts there may be, which one is evicted, and what was counted. Every method is atomic, also
 * when several processes call it at the same time: it acts as if nothing else happened meanwhile. A method that cannot
 * do its work rejects with a `StoreError`, which says why: `unknown-account` (ask `accountOf` or `has` first), `taken`,
 * `full`, `damaged`, `closed`, or a store that is lost. Reads and refusals may see a state that is accepted but not
 * stored yet. One suite of tests, `test/store/conformance.ts`, runs against every implementation.
 *
 * Journal and coverage are not part of the store.
 */
export interface Store {
  /**
   * The ids of all accounts in the order of their creation, so that a list of them can be read page by page. Those that
   * were there when the store was opened come first; they keep their order until it is closed.
   */
  list(): Promise<string[]>
  has(accountId: string): Promise<boolean>
  /**
   * The id of the account that has the key with this hash, disabled or not. An account has a key from the moment at
   * which a state with the key is accepted until a state without it is stored.
   */
  accountOf(keyHash: string): Promise<string | undefined>
  /**
   * An id for an account that needs none in particular. No account has it, and no other call returns it again, also
   * when its account was deleted. It is not reserved: somebody may choose the same id for an account of theirs.
   */
  newId(): Promise<string>
  /** Whether `create` finds room now. It costs next to nothing. Another call may take the room. */
  hasRoom(capacity: Capacity): Promise<boolean>
  /**
   * Adds an account and answers once it is stored. When there are `limit` accounts already, an evictable one is deleted
   * for it, and its id is the answer: the one that was used longest ago of those that nobody has changed; where there is
   * none, the one that was used longest ago of the others, if it was idle for `idle`. An account is used by its creation,
   * by `enter` and by each change. `update` with another state, `replace`, `count` and `recount` change it. All of this
   * outlives the process as well as the account does, except for uses after the last write, which are kept from a clean
   * `close` on.
   * Rejects with `taken` when the id or one of the keys is another account's, and with `full` when no account can be
   * evicted; then nothing has changed. No step depends on how many accounts there are.
   * Of several calls with the same id, one succeeds; as soon as another was refused, `enter` finds the account. Thus two
   * processes can open the account of the same key.
   */
  create(state: AccountState, capacity?: Capacity): Promise<string | undefined>
  read(accountId: string): Promise<AccountState>
  /**
   * Stores the state that `decide` accepts and answers once it is stored, which may be at once; a refusal changes
   * nothing. `decide` must be pure, because it runs again when another process was faster. It is told the version of the
   * state, as in a `Moment`, where the store gives moments. With an incarnation, only the account that has it is changed,
   * and not another one that has got the id meanwhile: that rejects with `unknown-account`. Rejects with `taken`, and
   * changes nothing, when the state has a key of another account. When the state cannot be stored, this update rejects,
   * and so does every update that was built on that state; the account is then as it was before.
   */
  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version?: string) => Decision<AccountState, Value, Code>,
    incarnation?: number,
  ): Awaitable<Decision<AccountState, Value, Code>>
  /**
   * Replaces state and counters of the account. Rejects with `unknown-account` where the account of this id is another one
   * than is meant.
   */
  replace(accountId: string, state: AccountState, counters: Replacement): Promise<void>
  /** Answers once the account and its keys are deleted for good. */
  delete(accountId: string): Promise<void>
  /**
   * Lets a request enter the account that has the key with this hash, disabled or not, and counts what it has planned; no
   * other request counts in between. The account is used, see `create`. What was counted is stored with the account's
   * next write and at `close`, not before the answer. `undefined` where no account has the key. A store that has the data
   * in memory answers at once.
   */
  enter<Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Plan, Value>,
  ): Awaitable<Value | undefined>
  /**
   * Takes back one charge of the window of a bucket that began at `startedAt`, and answers with what is used there now.
   * `undefined`, and nothing has changed, where that window is over or there is no such account.
   */
  refund(account: Incarnate, bucket: string, startedAt: number): Awaitable<Hits | undefined>
  /**
   * Lets `visit` see the account of this id and set its counters; no request counts in between. So the account is changed,
   * see `create`. `visit` must be pure except for the counting, because it runs again when another process was faster.
   * What was counted is stored as after `enter`.
   */
  count<Value>(accountId: string, visit: Visitor<Value>): Promise<Value>
  /**
   * The same, and answers once what was counted is stored, as every change that somebody has asked for. When it cannot be
   * stored, it rejects; until the store is closed, the account may count so all the same.
   */
  recount<Value>(accountId: string, visit: Visitor<Value>): Promise<Value>
  /**
   * A copy of the counters. What was counted for a key or a fault rule is forgotten as soon as a state without it is
   * stored, and is not stored with that state.
   */
  counters(accountId: string): Promise<Counters>
  /**
   * Keeps a copy of state and counters under a name. The account counts as changed, see `create`: somebody wants to come
   * back to it. A snapshot ends with its account. Nothing depends on how large the account is.
   */
  takeSnapshot(accountId: string, request: SnapshotRequest): Promise<SnapshotOutcome>
  /** The snapshots of an account in the order in which they were taken. */
  snapshots(accountId: string): Promise<SnapshotSummary[]>
  /** `undefined` where the account has no snapshot of this name. */
  readSnapshot(accountId: string, name: string): Promise<(FormerAccount & { takenAt: number }) | undefined>
  /** The hashes of all keys that some snapshot of the account could bring back. */
  snapshotKeys(accountId: string): Promise<Set<string>>
  /** Whether there was a snapshot of this name. */
  deleteSnapshot(accountId: string, name: string): Promise<boolean>
  /**
   * The account as it was at a moment, in maps of its own; `undefined` where that is no longer kept, or the account has
   * ended. A store that gives no moments keeps nothing for this, because its users can keep states and counters
   * themselves.
   */
  recall(moment: Moment): Promise<FormerAccount | undefined>
  /** There is one listener, who hears of every account. */
  listenOutdated(listener: OutdatedListener): void
  /**
   * Writes what is not written yet and releases all resources, even when a write fails, and then rejects. From now on, the
   * methods above reject where they would read or change an account.
   */
  close(): Promise<void>
}
