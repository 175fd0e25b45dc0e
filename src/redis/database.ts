import { randomBytes } from 'node:crypto'
import type { Settings } from '../domain/settings.ts'
import type { Clock } from '../ground/clock.ts'
import { StoreError } from '../store/store-error.ts'
import { type CommandOptions, DEADLINE, LARGE_DEADLINE, type RedisReply, type StoreConnection } from './connection.ts'
import { baseOf } from './keys.ts'

/** About how many fields of a large hash are read at a time. The server serves no other client meanwhile. */
const PAGE = '10000'
const ONLY: ServerPlace = { number: 0, since: '0' }
/** How many operations of each server an account remembers, to recognize those that come again. */
const REMEMBERED = 512

/** A server among those that use the store. */
export interface ServerPlace {
  /** Of all servers that take part at the same time, no other has it. */
  number: number
  /** When the server got the number, in microseconds on the clock of the store. */
  since: string
}

export interface DatabaseOptions {
  connection: StoreConnection
  /** The beginning of the names of all keys. */
  prefix: string
  settings: Pick<Settings, 'nameComparison'>
  /** The present place of this server. Default: the place of the only one. */
  place?: (() => ServerPlace) | undefined
  /** Gives the time in place of the server, for tests with their own clock. */
  clock?: Clock | undefined
}

/** The data under a prefix, and the functions that run on it. */
export class RedisDatabase {
  readonly connection: StoreConnection
  readonly prefix: string
  readonly settings: DatabaseOptions['settings']
  /** Names this process. No other process ever has the same name. */
  readonly instance = randomBytes(9).toString('base64url')
  readonly #base: string
  readonly #place: () => ServerPlace
  readonly #clock: Clock | undefined
  #operations = 0
  #slots = 0

  constructor({ connection, prefix, settings, place = () => ONLY, clock }: DatabaseOptions) {
    this.connection = connection
    this.prefix = prefix
    this.settings = settings
    this.#base = baseOf(prefix)
    this.#place = place
    this.#clock = clock
  }

  /** The time for functions, in milliseconds: an empty text if they ask the server. */
  get now(): string {
    return this.#clock === undefined ? '' : `${this.#clock()}`
  }

  /** An id that no other operation of any server has. */
  newOperation(): string {
    return `${this.instance}.${(++this.#operations).toString(36)}`
  }

  /** Calls a function. Most functions return a list. */
  call<Reply extends RedisReply = readonly RedisReply[]>(
    name: string,
    args: readonly string[],
    options?: CommandOptions,
  ): Promise<Reply> {
    return this.connection.call(name, this.#base, args, options) as Promise<Reply>
  }

  /**
   * Calls a function on an account, which is done once, however often it is sent: the account remembers the last
   * operations of each server, see `recognize` in `requests.lua`. @throws StoreError
   */
  async callOnce<Reply extends RedisReply = readonly RedisReply[]>(
    name: string,
    incarnation: string,
    args: readonly string[],
    deadline = DEADLINE,
  ): Promise<Reply> {
    const operation = ++this.#slots
    const { number, since } = this.#place()
    const known = [`@${number}.${operation % REMEMBERED}`, `${since}.${this.instance}`, `${operation}`]
    const write = (attempt: string) => [incarnation, ...known, attempt, ...args]
    const repeat = (attempt: number) => write(`${attempt}`)
    const reply = await this.call<Reply>(name, write('1'), { repeat, deadline })
    return refuseLate(reply, name)
  }

  /** The same for a function that itself recognizes what it has done, by an operation after the incarnation. */
  async callAgain(
    name: string,
    [incarnation, operation, ...args]: readonly [incarnation: string, operation: string, ...rest: string[]],
    deadline = DEADLINE,
  ): Promise<readonly RedisReply[]> {
    const repeat = (attempt: number) => [incarnation, operation, `${attempt}`, ...args]
    return refuseLate(await this.call(name, repeat(1), { repeat, deadline }), name)
  }

  /** Sends a command that changes nothing. */
  read(command: readonly string[], deadline = DEADLINE): Promise<RedisReply> {
    return this.connection.send(command, { isReadOnly: true, deadline })
  }

  /** Reads a part of a large hash: the place where the next part begins, and the flat list of fields. */
  readPage(key: string, from = '0'): Promise<HashPage> {
    return this.read(['HSCAN', key, from, 'COUNT', PAGE], LARGE_DEADLINE) as Promise<HashPage>
  }

  /** The fields of a large hash, from its first page on. Several pages may be of different versions of the hash. */
  async readPages(key: string, first: HashPage): Promise<Map<string, string>> {
    // A page may repeat fields of another one.
    const fields = new Map(readTexts(first[1]))
    for (let [cursor, list] = first; cursor !== '0'; ) {
      ;[cursor, list] = await this.readPage(key, cursor)
      for (const [name, text] of readTexts(list)) fields.set(name, text)
    }
    return fields
  }
}

type HashPage = [next: string, list: RedisReply]

/** The pairs of a flat list with alternating names and texts. */
export function readTexts(list: RedisReply | undefined): [name: string, text: string][] {
  const texts = list as readonly string[]
  const pairs: [string, string][] = []
  for (let index = 0; index < texts.length; index += 2) pairs.push([texts[index] ?? '', texts[index + 1] ?? ''])
  return pairs
}

/** So many later commands came before a repeated one that the store does not remember whether it was done. */
function refuseLate<Reply extends RedisReply>(reply: Reply, name: string): Reply {
  if (!Array.isArray(reply) || reply[0] !== 'late') return reply
  const error = new StoreError('unknown', `The store does not remember whether it has done "${name}"`)
  throw Object.assign(error, { reported: true })
}
