import type { Low } from 'lowdb'
import type { AccountState } from '../domain/account.ts'
import { timeOn } from '../domain/clock.ts'
import { LIMITS } from '../domain/limits.ts'
import { type Counters, countersFor } from '../domain/quotas.ts'
import type { Account, Change, Snapshot, SnapshotOutcome, SnapshotRequest, SnapshotSummary } from './store.ts'
import { StoreError } from './store-error.ts'

/** The facts that decide when an evictable account is evicted. */
export interface Use {
  /** The number of its last use: its creation, an `enter`, a change. The uses of all accounts are counted. */
  usedAt: number
  /** Whether it was changed since its creation. */
  changed: boolean
}

/** What is stored of an account. */
export interface StoredAccount {
  state: AccountState
  counters: Counters
  /** Absent if the account is never evicted. */
  use?: Use | undefined
}

/** The place of one account. The data is `null` until it is read or written. */
export type AccountDatabase = Low<StoredAccount | null>

/**
 * One account and its writes. Only one write runs at a time. All changes that are accepted during a write share the
 * next one, so a busy account does not cost one write per change.
 */
export class KeptAccount {
  /** The latest accepted account; it may not be stored yet. */
  account: Account
  use: Use | undefined
  /** In the order of their creation. They share common parts with the account and with each other. */
  snapshots: readonly (Snapshot & SnapshotSummary)[] = []
  /** The hashes of the keys of this account, including those of a state that is not stored yet. */
  readonly keyHashes = new Set<string>()
  /** The state that was last stored; absent until the first write. A failed write returns to it. */
  stored: AccountState | undefined
  readonly #database: AccountDatabase | undefined
  readonly #onWritten: (account: KeptAccount) => void
  #storedVersion = 0
  #versions = 0
  /** The write under way, and the write that waits for it. */
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** The counters before the first change of a write that has replaced them. A failure returns to them. */
  #runningUndo: Counters | undefined
  #nextUndo: Counters | undefined
  #hasUnsaved = false

  /** `onWritten` is called after each write, failed or not, before the callers that wait for the write continue. */
  constructor(
    { state, counters, use }: StoredAccount,
    incarnation: number,
    database: AccountDatabase | undefined,
    onWritten: (account: KeptAccount) => void,
  ) {
    this.account = { state, counters, incarnation, version: 0 }
    this.use = use
    this.stored = database?.data?.state
    this.#database = database
    this.#onWritten = onWritten
  }

  /** Resolves once what was accepted is stored; `undefined` if it is stored already. */
  get writing(): Promise<void> | undefined {
    return this.#next ?? this.#running
  }

  /** Keeps the counters of a request; the next write includes them. */
  count(counters: Counters): void {
    this.#hasUnsaved = true
    const { state, incarnation, version } = this.account
    // Written field by field, because every request is counted, and a spread takes longer.
    if (counters !== this.account.counters) this.account = { state, counters, incarnation, version }
  }

  /**
   * Resolves once the change is stored; `undefined` if it is stored already. Rejects if it, or a change on which it is
   * based, could not be stored.
   */
  change(state: AccountState, counters: Counters): Promise<void> | undefined {
    const { account } = this
    if (counters !== account.counters) this.#nextUndo ??= account.counters
    const version = state === account.state ? account.version : ++this.#versions
    this.account = { state, counters, incarnation: account.incarnation, version }
    return this.save()
  }

  save(): Promise<void> | undefined {
    const database = this.#database
    if (database === undefined) {
      const { state, version } = this.#takeUnsaved()
      this.#settle(state, version)
      return undefined
    }
    this.#next ??= this.#writeAfter(database, this.#running)
    return this.#next
  }

  /** Resolves when everything is stored, also what no answer has waited for. */
  async flush(): Promise<void> {
    await (this.#hasUnsaved ? this.save() : this.writing)
  }

  /** Resolves when the writes have ended, failed or not. */
  async drain(): Promise<void> {
    await this.writing?.catch(() => {})
    this.#hasUnsaved = true
  }

  async #writeAfter(database: AccountDatabase, previous: Promise<void> | undefined): Promise<void> {
    // Rejects with the previous write: the changes that wait here are based on a state that is lost then.
    await previous
    this.#running = this.#next
    this.#next = undefined
    const { state, counters, version } = this.#takeUnsaved()
    database.data = { state, counters, use: this.use && { ...this.use } }
    try {
      await database.write()
    } catch (error) {
      this.#restore()
      this.#running = undefined
      this.#onWritten(this)
      throw error
    }
    this.#running = undefined
    this.#settle(state, version)
  }

