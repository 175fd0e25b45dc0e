import type { Contract } from '../contract/contract.ts'
import { Coverage, mergeCoverage } from '../coverage/coverage.ts'
import type { Observation } from '../coverage/observation.ts'
import { type AccountState, detachAccount } from '../domain/account.ts'
import { clockAt, timeOn } from '../domain/clock.ts'
import type { Clock } from '../ground/clock.ts'
import type { Journal, NewEntry } from '../journal/journal.ts'
import type { Counters, Store } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { type AccountBirth, createAccount, type LoadedFixture, recreateAccount } from './fixture.ts'

/** What a new account is made of unless somebody says otherwise. */
export type WorldDefaults = Pick<AccountBirth, 'seed' | 'now' | 'frozen' | 'plan' | 'faults'> & {
  fixture: LoadedFixture
}

export interface WorldsDeps {
  contract: Contract
  store: Store
  clock: Clock
  journal: Journal
  defaults: WorldDefaults
  /** How many accounts there may be. */
  maxAccounts: number
  /** Whether a key `sandbox_…` opens an account of its own. */
  sandboxKeys: boolean
  /** Whether sandboxes make room for others; those that are kept on disk do not. */
  evictsSandboxes: boolean
}

/** A named copy of all that an account is. */
export interface Snapshot {
  name: string
  /** What the account's clock showed, in milliseconds. */
  takenAt: number
  state: AccountState
  counters: Counters
}

/** The account that serves a client who knows of no other. */
export const DEFAULT_ACCOUNT = 'default'
/** A key that opens an account of its own, and the id of that account. */
export const SANDBOX = /^sandbox_[!-~]{1,120}$/
/** How many deleted accounts are remembered, until the last request to them has surely been answered. */
const REMEMBERED = 10_000
const NO_COUNTERS: Counters = { quotas: new Map(), tallies: new Map() }

/**
 * The accounts as worlds of their own: how they come to be, begin anew, are copied and end; and, with each, the record
 * of what happened in it.
 */
export class Worlds {
  readonly journal: Journal
  readonly #deps: WorldsDeps
  readonly #snapshots = new Map<string, Map<string, Snapshot>>()
  /** The one that was used longest ago comes first. */
  readonly #sandboxes = new Set<string>()
  readonly #coverages = new Map<string | undefined, Coverage>()
  /** That of accounts that are gone or began anew. */
  #former: Coverage | undefined
  readonly #opening = new Map<string, Promise<string | undefined>>()
  #struck = 0
  /** Those that there are, and those that are being created. */
  readonly #ids = new Set<string>()
  /** Those that were deleted last; requests to them may still be under way. */
  readonly #gone = new Set<string>()
  #numbered = 0

  constructor(deps: WorldsDeps) {
    this.#deps = deps
    this.journal = deps.journal
  }

  /** Takes in the accounts that the store has already. */
  async takeIn(): Promise<void> {
    for (const id of await this.#deps.store.list()) {
      this.#ids.add(id)
      if (SANDBOX.test(id)) this.#sandboxes.add(id)
    }
  }

  get count(): number {
    return this.#ids.size
  }

  /** An id for an account to come; never the same twice, however many are asked for at once. */
  async freeId(): Promise<string> {
    for (;;) {
      const id = `account-${++this.#numbered}`
      if (!this.#ids.has(id) && !(await this.#deps.store.has(id))) return id
    }
  }

  now({ clock }: AccountState): number {
    return timeOn(clock, this.#deps.clock())
  }

  /** Takes note of an exchange, in the journal and for the coverage of the contract. */
  record(entry: NewEntry, query: Observation['query'], body: unknown): void {
    const { account, operation, status, code, injected, allowance, at } = entry
    if (account !== undefined && this.#gone.has(account)) {
      // A later account of that id must not find the request in its own record.
      this.journal.record({ ...entry, account: undefined, key: undefined })
      return
    }
    this.journal.record(entry)
    if (entry.injection?.source === 'rule') this.#struck++
    if (status === undefined) return
    this.#coverageOf(account).observe({
      operation,
      status,
      code,
      reason: entry.problems[0]?.reason,
      injected,
      query,
      body,
      bodyBytes: entry.body?.size ?? 0,
      allowance,
      now: at,
      key: entry.keyEvidence,
      group: entry.group,
    })
  }

