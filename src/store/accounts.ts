import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Counters, Store } from './store.ts'
import { StoreError } from './store-error.ts'
import { type AccountData, type AccountDatabase, StoredAccount } from './stored-account.ts'

/** Where the accounts of one process are stored. */
export interface AccountsDriver {
  /**
   * Where an account is stored from now on. An asynchronous database gets one write at a time, and writes the data as it
   * is when the write begins.
   */
  open(accountId: string, data: AccountData): AccountDatabase
  /** Deletes an account for good. */
  remove?(accountId: string): Promise<void>
  /** Called once, before the last writes. */
  prepareClose?(): Promise<void>
  /** Called once, when everything is written. */
  close?(): void
}

/**
 * The store of one process: all accounts are in memory, and each is stored through a database of its own. Reads and
 * refusals see the latest accepted state, which is perhaps not written yet; an accepted change is answered after its
 * write.
 */
export class Accounts implements Store {
  readonly #accounts = new Map<string, StoredAccount>()
  /** Hash of a key → id of the account that has it. */
  readonly #holders = new Map<string, string>()
  /** The ids of accounts that are being deleted. Until that is done, no other account gets their ids and keys. */
  readonly #deleting = new Set<string>()
  readonly #driver: AccountsDriver
  #closing: Promise<void> | undefined

  constructor(driver: AccountsDriver) {
    this.#driver = driver
  }

  /** Adds an account that is stored already. */
  load(data: AccountData): void {
    this.#add(data, data.state)
  }

  /** Writes all accounts anew, because what was stored is perhaps gone. */
  rewrite(): void {
    // A write that fails is tried again with the account's next change, and at `close`.
    for (const account of this.#accounts.values()) Promise.resolve(account.write()).catch(() => {})
  }

  async list(): Promise<string[]> {
    return [...this.#accounts.keys()]
  }

  async has(accountId: string): Promise<boolean> {
    return this.#accounts.has(accountId)
  }

  async accountOf(keyHash: string): Promise<string | undefined> {
    return this.#holders.get(keyHash)
  }

  async create(state: AccountState): Promise<void> {
    this.#refuseWhenClosed()
    await this.#add({ state, quotas: new Map(), tallies: new Map(), requests: 0 }, undefined).write()
  }

  async read(accountId: string): Promise<AccountState> {
    return this.#find(accountId).state
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState) => Decision<AccountState, Value, Code>,
  ): Awaitable<Decision<AccountState, Value, Code>> {
    const account = this.#find(accountId)
    const decision = decide(account.state)
    if (!decision.ok) return decision
    if (decision.state.id !== accountId) throw new Error(`The account "${accountId}" cannot become another one`)
    if (decision.state.keys !== account.state.keys) this.#claimKeys(account, decision.state)
    const written = account.accept(decision.state)
    return written instanceof Promise ? written.then(() => decision) : decision
  }

  async replace(accountId: string, state: AccountState, counters: Parameters<Store['replace']>[2]): Promise<void> {
    const account = this.#find(accountId)
    this.#claimKeys(account, state)
    const data = account.mutableData
    data.quotas = new Map(counters.quotas)
    data.tallies = new Map(counters.tallies)
    data.requests = counters.requests ?? data.requests
    await account.accept(state)
  }

  async delete(accountId: string): Promise<void> {
    const account = this.#find(accountId)
    this.#accounts.delete(accountId)
    this.#deleting.add(accountId)
    try {
      // A write under way would bring the file back. Another write would need space, which a full disk has not.
      await account.drain()
      await this.#driver.remove?.(accountId)
    } catch (error) {
      this.#accounts.set(accountId, account)
      throw error
    } finally {
      this.#deleting.delete(accountId)
    }
    for (const hash of account.keyHashes) this.#holders.delete(hash)
  }

  async counters(accountId: string): Promise<Counters> {
    const { quotas, tallies } = this.#find(accountId).data
    return { quotas: new Map(quotas), tallies: new Map(tallies) }
  }

  enter<Value extends object>(
    keyHash: string,
    visit: (account: AccountState, counting: Counting) => Value,
  ): Value | undefined {
    const accountId = this.#holders.get(keyHash)
    return accountId === undefined ? undefined : this.#visit(accountId, visit)
  }

  async count<Value>(accountId: string, visit: (account: AccountState, counting: Counting) => Value): Promise<Value> {
    return this.#visit(accountId, visit)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#driver.prepareClose !== undefined) await this.#driver.prepareClose()
    const outcomes = await Promise.allSettled([...this.#accounts.values()].map((account) => account.flush()))
    this.#driver.close?.()
    const failure = outcomes.find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
  }

  #visit<Value>(accountId: string, visit: (account: AccountState, counting: Counting) => Value): Value {
    const data = this.#find(accountId).mutableData
    return visit(data.state, data)
  }

  #find(accountId: string): StoredAccount {
    this.#refuseWhenClosed()
    const account = this.#accounts.get(accountId)
    if (account === undefined) throw new StoreError('unknown-account', `There is no account "${accountId}"`)
    return account
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'The store is closed')
  }

  /** `persisted` is absent for a new account. */
  #add(data: AccountData, persisted: AccountState | undefined): StoredAccount {
    const { id } = data.state
    if (this.#accounts.has(id) || this.#deleting.has(id))
      throw new StoreError('taken', `There is an account "${id}" already`)
    const database = this.#driver.open(id, data)
    const account = new StoredAccount(database, persisted, (written) => this.#releaseKeys(written))
    this.#claimKeys(account, data.state)
    this.#accounts.set(id, account)
    return account
  }

  #claimKeys(account: StoredAccount, { id, keys }: AccountState): void {
    for (const key of keys) {
      const holder = this.#holders.get(key.hash) ?? id
      if (holder !== id) throw new StoreError('taken', `The key "${key.id}" belongs to the account "${holder}" already`)
    }
    for (const { hash } of keys) {
      this.#holders.set(hash, id)
      account.keyHashes.add(hash)
    }
  }

  /**
   * After a write: releases the keys that the account has given up, and the whole account if its first write failed. A
   * key is not released before that write: if another account got it and the write then failed, both would have it.
   */
  #releaseKeys(account: StoredAccount): void {
    const { persisted, state, keyHashes } = account
    // The usual case: the keys have not changed.
    if (persisted?.keys === state.keys && keyHashes.size === state.keys.length) return
    if (persisted === undefined) this.#accounts.delete(state.id)
    const held = new Set((persisted === undefined ? [] : [...persisted.keys, ...state.keys]).map(({ hash }) => hash))
    for (const hash of keyHashes) {
      if (held.has(hash)) continue
      keyHashes.delete(hash)
      this.#holders.delete(hash)
    }
  }
}
