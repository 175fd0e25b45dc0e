import type { AccountState } from '../domain/account.ts'
import { type CountingPlan, countersFor, refundCharge } from '../domain/counting.ts'
import type { Decision, ErrorCode } from '../domain/errors.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Hits } from '../domain/quotas.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { type Clock, elapsed, systemClock } from '../ground/clock.ts'
import { enterAccount } from './admission.ts'
import { EvictionQueue } from './eviction-queue.ts'
import type { MemoryBudget } from './memory-budget.ts'
import type {
  AccountSnapshots,
  Admission,
  Capacity,
  Counters,
  CountOptions,
  Incarnate,
  OutdatedListener,
  Replacement,
  Store,
  StoreExtras,
  Visitor,
} from './store.ts'
import { StoreError } from './store-error.ts'
import { type AccountData, type AccountDatabase, StoredAccount, type StoredAccountOptions } from './stored-account.ts'
import { weighAccount, weighChange, weighCounts, weighReplaced } from './weight.ts'

/** How many accounts are written at the same time when the store closes. */
const FLUSHED = 128
/** In milliseconds, the interval at which the progress of the last writes is reported. */
const PROGRESS = 1_000

/** Where the accounts of one process are stored. */
export interface AccountsDriver {
  /** Stores an account from now on. A write has the data as it is at its beginning; it follows the write before it. */
  open(accountId: string, data: AccountData): AccountDatabase
  /** Whether no account can get this id, although no account has it now. */
  isBlocked?(accountId: string): boolean
  /** Deletes an account for good. */
  remove?(accountId: string): Promise<void>
  /** Called once, before the last writes. */
  prepareClose?(): Promise<void>
  /** Called once a second during the last writes, with the numbers of written accounts and of all to be written. */
  saving?(written: number, all: number): void
  /** Called once, when everything is written. */
  close?(): void
}

export interface AccountsOptions {
  /** Gives the times of use, which decide about eviction. Default: the machine's clock. */
  clock?: Clock | undefined
  /** Without a budget, the accounts may take any amount of memory. */
  budget?: MemoryBudget | undefined
}

/**
 * The store of one process. All accounts are in memory, and each is stored through a database of its own. Reads and
 * refusals see the latest accepted state, which may not be written yet. An accepted change is answered after its write.
 */
