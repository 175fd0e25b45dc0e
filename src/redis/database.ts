import { randomBytes } from 'node:crypto'
import type { Settings } from '../domain/settings.ts'
import type { Clock } from '../ground/clock.ts'
import { type CommandOptions, DEADLINE, LARGE_DEADLINE, type RedisReply, type StoreConnection } from './connection.ts'
import { readScript, type Script } from './script.ts'

const NAMES = [
  ...['enter', 'look', 'create', 'settle', 'change', 'counters', 'recount', 'refund', 'kill'],
  ...['take-snapshot', 'delete-snapshot', 'recall'],
  ...['register', 'release', 'find', 'claim', 'unclaim', 'use', 'mark', 'room', 'new-id', 'list', 'doomed'],
  ...['lost', 'adopt', 'renumber'],
] as const

export type ScriptName = (typeof NAMES)[number]

/** About how many fields of a large hash are read at a time. The server serves no other client meanwhile. */
const PAGE = '10000'

export interface DatabaseOptions {
  connection: StoreConnection
  /** The beginning of the names of all keys. */
  prefix: string
  settings: Pick<Settings, 'nameComparison'>
  /** Gives the time in place of the server, for tests with their own clock. */
  clock?: Clock | undefined
}

/** The keys of a prefix, with the scripts that run on them. */
export class RedisDatabase {
  readonly connection: StoreConnection
  readonly prefix: string
  readonly settings: DatabaseOptions['settings']
  readonly #clock: Clock | undefined
  readonly #scripts = Object.fromEntries(
    NAMES.map((name) => [name, readScript(`redis/scripts/${name}.lua`)]),
  ) as Record<ScriptName, Script>

  constructor({ connection, prefix, settings, clock }: DatabaseOptions) {
    this.connection = connection
    this.prefix = prefix
    this.settings = settings
    this.#clock = clock
  }

  /** The time for scripts: an empty text if they ask the server. */
  get now(): string {
    return this.#clock === undefined ? '' : `${this.#clock()}`
  }

  /** Runs a script. Most scripts return a list. */
  run<Reply extends RedisReply = readonly RedisReply[]>(
    name: ScriptName,
    keys: readonly string[],
    args: readonly string[],
    options?: CommandOptions,
  ): Promise<Reply> {
    return this.connection.run(this.#scripts[name], keys, args, options) as Promise<Reply>
  }

  /** Runs a script that is done once, however often it is sent: it knows the operation, and counts the attempts. */
  runOnce(
    name: ScriptName,
    keys: readonly string[],
    operation: string,
    args: readonly string[],
    deadline = DEADLINE,
  ): Promise<readonly RedisReply[]> {
    const repeat = (attempt: number) => [operation, `${attempt}`, ...args]
    return this.run(name, keys, repeat(1), { repeat, deadline })
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

/** The common beginning of the operation ids of this process, and how many ids there were. */
const origin = randomBytes(9).toString('base64url')
let operations = 0

/** An id that no other operation of any replica has. */
export function newOperation(): string {
  return `${origin}.${(++operations).toString(36)}`
}
