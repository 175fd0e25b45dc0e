import type { AccountState } from '../domain/account.ts'
import type { Capacity } from '../store/store.ts'
import { StoreError } from '../store/store-error.ts'
import type { RedisReply } from './connection.ts'
import type { AccountCopy } from './copies.ts'
import type { RedisDatabase, ScriptName } from './database.ts'
import { decodeId, encodeId, registryKeys } from './keys.ts'

/** In milliseconds, how long uses of accounts are collected before they are sent together. */
const GATHERING = 100
/** How many ids are read at a time. Lua can pass this number of arguments. */
const PAGE = 5_000

/** How often a registration finishes the deletion of another account that still has the id or a key. */
const MAX_ATTEMPTS = 100

export interface ListedAccount {
  incarnation: string
  id: string
}

export interface Registered {
  /** The evicted account, whose data is to be deleted. */
  evicted: ListedAccount | undefined
  /** Other accounts whose data must still be deleted, because the process that began the deletion has ended. */
  doomed: readonly string[]
}

/** Ids, keys and capacity: the data on which all replicas agree, beside the accounts themselves. */
export class Registry {
  readonly #database: RedisDatabase
  readonly #keys: readonly string[]
  /** The times of uses by account, in the order of the uses. */
  #uses = new Map<string, number>()
  #telling: NodeJS.Timeout | undefined

  constructor(database: RedisDatabase) {
    this.#database = database
    this.#keys = registryKeys(database.prefix)
  }

  async find(by: 'id' | 'key', name: string): Promise<ListedAccount | undefined> {
    const [incarnation, id] = await this.#run<readonly string[]>('find', [by, by === 'id' ? encodeId(name) : name])
    return incarnation === undefined || id === undefined ? undefined : { incarnation, id: decodeId(id) }
  }

  /** Registers the account. `finish` deletes one that is being deleted and still has id or key. @throws StoreError */
  async register(
    { id, keys }: AccountState,
    incarnation: string,
    { limit, evictable, idle }: Capacity,
    finish: (doomed: string) => Promise<unknown>,
  ): Promise<Registered> {
    const options = [writeLimit(limit), evictable === true ? '1' : '0', writeLimit(idle), this.#database.now]
    const args = [encodeId(id), incarnation, ...options]
    await this.flush()
    const [outcome, one, other, rest] = await this.#runWithKeys('register', args, keys, finish)
    if (outcome === 'taken') throw new StoreError('taken', `There is an account "${id}" already`)
    if (outcome === 'full') {
      throw new StoreError('full', `There are ${one} accounts, which is the maximum`)
    }
    const evicted = one === null ? undefined : { incarnation: one as string, id: decodeId(other as string) }
    return { evicted, doomed: rest as readonly string[] }
  }

  /** Forgets an account whose data is gone. */
  async release(incarnation: string): Promise<void> {
    this.#uses.delete(incarnation)
    await this.#run('release', [incarnation])
  }

  /**
   * Claims keys for an account before a change adds or removes them. `unclaim` must follow as soon as the outcome of
   * the change is known. Resolves to `false` if the account is gone. @throws StoreError `taken`
   */
  async claim(
    incarnation: string,
    operation: string,
    keys: AccountState['keys'],
    finish: (doomed: string) => Promise<unknown>,
  ): Promise<boolean> {
    const args = [incarnation, operation, this.#database.now]
    return (await this.#runWithKeys('claim', args, keys, finish))[0] === 'ok'
  }

  /** Runs a script until no account that is being deleted has the id or a key any more. @throws StoreError `taken` */
  async #runWithKeys(
    name: ScriptName,
    args: readonly string[],
    keys: AccountState['keys'],
    finish: (doomed: string) => Promise<unknown>,
  ): Promise<readonly RedisReply[]> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const reply = await this.#run(name, [...args, ...keys.map(({ hash }) => hash)])
      const [outcome, one, other] = reply
      if (outcome === 'held') {
        const holder = decodeId(other as string)
        throw new StoreError('taken', `The key "${keys[one as number]?.id}" belongs to the account "${holder}" already`)
      }
      if (outcome !== 'dying') return reply
      await finish(one as string)
    }
    throw new StoreError('unavailable', 'An account that has the id or a key is still being deleted')
  }

  /** Reports which of the claimed keys the account has at the version of the copy, and releases the others. */
  async unclaim(
    operation: string,
    claimed: Iterable<string>,
    { incarnation, version, state }: AccountCopy,
  ): Promise<void> {
    const held = new Set(state.keys.map(({ hash }) => hash))
    const pairs = [...claimed].flatMap((hash) => [hash, held.has(hash) ? '1' : '0'])
    await this.#run('unclaim', [incarnation, operation, `${version}`, ...pairs])
  }

  /** Records that an evictable account was used at a time of the store. It is sent to the store soon. */
  noteUse(incarnation: string, time: number): void {
    this.#uses.delete(incarnation)
    this.#uses.set(incarnation, time)
    if (this.#telling !== undefined) return
    this.#telling = setTimeout(() => void this.flush().catch(() => {}), GATHERING)
    this.#telling.unref()
  }

  /** Sends all uses. Later commands on the same connection run after them. */
  async flush(): Promise<void> {
    clearTimeout(this.#telling)
    this.#telling = undefined
    if (this.#uses.size === 0) return
    const args = [...this.#uses].flatMap(([incarnation, time]) => [incarnation, `${time}`])
    this.#uses = new Map()
    // If this fails, another account may be evicted. No caller waits for the result.
    await this.#run('use', args).catch(() => {})
  }

  /** Records that an evictable account is going to be changed. Resolves to `false` if it is gone. */
  async mark(incarnation: string): Promise<boolean> {
    await this.flush()
    return (await this.#run<number>('mark', [incarnation, this.#database.now])) === 1
  }

  /** Accounts whose deletion began a while ago, and is not finished. */
  doomed(): Promise<readonly string[]> {
    return this.#run<readonly string[]>('doomed', [this.#database.now])
  }

  async hasRoom({ limit, idle }: Capacity): Promise<boolean> {
    const args = [writeLimit(limit), writeLimit(idle), this.#database.now]
    return (await this.#run<number>('room', args)) === 1
  }

  newId(): Promise<string> {
    return this.#run<string>('new-id', [])
  }

  async list(): Promise<string[]> {
    const ids: string[] = []
    for (let from = 0; ; from += PAGE) {
      const page = await this.#run<readonly (string | null)[]>('list', [`${from}`, `${from + PAGE - 1}`])
      // An account that is deleted meanwhile has no id.
      for (const id of page) if (id !== null) ids.push(decodeId(id))
      if (page.length < PAGE) return ids
    }
  }

  #run<Reply extends RedisReply = readonly RedisReply[]>(name: ScriptName, args: readonly string[]): Promise<Reply> {
    // All of these scripts may run twice: a finished step stays as it is.
    return this.#database.run<Reply>(name, this.#keys, args, { repeatable: true })
  }
}

/** A limit for a script: an empty text for none. */
function writeLimit(limit = Number.POSITIVE_INFINITY): string {
  return Number.isFinite(limit) ? `${limit}` : ''
}