  /** What an account's requests have shown of the contract, with those that belong to no account; or all requests. */
  coverage(account?: string): Coverage {
    const { contract } = this.#deps
    if (account === undefined) return mergeCoverage(this.#coverages.values(), contract)
    return mergeCoverage([this.#coverageOf(account), this.#coverageOf(undefined)], contract)
  }

  /** How many requests fault rules struck since the start. */
  get struck(): number {
    return this.#struck
  }

  /** What all requests since the start have shown, those of accounts that are gone or began anew included. */
  totals(): Coverage {
    return mergeCoverage([this.#formerCoverage(), ...this.#coverages.values()], this.#deps.contract)
  }

  #formerCoverage(): Coverage {
    // Not before it is needed: to find all that there is to show in the contract takes a tenth of a start.
    this.#former ??= new Coverage(this.#deps.contract)
    return this.#former
  }

  #coverageOf(account: string | undefined): Coverage {
    let coverage = this.#coverages.get(account)
    if (coverage === undefined) {
      coverage = new Coverage(this.#deps.contract)
      this.#coverages.set(account, coverage)
    }
    return coverage
  }

  /** @throws StoreError `taken`, `full` or `damaged`, FixtureError. */
  async create({
    fixture,
    ...birth
  }: Omit<AccountBirth, 'real'> & { fixture?: LoadedFixture | undefined }): Promise<AccountState> {
    const { store, defaults, contract, clock } = this.#deps
    const { fixture: usual, ...rest } = defaults
    const chosen = Object.fromEntries(Object.entries(birth).filter(([, value]) => value !== undefined))
    if (typeof birth.apiKey === 'string') this.journal.hide(birth.apiKey)
    const state = createAccount(fixture ?? usual, { ...rest, ...chosen, id: birth.id, real: clock() }, contract)
    if (this.#ids.has(state.id)) throw new StoreError('taken', `There is an account "${state.id}" already`)
    const idle = this.#findRoom()
    // From here on its place is taken, whoever comes before the store has answered.
    if (idle !== undefined) this.#sandboxes.delete(idle)
    if (idle !== undefined) this.#ids.delete(idle)
    this.#ids.add(state.id)
    try {
      await store.create(state)
    } catch (error) {
      this.#ids.delete(state.id)
      if (idle !== undefined) this.#sandboxes.add(idle)
      if (idle !== undefined) this.#ids.add(idle)
      throw error
    }
    this.#gone.delete(state.id)
    if (idle !== undefined) await this.#remove(idle)
    return state
  }

  /** The account of a key that opens one on first use; `undefined` for any other key. */
  async openSandbox(secret: string): Promise<string | undefined> {
    if (!this.#deps.sandboxKeys || !SANDBOX.test(secret)) return undefined
    const opening = this.#opening.get(secret) ?? this.#createSandbox(secret)
    this.#opening.set(secret, opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(secret)
    }
  }

  /** Notes that an account is in use. */
  touch(accountId: string): void {
    if (!this.#sandboxes.delete(accountId)) return
    this.#sandboxes.add(accountId)
  }

  /** Back to the moment of the account's creation, or to another beginning. @throws FixtureError */
  async reset(accountId: string, chosen: Omit<Parameters<typeof recreateAccount>[1], 'real'>): Promise<AccountState> {
    const { store, contract, clock } = this.#deps
    const state = await recreateAccount(await store.read(accountId), { ...chosen, real: clock() }, contract)
    await store.replace(accountId, state, { ...NO_COUNTERS, requests: 0 })
    this.#forget(accountId)
    return state
  }

  async delete(accountId: string): Promise<void> {
    await this.#remove(accountId)
    this.#ids.delete(accountId)
    this.#sandboxes.delete(accountId)
  }

  snapshots(accountId: string): Snapshot[] {
    return [...(this.#snapshots.get(accountId)?.values() ?? [])]
  }

  async takeSnapshot(accountId: string, name: string): Promise<Snapshot> {
    const { store } = this.#deps
    const state = await store.read(accountId)
    const counters = await store.counters(accountId)
    const snapshot = { name, takenAt: this.now(state), state: detachAccount(state), counters }
    const all = this.#snapshots.get(accountId) ?? new Map<string, Snapshot>()
    // One that takes the place of another is the newest all the same.
    all.delete(name)
    this.#snapshots.set(accountId, all.set(name, snapshot))
    return snapshot
  }

  /** The account as it was, its clock included, which may go back; `undefined` when there is no such snapshot. */
  async restore(accountId: string, name: string): Promise<AccountState | undefined> {
    const snapshot = this.#snapshots.get(accountId)?.get(name)
    if (snapshot === undefined) return undefined
    const { store, clock } = this.#deps
    const setting = clockAt(snapshot.takenAt, clock(), 'frozenAt' in snapshot.state.clock)
    const state = { ...detachAccount(snapshot.state), clock: setting }
    await store.replace(accountId, state, snapshot.counters)
    return state
  }

  deleteSnapshot(accountId: string, name: string): boolean {
    return this.#snapshots.get(accountId)?.delete(name) ?? false
  }

  async #createSandbox(secret: string): Promise<string | undefined> {
    try {
      await this.create({ id: secret, apiKey: secret })
      this.#sandboxes.add(secret)
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      // What the key opened is lost, and another account would hide that.
      if (error.problem === 'damaged') return undefined
      // Somebody else's request opened it in the meantime.
      if (error.problem !== 'taken') throw error
    }
    return secret
  }

  async #remove(accountId: string): Promise<void> {
    await this.#deps.store.delete(accountId)
    this.#gone.add(accountId)
    const [oldest] = this.#gone
    if (this.#gone.size > REMEMBERED && oldest !== undefined) this.#gone.delete(oldest)
    this.#snapshots.delete(accountId)
    this.#forget(accountId)
  }

  /** The sandbox that has to go for one account more, if one has to. @throws StoreError `full` */
  #findRoom(): string | undefined {
    const { maxAccounts, evictsSandboxes } = this.#deps
    if (this.#ids.size < maxAccounts) return undefined
    const [idle] = evictsSandboxes ? this.#sandboxes : []
    if (idle === undefined) {
      throw new StoreError('full', `There are ${this.#ids.size} accounts, which is as many as there may be`)
    }
    return idle
  }

  #forget(accountId: string): void {
    const coverage = this.#coverages.get(accountId)
    if (coverage !== undefined) this.#formerCoverage().add(coverage)
    this.#coverages.delete(accountId)
    this.journal.clear(accountId)
  }
}
