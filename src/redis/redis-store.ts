import { randomInt } from 'node:crypto'
import type { AccountState } from '../domain/account.ts'
import { type CountingPlan, countersFor } from '../domain/counting.ts'
import { accept, type Decision, type ErrorCode } from '../domain/errors.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Hits } from '../domain/quotas.ts'
import type {
  AccountSnapshots,
  Admission,
  Capacity,
  FormerAccount,
  Incarnate,
  Moment,
  Replacement,
  Store,
  StoreExtras,
  Visitor,
} from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import { AccountSteps, type CounterChange, type CountersStep, GONE, type Gone } from './account-steps.ts'
import { type AccountCopy, Copies, momentVersion } from './copies.ts'
import { writeHits, writeTally } from './counter-texts.ts'
import { type DatabaseOptions, RedisDatabase } from './database.ts'
import { accountKey } from './keys.ts'
import { recallAccount } from './recall.ts'
import { type ListedAccount, Registry } from './registry.ts'
import { RedisSnapshots } from './snapshots.ts'
import { MAX_ATTEMPTS, tooManyOthers, Updates } from './updates.ts'

/** How often work is done again because keys about all accounts were lost before it. */
const MAX_LOSSES = 3
/** In bytes, how much memory a process uses for copies of accounts by default. */
const COPIES_LIMIT = 256 * 2 ** 20

export interface RedisStoreOptions extends DatabaseOptions {
  /** In bytes, how much memory copies of accounts may take in this process. */
  copiesLimit?: number | undefined
  /** Called when the key of an account was deleted or evicted. Then the caller looks for the account again. */
  lost?: ((accountId: string, key: string) => Promise<void>) | undefined
  /** Makes lost keys about all accounts again. Default: `repair`. */
  mend?: (() => Promise<unknown>) | undefined
  /** The restoration of accounts that is under way, if any. Until its end, no key counts as unknown. */
  restoring?: (() => Promise<unknown> | undefined) | undefined
}

