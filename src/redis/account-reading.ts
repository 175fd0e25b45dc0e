import { joinParts, type PartChange } from '../store/parts.ts'
import { StoreError } from '../store/store-error.ts'
import { LARGE_DEADLINE } from './connection.ts'
import type { AccountCopy } from './copies.ts'
import { type RedisDatabase, readTexts } from './database.ts'
import { accountKey } from './keys.ts'

/** How often the reading begins again because other replicas have changed too much meanwhile. */
const ATTEMPTS = 5

/** A record of the log: its id, which begins with the version, and the changed parts. */
export type LogRecord = readonly [id: string, fields: readonly string[]]

/**
 * Reads the whole account; `undefined` if it is gone. Commands of the server read much faster than a script. The parts
 * of a large account may be of several versions. So the changes since the first version are applied.
 */
export async function readAccount(incarnation: string, database: RedisDatabase): Promise<AccountCopy | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const copy = await tryToRead(incarnation, database)
    if (copy !== 'changed') return copy
  }
  throw new StoreError('unavailable', 'Others change the account faster than it can be read')
}

async function tryToRead(incarnation: string, database: RedisDatabase): Promise<AccountCopy | 'changed' | undefined> {
  const head = accountKey(database.prefix, incarnation, 'head')
  const fields = accountKey(database.prefix, incarnation, 'parts')
  const describe = (deadline?: number) => database.read(['HMGET', head, '#v', '#t', '#g', '#e', '#c'], deadline)
  // All three commands are sent together. For most accounts, no further command is necessary. The first command shows
  // soon whether the server answers. The parts may take longer.
  const [first, page, second] = await Promise.all([describe(), database.readPage(fields), describe(LARGE_DEADLINE)])
  let [version, token, gate] = first as readonly (string | null)[]
  const [, , , evictable, changed] = first as readonly (string | null)[]
  if (typeof version !== 'string' || typeof token !== 'string' || typeof gate !== 'string') return undefined
  const parts = await database.readPages(fields, page)
  if (page[0] !== '0' || (second as readonly string[])[1] !== token) {
    const told = await database.call('look', [incarnation, version, token])
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
  if (!parts.has('.id')) throw lackOfParts(incarnation, database)
  return {
    incarnation,
    state: joinParts(parts, database.settings),
    version: Number(version),
    token,
    gate,
    isEvictable: evictable === '1',
    isChanged: changed === '1' || Number(version) > 1,
  }
}

/** The error for an account whose state was lost, but not its head. */
export function lackOfParts(incarnation: string, { prefix }: RedisDatabase): StoreError {
  const [head, parts] = [accountKey(prefix, incarnation, 'head'), accountKey(prefix, incarnation, 'parts')]
  const message = `The store lacks the key ${parts} of an account: it was deleted, or evicted because the setting maxmemory-policy permits that`
  return new StoreError(
    'damaged',
    `${message}; restore it from a backup, or delete ${head}, too, which ends the account`,
  )
}

/** The changed parts of a record of the log: `+` marks a new value, and `-` a removed part. */
export function readRecord(fields: readonly string[]): PartChange[] {
  return readTexts(fields).map(([name, text]) => [name.slice(1), name.startsWith('+') ? text : undefined])
}
