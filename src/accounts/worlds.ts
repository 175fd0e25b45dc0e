import type { Contract } from '../contract/contract.ts'
import { type AccountState, replicateAccount } from '../domain/account.ts'
import { clockAt, timeOn } from '../domain/clock.ts'
import { givenFields } from '../domain/given-fields.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { Clock } from '../ground/clock.ts'
import { deriveKey, drawKey, findPublicKey } from '../ground/secrets.ts'
import { runInTurns, type Work } from '../ground/work.ts'
import type { Log } from '../http/log.ts'
import type { Entry, Past } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type {
  Counters,
  FormerAccount,
  Replacement,
  SnapshotOutcome,
  SnapshotRequest,
  Store,
  StoreExtras,
} from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { type AccountParameters, accountCreation, createAccount, recreateAccount } from './creation.ts'
import type { AccountHistory, ExchangeLog } from './exchange-log.ts'
import type { LoadedFixture } from './fixture.ts'
import { secretsOf } from './fixture-keys.ts'

/** The parameters of a new account that its creator does not choose. */
type WorldDefaults = Pick<AccountParameters, 'seed' | 'now' | 'frozen' | 'plan' | 'faults'> & {
  fixture: LoadedFixture
}

export interface WorldsDeps {
  contract: Contract
  store: Store
  /** Absent if the store gives no moments. */
  recall?: StoreExtras['recall']
  clock: Clock
  exchanges: ExchangeLog<unknown>
  defaults: WorldDefaults
  maxAccounts: number
  /** Whether a key `sandbox_…` opens its own account. */
  sandboxKeys: boolean
  /** In milliseconds: how long an account that was opened by such a key and changed is kept after its last use. */
  sandboxIdle: number
  /** Whether keys that the creator did not choose are random. If not, they are derived from the account's seed. */
  randomKeys: boolean
  log: Log
}

/** A new account and its key. */
export interface CreatedAccount {
  account: AccountState
  apiKey: string
}

/** The account as a request found it. The incarnation is present if the store has returned it. */
type FoundAccount = Omit<FormerAccount, 'incarnation'> & Partial<Pick<FormerAccount, 'incarnation'>>

type ChosenAccount = Omit<AccountParameters, 'real' | 'id'> & {
  id?: string | undefined
  fixture?: LoadedFixture | undefined
}

/** The account of clients that name no account. */
export const DEFAULT_ACCOUNT = 'default'
/** A key that opens its own account. The key is also the id of that account. */
export const SANDBOX = /^sandbox_[!-~]{1,120}$/
/** In milliseconds: refusals for lack of room that follow each other within this time are logged as one event. */
const SAME_EVENT = 60_000
const NO_COUNTERS: Counters = { quotas: new Map(), tallies: new Map() }

