import type { AccountState } from '../../domain/account.ts'
import type { Capacity } from '../store.ts'
import { StoreError } from '../store-error.ts'
import type { RedisReply, StoreConnection } from './connection.ts'
import { decodeId, encodeId, registryKeys } from './keys.ts'
import type { readScripts, ScriptName } from './scripts.ts'

/** In milliseconds, how long uses of accounts are collected before they are sent together. */
const GATHERING = 100
/** How many ids are read at a time. Lua can pass this number of arguments. */
const PAGE = 5_000

/** How often a registration finishes the deletion of another account that still has the id or a key. */
const MAX_ATTEMPTS = 100

/** An account in the list of all accounts. */
export interface ListedAccount {
  incarnation: string
  id: string
}

/** The result of a registration. */
export interface Registered {
  /** The evicted account, whose data is to be deleted. */
  evicted: ListedAccount | undefined
  /** Other accounts whose data must still be deleted, because the process that began the deletion has ended. */
  doomed: readonly string[]
}

/** Ids, keys and capacity: the data on which all replicas agree, beside the accounts themselves. */
export class Registry {
  readonly #connection: StoreConnection
  readonly #scripts: ReturnType<typeof readScripts>
  readonly #keys: readonly string[]
  readonly #now: () => string
  /** The times of uses by account, in the order of the uses. */
  #uses = new Map<string, number>()
  #telling: NodeJS.Timeout | undefined

  /** `now` gives the time for scripts: an empty text if they ask the server. */
  constructor(
    connection: StoreConnection,
    scripts: ReturnType<typeof readScripts>,
    { prefix, now }: { prefix: string; now: () => string },
  ) {
    this.#connection = connection
    this.#scripts = scripts
    this.#keys = registryKeys(prefix)
    this.#now = now
  }

  async find(by: 'id' | 'key', name: string): Promise<ListedAccount | undefined> {
    const reply = (await this.#run('find', [by, by === 'id' ? encodeId(name) : name])) as readonly string[]
    const [incarnation, id] = reply
    return incarnation === undefined || id === undefined ? undefined : { incarnation, id: decodeId(id) }
  }

  /**
   * Registers the account. `finish` deletes the data of an account that is being deleted and still has the id or a key.
   * @throws StoreError `taken`, `full`
   */
  async register(
    { id, keys }: AccountState,
    incarnation: string,
    { limit, evictable, idle }: Capacity,
    finish: (doomed: string) => Promise<unknown>,
  ): Promise<Registered> {
    const finite = (number: number | undefined) => (number === undefined || !Number.isFinite(number) ? '' : `${number}`)
    const options = [finite(limit), evictable === true ? '1' : '0', finite(idle), this.#now()]
    const args = [encodeId(id), incarnation, ...options, ...keys.map(({ hash }) => hash)]
    await this.flush()
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const reply = (await this.#run('register', args)) as readonly RedisReply[]
      const [outcome, one, other, rest] = reply
      if (outcome === 'dying') await finish(one as string)
      else if (outcome === 'taken') throw new StoreError('taken', `There is an account "${id}" already`)
      else if (outcome === 'held') throw heldKey(keys, one as number, other as string)
      else if (outcome === 'full') {
        throw new StoreError('full', `There are ${one} accounts, which is the maximum`)
      } else {
        const evicted = one === null ? undefined : { incarnation: one as string, id: decodeId(other as string) }
        return { evicted, doomed: rest as readonly string[] }
      }
    }
    throw stillDying()
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
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const args = [incarnation, operation, this.#now(), ...keys.map(({ hash }) => hash)]
      const [outcome, one, other] = (await this.#run('claim', args)) as readonly RedisReply[]
      if (outcome === 'dying') await finish(one as string)
      else if (outcome === 'held') throw heldKey(keys, one as number, other as string)
      else return outcome === 'ok'
    }
    throw stillDying()
  }

  /** Reports which of the claimed keys the account has at a version, and releases the others. */
  async unclaim(
    incarnation: string,
    operation: string,
    version: number,
    keys: readonly (readonly [hash: string, isHeld: boolean])[],
  ): Promise<void> {
    const pairs = keys.flatMap(([hash, isHeld]) => [hash, isHeld ? '1' : '0'])
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
    return (await this.#run('mark', [incarnation, this.#now()])) === 1
  }

  /** Accounts whose deletion began a while ago, and is not finished. */
  async doomed(): Promise<readonly string[]> {
    return (await this.#run('doomed', [this.#now()])) as readonly string[]
  }

  async hasRoom({ limit, idle }: Capacity): Promise<boolean> {
    const finite = (number: number | undefined) => (number === undefined || !Number.isFinite(number) ? '' : `${number}`)
    return (await this.#run('room', [finite(limit), finite(idle), this.#now()])) === 1
  }

  async newId(): Promise<string> {
    return (await this.#run('new-id', [])) as string
  }

  async list(): Promise<string[]> {
    const ids: string[] = []
    for (let from = 0; ; from += PAGE) {
      const page = (await this.#run('list', [`${from}`, `${from + PAGE - 1}`])) as readonly (string | null)[]
      // An account that is deleted meanwhile has no id.
      for (const id of page) if (id !== null) ids.push(decodeId(id))
      if (page.length < PAGE) return ids
    }
  }

  #run(name: ScriptName, args: readonly string[]): Promise<RedisReply> {
    // All of these scripts may run twice: a finished step stays as it is.
    return this.#connection.run(this.#scripts[name], this.#keys, args, { repeatable: true })
  }
}

function stillDying(): StoreError {
  return new StoreError('unavailable', 'An account that has the id or a key is still being deleted')
}

function heldKey(keys: AccountState['keys'], index: number, holder: string): StoreError {
  return new StoreError('taken', `The key "${keys[index]?.id}" belongs to the account "${decodeId(holder)}" already`)
}
