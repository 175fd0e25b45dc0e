import type { AccountState } from '../domain/account.ts'
import type { Counting } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Counters, Store } from './store.ts'
import { StoreError } from './store-error.ts'
import { type AccountData, type AccountDatabase, KeptAccount } from './stored-account.ts'

export interface AccountsOptions {
  /**
   * Where an account is kept from now on. One that takes its time writes once at a time, and takes the data as it is
   * at that moment.
   */
  open(accountId: string, data: AccountData): AccountDatabase
  /** Forgets an account for good. */
  remove?(accountId: string): Promise<void>
  /** Called once, before the last writes. */
  settle?(): Promise<void>
  /** Called once, when everything is written. */
  release?(): void
}

/**
 * The store of one process: all accounts in memory, each kept through an adapter of its own. Reads and refusals see
 * the latest accepted state, whose write may be on its way; an acceptance is answered after the write.
 */
export class Accounts implements Store {
  readonly #accounts = new Map<string, KeptAccount>()
  readonly #holders = new Map<string, string>()
  /** Accounts whose deletion is under way; until it is done, their ids and keys are nobody else's. */
  readonly #leaving = new Set<string>()
  readonly #options: AccountsOptions
  #closing: Promise<void> | undefined

  constructor(options: AccountsOptions) {
    this.#options = options
  }

  /** Takes in an account that is kept already. */
  load(data: AccountData): void {
    this.#add(data, data.state)
  }

  /** Writes every account, because what was kept is perhaps gone. Until that is done they count as unwritten. */
  rewrite(): void {
    // Whatever fails is tried again with the account's next change, and at the end.
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
    const kept = account.accept(decision.state)
    return kept instanceof Promise ? kept.then(() => decision) : decision
  }

  async replace(accountId: string, state: AccountState, counters: Parameters<Store['replace']>[2]): Promise<void> {
    const account = this.#find(accountId)
    this.#claimKeys(account, state)
    const data = account.unwritten
    data.quotas = new Map(counters.quotas)
    data.tallies = new Map(counters.tallies)
    data.requests = counters.requests ?? data.requests
    await account.accept(state)
  }

  async delete(accountId: string): Promise<void> {
    const account = this.#find(accountId)
    this.#accounts.delete(accountId)
    this.#leaving.add(accountId)
    try {
      // A write that is on its way would bring the file back; one more would need room on a disk that is full.
      await account.quiesce()
      await this.#options.remove?.(accountId)
    } catch (error) {
      this.#accounts.set(accountId, account)
      throw error
    } finally {
      this.#leaving.delete(accountId)
    }
    for (const hash of account.hashes) this.#holders.delete(hash)
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
    if (this.#options.settle !== undefined) await this.#options.settle()
    const outcomes = await Promise.allSettled([...this.#accounts.values()].map((account) => account.settle()))
    this.#options.release?.()
    const failure = outcomes.find(({ status }) => status === 'rejected')
    if (failure?.status === 'rejected') throw failure.reason
  }

  #visit<Value>(accountId: string, visit: (account: AccountState, counting: Counting) => Value): Value {
    const data = this.#find(accountId).unwritten
    return visit(data.state, data)
  }

  #find(accountId: string): KeptAccount {
    this.#refuseWhenClosed()
    const account = this.#accounts.get(accountId)
    if (account === undefined) throw new StoreError('unknown-account', `There is no account "${accountId}"`)
    return account
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'The store is closed')
  }

  #add(data: AccountData, kept: AccountState | undefined): KeptAccount {
    const { id } = data.state
    if (this.#accounts.has(id) || this.#leaving.has(id))
      throw new StoreError('taken', `There is an account "${id}" already`)
    const account = new KeptAccount(this.#options.open(id, data), kept, (written) => this.#settle(written))
    this.#claimKeys(account, data.state)
    this.#accounts.set(id, account)
    return account
  }

  #claimKeys(account: KeptAccount, { id, keys }: AccountState): void {
    for (const key of keys) {
      const holder = this.#holders.get(key.hash) ?? id
      if (holder !== id) throw new StoreError('taken', `The key "${key.id}" belongs to the account "${holder}" already`)
    }
    for (const { hash } of keys) {
      this.#holders.set(hash, id)
      account.hashes.add(hash)
    }
  }

  /**
   * Frees the keys that the account has given up for good. Not before: if a key went to another account while the
   * write that gives it up could still fail, both would have it.
   */
  #settle(account: KeptAccount): void {
    const { kept, state, hashes } = account
    // As after most writes.
    if (kept?.keys === state.keys && hashes.size === state.keys.length) return
    if (kept === undefined) this.#accounts.delete(state.id)
    const held = new Set((kept === undefined ? [] : [...kept.keys, ...state.keys]).map(({ hash }) => hash))
    for (const hash of account.hashes) {
      if (held.has(hash)) continue
      account.hashes.delete(hash)
      this.#holders.delete(hash)
    }
  }
}
