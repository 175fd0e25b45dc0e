import type { AccountState } from '../domain/account.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import { type Counters, NO_COUNTERS } from '../domain/quotas.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { type Clock, systemClock } from '../ground/timers.ts'
import { HeapGuard, type HeapProbe } from './heap-guard.ts'
import {
  type AccountDatabase,
  applyChange,
  hasGrown,
  KeptAccount,
  planSnapshot,
  refuseTooLarge,
  type StoredAccount,
  summarize,
  type Use,
} from './kept-account.ts'
import type { Account, AccountSnapshots, Capacity, Change, Store } from './store.ts'
import { StoreError } from './store-error.ts'

/** Where the accounts of one process are stored. Without a part, they end with the process, and no change waits for a write. */
export interface AccountsDriver {
  /** The place of a new account. */
  open?(accountId: string): AccountDatabase
  /** Deletes an account for good. */
  remove?(accountId: string): Promise<void>
  /** Called once, when everything is written. */
  close?(): void
}

export interface AccountsOptions {
  /** The time of the store. Default: the machine's clock. */
  clock?: Clock | undefined
  /** Tells how full the heap is. Default: measured after major garbage collections. */
  probe?: HeapProbe | undefined
  /** Called with one sentence when accounts may no longer grow. */
  warn?: ((message: string) => void) | undefined
}

/** Is told what happens to the accounts of a store. */
export interface AccountsListener {
  /** An account was deleted for good. No other account has its id yet. */
  ended(accountId: string): void
  /** Memory is scarce. */
  scarce(): void
}

/**
 * The store of one process. All accounts are in memory, and each is stored through a database of its own. Reads and
 * refusals see the latest accepted state, which may not be written yet. An accepted change is answered after its write.
 */
export class Accounts implements Store {
  readonly snapshots: AccountSnapshots = {
    take: async (accountId, request) => {
      const kept = this.#find(accountId)
      this.#refuseGrowth()
      const { account } = kept
      const plan = planSnapshot(kept.snapshots, request, account, request.real)
      if (!plan.ok) return plan
      const { state, counters, incarnation } = account
      kept.snapshots = [...plan.left, { ...plan.snapshot, state, counters, incarnation }]
      this.#use(kept, true)
      kept.count(counters)
      return { ok: true, snapshot: plan.snapshot }
    },
    list: async (accountId) => this.#find(accountId).snapshots.map(summarize),
    read: async (accountId, name) => this.#find(accountId).snapshots.find((each) => each.name === name),
    delete: async (accountId, name) => {
      const kept = this.#find(accountId)
      const before = kept.snapshots
      kept.snapshots = before.filter((each) => each.name !== name)
      return kept.snapshots.length < before.length
    },
  }
  readonly #accounts = new Map<string, KeptAccount>()
  /** Hash of a key → id of the account that has it. */
  readonly #holders = new Map<string, string>()
  /** Ends with the creations and deletions so far. They take turns, so that nobody takes a place, an id or a key meanwhile. */
  #turns: Promise<unknown> = Promise.resolve()
  readonly #driver: AccountsDriver
  readonly #clock: Clock
  readonly #guard: HeapGuard
  #incarnations = 0
  #uses = 0
  #newIds = 0
  #closing: Promise<void> | undefined
  #listener: AccountsListener = { ended() {}, scarce() {} }

  constructor({ clock = systemClock, probe, warn }: AccountsOptions = {}, driver: AccountsDriver = {}) {
    this.#driver = driver
    this.#clock = clock
    this.#guard = new HeapGuard({ probe, warn, relieve: () => this.#relieve() })
  }

  listen(listener: AccountsListener): void {
    this.#listener = listener
  }

  /** Adds accounts that are stored already, with their places. */
  load(databases: readonly AccountDatabase[]): void {
    for (const database of databases) {
      if (database.data === null) continue
      this.#uses = Math.max(this.#uses, database.data.use?.usedAt ?? 0)
      this.#add(database.data, database)
    }
  }

