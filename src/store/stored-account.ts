import { setImmediate } from 'node:timers/promises'
import { type Low, LowSync } from 'lowdb'
import type { AccountState } from '../domain/account.ts'
import { type Counting, countersFor } from '../domain/counting.ts'
import type { PersistentMap } from '../domain/persistent-map.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Share } from './memory-budget.ts'
import { Snapshots } from './snapshots.ts'

/** What decides when an account that may be evicted makes room. */
export interface Use {
  /** When it was created, entered or changed last, in milliseconds on the clock of the store. */
  usedAt: number
  /** Whether somebody has changed it since its creation. */
  changed: boolean
}

/** Everything that is stored of an account. */
export interface AccountData extends Counting {
  state: AccountState
  /** Changed in place. Absent where the account is never evicted. */
  use?: Use
}

/** How often at most a write is put off so that more changes can share it: the clients may have no more to send. */
const MAX_DELAYS = 20

/** Where an account is stored: at once, or after a while. */
export type AccountDatabase = Low<AccountData> | LowSync<AccountData>

export interface StoredAccountOptions {
  /** The state that is stored already; absent for a new account. */
  persisted: AccountState | undefined
  /** See `Visitor`. */
  incarnation: number
  /** Absent where any memory may be taken. */
  share: Share | undefined
  /** Called after each write, failed or not, before those who wait for the write continue. */
  onWritten(account: StoredAccount): void
  /** Called when so many counts of keys and fault rules that the account has given up are forgotten. */
  onForgotten(account: StoredAccount, counts: number): void
}

/**
 * One account and its writes, of which there is only one at a time. All changes that are accepted during a write share
 * the next one (group commit), so that a busy account does not cost one write per change.
 */
export class StoredAccount {
  /** Its neighbours in the order of eviction. */
  older: StoredAccount | undefined
  newer: StoredAccount | undefined
  readonly incarnation: number
  readonly share: Share | undefined
  readonly snapshots: Snapshots
  /** How many bytes its older states and counters hold, or held, which it no longer holds itself. */
  outdated = 0
  /** The hashes of the keys that belong to this account, including those of a state that is not written yet. */
  readonly keyHashes = new Set<string>()
  readonly #database: AccountDatabase
  readonly #onWritten: StoredAccountOptions['onWritten']
  readonly #onForgotten: StoredAccountOptions['onForgotten']
  /** The state that was last written, to which a failed write goes back; absent until the first write. */
  #persisted: AccountState | undefined
  #dirty = false
  /** How many changes wait for the next write, and how many the last write was for. */
  #waiting = 0
  #lastBatch = 0
  /** The write that ends last; absent when none is under way. */
  #last: Promise<void> | undefined
  /** How many writes are under way or to come. */
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

  /** The latest state that was accepted; perhaps it is not written yet. */
  get state(): AccountState {
    return this.#database.data.state
  }

  get persisted(): AccountState | undefined {
    return this.#persisted
  }

  /** Absent where the account is never evicted. */
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

  /** Something was changed in place, and the next write includes it. */
  touch(): void {
    this.#dirty = true
  }

  /** Resolves once `state` is written. Rejects when it, or a state that it was built on, could not be written. */
  accept(state: AccountState): Awaitable<void> {
    // The same state again needs no write of its own, but perhaps the present one is not written yet.
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

  /** Whether something is not written yet. */
  get isUnsaved(): boolean {
    return this.#dirty || this.#writes > 0
  }

  /** Resolves when everything is written. */
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
   * answered: a client that sends its next change at once shares this write, which costs far more than the changes in
   * it. Otherwise the clients would split in two halves, each of which waits for the write of the other. With 32
   * clients, this allows 1.5 times as many changes a second.
   */
  async #collectBatch(): Promise<void> {
    const expected = this.#waiting + (this.#lastBatch > 1 ? this.#lastBatch : 0)
    for (let delays = 0; delays === 0 || (delays < MAX_DELAYS && this.#waiting < expected); delays++) {
      await setImmediate()
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

  /**
   * Forgets what was counted for the keys and the fault rules that the account has given up with this state, which is
   * written. Before, a write that fails could bring them back.
   */
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
    // Rejects with the previous write: what waits here was built on a state that is lost then.
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

/** The map without the other entries. It shares the rest with what the journal keeps of the map. */
function onlyThose<Value>(
  map: PersistentMap<string, Value>,
  kept: readonly (readonly [string, Value])[],
): PersistentMap<string, Value> {
  const names = new Set(kept.map(([name]) => name))
  return map.without([...map.keys()].filter((name) => !names.has(name)))
}