/** Creates, resets, copies and deletes accounts. Only the store holds the list and the contents of the accounts. */
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
    deps.exchanges.listenEnded((accountId) => this.journal.secrets.forget(accountId))
  }

  now({ clock }: AccountState): number {
    return timeOn(clock, this.#deps.clock())
  }

  /** The history of the account that a request has just entered, see `ExchangeLog`. */
  historyOf(accountId: string, incarnation: number): AccountHistory {
    return this.#exchanges.historyOf(accountId, incarnation)
  }

  /**
   * Creates an account. Without an id, it gets a new one. If there are too many accounts, a sandbox is evicted.
   * @throws StoreError `taken`, `full` or `damaged`, FixtureError.
   */
  async create({ id, ...chosen }: ChosenAccount): Promise<CreatedAccount> {
    return this.#add({ ...chosen, id: id ?? (await this.#deps.store.newId()) }, { evictable: false })
  }

  /** A random key that cannot be computed; `undefined` if keys are derived from the seed. */
  drawKey(): string | undefined {
    return this.#deps.randomKeys ? drawKey() : undefined
  }

  /** A key of the account that is not secret, if it has one. */
  findPublicKey(account: AccountState): string | undefined {
    return findPublicKey(account, { derived: !this.#deps.randomKeys })
  }

  /** Whether the first use of the key opens an account. */
  opensFor(secret: string): boolean {
    return this.#deps.sandboxKeys && SANDBOX.test(secret)
  }

  /** Checks the default fixture, which a stored default account does not show. @throws FixtureError */
  checkDefaults(): void {
    const { contract, clock, defaults } = this.#deps
    const { fixture, ...rest } = defaults
    // Tests create accounts from the ready-made fixtures with the contract of the package.
    if (contract.document.validated && fixture.origin !== undefined) return
    createAccount(fixture, { ...rest, id: DEFAULT_ACCOUNT, real: clock() }, contract)
  }

  /** The account that a key opens on first use; `undefined` for any other key, or if there is no room. */
  async openSandbox(secret: string): Promise<string | undefined> {
    try {
      return await this.setUpSandbox(secret)
    } catch (error) {
      // A store that cannot be changed is no reason to refuse this key.
      if (error instanceof StoreError && error.problem === 'full' && !error.isOutOfMemory) return undefined
      throw error
    }
  }

  /** Like `openSandbox`, for a caller that can report a lack of room. @throws StoreError `full` */
  async setUpSandbox(secret: string): Promise<string | undefined> {
    if (!this.opensFor(secret)) return undefined
    try {
      await this.#add({ id: secret, apiKey: secret }, { evictable: true })
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // The data of this key is unreadable. Another account in its place would hide that.
      if (error.problem === 'damaged') return undefined
      // Another request with the key was faster, or a client has created an account with this id.
      if (error.problem !== 'taken') throw error
    }
    return secret
  }

  /** Resets the account to the moment of its creation, or to another beginning. @throws FixtureError */
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

  /** Keeps a copy of the whole account. @throws StoreError `full` */
  takeSnapshot(accountId: string, request: Omit<SnapshotRequest, 'real'>): Promise<SnapshotOutcome> {
    const { store, clock } = this.#deps
    return store.snapshots.take(accountId, { ...request, real: clock() })
  }

  /** The account as it was, including its clock, which may go back; `undefined` if there is no such snapshot. */
  async restore(accountId: string, name: string): Promise<AccountState | undefined> {
    const snapshot = await this.#deps.store.snapshots.read(accountId, name)
    return snapshot && this.#bringBack(accountId, snapshot, snapshot.takenAt, { snapshot: name })
  }

  /** The account as it was just before the request; `undefined` if that state is not kept. */
  async recall({ before, moment }: Entry): Promise<FoundAccount | undefined> {
    if (before !== undefined) return runInTurns(copyPast(before))
    return moment && this.#deps.recall?.(moment)
  }

  /**
   * Restores the account as it was just before the request, including its clock, which may go back. Returns `undefined`
   * if that state is not kept. The request counts continue, as after `restore`.
   */
  async rewind(entry: Entry): Promise<AccountState | undefined> {
    const { account: accountId, before, at } = entry
    const found = await this.recall(entry)
    // A reset or a deletion of the account in the meantime has cleared its journal.
    if (accountId === undefined || found === undefined || !this.journal.has(entry)) return undefined
    // The bytes that the account has left in older states since its history had the figure `mark`.
    const source = before && { outdatedSince: Math.max(0, this.#exchanges.outdated(accountId) - before.mark) }
    return this.#bringBack(accountId, found, at, source)
  }

  /** Replaces the account by a former state. Its clock shows the time of that state again. */
  async #bringBack(
    accountId: string,
    { incarnation, state, counters }: FoundAccount,
    at: number,
    source: Pick<Replacement, 'snapshot' | 'outdatedSince'> = {},
  ): Promise<AccountState> {
    const { store, clock } = this.#deps
    const present = { ...state, clock: clockAt(at, clock(), 'frozenAt' in state.clock) }
    await store.replace(accountId, present, { ...counters, ...source, ...givenFields({ incarnation }) })
    await this.noteKeys(accountId)
    return present
  }

  async #add(
    { fixture, ...chosen }: ChosenAccount & { id: string },
    { evictable }: { evictable: boolean },
  ): Promise<CreatedAccount> {
    const { store, defaults, contract, clock, maxAccounts, sandboxIdle } = this.#deps
    const capacity = { limit: maxAccounts, evictable, idle: sandboxIdle }
    // This check comes first, because creating the account costs far more than refusing it.
    const isTaken = (await store.find('id', chosen.id)) !== undefined
    if (!isTaken && !(await store.hasRoom(capacity))) throw this.#refuseFull()
    const apiKey = chosen.apiKey ?? this.drawKey()
    const { fixture: usual, ...rest } = defaults
    const parameters = { ...rest, ...givenFields({ ...chosen, apiKey }), id: chosen.id, real: clock() }
    const state = await runInTurns(accountCreation(fixture ?? usual, parameters, contract))
    const evicted = await store.create(state, capacity).catch((error) => {
      // Other requests were faster. If memory is missing, the error says so and is already reported.
      throw error instanceof StoreError && error.problem === 'full' && !error.reported ? this.#refuseFull() : error
    })
    // The caller does not wait until all processes know that the evicted account has ended.
    if (evicted !== undefined) void this.#exchanges.end(evicted)
    const secret = typeof apiKey === 'string' ? apiKey : deriveKey(state.seed, state.id)
    await this.noteKeys(state.id, [secret, ...secretsOf(fixture ?? usual)])
    return { account: state, apiKey: secret }
  }

  /** The refusal of an account for lack of room. The log has one line for a series of such refusals. */
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
   * Hides the secrets of an account's present keys from readers of the journal. The caller calls it after each change
   * of the keys. `given` are the secrets of keys that are new to the account.
   */
  async noteKeys(accountId: string, given: readonly string[] = []): Promise<void> {
    const { store } = this.#deps
    const { secrets } = this.journal
    // Most accounts, such as sandboxes, have no secrets to hide.
    if (!secrets.concerns(accountId, given)) return
    const reading = Promise.all([store.snapshots.keyHashes(accountId), store.read(accountId)])
    // The account may have been deleted meanwhile, and its secrets with it.
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

  /** Notes the secret of an account's key from a request. Of the keys of a stored account, only hashes are known. */
  meetKey(account: AccountState, key: { secret: string; hash: string }): void {
    // Another process may have removed the other keys.
    if (this.journal.secrets.meet(account, key)) void this.noteKeys(account.id)
  }

  /** The keys that a rewind may bring back. Most requests find the same list as the request before, or one key more. */
  *#pastKeys(accountId: string): Generator<ApiKey, void, undefined> {
    let last: readonly ApiKey[] = []
    for (const { before } of this.journal.oldestFirst(accountId)) {
      const keys = before?.account.keys ?? last
      if (keys === last) continue
      for (const [index, key] of keys.entries()) if (key !== last[index]) yield key
      last = keys
    }
  }
}

/** A copy of the state and the counters that a request found, in separate maps. */
function* copyPast({ account, quotas, tallies }: Past): Work<{ state: AccountState; counters: Counters }> {
  const state = yield* replicateAccount(account)
  const counters = {
    quotas: new Map((yield* quotas.replicate()).entries()),
    tallies: new Map((yield* tallies.replicate()).entries()),
  }
  return { state, counters }
}
