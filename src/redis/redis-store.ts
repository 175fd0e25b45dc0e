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
import { accountKeys } from './keys.ts'
import { recallAccount } from './recall.ts'
import { type ListedAccount, Registry } from './registry.ts'
import { repairRegistry } from './registry-repair.ts'
import { RedisSnapshots } from './snapshots.ts'
import { MAX_ATTEMPTS, tooManyOthers, Updates } from './updates.ts'

/** In bytes, how much memory a process uses for copies of accounts by default. */
const COPIES_LIMIT = 256 * 2 ** 20
/** In milliseconds, how often a process looks for unfinished deletions of other processes. */
const SWEEPING = 30_000

export interface RedisStoreOptions extends DatabaseOptions {
  /** In bytes, how much memory copies of accounts may take in this process. */
  copiesLimit?: number | undefined
  /** Called when the key of an account was deleted or evicted. Then the caller looks for the account again. */
  lost?: ((accountId: string, key: string) => Promise<void>) | undefined
  /** The restoration of accounts that is under way, if any. Until its end, no key counts as unknown. */
  restoring?: (() => Promise<unknown> | undefined) | undefined
}

/** Accounts in Redis or Valkey, which any number of processes serve together. The caller closes the connection. */
export class RedisStore implements Store, StoreExtras {
  readonly snapshots: AccountSnapshots = {
    take: (accountId, request) =>
      this.#with(accountId, async (incarnation) => {
        const mark = () => this.#registry.mark(incarnation)
        const outcome = await this.#snapshots.take(incarnation, request, mark)
        const present = this.copies.get(incarnation)
        if (present?.isChanged === false) this.copies.put({ ...present, isChanged: true })
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
  readonly #restoring: RedisStoreOptions['restoring']
  /** By incarnation, the last one of the counts that run one after another. */
  readonly #counting = new Map<string, Promise<unknown>>()
  /** Reports of accounts with lost data that are under way. */
  readonly #losing = new Set<Promise<unknown>>()
  readonly #pending = new Set<Promise<unknown>>()
  readonly #sweeping: NodeJS.Timeout
  #closing: Promise<void> | undefined

  constructor({ copiesLimit = COPIES_LIMIT, lost, restoring, ...options }: RedisStoreOptions) {
    this.#lost = lost
    this.#restoring = restoring
    this.copies = new Copies(copiesLimit)
    this.#database = new RedisDatabase(options)
    this.#registry = new Registry(this.#database)
    this.#steps = new AccountSteps(this.#database, this.copies)
    this.#snapshots = new RedisSnapshots(this.#database)
    const { settings } = options
    const finish = (doomed: string) => this.#finish(doomed)
    this.#updates = new Updates({ steps: this.#steps, registry: this.#registry, copies: this.copies, settings, finish })
    this.#sweeping = setInterval(() => void this.sweep().catch(() => {}), SWEEPING)
    this.#sweeping.unref()
  }

  /** Restores lost keys of the list of accounts, and returns their names. */
  repair(): Promise<readonly string[]> {
    return this.#track(() => repairRegistry(this.#database, (doomed) => this.#finish(doomed)))
  }

  /** Finishes deletions of processes that have ended. The store also does this from time to time by itself. */
  async sweep(): Promise<void> {
    for (const doomed of await this.#registry.doomed()) await this.#finish(doomed)
  }

  async list(): Promise<string[]> {
    return this.#registry.list()
  }

  async find(by: 'id' | 'key', name: string): Promise<string | undefined> {
    const found = await this.#registry.find(by, name)
    if (found === undefined || by === 'key' || (await this.#steps.isThere(found.incarnation))) return found?.id
    // The list names an account whose data is lost. The id may belong to a new account by now.
    return (await this.#lose(found)) ? (await this.#registry.find(by, name))?.id : undefined
  }

  async newId(): Promise<string> {
    return this.#registry.newId()
  }

  async hasRoom(capacity: Capacity): Promise<boolean> {
    return this.#registry.hasRoom(capacity)
  }

  async create(state: AccountState, capacity: Capacity = {}): Promise<string | undefined> {
    return this.#track(() => this.#create(state, capacity))
  }

  async #create(state: AccountState, capacity: Capacity): Promise<string | undefined> {
    const incarnation = `${randomInt(1, 2 ** 48 - 1)}`
    // The data is written first; no request finds it. The entry in the list then makes the account exist, atomically.
    const copy = await this.#steps.create(incarnation, state, capacity.evictable === true)
    const finish = (doomed: string) => this.#finish(doomed)
    const registered = await this.#registry.register(state, incarnation, capacity, finish).catch((error) => {
      // Data that may be registered stays for now. Other data expires by itself if this fails too.
      const isUnknown = error instanceof StoreError && error.problem === 'unknown'
      if (!isUnknown) void this.#steps.kill(incarnation).catch(() => {})
      throw error
    })
    const { evicted, doomed } = registered
    const gone = [...(evicted === undefined ? [] : [evicted.incarnation]), ...doomed]
    try {
      await Promise.all([this.#steps.settle(copy), ...gone.map((each) => this.#finish(each))])
    } catch (error) {
      // The account exists, but may expire soon.
      throw asUnknown(error)
    }
    return evicted?.id
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
      const existed = await this.#finish(incarnation)
      return existed ? undefined : GONE
    })
  }

  enter<Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    admission: Admission<Plan, Value>,
  ): Promise<Value | undefined> {
    return this.#track(() => this.#enter(keyHash, admission))
  }

  async #enter<Plan extends CountingPlan, Value extends object>(
    keyHash: string,
    { longestWindow, plan: makePlan, conclude }: Admission<Plan, Value>,
  ): Promise<Value | undefined> {
    let copy = this.#known(keyHash)
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (copy === undefined || this.copies.withKey(keyHash) !== copy.incarnation) {
        const found = await this.#open(keyHash)
        if (found === undefined) return undefined
        copy = found
      }
      const plan = makePlan(copy.state)
      const expected = this.#updates.expectedOf(copy.incarnation) ?? copy.token
      const entered = await this.#steps.enter(copy, plan, longestWindow, expected)
      if (entered === GONE) copy = undefined
      else if ('state' in entered) copy = entered
      else {
        const { copy: present, real, counted } = entered
        if (present.isEvictable) this.#registry.noteUse(present.incarnation, real)
        const incarnation = Number(present.incarnation)
        const { version, token, sequence } = entered
        const moment = { incarnation, version: momentVersion(version, token), sequence }
        return conclude({ account: present.state, incarnation, real, plan, counted, countersBefore: undefined, moment })
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
    clearInterval(this.#sweeping)
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
    const found = await this.#registry.find('id', accountId)
    if (found !== undefined) {
      const value = await act(found.incarnation)
      if (value !== GONE) return value
      // The process that deleted the data may have ended before the rest was done.
      if ((await this.#refresh(found.incarnation)) === GONE && (await this.#lose(found))) {
        const again = await this.#registry.find('id', accountId)
        const made = again === undefined ? GONE : await act(again.incarnation)
        if (made !== GONE) return made
      }
    }
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
    const found = await this.#registry.find('key', keyHash)
    if (found === undefined) return undefined
    const copy = await this.#refresh(found.incarnation)
    if (copy !== GONE) return copy
    if (!(await this.#lose(found))) return undefined
    const again = await this.#registry.find('key', keyHash)
    const made = again === undefined ? GONE : await this.#refresh(again.incarnation)
    return made === GONE ? undefined : made
  }

  /** Frees id and keys of an account without data. Resolves to whether the data was lost, and not deleted. */
  #lose(found: ListedAccount): Promise<boolean> {
    const losing = this.#tellLoss(found).finally(() => this.#losing.delete(losing))
    this.#losing.add(losing)
    return losing
  }

  async #tellLoss({ incarnation, id }: ListedAccount): Promise<boolean> {
    const { existed, wasKilled } = await this.#end(incarnation)
    if (existed || wasKilled || this.#lost === undefined) return false
    const [meta = ''] = accountKeys(this.#database.prefix, incarnation)
    await this.#lost(id, meta)
    return true
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
      if (copy.isEvictable && !copy.isChanged && !(await this.#registry.mark(incarnation))) return GONE
      const changes = [
        ...compare('q', read.quotas, new Map(counting.quotas.entries()), writeHits),
        ...compare('t', read.tallies, new Map(counting.tallies.entries()), writeTally),
      ]
      const done = await this.#steps.recount(read, counting.requests, changes)
      if (done === GONE) return GONE
      if (done === undefined) continue
      if (copy.isEvictable) this.#registry.noteUse(incarnation, done)
      return value
    }
    throw tooManyOthers()
  }

  /** Finishes the deletion of an account that any process has begun. Resolves to whether it had data. */
  async #finish(doomed: string): Promise<boolean> {
    return (await this.#end(doomed)).existed
  }

  async #end(doomed: string): Promise<{ existed: boolean; wasKilled: boolean }> {
    const { existed, snapshots, wasKilled } = await this.#steps.kill(doomed)
    try {
      await this.#snapshots.sweep(doomed, snapshots)
      await this.#registry.release(doomed)
    } catch (error) {
      throw asUnknown(error)
    }
    return { existed, wasKilled }
  }

  /** Tracks work, so that `close` can wait for it. */
  #track<Value>(act: () => Promise<Value>): Promise<Value> {
    if (this.#closing !== undefined) return Promise.reject(new StoreError('closed', 'The store is closed'))
    const pending = act().finally(() => this.#pending.delete(pending))
    this.#pending.add(pending)
    return pending
  }
}

/** The error for work whose first part is done. */
function asUnknown(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error
  return Object.assign(new StoreError('unknown', error.message), { reported: true })
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
