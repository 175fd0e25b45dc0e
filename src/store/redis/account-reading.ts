import type { Settings } from '../../domain/settings.ts'
import { joinParts, type PartChange } from '../parts.ts'
import type { Script } from '../script.ts'
import { StoreError } from '../store-error.ts'
import { LARGE_DEADLINE, type RedisReply, type StoreConnection } from './connection.ts'
import type { AccountCopy } from './copies.ts'
import { readTexts } from './counter-texts.ts'

/** How many parts of an account are read at a time. The server serves no other client meanwhile. */
const PAGE = '10000'
/** How often the reading begins again because other replicas have changed too much meanwhile. */
const ATTEMPTS = 5

/** A record of the log: its id, which begins with the version, and the changed parts. */
export type LogRecord = readonly [id: string, fields: readonly string[]]

export interface ReadingDeps {
  connection: StoreConnection
  /** Tells what was changed since a version. */
  look: Script
  settings: Pick<Settings, 'nameComparison'>
}

/**
 * Reads the whole account with these keys; `undefined` if it is gone. Commands of the server read much faster than a
 * script. The parts of a large account may be of several versions. So the changes since the first version are applied.
 */
export async function readAccount(
  incarnation: string,
  keys: readonly string[],
  deps: ReadingDeps,
): Promise<AccountCopy | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const copy = await tryToRead(incarnation, keys, deps)
    if (copy !== 'changed') return copy
  }
  throw new StoreError('unavailable', 'Others change the account faster than it can be read')
}

async function tryToRead(
  incarnation: string,
  keys: readonly string[],
  { connection, look, settings }: ReadingDeps,
): Promise<AccountCopy | 'changed' | undefined> {
  const [meta = '', fields = ''] = keys
  const send = (command: readonly string[], deadline?: number) =>
    connection.send(command, { isReadOnly: true, ...(deadline !== undefined && { deadline }) })
  const describe = (deadline?: number) =>
    send(['HMGET', meta, 'version', 'token', 'gate', 'evictable', 'changed'], deadline)
  // The first command shows soon whether the server answers. The parts may take longer.
  const scan = (from: string) => send(['HSCAN', fields, from, 'COUNT', PAGE], LARGE_DEADLINE)
  // All three commands are sent together. For most accounts, no further command is necessary.
  const [first, page, second] = await Promise.all([describe(), scan('0'), describe(LARGE_DEADLINE)])
  let [version, token, gate] = first as readonly (string | null)[]
  const [, , , evictable, changed] = first as readonly (string | null)[]
  if (typeof version !== 'string' || typeof token !== 'string' || typeof gate !== 'string') return undefined
  let [cursor, list] = page as [string, RedisReply]
  // A page may repeat parts of another one.
  const parts = new Map(readTexts(list))
  if (cursor !== '0' || (second as readonly string[])[1] !== token) {
    while (cursor !== '0') {
      ;[cursor, list] = (await scan(cursor)) as [string, RedisReply]
      for (const [name, text] of readTexts(list)) parts.set(name, text)
    }
    const told = (await connection.run(look, keys, [version, token])) as readonly RedisReply[]
    if (told[0] !== 'ok') return undefined
    if (told[4] === 1) return 'changed'
    // A part that was read after a change has it already. To apply the change again makes no difference.
    for (const [, record] of told[4] === 0 ? [] : (told[4] as unknown as readonly LogRecord[])) {
      for (const [name, text] of readRecord(record)) {
        if (text === undefined) parts.delete(name)
        else parts.set(name, text)
      }
    }
    ;[version, token, gate] = told.slice(1) as [string, string, string]
  }
  if (!parts.has('.id')) {
    const message = `The store lacks the key ${fields} of an account: it was deleted, or evicted because the setting maxmemory-policy permits that`
    throw new StoreError(
      'damaged',
      `${message}; restore it from a backup, or delete ${meta}, too, which ends the account`,
    )
  }
  return {
    incarnation,
    state: joinParts(parts, settings),
    version: Number(version),
    token,
    gate,
    isEvictable: evictable === '1',
    isChanged: changed === '1' || Number(version) > 1,
  }
}

/** The changed parts of a record of the log: `+` marks a new value, and `-` a removed part. */
export function readRecord(fields: readonly string[]): PartChange[] {
  return readTexts(fields).map(([name, text]) => [name.slice(1), name.startsWith('+') ? text : undefined])
}