  async list(): Promise<string[]> {
    return [...this.#accounts.keys()]
  }

  async find(by: 'id' | 'key', name: string): Promise<string | undefined> {
    if (by === 'key') return this.#holders.get(name)
    return this.#accounts.has(name) ? name : undefined
  }

  async newId(): Promise<string> {
    for (;;) {
      const id = `account-${++this.#newIds}`
      if (!this.#accounts.has(id)) return id
    }
  }

  create(state: AccountState, capacity: Capacity = {}): Promise<string[]> {
    return this.#inTurn(async () => {
      const { id } = state
      if (this.#accounts.has(id)) throw new StoreError('taken', `There is an account "${id}" already`)
      this.#refuseTakenKeys(state)
      refuseTooLarge(state)
      this.#refuseGrowth()
      const victims = this.#findVictims(capacity)
      const use = capacity.evictable === true ? { usedAt: ++this.#uses, changed: false } : undefined
      await this.#add({ state, counters: NO_COUNTERS, use }, this.#driver.open?.(id)).save()
      for (const victim of victims) await this.#remove(victim)
      return victims.map(({ account }) => account.state.id)
    })
  }

  async read(accountId: string): Promise<Account> {
    return this.#find(accountId).account
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version: number) => Decision<AccountState, Value, Code>,
    incarnation?: number,
  ): Awaitable<Decision<AccountState, Value, Code>> {
    const kept = this.#find(accountId, incarnation)
    const decision = decide(kept.account.state, kept.account.version)
    return decision.ok ? whenReady(this.#change(kept, { state: decision.state }), () => decision) : decision
  }

  transact<Value>(
    accountId: string,
    change: (account: Account, real: number) => Change<Value>,
    incarnation?: number,
  ): Awaitable<Value> {
    const kept = this.#find(accountId, incarnation)
    const { value, ...changed } = change(kept.account, this.#clock())
    return whenReady(this.#change(kept, changed), () => value)
  }

  enter<Value>(
    keyHash: string,
    admit: (account: Account, real: number) => { counters: Counters; value: Value },
  ): Value | undefined {
    const accountId = this.#holders.get(keyHash)
    if (accountId === undefined) return undefined
    this.#refuseWhenClosed()
    const kept = this.#accounts.get(accountId)
    // The account is being deleted.
    if (kept === undefined) return undefined
    const { counters, value } = admit(kept.account, this.#clock())
    this.#use(kept, false)
    kept.count(counters)
    return value
  }

  delete(accountId: string): Promise<void> {
    return this.#inTurn(async () => this.#remove(this.#known(accountId)))
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#guard.close()
    await this.#turns
    const outcomes = await Promise.allSettled([...this.#accounts.values()].map((kept) => kept.flush()))
    this.#driver.close?.()
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  }

  async #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#refuseWhenClosed()
    const turn = this.#turns.then(work)
    this.#turns = turn.catch(() => {})
    return turn
  }

  #find(accountId: string, incarnation?: number): KeptAccount {
    this.#refuseWhenClosed()
    return this.#known(accountId, incarnation)
  }

  #known(accountId: string, incarnation?: number): KeptAccount {
    const kept = this.#accounts.get(accountId)
    const isMeant = kept !== undefined && (incarnation === undefined || kept.account.incarnation === incarnation)
    if (!isMeant) throw new StoreError('unknown-account', `There is no account "${accountId}"`)
    return kept
  }

  /** Accepts a change. Resolves once it is stored; `undefined` if nothing has to be stored. */
  #change(kept: KeptAccount, changed: Partial<Pick<Account, 'state' | 'counters'>>): Promise<void> | undefined {
    const { account } = kept
    const { state, counters } = applyChange(account, changed)
    // The same state again needs no write of its own, but the present write may not be finished.
    if (state === account.state && counters === account.counters) return kept.writing
    if (this.#guard.refusal !== undefined && hasGrown(state, account.state)) this.#refuseGrowth()
    if (state.keys !== account.state.keys) this.#claimKeys(kept, state)
    this.#use(kept, true)
    return kept.change(state, counters)
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'The store is closed')
  }

  /** @throws StoreError `out-of-memory` */
  #refuseGrowth(): void {
    const { refusal } = this.#guard
    if (refusal !== undefined) throw Object.assign(new StoreError('out-of-memory', refusal), { reported: true })
  }

  #use(kept: KeptAccount, isChange: boolean): void {
    if (kept.use === undefined) return
    kept.use = { usedAt: ++this.#uses, changed: kept.use.changed || isChange }
  }

  /** The accounts that are evicted for a new one. @throws StoreError `full` */
  #findVictims({ limit = Number.POSITIVE_INFINITY }: Capacity): KeptAccount[] {
    const wanted = this.#accounts.size + 1 - limit
    const victims = wanted <= 0 ? [] : this.#sandboxes().slice(0, wanted)
    if (victims.length >= wanted) return victims
    throw new StoreError('full', `There are ${this.#accounts.size} accounts, which is the maximum`)
  }

  /**
   * Deletes the half of the sandboxes that is evicted first, because memory is scarce. The last one stays: its client may
   * be using it.
   */
  #relieve(): void {
    this.#listener.scarce()
    const deletion = this.#inTurn(async () => {
      const sandboxes = this.#sandboxes()
      for (const victim of sandboxes.slice(0, Math.floor(sandboxes.length / 2))) await this.#remove(victim)
    })
    // An account whose file cannot be deleted stays.
    deletion.catch(() => {})
  }

  /** In the order of eviction: the unchanged first, the least recently used first. */
  #sandboxes(): KeptAccount[] {
    const evictable = [...this.#accounts.values()].flatMap((kept) => (kept.use ? [{ kept, use: kept.use }] : []))
    const order = (one: Use, other: Use) => Number(one.changed) - Number(other.changed) || one.usedAt - other.usedAt
    return evictable.sort((one, other) => order(one.use, other.use)).map(({ kept }) => kept)
  }

  #add(data: StoredAccount, database: AccountDatabase | undefined): KeptAccount {
    const kept = new KeptAccount(data, ++this.#incarnations, database, (written) => this.#releaseKeys(written))
    this.#claimKeys(kept, data.state)
    this.#accounts.set(data.state.id, kept)
    return kept
  }

  /**
   * Deletes an account for good. At once, no caller finds it any more. If it cannot be deleted, it is available again. Its
   * keys stay taken until then: after a kill, two accounts would have them.
   */
  async #remove(kept: KeptAccount): Promise<void> {
    const { id } = kept.account.state
    this.#accounts.delete(id)
    try {
      // A write under way would create the file again. Another write would need space, which a full disk does not have.
      await kept.drain()
      await this.#driver.remove?.(id)
    } catch (error) {
      this.#accounts.set(id, kept)
      throw error
    }
    for (const hash of kept.keyHashes) this.#holders.delete(hash)
    this.#listener.ended(id)
  }

  /** @throws StoreError `taken` for a key that belongs to another account. */
  #refuseTakenKeys({ id, keys }: AccountState): void {
    for (const key of keys) {
      const holder = this.#holders.get(key.hash) ?? id
      if (holder !== id) throw new StoreError('taken', `The key "${key.id}" belongs to the account "${holder}" already`)
    }
  }

  #claimKeys(kept: KeptAccount, state: AccountState): void {
    this.#refuseTakenKeys(state)
    for (const { hash } of state.keys) {
      this.#holders.set(hash, state.id)
      kept.keyHashes.add(hash)
    }
  }

  /**
   * Runs after a write. It releases the keys that the account has given up, or the whole account if its first write
   * failed. A key stays taken until that write: if it failed, two accounts would have the key.
   */
  #releaseKeys(kept: KeptAccount): void {
    const { stored, keyHashes } = kept
    const { id, keys } = kept.account.state
    // The usual case: the keys have not changed.
    if (stored?.keys === keys && keyHashes.size === keys.length) return
    if (stored === undefined) this.#accounts.delete(id)
    const held = new Set((stored === undefined ? [] : [...stored.keys, ...keys]).map(({ hash }) => hash))
    for (const hash of keyHashes) {
      if (held.has(hash)) continue
      keyHashes.delete(hash)
      this.#holders.delete(hash)
    }
  }
}
