import type { StoredAccount } from './stored-account.ts'

/** Evictable accounts, in order: the unchanged first, the least recently used first. No step visits all of them. */
export class EvictionQueue {
  readonly #unchanged = new UseOrder()
  readonly #changed = new UseOrder()

  add(account: StoredAccount): void {
    this.#orderOf(account)?.add(account)
  }

  remove(account: StoredAccount): void {
    this.#orderOf(account)?.remove(account)
  }

  /** Records that an account is used. */
  use(account: StoredAccount, now: number): void {
    const { use } = account
    if (use === undefined) return
    use.usedAt = now
    this.#orderOf(account)?.moveToEnd(account)
  }

  /** Records that an account is used and changed. */
  change(account: StoredAccount, now: number): void {
    const { use } = account
    if (use?.changed === false) {
      this.#unchanged.remove(account)
      use.changed = true
      this.#changed.add(account)
    }
    this.use(account, now)
  }

  /** The account to evict now, if there is one. A changed account qualifies after `idle` milliseconds without use. */
  next(now: number, idle: number): StoredAccount | undefined {
    const { oldest } = this.#unchanged
    if (oldest !== undefined) return oldest
    const { oldest: changed } = this.#changed
    return changed?.use !== undefined && now - changed.use.usedAt >= idle ? changed : undefined
  }

  /** `undefined` for an account that is never evicted. */
  #orderOf({ use }: StoredAccount): UseOrder | undefined {
    if (use === undefined) return undefined
    return use.changed ? this.#changed : this.#unchanged
  }
}

/** A linked list. In a `Set`, the search for the oldest entry would pass the gaps of all moved entries. */
class UseOrder {
  #oldest: StoredAccount | undefined
  #newest: StoredAccount | undefined

  get oldest(): StoredAccount | undefined {
    return this.#oldest
  }

  /** Inserts an account by its last use: at the end, unless it returns after a failed deletion. */
  add(account: StoredAccount): void {
    let older = this.#newest
    while (older !== undefined && usedAt(older) > usedAt(account)) older = older.older
    const newer = older === undefined ? this.#oldest : older.newer
    account.older = older
    account.newer = newer
    if (older === undefined) this.#oldest = account
    else older.newer = account
    if (newer === undefined) this.#newest = account
    else newer.older = account
  }

  moveToEnd(account: StoredAccount): void {
    if (this.#newest === account) return
    this.remove(account)
    this.add(account)
  }

  remove(account: StoredAccount): void {
    const { older, newer } = account
    if (older === undefined && this.#oldest !== account) return
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    account.older = undefined
    account.newer = undefined
  }
}

function usedAt({ use }: StoredAccount): number {
  return use?.usedAt ?? 0
}
