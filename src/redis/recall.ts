import { exchangeParts } from '../store/parts.ts'
import type { FormerAccount, Moment } from '../store/store.ts'
import { LARGE_DEADLINE } from './connection.ts'
import type { AccountCopy } from './copies.ts'
import { readCounters, readUndo } from './counter-texts.ts'
import { type RedisDatabase, readTexts } from './database.ts'

/** The fields of a record of a stream: names and values alternate. */
type StreamFields = readonly string[]

/**
 * The account at a moment; `undefined` if the store does not know all changes since then, or the account has ended. It
 * is computed from `copy`, which is not older than the moment, so that the account is not sent again.
 */
export async function recallAccount(
  { incarnation, version: text, sequence }: Moment,
  copy: AccountCopy,
  database: RedisDatabase,
): Promise<FormerAccount | undefined> {
  // See `momentVersion`.
  const [version = '', token = ''] = text.split(' ')
  const args = [`${incarnation}`, version, token, `${sequence}`, `${copy.version}`, copy.token]
  const [outcome, changes, undone, counters] = await database.call('recall', args, { deadline: LARGE_DEADLINE })
  if (outcome !== 'ok') return undefined
  const parts = new Map<string, string | undefined>()
  for (const fields of [...(changes as readonly StreamFields[])].reverse()) undoChange(parts, fields)
  const counts = new Map(readTexts(counters))
  for (const undo of undone as readonly string[]) undoCounts(counts, undo)
  const state = exchangeParts(copy.state, parts, database.settings)
  return { incarnation, state, counters: readCounters(counts) }
}

/** Undoes a change. The text after `-` is the old value of a part; without `-`, the part did not exist. */
function undoChange(parts: Map<string, string | undefined>, fields: StreamFields): void {
  // The first pair is the operation.
  const pairs = readTexts(fields.slice(2))
  for (const [field] of pairs) if (field.startsWith('+')) parts.set(field.slice(1), undefined)
  for (const [field, text] of pairs) if (field.startsWith('-')) parts.set(field.slice(1), text)
}

/** Undoes the counts of a request, or of a call that has set counters. */
function undoCounts(counters: Map<string, string>, undo: string): void {
  const known = new Set<string>()
  // The number of the change precedes the names.
  for (const [name, text] of readUndo(undo.slice(undo.indexOf(' ') + 1))) {
    // If a name occurs twice, the first one is the old value.
    if (!/^[qt]/.test(name) || known.has(name)) continue
    known.add(name)
    if (text === '') counters.delete(name)
    else counters.set(name, text)
  }
}