  #takeUnsaved(): Account {
    this.#runningUndo = this.#nextUndo
    this.#nextUndo = undefined
    this.#hasUnsaved = false
    return this.account
  }

  #settle(state: AccountState, version: number): void {
    this.stored = state
    this.#storedVersion = version
    this.#onWritten(this)
  }

  #restore(): void {
    const present = this.account.counters
    const undone = this.#runningUndo ?? this.#nextUndo ?? present
    // Requests were counted since then, and their ids must not be given again.
    const counters = { ...undone, requests: Math.max(undone.requests, present.requests) }
    if (this.stored !== undefined) {
      this.account = { ...this.account, state: this.stored, counters, version: this.#storedVersion }
    }
    this.#next = undefined
    this.#nextUndo = undefined
    this.#hasUnsaved = true
  }
}

/**
 * Refuses more domains or groups than an account may have: one client could fill the heap before it is measured again.
 * An account that has more already, because an earlier version had no limit, may still change and shrink.
 * @throws StoreError `too-large`
 */
export function refuseTooLarge(state: AccountState, before?: AccountState): void {
  for (const part of ['domains', 'groups'] as const) {
    const { size } = state[part]
    if (size <= LIMITS[part] || size <= (before?.[part].size ?? 0)) continue
    throw new StoreError('too-large', `An account may have ${LIMITS[part]} ${part}, and this one would have ${size}`)
  }
}

/**
 * The account after a change: the parts that do not change are the same objects. Counts of keys and fault rules that it
 * does not have any more are left out.
 * @throws StoreError `too-large`
 */
export function applyChange(
  { state: before, counters: known }: Pick<Account, 'state' | 'counters'>,
  { state = before, counters = known }: Partial<Omit<Change<unknown>, 'value'>>,
): Pick<Account, 'state' | 'counters'> {
  if (state.id !== before.id) throw new Error(`The account "${before.id}" cannot become another one`)
  refuseTooLarge(state, before)
  if (state.keys === before.keys && state.faults === before.faults && counters === known) return { state, counters }
  const kept = countersFor(counters, state)
  const isSame = kept.quotas.size === counters.quotas.size && kept.tallies.size === counters.tallies.size
  return { state, counters: isSame ? counters : kept }
}

/** Whether an account would have more items than before. */
export function hasGrown(state: AccountState, before: AccountState): boolean {
  return sizeOf(state) > sizeOf(before)
}

function sizeOf({ domains, groups, keys, faults }: AccountState): number {
  const members = groups.reduce((sum, group) => sum + group.domains.length, 0)
  return domains.size + groups.size + members + keys.length + faults.length
}

/** What a new snapshot makes of the snapshots of its account. `left` are the others; `replaced` had its name. */
export type SnapshotPlan<Kept> =
  | (Extract<SnapshotOutcome, { ok: true }> & { left: Kept[]; replaced: Kept | undefined })
  | Extract<SnapshotOutcome, { ok: false }>

/** Decides whether an account gets another snapshot. One that replaces another is the newest. */
export function planSnapshot<Kept extends SnapshotSummary>(
  kept: readonly Kept[],
  { name, replace, limit }: SnapshotRequest,
  { state: { clock, domains, groups } }: Pick<Account, 'state'>,
  real: number,
): SnapshotPlan<Kept> {
  const replaced = kept.find((each) => each.name === name)
  if (replaced !== undefined && !replace) return { ok: false, reason: 'taken' }
  if (replaced === undefined && kept.length >= limit) return { ok: false, reason: 'too-many' }
  const snapshot = { name, takenAt: timeOn(clock, real), domains: domains.size, groups: groups.size }
  return { ok: true, snapshot, left: kept.filter((each) => each !== replaced), replaced }
}

export function summarize({ name, takenAt, domains, groups }: SnapshotSummary): SnapshotSummary {
  return { name, takenAt, domains, groups }
}