export class Accounts implements Store, StoreExtras {
  readonly snapshots: AccountSnapshots = {
    take: async (accountId, request) => {
      const account = this.#find(accountId)
      const { state, outdated } = account
      const outcome = account.snapshots.take(request, { state, counters: copyCounters(account), outdated })
      if (outcome.ok) {
        this.#noteChange(account)
        account.touch()
      }
      return outcome
    },
    list: async (accountId) => this.#find(accountId).snapshots.list(),
    read: async (accountId, name) => {
      const { snapshots, incarnation } = this.#find(accountId)
      const found = snapshots.find(name)
      return found && { incarnation, state: found.state, counters: found.counters, takenAt: found.takenAt }
    },
    delete: async (accountId, name) => this.#find(accountId).snapshots.delete(name),
    keyHashes: async (accountId) => this.#find(accountId).snapshots.keyHashes(),
  }
  readonly #accounts = new Map<string, StoredAccount>()
  /** Hash of a key → id of the account that has it. */
  readonly #holders = new Map<string, string>()
  /** The ids of accounts that are being deleted. Until the deletion ends, no other account gets their ids and keys. */
  readonly #deleting = new Map<string, Deletion>()
  readonly #queue = new EvictionQueue()
  readonly #driver: AccountsDriver
  readonly #clock: Clock
  readonly #budget: MemoryBudget | undefined
  #incarnations = 0
  #newIds = 0
  #closing: Promise<void> | undefined
  #onOutdated: OutdatedListener = () => {}
  /** The same for all accounts: functions for each one would weigh 3 % of an empty account. */
  readonly #listeners: Pick<StoredAccountOptions, 'onWritten' | 'onForgotten'> = {
    onWritten: (written) => this.#settle(written),
    onForgotten: (forgetful, counts) => this.#noteOutdated(forgetful, weighCounts(counts)),
  }

  constructor(driver: AccountsDriver, { clock = systemClock, budget }: AccountsOptions = {}) {
    this.#driver = driver
    this.#clock = clock
    this.#budget = budget
  }

  listenOutdated(listener: OutdatedListener): void {
    this.#onOutdated = listener
  }

  /** Adds an account that is stored already. It is not evicted before `queueLoaded`. */
  load(data: AccountData): void {
    const { quotas, tallies } = countersFor(data, [data.state])
    this.#add({ ...data, quotas: PersistentMap.of(quotas), tallies: PersistentMap.of(tallies) }, data.state)
  }

  /** Puts all loaded accounts into the eviction queue, in the order of their last use. */
  queueLoaded(): void {
    const now = this.#clock()
    const uses = [...this.#accounts.values()].flatMap((account) => {
      const { use } = account
      return use === undefined ? [] : [{ account, use }]
    })
    uses.sort((one, other) => one.use.usedAt - other.use.usedAt)
    for (const { account, use } of uses) {
      // If the clock was set back since then, the account must not be kept until the clock shows that time again.
      use.usedAt = Math.min(use.usedAt, now)
      this.#queue.add(account)
    }
  }

  /** Writes all accounts again, because the stored files may be gone. */
  rewrite(): void {
    // A write that fails is tried again with the account's next change, and at `close`.
    for (const account of this.#accounts.values()) Promise.resolve(account.write()).catch(() => {})
  }

  async list(): Promise<string[]> {
    return [...this.#accounts.keys()]
  }

  async find(by: 'id' | 'key', name: string): Promise<string | undefined> {
    return by === 'id' ? this.#accounts.get(name)?.state.id : this.#holders.get(name)
  }

  async newId(): Promise<string> {
    for (;;) {
      const id = `account-${++this.#newIds}`
      if (!this.#isTaken(id) && this.#driver.isBlocked?.(id) !== true) return id
    }
  }

  async hasRoom(capacity: Capacity): Promise<boolean> {
    return !this.#isFull(capacity) || this.#findEvicted(capacity) !== undefined
  }

  async create(state: AccountState, capacity: Capacity = {}): Promise<string | undefined> {
    this.#refuseWhenClosed()
    const { id } = state
    // A client may use the key of its sandbox at the moment when that sandbox is evicted.
    if (capacity.evictable === true) await this.#deleting.get(id)?.ended
    if (this.#isTaken(id)) throw new StoreError('taken', `There is an account "${id}" already`)
    const lacksMemory = this.#budget?.fits(state, capacity.evictable === true) === false
    const evicted = this.#isFull(capacity) || lacksMemory ? this.#findEvicted(capacity) : undefined
    if (evicted === undefined && this.#isFull(capacity)) {
      throw new StoreError('full', `There are ${this.#accounts.size} accounts, which is the maximum`)
    }
    const use = capacity.evictable && { usedAt: this.#clock(), changed: false }
    const account = this.#add(
      { state, quotas: PersistentMap.of(), tallies: PersistentMap.of(), requests: 0, ...(use && { use }) },
      undefined,
      evicted?.share?.weight,
    )
    this.#queue.add(account)
    if (evicted !== undefined) this.#detach(evicted)
    try {
      await account.write()
    } catch (error) {
      if (evicted !== undefined) this.#reattach(evicted)
      throw error
    }
    if (evicted === undefined) return undefined
    await this.#remove(evicted)
    return evicted.state.id
  }

  async read(accountId: string): Promise<AccountState> {
    return this.#find(accountId).state
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState) => Decision<AccountState, Value, Code>,
    incarnation?: number,
  ): Awaitable<Decision<AccountState, Value, Code>> {
    const account = this.#find(accountId, incarnation)
    const decision = decide(account.state)
    if (!decision.ok) return decision
    if (decision.state.id !== accountId) throw new Error(`The account "${accountId}" cannot become another one`)
    const hasNewKeys = decision.state.keys !== account.state.keys
    if (hasNewKeys) this.#refuseTakenKeys(decision.state)
    if (decision.state !== account.state) {
      const weighed = weighChange(account.state, decision.state)
      account.share?.change(decision.state, weighed)
      this.#noteOutdated(account, weighed.outdated)
      this.#noteChange(account)
    }
    if (hasNewKeys) this.#claimKeys(account, decision.state)
    const written = account.accept(decision.state)
    return written instanceof Promise ? written.then(() => decision) : decision
  }

  async replace(accountId: string, state: AccountState, counters: Replacement): Promise<void> {
    const account = this.#find(accountId, counters.incarnation)
    this.#refuseTakenKeys(state)
    const former = account.share?.ofState ?? weighAccount(account.state)
    account.share?.replace(state, counters.snapshot)
    this.#claimKeys(account, state)
    const data = account.mutableData
    const present = account.share?.ofState ?? weighAccount(state)
    const source = account.snapshots.find(counters.snapshot ?? '')
    const since = source === undefined ? counters.outdatedSince : account.outdated - source.outdated
    const outdated = weighReplaced(former, present, since)
    this.#noteOutdated(account, outdated + weighCounts(data.quotas.size + data.tallies.size))
    const { quotas, tallies } = countersFor(counters, [state])
    data.quotas = PersistentMap.of(quotas)
    data.tallies = PersistentMap.of(tallies)
    data.requests = counters.requests ?? data.requests
    this.#noteChange(account)
    await account.accept(state)
  }

  async delete(accountId: string): Promise<void> {
    const account = this.#find(accountId)
    this.#detach(account)
    await this.#remove(account)
  }

  enter<Request, Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Request, Plan, Value>,
    request: Request,
  ): Value | undefined {
    const accountId = this.#holders.get(keyHash)
    if (accountId === undefined) return undefined
    this.#refuseWhenClosed()
    const entered = this.#accounts.get(accountId)
    // The account is being deleted.
    if (entered === undefined) return undefined
    if (entered.use !== undefined) this.#queue.use(entered, this.#clock())
    const data = entered.mutableData
    const { state, quotas } = data
    const found = enterAccount(state, data, admission, request, entered.incarnation)
    // The single count that a request changes is part of the weight of its journal entry.
    const forgotten = quotas.size - data.quotas.size
    if (forgotten > 0) this.#noteOutdated(entered, weighCounts(forgotten))
    return admission.conclude(request, found)
  }

  refund({ id, incarnation }: Incarnate, bucket: string, startedAt: number): Hits | undefined {
    this.#refuseWhenClosed()
    const account = this.#accounts.get(id)
    return account?.incarnation !== incarnation ? undefined : refundCharge(account.mutableData, bucket, startedAt)
  }

  async count<Value>(accountId: string, visit: Visitor<Value>, { stored = false }: CountOptions = {}): Promise<Value> {
    const account = this.#find(accountId)
    const { data } = account
    const { quotas, tallies, requests } = data
    const value = visit(data.state, data, account.incarnation)
    if (data.quotas === quotas && data.tallies === tallies && data.requests === requests) return value
    account.touch()
    this.#noteChange(account)
    if (stored) {
      // What a request changes is part of the weight of its journal entry, but this is the change of a user.
      this.#noteOutdated(account, weighCounts(data.quotas.changesSince(quotas)?.length ?? quotas.size))
      await account.write()
    }
    return value
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#driver.prepareClose !== undefined) await this.#driver.prepareClose()
    const failure = await this.#flushAll()
    this.#driver.close?.()
    if (failure !== undefined) throw failure.reason
  }

  /** Resolves to the first failure. Writes only some accounts as text at a time: all texts may be gigabytes. */
  async #flushAll(): Promise<{ reason: unknown } | undefined> {
    const unsaved = [...this.#accounts.values()].filter((account) => account.isUnsaved)
    const queue = unsaved.values()
    let failure: { reason: unknown } | undefined
    let written = 0
    let told = elapsed()
    const flushNext = async () => {
      for (const account of queue) {
        await Promise.resolve(account.flush()).catch((reason: unknown) => {
          failure ??= { reason }
        })
        written++
        if (elapsed() - told < PROGRESS) continue
        told = elapsed()
        this.#driver.saving?.(written, unsaved.length)
      }
    }
    await Promise.all(Array.from({ length: FLUSHED }, flushNext))
    return failure
  }

  #find(accountId: string, incarnation?: number): StoredAccount {
    this.#refuseWhenClosed()
    const account = this.#accounts.get(accountId)
    const isMeant = account !== undefined && (incarnation === undefined || account.incarnation === incarnation)
    if (!isMeant) throw new StoreError('unknown-account', `There is no account "${accountId}"`)
    return account
  }

  #refuseWhenClosed(): void {
    if (this.#closing !== undefined) throw new StoreError('closed', 'The store is closed')
  }

  #noteOutdated(account: StoredAccount, bytes: number): void {
    account.outdated += bytes
    this.#onOutdated(account.state.id, bytes)
  }

  #isTaken(accountId: string): boolean {
    return this.#accounts.has(accountId) || this.#deleting.has(accountId)
  }

  #noteChange(account: StoredAccount): void {
    if (account.use !== undefined) this.#queue.change(account, this.#clock())
  }

  #isFull({ limit = Number.POSITIVE_INFINITY }: Capacity): boolean {
    return this.#accounts.size >= limit
  }

  /** The account that is evicted for another one, if there is one. */
  #findEvicted({ idle = Number.POSITIVE_INFINITY }: Capacity): StoredAccount | undefined {
    return this.#queue.next(this.#clock(), idle)
  }

  /** `persisted` is absent for a new account. `freed` is the number of bytes that an evicted account releases for it. */
  #add(data: AccountData, persisted: AccountState | undefined, freed = 0): StoredAccount {
    const { id } = data.state
    const isSandbox = data.use !== undefined
    this.#refuseTakenKeys(data.state)
    const account = new StoredAccount(this.#driver.open(id, data), {
      persisted,
      incarnation: ++this.#incarnations,
      ...this.#listeners,
      share:
        persisted === undefined
          ? this.#budget?.open(data.state, isSandbox, freed)
          : this.#budget?.load(data.state, isSandbox),
    })
    this.#claimKeys(account, data.state)
    this.#accounts.set(id, account)
    return account
  }

  /** From now on no caller finds the account. Its id and its keys stay taken until it is removed. */
  #detach(account: StoredAccount): void {
    const { id } = account.state
    this.#accounts.delete(id)
    this.#queue.remove(account)
    this.#deleting.set(id, startDeletion())
  }

  #reattach(account: StoredAccount): void {
    this.#endDeletion(account.state.id)
    this.#accounts.set(account.state.id, account)
    this.#queue.add(account)
  }

  #endDeletion(accountId: string): void {
    this.#deleting.get(accountId)?.end()
    this.#deleting.delete(accountId)
  }

  /** Deletes a detached account for good. If that fails, the account is available again. */
  async #remove(account: StoredAccount): Promise<void> {
    const { id } = account.state
    try {
      // A write under way would create the file again. Another write would need space, which a full disk does not have.
      await account.drain()
      await this.#driver.remove?.(id)
    } catch (error) {
      this.#reattach(account)
      throw error
    }
    account.share?.close()
    for (const hash of account.keyHashes) this.#holders.delete(hash)
    this.#endDeletion(id)
  }

  /** @throws StoreError `taken` for a key that belongs to another account. */
  #refuseTakenKeys({ id, keys }: AccountState): void {
    for (const key of keys) {
      const holder = this.#holders.get(key.hash) ?? id
      if (holder !== id) throw new StoreError('taken', `The key "${key.id}" belongs to the account "${holder}" already`)
    }
  }

  #claimKeys(account: StoredAccount, { id, keys }: AccountState): void {
    for (const { hash } of keys) {
      this.#holders.set(hash, id)
      account.keyHashes.add(hash)
    }
  }

  /** Runs after a write, failed or not. */
  #settle(account: StoredAccount): void {
    const { persisted, state, share } = account
    if (persisted === undefined) share?.close()
    else share?.restore(state)
    this.#releaseKeys(account)
  }

  /**
   * Runs after a write. It releases the keys that the account has given up, or the whole account if its first write
   * failed. A key stays taken until that write: if it failed, two accounts would have the key.
   */
  #releaseKeys(account: StoredAccount): void {
    const { persisted, state, keyHashes } = account
    // The usual case: the keys have not changed.
    if (persisted?.keys === state.keys && keyHashes.size === state.keys.length) return
    if (persisted === undefined) {
      this.#accounts.delete(state.id)
      this.#queue.remove(account)
    }
    const held = new Set((persisted === undefined ? [] : [...persisted.keys, ...state.keys]).map(({ hash }) => hash))
    for (const hash of keyHashes) {
      if (held.has(hash)) continue
      keyHashes.delete(hash)
      this.#holders.delete(hash)
    }
  }
}

function copyCounters({ data: { quotas, tallies } }: StoredAccount): Counters {
  return { quotas: new Map(quotas.entries()), tallies: new Map(tallies.entries()) }
}

/** A deletion that is under way. */
interface Deletion {
  ended: Promise<void>
  end(): void
}

function startDeletion(): Deletion {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { ended, end: () => end() }
}
