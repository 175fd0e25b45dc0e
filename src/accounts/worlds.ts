import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { clockAt, timeOn } from '../domain/clock.ts'
import { givenFields } from '../domain/given-fields.ts'
import { type Counters, NO_COUNTERS } from '../domain/quotas.ts'
import type { Log } from '../ground/log.ts'
import { deriveKey, drawKey, findPublicKey } from '../ground/secrets.ts'
import type { Clock } from '../ground/timers.ts'
import { type Entry, PAST } from '../journal/entry.ts'
import type { Journal } from '../journal/journal.ts'
import type { SnapshotOutcome, SnapshotRequest, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { type AccountParameters, createAccount, recreateAccount } from './creation.ts'
import type { AccountHistory, ExchangeLog } from './exchange-log.ts'
import { type LoadedFixture, secretsOf } from './fixture.ts'

/** The parameters of a new account that its creator does not choose. */
type WorldDefaults = Pick<AccountParameters, 'seed' | 'now' | 'frozen' | 'plan' | 'faults'> & {
  fixture: LoadedFixture
}

export interface WorldsDeps {
  contract: Contract
  store: Store
  clock: Clock
  exchanges: ExchangeLog
  defaults: WorldDefaults
  maxAccounts: number
  /** Whether a key `sandbox_…` opens its own account. */
  sandboxKeys: boolean
  /** Whether keys that the creator did not choose are random. If not, they are derived from the account's seed. */
  randomKeys: boolean
  log: Log
}

/** A new account and its key. */
export interface CreatedAccount {
  account: AccountState
  apiKey: string
}

/** An account as it was. The counters are absent if they are not kept; then those of the account stay. */
interface FormerAccount {
  state: AccountState
  counters?: Counters | undefined
  incarnation?: number | undefined
}

type ChosenAccount = Omit<AccountParameters, 'real' | 'id'> & {
  id?: string | undefined
  fixture?: LoadedFixture | undefined
}

/** The account of clients that name no account. */
export const DEFAULT_ACCOUNT = 'default'
/** A key that opens its own account. The key is also the id of that account. */
export const SANDBOX = /^sandbox_[!-~]{1,120}$/

/** Creates, resets, copies and deletes accounts. Only the store holds the list and the contents of the accounts. */
export class Worlds {
  readonly journal: Journal
  readonly #exchanges: ExchangeLog
  readonly #deps: WorldsDeps
  /** Whether an account was refused for lack of room. */
  #wasFull = false

  constructor(deps: WorldsDeps) {
    this.#deps = deps
    this.#exchanges = deps.exchanges
    this.journal = deps.exchanges.journal
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
    return this.#add({ ...chosen, id: id ?? (await this.#deps.store.newId()) })
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
    createAccount(fixture, { ...rest, id: DEFAULT_ACCOUNT, real: clock() }, contract)
  }

  /** The account that a key opens on first use; `undefined` for any other key, or if there is no room. */
  async openSandbox(secret: string): Promise<string | undefined> {
    try {
      return await this.setUpSandbox(secret)
    } catch (error) {
      // A store that cannot be changed, such as for lack of memory, is no reason to refuse this key.
      if (error instanceof StoreError && error.problem === 'full') return undefined
      throw error
    }
  }

  /** Like `openSandbox`, for a caller that can report a lack of room. @throws StoreError `full` */
  async setUpSandbox(secret: string): Promise<string | undefined> {
    if (!this.opensFor(secret)) return undefined
    try {
      await this.#add({ id: secret, apiKey: secret }, true)
    } catch (error) {
      // Another request with the key was faster, or a client has created an account with this id.
      if (!(error instanceof StoreError) || error.problem !== 'taken') throw error
    }
    return secret
  }

  /** Resets the account to the moment of its creation, or to another beginning. @throws FixtureError */
  async reset(accountId: string, chosen: Omit<Parameters<typeof recreateAccount>[1], 'real'>): Promise<AccountState> {
    const { store, contract, clock } = this.#deps
    const present = await store.read(accountId)
    const state = await recreateAccount(present.state, { ...chosen, real: clock() }, contract)
    const begin = () => ({ state, counters: NO_COUNTERS, value: undefined })
    this.journal.redactions.learn(secretsOf(chosen.fixture))
    await store.transact(accountId, begin, present.incarnation)
    await this.#exchanges.reset(accountId)
    return state
  }

  async delete(accountId: string): Promise<void> {
    await this.#deps.store.delete(accountId)
    // The store tells every server that the account has ended. A journal that cannot be read is no reason to fail.
    try {
      await this.#exchanges.caughtUp()
    } catch {}
  }

  /** Keeps a copy of the whole account. @throws StoreError `full` */
  takeSnapshot(accountId: string, request: Omit<SnapshotRequest, 'real'>): Promise<SnapshotOutcome> {
    const { store, clock } = this.#deps
    return store.snapshots.take(accountId, { ...request, real: clock() })
  }

  /** The account as it was, including its clock, which may go back; `undefined` if there is no such snapshot. */
  async restore(accountId: string, name: string): Promise<AccountState | undefined> {
    const snapshot = await this.#deps.store.snapshots.read(accountId, name)
    return snapshot && this.#bringBack(accountId, snapshot, snapshot.takenAt)
  }

  /** The account as it was just before the request; `undefined` if that state is not kept. */
  async recall({ account, [PAST]: past, found, moment }: Entry): Promise<FormerAccount | undefined> {
    const incarnation = moment?.incarnation
    if (past !== undefined) return { state: past.account, counters: past.counters, incarnation }
    if (account === undefined || moment === undefined) return undefined
    const state = await this.#deps.store.recall?.(account, moment)
    return state && { state, counters: found, incarnation }
  }

  /**
   * Restores the account as it was just before the request, including its clock, which may go back. Returns `undefined`
   * if that state is not kept. The request counts continue, as after `restore`.
   */
  async rewind(entry: Entry): Promise<AccountState | undefined> {
    const { account: accountId, at } = entry
    const found = await this.recall(entry)
    // A reset or a deletion of the account in the meantime has cleared its journal.
    if (accountId === undefined || found === undefined || !this.journal.has(entry)) return undefined
    return this.#bringBack(accountId, found, at)
  }

  /** Replaces the account by a former state. Its clock shows the time of that state again. */
  async #bringBack(accountId: string, former: FormerAccount, at: number): Promise<AccountState> {
    return this.#deps.store.transact(
      accountId,
      ({ counters: present }, real) => {
        // New objects, so that the conduct of a client before does not count in the account that was brought back.
        const keys = former.state.keys.map((key) => ({ ...key }))
        const state = { ...former.state, keys, clock: clockAt(at, real, 'frozenAt' in former.state.clock) }
        const counters = { ...(former.counters ?? present), requests: present.requests }
        return { state, counters, value: state }
      },
      former.incarnation,
    )
  }

  async #add({ fixture, ...chosen }: ChosenAccount & { id: string }, evictable = false): Promise<CreatedAccount> {
    const { store, defaults, contract, clock, maxAccounts } = this.#deps
    const apiKey = chosen.apiKey ?? this.drawKey()
    const { fixture: usual, ...rest } = defaults
    const parameters = { ...rest, ...givenFields({ ...chosen, apiKey }), id: chosen.id, real: clock() }
    const account = createAccount(fixture ?? usual, parameters, contract)
    const secret = typeof apiKey === 'string' ? apiKey : deriveKey(account.seed, account.id)
    // A client may present a key before the account is written.
    this.journal.redactions.learn([secret, ...secretsOf(fixture)])
    await store.create(account, { limit: maxAccounts, evictable }).catch((error) => {
      throw error instanceof StoreError && error.problem === 'full' ? this.#refuseFull() : error
    })
    return { account, apiKey: secret }
  }

  /** The refusal of an account for lack of room. The log has one line for all of them. */
  #refuseFull(): StoreError {
    const { log, maxAccounts } = this.#deps
    const reason =
      `There is no room for another account: there are ${maxAccounts}, and no sandbox can be deleted for it. ` +
      'Delete accounts, or start the server with a larger --max-accounts'
    if (!this.#wasFull) log.warn({ accounts: maxAccounts }, `${reason}.`)
    this.#wasFull = true
    return Object.assign(new StoreError('full', reason), { reported: true })
  }
}
