import { randomInt } from 'node:crypto'
import type { AccountState } from '../../domain/account.ts'
import type { Decision, ErrorCode } from '../../domain/errors.ts'
import { NO_COUNTERS } from '../../domain/quotas.ts'
import type { Settings } from '../../domain/settings.ts'
import { applyChange, planSnapshot, refuseTooLarge, summarize } from '../kept-account.ts'
import { decodeAccount, encodeAccount } from '../record.ts'
import type {
  Account,
  AccountSnapshots,
  Capacity,
  Change,
  Moment,
  Snapshot,
  SnapshotOutcome,
  SnapshotRequest,
  Store,
} from '../store.ts'
import { StoreError } from '../store-error.ts'
import { AccountLanes, GONE, takenKey, type WorkResult, writeHashes } from './account-lanes.ts'
import type { RedisReply, StoreConnection } from './connection.ts'
import {
  type AccountCopy,
  Copies,
  readCounters,
  readId,
  readState,
  writeCounters,
  writeId,
  writeState,
} from './copies.ts'
import { applyPatch } from './patches.ts'

/** How often an account is looked up that others delete and create again meanwhile. */
const LOOKUPS = 5
/** What stands for an account that does not have the key any more. */
const ELSEWHERE = Symbol('elsewhere')

export interface RedisStoreOptions {
  connection: StoreConnection
  /** What all keys begin with. */
  prefix: string
  settings: Pick<Settings, 'nameComparison'>
  /** Default: the clock of the server. */
  clock?: (() => number) | undefined
  /** Called when no account has the key of a request. A store that was emptied has the data of a start again afterwards. */
  check?: (() => Promise<void>) | undefined
}

type Work<Value> = (account: AccountCopy, real: number) => WorkResult<Value>

