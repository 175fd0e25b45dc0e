import { type Low, LowSync } from 'lowdb'
import type { AccountState } from '../domain/account.ts'
import { type Counting, countersFor } from '../domain/counting.ts'
import type { PersistentMap } from '../domain/persistent-map.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { nextTurn } from '../ground/timers.ts'
import type { MemoryShare } from './memory-budget.ts'
import { Snapshots } from './snapshots.ts'

/** The facts that decide when an evictable account is evicted. */
export interface Use {
  /** When it was created, entered or changed last, in milliseconds on the clock of the store. */
  usedAt: number
  /** Whether it was changed since its creation. */
  changed: boolean
}

export interface AccountData extends Counting {
  state: AccountState
  /** Changed in place. Absent if the account is never evicted. */
  use?: Use
}

/** How often a write is delayed at most so that more changes can share it. The clients may have no more to send. */
const MAX_DELAYS = 20

/** Where an account is stored, synchronously or asynchronously. */
export type AccountDatabase = Low<AccountData> | LowSync<AccountData>

export interface StoredAccountOptions {
  /** The state that is stored already; absent for a new account. */
  persisted: AccountState | undefined
  /** See `Visitor`. */
  incarnation: number
  /** Absent if there is no limit for the memory. */
  share: MemoryShare | undefined
  /** Called after each write, failed or not, before callers that wait for the write continue. */
  onWritten(account: StoredAccount): void
  /** Called with the number of counts that were removed with keys and fault rules of the account. */
  onForgotten(account: StoredAccount, counts: number): void
}

/**
 * One account and its writes. Only one write runs at a time. All changes that are accepted during a write share the
 * next one (group commit), so that a busy account does not cost one write per change.
 */
export class StoredAccount {
  /** Its neighbours in the order of eviction. */
  older: StoredAccount | undefined
  newer: StoredAccount | undefined
  readonly incarnation: number
  readonly share: MemoryShare | undefined
  readonly snapshots: Snapshots
  /** In bytes, the size of its older states and counters that it no longer holds itself. */
  outdated = 0
  /** The hashes of the keys of this account, including those of a state that is not written yet. */
  readonly keyHashes = new Set<string>()
  readonly #database: AccountDatabase
  readonly #onWritten: StoredAccountOptions['onWritten']
  readonly #onForgotten: StoredAccountOptions['onForgotten']
  /** The state that was last written. A failed write returns to it. Absent until the first write. */
  #persisted: AccountState | undefined
  #dirty = false
  /** How many changes wait for the next write, and how many changes the last write had. */
  #waiting = 0
  #lastBatch = 0
  /** The write that ends last; absent if none is under way. */
  #last: Promise<void> | undefined
  /** How many writes are under way or planned. */
  #writes = 0
  /** The write that has not begun yet. */
  #next: Promise<void> | undefined

  constructor(
    database: AccountDatabase,
    { persisted, incarnation, share, onWritten, onForgotten }: StoredAccountOptions,
  ) {
    this.#database = database
    this.#persisted = persisted
    this.#onWritten = onWritten
    this.#onForgotten = onForgotten
    this.incarnation = incarnation
    this.share = share
    this.snapshots = new Snapshots(share)
  }

  /** The latest accepted state; it may not be written yet. */
  get state(): AccountState {
    return this.#database.data.state
  }

  get persisted(): AccountState | undefined {
    return this.#persisted
  }

  /** Absent if the account is never evicted. */
  get use(): Use | undefined {
    return this.#database.data.use
  }

  get data(): AccountData {
    return this.#database.data
  }

  /** The data, which the caller may change in place; the next write includes the change. */
  get mutableData(): AccountData {
    this.touch()
    return this.#database.data
  }

  /** Marks the data as changed in place, so that the next write includes it. */
  touch(): void {
    this.#dirty = true
  }

  /** Resolves once `state` is written. Rejects if it, or a state on which it is based, could not be written. */
  accept(state: AccountState): Awaitable<void> {
    // The same state again needs no write of its own, but the present write may not be finished.
    if (state === this.state) return this.#last
    this.#database.data.state = state
    return this.write()
  }

  write(): Awaitable<void> {
    if (this.#database instanceof LowSync) return this.#writeNow(this.#database)
    this.#dirty = true
    this.#waiting++
    if (this.#next === undefined) {
      this.#writes++
      this.#next = this.#writeAfter(this.#database, this.#last)
      this.#last = this.#next
    }
    return this.#next
  }

  get isUnsaved(): boolean {
    return this.#dirty || this.#writes > 0
  }

  /** Resolves when all data is written. */
  flush(): Awaitable<void> {
    return this.#dirty ? this.write() : this.#last
  }

  /** Resolves when the writes under way have ended, failed or not. From then on, all data counts as not written. */
  async drain(): Promise<void> {
    await this.#last?.catch(() => {})
    this.#dirty = true
  }

  /**
   * Waits for the changes that have arrived already, and a moment longer for the clients that the last write has
   * answered. A client that sends its next change at once shares this write, which costs far more than the changes in
   * it. Without this wait, the clients would split in two halves, each of which waits for the write of the other. With
   * 32 clients, this allows 1.5 times as many changes a second.
   */
  async #collectBatch(): Promise<void> {
    const expected = this.#waiting + (this.#lastBatch > 1 ? this.#lastBatch : 0)
    for (let delays = 0; delays === 0 || (delays < MAX_DELAYS && this.#waiting < expected); delays++) {
      await nextTurn()
    }
    this.#lastBatch = this.#waiting
    this.#waiting = 0
  }

  #writeNow(database: LowSync<AccountData>): void {
    database.write()
    this.#dirty = false
    this.#settle(database.data.state)
    this.#onWritten(this)
  }

  /** Removes the counts of keys and rules that are gone. Before the write, a failure could restore them. */
  #settle(written: AccountState): void {
    const former = this.#persisted
    this.#persisted = written
    if (former === undefined || (former.keys === written.keys && former.faults === written.faults)) return
    const { data } = this.#database
    const { quotas, tallies } = countersFor(data, [written, data.state])
    const forgotten = data.quotas.size - quotas.length + data.tallies.size - tallies.length
    if (forgotten > 0) this.#onForgotten(this, forgotten)
    if (quotas.length < data.quotas.size) data.quotas = onlyThose(data.quotas, quotas)
    if (tallies.length < data.tallies.size) data.tallies = onlyThose(data.tallies, tallies)
  }

  async #writeAfter(database: Low<AccountData>, previous: Promise<void> | undefined): Promise<void> {
    // Rejects with the previous write: the changes that wait here are based on a state that is lost then.
    try {
      await previous
    } catch (error) {
      this.#writes--
      throw error
    }
    await this.#collectBatch()
    this.#next = undefined
    this.#dirty = false
    const { state } = database.data
    try {
      await database.write()
      this.#settle(state)
    } catch (error) {
      this.#dirty = true
      database.data.state = this.#persisted ?? state
      this.#next = undefined
      this.#last = undefined
      this.#waiting = 0
      throw error
    } finally {
      this.#writes--
      this.#onWritten(this)
    }
  }
}

/** The map without the removed entries. It shares the rest with the journal's versions of the map. */
function onlyThose<Value>(
  map: PersistentMap<string, Value>,
  kept: readonly (readonly [string, Value])[],
): PersistentMap<string, Value> {
  const names = new Set(kept.map(([name]) => name))
  return map.without([...map.keys()].filter((name) => !names.has(name)))
}
