import { type Adapter, Low } from 'lowdb'
import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'

/** Everything that is kept of an account. */
export interface AccountData extends Counting {
  state: AccountState
}

/**
 * One account and its writes, of which there is never more than one at a time. What is accepted while a write is on
 * its way waits for the next one and shares it, however much it is: a busy account costs one write per write, not
 * one per change.
 */
export class KeptAccount {
  /** The hashes of the keys that are this account's, those of a state on its way included. */
  readonly hashes = new Set<string>()
  readonly #low: Low<AccountData>
  readonly #settled: (account: KeptAccount) => void
  /** What a failed write falls back to; absent until the account is first written. */
  #kept: AccountState | undefined
  #changed = false
  #last: Promise<void> = Promise.resolve()
  /** The write that has not begun yet. */
  #next: Promise<void> | undefined

  /** `settled` is called after each write, before anybody who waits for it goes on. */
  constructor(
    adapter: Adapter<AccountData>,
    data: AccountData,
    kept: AccountState | undefined,
    settled: (account: KeptAccount) => void,
  ) {
    this.#low = new Low(adapter, data)
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

  /** Resolves once `state` is kept. Rejects when it, or what it was built on, could not be. */
  accept(state: AccountState): Promise<void> {
    // The same state again: nothing to write, but perhaps something to wait for.
    if (state === this.state) return this.#last
    this.#low.data.state = state
    return this.write()
  }

  write(): Promise<void> {
    this.#changed = true
    if (this.#next === undefined) {
      this.#next = this.#writeAfter(this.#last)
      this.#last = this.#next
    }
    return this.#next
  }

  /** Resolves when nothing is left to write. */
  settle(): Promise<void> {
    return this.#changed ? this.write() : this.#last
  }

  /** Resolves when no write is under way, however it ended; from then on all of the account counts as unwritten. */
  async quiesce(): Promise<void> {
    await this.#last.catch(() => {})
    this.#changed = true
  }

  async #writeAfter(previous: Promise<void>): Promise<void> {
    // Fails with the previous write: what waits here was built on a state that is now lost.
    await previous
    this.#next = undefined
    this.#changed = false
    const { state } = this.#low.data
    try {
      await this.#low.write()
      this.#kept = state
    } catch (error) {
      this.#changed = true
      this.#low.data.state = this.#kept ?? state
      this.#next = undefined
      this.#last = Promise.resolve()
      throw error
    } finally {
      this.#settled(this)
    }
  }
}