/** Accounts in Redis or Valkey, which any number of processes serve together. The caller closes the connection. */
export class RedisStore implements Store {
  readonly snapshots: AccountSnapshots = {
    take: (accountId, request) => this.#run(accountId, (account, real) => takeSnapshot(account, request, real)),
    list: (accountId) => this.#run(accountId, ({ snapshots }) => ({ value: snapshots.map(summarize) })),
    read: (accountId, name) => this.#track(() => this.#readSnapshot(accountId, name)),
    delete: (accountId, name) =>
      this.#run(accountId, ({ snapshots }): WorkResult<boolean> => {
        const found = snapshots.find((each) => each.name === name)
        if (found === undefined) return { value: false }
        return { snapshots: snapshots.filter((each) => each !== found), drops: found.number, value: true }
      }),
  }
  /** The accounts that this process knows. They are forgotten when the connection is lost: the store may go back then. */
  readonly #copies = new Copies()
  readonly #lanes: AccountLanes
  readonly #options: RedisStoreOptions
  readonly #pending = new Set<Promise<unknown>>()
  readonly #stopListening: () => void
  #isClosed = false

  constructor(options: RedisStoreOptions) {
    const { connection, clock = () => connection.now() } = options
    this.#options = options
    this.#lanes = new AccountLanes({ ...options, copies: this.#copies, clock })
    this.#stopListening = connection.listen(({ isReady }) => {
      if (!isReady) this.#copies.clear()
    })
  }

  list(): Promise<string[]> {
    return this.#track(async () => {
      const ids = await this.#send('ZRANGE', this.#key('order'), '0', '-1')
      return (ids as readonly string[]).map(readId)
    })
  }

  find(by: 'id' | 'key', name: string): Promise<string | undefined> {
    return this.#track(async () => {
      const incarnation = await this.#locate(by, name)
      if (incarnation === undefined) return undefined
      if (by === 'id') return name
      const id = await this.#send('HGET', this.#keyOf(incarnation), 'id')
      return typeof id === 'string' ? readId(id) : undefined
    })
  }

  newId(): Promise<string> {
    return this.#track(async () => {
      for (;;) {
        const id = `account-${await this.#send('HINCRBY', this.#key('store'), 'ids', '1')}`
        if ((await this.#locate('id', id)) === undefined) return id
      }
    })
  }

  async create(state: AccountState, { limit, evictable = false }: Capacity = {}): Promise<string[]> {
    refuseTooLarge(state)
    const { connection, prefix } = this.#options
    // A number that no other account ever has, also not in a store that was emptied meanwhile.
    const incarnation = randomInt(1, 2 ** 48 - 1)
    const args = [
      ...[writeId(state.id), `${incarnation}`, writeState(state), writeCounters(NO_COUNTERS), '0'],
      ...[writeHashes(state), `${limit ?? ''}`, evictable ? '1' : '0'],
    ]
    const [outcome, ...rest] = (await this.#track(() => connection.run('create', prefix, args))) as string[]
    if (outcome === 'ok') return rest.map(readId)
    if (outcome === 'full') throw new StoreError('full', `There are ${rest[0]} accounts, which is the maximum`)
    if (rest.length > 0) throw takenKey(state, rest)
    throw new StoreError('taken', `There is an account "${state.id}" already`)
  }

  read(accountId: string): Promise<Account> {
    return this.#run(accountId, (account) => ({ value: account }))
  }

  update<Value, Code extends string = ErrorCode>(
    accountId: string,
    decide: (state: AccountState, version: number) => Decision<AccountState, Value, Code>,
    incarnation?: number,
  ): Promise<Decision<AccountState, Value, Code>> {
    const change = (account: AccountCopy) => {
      const decision = decide(account.state, account.version)
      const changed = changeBy(account, { ...(decision.ok && { state: decision.state }), value: decision })
      return { ...changed, isOfState: true }
    }
    return this.#run(accountId, change, incarnation)
  }

  transact<Value>(
    accountId: string,
    change: (account: Account, real: number) => Change<Value>,
    incarnation?: number,
  ): Promise<Value> {
    return this.#run(accountId, (account, real) => changeBy(account, change(account, real)), incarnation)
  }

  enter<Value>(
    keyHash: string,
    admit: (account: Account, real: number) => Pick<Required<Change<Value>>, 'counters' | 'value'>,
  ): Promise<Value | undefined> {
    const work = (account: AccountCopy, real: number): WorkResult<Value | typeof ELSEWHERE> => {
      if (!account.state.keys.some(({ hash }) => hash === keyHash)) return { value: ELSEWHERE }
      return { ...admit(account, real), isUse: true }
    }
    return this.#track(async () => {
      let incarnation = this.#copies.withKey(keyHash) ?? (await this.#locateKey(keyHash))
      for (let lookup = 0; lookup < LOOKUPS && incarnation !== undefined; lookup++) {
        const value = await this.#lanes.run(incarnation, work)
        if (value !== GONE && value !== ELSEWHERE) return value
        incarnation = await this.#locateKey(keyHash)
      }
      return undefined
    })
  }

  delete(accountId: string): Promise<void> {
    return this.#track(async () => {
      const incarnation = await this.#locate('id', accountId)
      const { connection, prefix } = this.#options
      const outcome = incarnation && (await connection.run('remove', prefix, ['end', `${incarnation}`]))
      if (outcome !== 1) throw unknownAccount(accountId)
      this.#copies.forget(incarnation as number)
    })
  }

  recall(accountId: string, { incarnation, version }: Moment): Promise<AccountState | undefined> {
    return this.#track(async () => {
      const copy = await this.#lanes.run(incarnation, (account) => ({ value: account }))
      if (copy === GONE || copy.state.id !== accountId || copy.version < version) return undefined
      if (copy.version === version) return copy.state
      const range = [`${copy.version}-0`, `${version + 1}-0`]
      const changes = await this.#send('XREVRANGE', this.#keyOf(incarnation, ':changes'), ...range)
      const patches = (changes as [string, [string, string]][]).map(([, [, patch]]) => patch)
      if (patches.length !== copy.version - version) return undefined
      return decodeAccount(patches.reduce(applyPatch, encodeAccount(copy.state)), this.#options.settings)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopListening()
    await Promise.allSettled(this.#pending)
  }

  /** Does work on the account with this id. @throws StoreError `unknown-account` */
  #run<Value>(accountId: string, work: Work<Value>, meant?: number): Promise<Value> {
    return this.#track(async () => {
      let incarnation = meant ?? (await this.#locate('id', accountId))
      for (let lookup = 0; lookup < LOOKUPS && incarnation !== undefined; lookup++) {
        const value = await this.#lanes.run(incarnation, work)
        if (value !== GONE) return value
        incarnation = meant === undefined ? await this.#locate('id', accountId) : undefined
      }
      throw unknownAccount(accountId)
    })
  }

  async #readSnapshot(accountId: string, name: string): Promise<Snapshot | undefined> {
    for (;;) {
      const { incarnation, snapshots } = await this.#run(accountId, (account) => ({ value: account }))
      const found = snapshots.find((each) => each.name === name)
      if (found === undefined) return undefined
      const { number, takenAt } = found
      const kept = await this.#send('HMGET', this.#keyOf(incarnation, ':kept'), `${number}`, `${number} counters`)
      const [state, counters] = kept as (string | null)[]
      // It may have been replaced or deleted meanwhile.
      if (typeof state !== 'string' || typeof counters !== 'string') continue
      return { incarnation, takenAt, state: readState(state, this.#options.settings), counters: readCounters(counters) }
    }
  }

  /** The account with a key. Where the store was emptied, the request waits until it has the data of a start again. */
  async #locateKey(keyHash: string): Promise<number | undefined> {
    const found = await this.#locate('key', keyHash)
    if (found !== undefined || this.#options.check === undefined) return found
    await this.#options.check()
    return this.#locate('key', keyHash)
  }

  /** The account with an id or a key, as the store knows it. */
  async #locate(by: 'id' | 'key', name: string): Promise<number | undefined> {
    const command = by === 'id' ? [this.#key('ids'), writeId(name)] : [this.#key('keys'), name]
    const found = await this.#send('HGET', ...command)
    return found === null ? undefined : Number(found)
  }

  #send(...command: string[]): Promise<RedisReply> {
    return this.#options.connection.send(command, { isRepeatable: true })
  }

  #key(name: string): string {
    return `${this.#options.prefix}:${name}`
  }

  #keyOf(incarnation: number, part = ''): string {
    return `${this.#options.prefix}:account:${incarnation}${part}`
  }

  /** Does work for which `close` waits. */
  async #track<Value>(work: () => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw new StoreError('closed', 'The store is closed')
    const pending = work()
    this.#pending.add(pending)
    return pending.finally(() => this.#pending.delete(pending))
  }
}

/** Plans a snapshot. The server copies the account, so that it is not sent. */
function takeSnapshot(account: AccountCopy, request: SnapshotRequest, real: number): WorkResult<SnapshotOutcome> {
  const plan = planSnapshot(account.snapshots, request, account, real)
  if (!plan.ok) return { value: plan }
  const { snapshot, left, replaced } = plan
  // No earlier snapshot had this number, because each of them has changed what is counted.
  const number = Number(account.counted) + 1
  const value = { ok: true, snapshot } as const
  return {
    snapshots: [...left, { ...snapshot, number }],
    keeps: number,
    drops: replaced?.number,
    isChange: true,
    value,
  }
}

/** A change by a user, of which only what changes is written. */
function changeBy<Value>(account: AccountCopy, change: Change<Value>): WorkResult<Value> {
  const changed = applyChange(account, change)
  const isChange = changed.state !== account.state || changed.counters !== account.counters
  return { ...changed, value: change.value, isChange }
}

function unknownAccount(accountId: string): StoreError {
  return new StoreError('unknown-account', `There is no account "${accountId}"`)
}
