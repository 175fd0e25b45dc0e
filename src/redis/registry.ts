import { clearTimeout, setTimeout } from '../ground/timers.ts'
import type { Capacity } from '../store/store.ts'
import { writeLimit } from './account-steps.ts'
import { LARGE_DEADLINE } from './connection.ts'
import type { RedisDatabase } from './database.ts'
import { baseOf, commonKey, decodeId, encodeId } from './keys.ts'

/** In milliseconds, how long uses of accounts are collected before they are sent together. */
const GATHERING = 100
/** How many ids are read at a time. */
const PAGE = 5_000
/** About how many keys of the server are looked at in one step of the search for accounts. */
const SEARCHED = 2_000
/** How many accounts are listed again in one step. */
const ADOPTED = 200
/** The numbers that give ids to requests without an account, see `shareAnonymousIds`. */
const REQUESTS = ['unauthenticated', 'malformed']

export interface ListedAccount {
  incarnation: string
  /** Empty if an account was found by a key, but its data is lost. */
  id: string
  /** Whether the head of the account is lost, so that it cannot be used. */
  isLost: boolean
}

/** Ids, keys, order and capacity: the data on which all servers agree, beside the accounts themselves. */
export class Registry {
  readonly #database: RedisDatabase
  /** The accounts that were used lately, in the order of their uses. */
  #uses = new Set<string>()
  #telling: NodeJS.Timeout | undefined

  constructor(database: RedisDatabase) {
    this.#database = database
  }

  async find(by: 'id' | 'key', name: string): Promise<ListedAccount | undefined> {
    const [incarnation, id, isThere] = await this.#database.call('find', [by, by === 'id' ? encodeId(name) : name])
    if (incarnation === undefined) return undefined
    return { incarnation: incarnation as string, id: decodeId(id as string), isLost: isThere !== 1 }
  }

  /** Ends an account. `lost`: its head was not there, so it was not deleted by a server. */
  async finish(incarnation: string, id = '', hash = ''): Promise<'ended' | 'gone' | 'lost'> {
    this.#uses.delete(incarnation)
    const args = [incarnation, this.#database.newOperation(), encodeId(id), hash]
    const outcome = await this.#database.call<number>('finish', args, { repeatable: true })
    return outcome === 1 ? 'ended' : outcome === 0 ? 'gone' : 'lost'
  }

  /** Records that an evictable account was used. It is sent to the store soon. */
  noteUse(incarnation: string): void {
    this.#uses.delete(incarnation)
    this.#uses.add(incarnation)
    if (this.#telling !== undefined) return
    this.#telling = setTimeout(() => void this.flush().catch(() => {}), GATHERING)
    this.#telling.unref()
  }

  /** Sends all uses. Later commands on the same connection run after them. */
  async flush(): Promise<void> {
    clearTimeout(this.#telling)
    this.#telling = undefined
    if (this.#uses.size === 0) return
    const args = [this.#database.now, ...this.#uses]
    this.#uses = new Set()
    // If this fails, another account may be evicted. No caller waits for the result.
    await this.#database.call('use', args, { repeatable: true }).catch(() => {})
  }

  async hasRoom({ limit, idle }: Capacity): Promise<boolean> {
    await this.flush()
    return (await this.#database.call<number>('room', [writeLimit(limit), writeLimit(idle), this.#database.now])) === 1
  }

  newId(): Promise<string> {
    return this.#database.call<string>('new_id', [], { repeatable: true })
  }

  async list(): Promise<string[]> {
    const ids: string[] = []
    let from = '0'
    do {
      const [next, page] = await this.#database.call('list', [from, `${PAGE}`])
      for (const id of page as readonly string[]) ids.push(decodeId(id))
      from = next as string
    } while (from !== '')
    return ids
  }

  /**
   * Makes deleted or evicted keys of the registry again, from the accounts themselves. Returns their names. The order of
   * creation and of use is lost. Other servers may do the same meanwhile.
   */
  async repair(): Promise<readonly string[]> {
    const { prefix, connection, now } = this.#database
    const [areAll, lost] = await this.#database.call<readonly [number, readonly string[]]>('losses', [])
    if (lost.length === 0) return []
    const options = { repeatable: true, deadline: LARGE_DEADLINE }
    const found = await this.#search()
    for (let from = 0; from < found.length; from += ADOPTED) {
      const incarnations = found.slice(from, from + ADOPTED).map(([incarnation]) => incarnation)
      await this.#database.call('adopt', [now, ...incarnations], options)
    }
    const given = found.map(([, id]) => Number(/^account-(\d{1,15})$/.exec(id)?.[1] ?? 0))
    // Ids of requests must not repeat. There were fewer requests than milliseconds since the Unix epoch.
    const far = `${connection.clock.now()}`
    const isNew = areAll === 1 && found.length === 0
    const requests = lost.includes('numbers') && !isNew ? REQUESTS.flatMap((name) => [name, far]) : []
    const last = given.reduce((most, each) => Math.max(most, each), 0)
    await this.#database.call('complete', ['ids', `${last}`, ...requests], options)
    return isNew ? [] : lost.map((name) => commonKey(prefix, name))
  }

  /** All accounts of the prefix, sorted by their ids. */
  async #search(): Promise<[incarnation: string, id: string][]> {
    const base = baseOf(this.#database.prefix)
    const pattern = `${base.replaceAll(/[*?[\]\\]/g, '\\$&')}*}:head`
    const found = new Map<string, string>()
    let cursor = '0'
    do {
      const command = ['SCAN', cursor, 'MATCH', pattern, 'COUNT', `${SEARCHED}`]
      const [next, keys] = (await this.#database.read(command, LARGE_DEADLINE)) as [string, readonly string[]]
      const ids = await Promise.all(keys.map((key) => this.#database.read(['HGET', key, '#id'], LARGE_DEADLINE)))
      for (const [index, key] of keys.entries()) {
        const incarnation = key.slice(base.length, -'}:head'.length)
        if (typeof ids[index] === 'string' && /^\d+$/.test(incarnation)) found.set(incarnation, ids[index])
      }
      cursor = next
    } while (cursor !== '0')
    return [...found].sort(([, one], [, other]) => (one < other ? -1 : 1))
  }
}
