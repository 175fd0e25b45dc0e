import type { Contract } from '../contract/contract.ts'
import { type AccountState, replicateAccount } from '../domain/account.ts'
import { clockAt, timeOn } from '../domain/clock.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { Clock } from '../ground/clock.ts'
import { deriveKey, drawKey, findPublicKey } from '../ground/secrets.ts'
import { runInTurns, type Work } from '../ground/work.ts'
import type { Log } from '../http/log.ts'
import type { Entry } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { Past } from '../journal/past.ts'
import type { BudgetUse } from '../store/memory-budget.ts'
import type { Counters, FormerAccount, Replacement, SnapshotOutcome, SnapshotRequest, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { type AccountParameters, accountCreation, createAccount, recreateAccount } from './creation.ts'
import type { ExchangeLog } from './exchange-log.ts'
import type { LoadedFixture } from './fixture.ts'
import { secretsOf } from './fixture-keys.ts'
import type { History } from './histories.ts'

/** From what a new account is made, unless its creator chooses otherwise. */
type WorldDefaults = Pick<AccountParameters, 'seed' | 'now' | 'frozen' | 'plan' | 'faults'> & {
  fixture: LoadedFixture
}

export interface WorldsDeps {
  contract: Contract
  store: Store
  clock: Clock
  exchanges: ExchangeLog<unknown>
  /** Counts what accounts hold; absent for a store that does not share memory by it. */
  budget: { readonly use: BudgetUse } | undefined
  defaults: WorldDefaults
  /** How many accounts there may be. */
  maxAccounts: number
  /** Whether a key `sandbox_…` opens an account of its own. */
  sandboxKeys: boolean
  /** How long an account that such a key has opened is kept after its last use if it was changed, in milliseconds. */
  sandboxIdle: number
  /** Whether keys that nobody chose are random; else they derive from the account's seed. */
  randomKeys: boolean
  log: Log
}

/** An account that has just been made, and its key. */
export interface CreatedAccount {
  account: AccountState
  apiKey: string
}

/** What a request found in its account. The incarnation is known where the store has told it. */
type Found = Omit<FormerAccount, 'incarnation'> & Partial<Pick<FormerAccount, 'incarnation'>>

/** What may be chosen for a new account. */
type ChosenAccount = Omit<AccountParameters, 'real' | 'id'> & {
  id?: string | undefined
  fixture?: LoadedFixture | undefined
}

/** The account of clients that ask for no particular one. */
export const DEFAULT_ACCOUNT = 'default'
/** A key that opens an account of its own. The key is also the id of that account. */
export const SANDBOX = /^sandbox_[!-~]{1,120}$/
/** Refusals for lack of room that follow each other faster than this are one event for the log, in milliseconds. */
const SAME_EVENT = 60_000
const NO_COUNTERS: Counters = { quotas: new Map(), tallies: new Map() }

/**
 * Creates, resets, copies and deletes accounts. Which accounts there are, and what they hold, only the store knows.
 */
export class Worlds {
  readonly journal: Journal
  readonly #exchanges: ExchangeLog<unknown>
  readonly #deps: WorldsDeps
  /** When an account was last refused for lack of room. */
  #lastFull = Number.NEGATIVE_INFINITY

  constructor(deps: WorldsDeps) {
    this.#deps = deps
    this.#exchanges = deps.exchanges
    this.journal = deps.exchanges.journal
    deps.store.listenOutdated((accountId, bytes) => deps.exchanges.noteOutdated(accountId, bytes))
    deps.exchanges.listenEnded((accountId) => this.#forget(accountId))
  }

  now({ clock }: AccountState): number {
    return timeOn(clock, this.#deps.clock())
  }

  /** Where to record a request that has just entered the account, see `ExchangeLog`. */
  historyOf(accountId: string, incarnation: number): History {
    return this.#exchanges.historyOf(accountId, incarnation)
  }

  /** The memory that accounts with their snapshots, and the journal, take and may take. */
  get memory(): { accounts: BudgetUse | undefined; journal: BudgetUse } {
    const { journal } = this
    return { accounts: this.#deps.budget?.use, journal: { used: journal.weight, limit: journal.limits.total } }
  }

  /**
   * Creates an account; without an id, it gets a new one. When there are too many, a sandbox is evicted for it.
   * @throws StoreError `taken`, `full` or `damaged`, FixtureError.
   */
  async create({ id, ...chosen }: ChosenAccount): Promise<CreatedAccount> {
    return this.#add({ ...chosen, id: id ?? (await this.#deps.store.newId()) }, { evictable: false })
  }

  /** A key that nobody can compute, where keys have to be of that kind. */
  drawKey(): string | undefined {
    return this.#deps.randomKeys ? drawKey() : undefined
  }

  /** A key of the account that is no secret, if it has one. */
  findPublicKey(account: AccountState): string | undefined {
    return findPublicKey(account, { derived: !this.#deps.randomKeys })
  }

  /** Whether the key opens an account on first use. */
  opensFor(secret: string): boolean {
    return this.#deps.sandboxKeys && SANDBOX.test(secret)
  }

  /**
   * Checks that accounts can be made of the usual fixture, which a kept account of everybody does not show.
   * @throws FixtureError
   */
  checkDefaults(): void {
    const { contract, clock, defaults } = this.#deps
    const { fixture, ...rest } = defaults
    // Tests make accounts of the ready-made fixtures with the contract of the package.
    if (contract.document.validated && fixture.origin !== undefined) return
    createAccount(fixture, { ...rest, id: DEFAULT_ACCOUNT, real: clock() }, contract)
  }

  /**
   * The account of a key that opens one on first use; `undefined` for any other key, and where there is no room for
   * another account.
   */
  async openSandbox(secret: string): Promise<string | undefined> {
    try {
      return await this.setUpSandbox(secret)
    } catch (error) {
      // Where nothing can be changed, that is no refusal of this key.
      if (error instanceof StoreError && error.problem === 'full' && !error.isOutOfMemory) return undefined
      throw error
    }
  }

  /** The same, for somebody who can be told that there is no room. @throws StoreError `full` */
  async setUpSandbox(secret: string): Promise<string | undefined> {
    if (!this.opensFor(secret)) return undefined
    try {
      await this.#add({ id: secret, apiKey: secret }, { evictable: true })
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // The data of this key is unreadable, which another account in its place would hide.
      if (error.problem === 'damaged') return undefined
      // Another request with the key was faster, or somebody has created an account of this id.
      if (error.problem !== 'taken') throw error
    }
    return secret
  }

  /** Back to the moment of the account's creation, or to another beginning. @throws FixtureError */
  async reset(accountId: string, chosen: Omit<Parameters<typeof recreateAccount>[1], 'real'>): Promise<AccountState> {
    const { store, contract, clock } = this.#deps
    const state = await recreateAccount(await store.read(accountId), { ...chosen, real: clock() }, contract)
    await store.replace(accountId, state, { ...NO_COUNTERS, requests: 0 })
    await this.#exchanges.reset(accountId)
    await this.noteKeys(accountId, secretsOf(chosen.fixture))
    return state
  }

  async delete(accountId: string): Promise<void> {
    await this.#deps.store.delete(accountId)
    await this.#exchanges.end(accountId)
  }

  /** Keeps a copy of everything that an account is. @throws StoreError `full` */
  takeSnapshot(accountId: string, request: Omit<SnapshotRequest, 'real'>): Promise<SnapshotOutcome> {
    const { store, clock } = this.#deps
    return store.takeSnapshot(accountId, { ...request, real: clock() })
  }

  /** The account as it was, including its clock, which may go back; `undefined` when there is no such snapshot. */
  async restore(accountId: string, name: string): Promise<AccountState | undefined> {
    const snapshot = await this.#deps.store.readSnapshot(accountId, name)
    return snapshot && this.#bringBack(accountId, snapshot, snapshot.takenAt, { snapshot: name })
  }

  /** The account as it was just before a request of it; `undefined` when that is not kept. */
  async recall({ before, moment }: Entry): Promise<Found | undefined> {
    if (before !== undefined) return runInTurns(copyPast(before))
    return moment && this.#deps.store.recall(moment)
  }

  /**
   * The account as it was just before a request of it, including its clock, which may go back; `undefined` when that is
   * not kept. As after `restore`, requests go on being counted.
   */
  async rewind(entry: Entry): Promise<AccountState | undefined> {
    const { account: accountId, before, at } = entry
    const found = await this.recall(entry)
    // Whoever has reset or deleted the account in the meantime has cleared its journal.
    if (accountId === undefined || found === undefined || !this.journal.has(entry)) return undefined
    const source = before && { outdatedSince: this.#outdatedSince(accountId, before.mark) }
    return this.#bringBack(accountId, found, at, source)
  }

  /** Puts an account as it was in the place of what it is. Its clock shows again what it showed then. */
  async #bringBack(
    accountId: string,
    { incarnation, state, counters }: Found,
    at: number,
    source: Pick<Replacement, 'snapshot' | 'outdatedSince'> = {},
  ): Promise<AccountState> {
    const { store, clock } = this.#deps
    const present = { ...state, clock: clockAt(at, clock(), 'frozenAt' in state.clock) }
    await store.replace(accountId, present, {
      ...counters,
      ...source,
      ...(incarnation !== undefined && { incarnation }),
    })
    await this.noteKeys(accountId)
    return present
  }

  /** How many bytes an account has left behind in older states since its history had this figure. */
  #outdatedSince(accountId: string, mark: number): number {
    return Math.max(0, this.#exchanges.outdated(accountId) - mark)
  }

  async #add(
    { fixture, ...chosen }: ChosenAccount & { id: string },
    { evictable }: { evictable: boolean },
  ): Promise<CreatedAccount> {
    const { store, defaults, contract, clock, maxAccounts, sandboxIdle } = this.#deps
    const capacity = { limit: maxAccounts, evictable, idle: sandboxIdle }
    // Before the account is made, which costs far more than to refuse it.
    if (!(await store.has(chosen.id)) && !(await store.hasRoom(capacity))) throw this.#refuseFull()
    const apiKey = chosen.apiKey ?? this.drawKey()
    const { fixture: usual, ...rest } = defaults
    const given = Object.fromEntries(Object.entries({ ...chosen, apiKey }).filter(([, value]) => value !== undefined))
    const parameters = { ...rest, ...given, id: chosen.id, real: clock() }
    const state = await runInTurns(accountCreation(fixture ?? usual, parameters, contract))
    const evicted = await store.create(state, capacity).catch((error) => {
      // Others were faster. Where memory is what is missing, the error says so, and is reported.
      throw error instanceof StoreError && error.problem === 'full' && !error.reported ? this.#refuseFull() : error
    })
    // Whoever opens an account does not wait until all processes know that another one has ended.
    if (evicted !== undefined) void this.#exchanges.end(evicted)
    const secret = typeof apiKey === 'string' ? apiKey : deriveKey(state.seed, state.id)
    await this.noteKeys(state.id, [secret, ...secretsOf(fixture ?? usual)])
    return { account: state, apiKey: secret }
  }

  /** The refusal of an account for which there is no room. The log has one line for all that follow each other. */
  #refuseFull(): StoreError {
    const { log, clock, maxAccounts } = this.#deps
    const now = clock()
    const reason =
      `There is no room for another account: there are ${maxAccounts}, and no sandbox can be deleted for it. ` +
      'Delete accounts, or start the server with a larger --max-accounts or a shorter --sandbox-idle'
    if (now - this.#lastFull >= SAME_EVENT) log.warn({ accounts: maxAccounts }, `${reason}.`)
    this.#lastFull = now
    return Object.assign(new StoreError('full', reason), { reported: true })
  }

  /**
   * Hides the secrets of an account's keys, as they are now, from those who read the journal. To be called after each
   * change of them; `given` are the secrets of keys that are new to the account.
   */
  async noteKeys(accountId: string, given: readonly string[] = []): Promise<void> {
    const { store } = this.#deps
    const { secrets } = this.journal
    // Of most accounts, such as sandboxes, there is nothing to know.
    if (!secrets.concerns(accountId, given)) return
    const reading = Promise.all([store.snapshotKeys(accountId), store.read(accountId)])
    // The account may be deleted meanwhile, and its secrets with it.
    const read = await reading.catch(() => undefined)
    if (read === undefined) return
    const [kept, { keys, origin }] = read
    const recoverable = () => {
      const original = typeof origin.fixture === 'string' ? [] : (origin.fixture.keys ?? [])
      const others = [origin.key, ...original, ...this.#pastKeys(accountId)]
      return [...kept, ...others.flatMap(({ hash }) => hash ?? [])]
    }
    secrets.update(accountId, { held: keys.map(({ hash }) => hash), recoverable }, given)
  }

  /** Takes note of a key of the account that a request carries: of an account that was kept, only hashes are known. */
  meetKey({ id, keys }: AccountState, { secret, hash }: { secret: string; hash: string }): void {
    const { secrets } = this.journal
    if (secrets.knows(id, hash)) return
    const hasOthers = secrets.meet(
      id,
      keys.map((key) => key.hash),
      secret,
    )
    // Perhaps another process has taken their keys away.
    if (hasOthers) void this.noteKeys(id)
  }

  /** The keys that a rewind may bring back. Most requests find the same list as the one before, or one key more. */
  *#pastKeys(accountId: string): Generator<ApiKey, void, undefined> {
    let last: readonly ApiKey[] = []
    for (const { before } of this.journal.oldestFirst(accountId)) {
      const keys = before?.account.keys ?? last
      if (keys === last) continue
      for (const [index, key] of keys.entries()) if (key !== last[index]) yield key
      last = keys
    }
  }

  /** Forgets everything about an account that is deleted. */
  #forget(accountId: string): void {
    this.journal.secrets.forget(accountId)
  }
}

/** The state and the counters that a request found, in maps of their own. */
function* copyPast({ account, quotas, tallies }: Past): Work<{ state: AccountState; counters: Counters }> {
  const state = yield* replicateAccount(account)
  const counters = {
    quotas: new Map((yield* quotas.replicate()).entries()),
    tallies: new Map((yield* tallies.replicate()).entries()),
  }
  return { state, counters }
}
