import { setImmediate } from 'node:timers/promises'
import { type Low, LowSync } from 'lowdb'
import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Awaitable } from '../ground/awaitable.ts'

/** Everything that is kept of an account. */
export interface AccountData extends Counting {
  state: AccountState
}

/** How often a write is put off for others to share it: those who were answered may be in no hurry. */
const LOOKS = 20

/** Where an account is kept: at once, or in a while. */
export type AccountDatabase = Low<AccountData> | LowSync<AccountData>

/**
 * One account and its writes, of which there is never more than one at a time. What is accepted while a write is on
 * its way waits for the next one and shares it, however much it is: a busy account costs one write per write, not
 * one per change.
 */
export class KeptAccount {
  /** The hashes of the keys that are this account's, those of a state on its way included. */
  readonly hashes = new Set<string>()
  readonly #low: AccountDatabase
  readonly #settled: (account: KeptAccount) => void
  /** What a failed write falls back to; absent until the account is first written. */
  #kept: AccountState | undefined
  #changed = false
  /** How many changes wait for the next write, and how many the last one was for. */
  #asked = 0
  #shared = 0
  /** Absent where nothing is on its way. */
  #last: Promise<void> | undefined
  /** The write that has not begun yet. */
  #next: Promise<void> | undefined

  /** `settled` is called after each write, before anybody who waits for it goes on. */
  constructor(low: AccountDatabase, kept: AccountState | undefined, settled: (account: KeptAccount) => void) {
    this.#low = low
    this.#kept = kept
    this.#settled = settled
  }

  /** The latest state that was accepted; its write may be on its way. */
  get state(): AccountState {
    return this.#low.data.state
  }

  get kept(): AccountState | undefined {
    return this.#kept
  }

  get data(): AccountData {
    return this.#low.data
  }

  /** The data, to be changed in place; kept with the next write. */
  get unwritten(): AccountData {
    this.#changed = true
    return this.#low.data
  }

  /** Done once `state` is kept. Fails when it, or what it was built on, could not be. */
  accept(state: AccountState): Awaitable<void> {
    // The same state again: nothing to write, but perhaps something to wait for.
    if (state === this.state) return this.#last
    this.#low.data.state = state
    return this.write()
  }

  write(): Awaitable<void> {
    if (this.#low instanceof LowSync) return this.#writeNow(this.#low)
    this.#changed = true
    this.#asked++
    if (this.#next === undefined) {
      this.#next = this.#writeAfter(this.#low, this.#last)
      this.#last = this.#next
    }
    return this.#next
  }

  /** Done when nothing is left to write. */
  settle(): Awaitable<void> {
    return this.#changed ? this.write() : this.#last
  }

  /** Resolves when no write is under way, however it ended; from then on all of the account counts as unwritten. */
  async quiesce(): Promise<void> {
    await this.#last?.catch(() => {})
    this.#changed = true
  }

  /**
   * Waits for what has arrived already, and a moment longer for those who were answered by the last write: who asks
   * again at once shares this one, which costs far more than what is in it. Else they would come in two halves, each of
   * which waits for the other's write: 1.5 times as many changes a second of 32 clients.
   */
  async #gather(): Promise<void> {
    const expected = this.#asked + (this.#shared > 1 ? this.#shared : 0)
    for (let looks = 0; looks === 0 || (looks < LOOKS && this.#asked < expected); looks++) await setImmediate()
    this.#shared = this.#asked
    this.#asked = 0
  }

  #writeNow(low: LowSync<AccountData>): void {
    low.write()
    this.#changed = false
    this.#kept = low.data.state
    this.#settled(this)
  }

  async #writeAfter(low: Low<AccountData>, previous: Promise<void> | undefined): Promise<void> {
    // Fails with the previous write: what waits here was built on a state that is now lost.
    await previous
    await this.#gather()
    this.#next = undefined
    this.#changed = false
    const { state } = low.data
    try {
      await low.write()
      this.#kept = state
    } catch (error) {
      this.#changed = true
      low.data.state = this.#kept ?? state
      this.#next = undefined
      this.#last = undefined
      this.#asked = 0
      throw error
    } finally {
      this.#settled(this)
    }
  }
}