/** Accounts in Redis or Valkey, which any number of processes serve together. The caller closes the connection. */
export class RedisStore implements Store, StoreExtras {
  readonly snapshots: AccountSnapshots = {
    take: (accountId, request) =>
      this.#with(accountId, async (incarnation) => {
        const outcome = await this.#snapshots.take(incarnation, request)
        this.#steps.noteChanged(incarnation)
        return outcome
      }),
    list: (accountId) => this.#with(accountId, (incarnation) => this.#snapshots.list(incarnation)),
    read: (accountId, name) => this.#with(accountId, (incarnation) => this.#snapshots.read(incarnation, name)),
    delete: (accountId, name) => this.#with(accountId, (incarnation) => this.#snapshots.delete(incarnation, name)),
    keyHashes: (accountId) => this.#with(accountId, (incarnation) => this.#snapshots.keyHashes(incarnation)),
  }
  /** The accounts that this process knows. They are cleared for a server that was emptied or replaced. */
  readonly copies: Copies
  readonly #database: RedisDatabase
  readonly #registry: Registry
  readonly #steps: AccountSteps
  readonly #updates: Updates
  readonly #snapshots: RedisSnapshots
  readonly #lost: RedisStoreOptions['lost']
  readonly #mend: () => Promise<unknown>
  readonly #restoring: RedisStoreOptions['restoring']
  /** By incarnation, the last one of the counts that run one after another. */
  readonly #counting = new Map<string, Promise<unknown>>()
  /** Reports of accounts with lost data that are under way. */
  readonly #losing = new Set<Promise<unknown>>()
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor({ copiesLimit = COPIES_LIMIT, lost, mend, restoring, ...options }: RedisStoreOptions) {
    this.#lost = lost
    this.#mend = mend ?? (() => this.#registry.repair())
    this.#restoring = restoring
    this.copies = new Copies(copiesLimit)
    this.#database = new RedisDatabase(options)
    this.#registry = new Registry(this.#database)
    this.#steps = new AccountSteps(this.#database, this.copies)
    this.#snapshots = new RedisSnapshots(this.#database)
    const newOperation = () => this.#database.newOperation()
    this.#updates = new Updates({ steps: this.#steps, copies: this.copies, settings: options.settings, newOperation })
  }

  /** Makes lost keys about all accounts again, and returns their names. */
  repair(): Promise<readonly string[]> {
    return this.#track(() => this.#registry.repair())
  }

  list(): Promise<string[]> {
    return this.#persist(() => this.#registry.list())
  }

  find(by: 'id' | 'key', name: string): Promise<string | undefined> {
    return this.#persist(async () => (await this.#locate(by, name))?.id)
  }

  newId(): Promise<string> {
    return this.#persist(() => this.#registry.newId())
  }

  hasRoom(capacity: Capacity): Promise<boolean> {
    return this.#persist(() => this.#registry.hasRoom(capacity))
  }

  async create(state: AccountState, capacity: Capacity = {}): Promise<string | undefined> {
    return this.#track(async () => {
      await this.#registry.flush()
      return this.#steps.create(`${randomInt(1, 2 ** 48 - 1)}`, state, capacity)
    })
  }

  read(accountId: string): Promise<AccountState> {
    return this.#with(accountId, async (incarnation) => {
      const copy = await this.#refresh(incarnation)
      return copy === GONE ? GONE : copy.state
    })
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version?: string) => Decision<AccountState, Value, Code>,
    meant?: number,
  ): Promise<Decision<AccountState, Value, Code>> {
    return this.#with(accountId, async (incarnation) => {
      const isMeant = meant === undefined || Number(incarnation) === meant
      return isMeant ? this.#updates.run(incarnation, decide) : GONE
    })
  }

  async replace(accountId: string, state: AccountState, counters: Replacement): Promise<void> {
    const { quotas, tallies } = countersFor(counters, [state])
    const { requests, incarnation: meant } = counters
    await this.#with(accountId, async (incarnation) => {
      if (meant !== undefined && Number(incarnation) !== meant) return GONE
      return this.#updates.run(incarnation, () => accept(state, undefined), { quotas, tallies, requests })
    })
  }

  delete(accountId: string): Promise<void> {
    return this.#with(accountId, async (incarnation) => {
      this.copies.forget(incarnation)
      return (await this.#registry.finish(incarnation, accountId)) === 'gone' ? GONE : undefined
    })
  }

  enter<Request, Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Request, Plan, Value>,
    request: Request,
  ): Promise<Value | undefined> {
    return this.#track(() => this.#enter(keyHash, admission, request))
  }

  async #enter<Request, Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Request, Plan, Value>,
    request: Request,
  ): Promise<Value | undefined> {
    let copy = this.#known(keyHash)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (copy === undefined || this.copies.withKey(keyHash) !== copy.incarnation) {
        const found = await this.#open(keyHash)
        if (found === undefined) return undefined
        copy = found
      }
      const plan = admission.plan(request, copy.state)
      const expected = this.#updates.expectedOf(copy.incarnation) ?? copy
      const entered = await this.#steps.enter(copy, plan, admission.longestWindow, expected)
      if (entered === GONE) copy = undefined
      else if ('state' in entered) copy = entered
      else {
        const { copy: present, real, counted, sequence, undo } = entered
        if (present.isEvictable) this.#registry.noteUse(present.incarnation)
        const incarnation = Number(present.incarnation)
        const moment = { incarnation, version: momentVersion(present.version, present.token), sequence, undo }
        const found = { account: present.state, incarnation, real, plan, counted, countersBefore: undefined, moment }
        return admission.conclude(request, found)
      }
    }
    throw tooManyOthers()
  }

  refund({ incarnation }: Incarnate, bucket: string, startedAt: number): Promise<Hits | undefined> {
    return this.#track(() => this.#refund(`${incarnation}`, bucket, startedAt))
  }

  async #refund(incarnation: string, bucket: string, startedAt: number): Promise<Hits | undefined> {
    const refunded = await this.#steps.refund(incarnation, bucket, startedAt)
    return refunded === GONE ? undefined : refunded
  }

  count<Value>(accountId: string, visit: Visitor<Value>): Promise<Value> {
    return this.#with(accountId, (incarnation) => {
      // Counts of this process run one after another.
      const last = this.#counting.get(incarnation)
      const counted = (last ?? Promise.resolve()).then(() => this.#recount(incarnation, visit))
      const settled = counted
        .catch(() => {})
        .then(() => {
          if (this.#counting.get(incarnation) === settled) this.#counting.delete(incarnation)
        })
      this.#counting.set(incarnation, settled)
      return counted
    })
  }

  recall(moment: Moment): Promise<FormerAccount | undefined> {
    return this.#track(async () => {
      const copy = await this.#refresh(`${moment.incarnation}`)
      return copy === GONE ? undefined : recallAccount(moment, copy, this.#database)
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#pending)
    await this.#registry.flush()
  }

  /** Acts on the account with this id, first as this process knows it. @throws StoreError `unknown-account` */
  async #with<Value>(accountId: string, act: (incarnation: string) => Promise<Value | Gone>): Promise<Value> {
    return this.#track(() => this.#find(accountId, act))
  }

  async #find<Value>(accountId: string, act: (incarnation: string) => Promise<Value | Gone>): Promise<Value> {
    const known = this.copies.withId(accountId)
    if (known !== undefined) {
      const value = await act(known)
      if (value !== GONE) return value
    }
    const found = await this.#locate('id', accountId)
    const value = found === undefined ? GONE : await act(found.incarnation)
    if (value !== GONE) return value
    throw new StoreError('unknown-account', `There is no account "${accountId}"`)
  }

  /** The account of a key as this process knows it. */
  #known(keyHash: string): AccountCopy | undefined {
    const incarnation = this.copies.withKey(keyHash)
    return incarnation === undefined ? undefined : this.copies.get(incarnation)
  }

  /** The account of a key as the store knows it. While accounts are restored, the request waits and is not refused. */
  async #open(keyHash: string): Promise<AccountCopy | undefined> {
    const copy = await this.#look(keyHash)
    if (copy !== undefined) return copy
    const restoring = [...this.#losing, this.#restoring?.()].filter((each) => each !== undefined)
    if (restoring.length === 0) return undefined
    await Promise.all(restoring)
    return this.#look(keyHash)
  }

  async #look(keyHash: string): Promise<AccountCopy | undefined> {
    const found = await this.#locate('key', keyHash)
    const copy = found === undefined ? GONE : await this.#refresh(found.incarnation)
    return copy === GONE ? undefined : copy
  }

  /** The account with an id or a key. If its data is lost, the id and the keys are freed, and may be used anew at once. */
  async #locate(by: 'id' | 'key', name: string): Promise<ListedAccount | undefined> {
    const found = await this.#registry.find(by, name)
    if (found?.isLost !== true) return found
    const losing = this.#lose(found, by === 'key' ? name : '').finally(() => this.#losing.delete(losing))
    this.#losing.add(losing)
    await losing
    const again = await this.#registry.find(by, name)
    return again?.isLost === true ? undefined : again
  }

  async #lose({ incarnation, id }: ListedAccount, hash: string): Promise<void> {
    this.copies.forget(incarnation)
    const outcome = await this.#registry.finish(incarnation, id, hash)
    if (outcome === 'lost') await this.#lost?.(id, accountKey(this.#database.prefix, incarnation, 'head'))
  }

  /** The account as it is now. */
  #refresh(incarnation: string): Promise<AccountCopy | Gone> {
    const copy = this.copies.get(incarnation)
    return copy === undefined ? this.#steps.load(incarnation) : this.#steps.look(copy)
  }

  async #readCounters(incarnation: string): Promise<CountersStep | Gone> {
    const copy = this.copies.get(incarnation) ?? (await this.#steps.load(incarnation))
    return copy === GONE ? GONE : this.#steps.counters(copy)
  }

  async #recount<Value>(incarnation: string, visit: Visitor<Value>): Promise<Value | Gone> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const read = await this.#readCounters(incarnation)
      if (read === GONE) return GONE
      const { copy, requests } = read
      const [quotas, tallies] = [PersistentMap.of(read.quotas), PersistentMap.of(read.tallies)]
      const counting = { quotas, tallies, requests }
      const value = visit(copy.state, counting, Number(incarnation))
      if (counting.quotas === quotas && counting.tallies === tallies && counting.requests === requests) return value
      const changes = [
        ...compare('q', read.quotas, new Map(counting.quotas.entries()), writeHits),
        ...compare('t', read.tallies, new Map(counting.tallies.entries()), writeTally),
      ]
      const done = await this.#steps.recount(read, counting.requests, changes)
      if (done === GONE) return GONE
      if (done) return value
    }
    throw tooManyOthers()
  }

  /** Does work, and does it again as long as it is refused because of lost keys. */
  async #persist<Value>(act: () => Promise<Value>): Promise<Value> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await act()
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('LOST '))) throw error
        if (attempt === MAX_LOSSES)
          throw new StoreError('unavailable', 'The store loses keys faster than they are made')
        await this.#mend()
      }
    }
  }

  /** Tracks work, so that `close` can wait for it. */
  #track<Value>(act: () => Promise<Value>): Promise<Value> {
    if (this.#closing !== undefined) return Promise.reject(new StoreError('closed', 'The store is closed'))
    const pending = this.#persist(act).finally(() => this.#pending.delete(pending))
    this.#pending.add(pending)
    return pending
  }
}

function* compare<Value>(
  letter: 'q' | 't',
  before: ReadonlyMap<string, Value>,
  after: ReadonlyMap<string, Value>,
  write: (value: Value) => string,
): Generator<CounterChange> {
  const text = (value: Value | undefined) => (value === undefined ? undefined : write(value))
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [one, other] = [text(before.get(name)), text(after.get(name))]
    if (one !== other) yield [letter + name, one, other]
  }
}
