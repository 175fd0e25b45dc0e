import { exchangeParts, joinParts } from '../store/parts.ts'
import type { FormerAccount, Moment } from '../store/store.ts'
import { LARGE_DEADLINE } from './connection.ts'
import type { AccountCopy } from './copies.ts'
import { readCounters } from './counter-texts.ts'
import { type RedisDatabase, readTexts } from './database.ts'
import { accountKeys, formerKeys } from './keys.ts'

/** The fields of a record of a stream: names and values alternate. */
type StreamFields = readonly string[]

/**
 * The account at a moment; `undefined` if the records do not reach back so far, or the account has ended. It is
 * computed from `copy`, which is not older than the moment, so that the account is not sent again.
 */
export async function recallAccount(
  { incarnation, version: text, sequence }: Moment,
  copy: AccountCopy,
  database: RedisDatabase,
): Promise<FormerAccount | undefined> {
  // See `momentVersion`.
  const [version = '', token = ''] = text.split(' ')
  const { prefix, settings } = database
  const keys = [...accountKeys(prefix, `${incarnation}`), ...formerKeys(prefix, `${incarnation}`)]
  const args = [version, token, `${sequence}`, `${copy.version}`, copy.token]
  const reply = await database.run('recall', keys, args, { deadline: LARGE_DEADLINE })
  const [outcome, parts, changes, counts, quotas, tallies] = reply
  if (outcome !== 'ok') return undefined
  const undone = new Map<string, string | undefined>()
  for (const fields of [...(changes as readonly StreamFields[])].reverse()) undoChange(undone, fields)
  const present = parts === null ? copy.state : joinParts(readTexts(parts), settings)
  const state = exchangeParts(present, undone, settings)
  const counters = { q: new Map(readTexts(quotas)), t: new Map(readTexts(tallies)) }
  const records = counts as readonly (readonly [id: string, fields: StreamFields])[]
  for (const [, fields] of [...records].reverse()) undoCounts(counters, fields)
  return { incarnation, state, counters: readCounters(counters.q, counters.t) }
}

/** Undoes a change. The text after `-` is the old value of a part; without `-`, the part did not exist. */
function undoChange(parts: Map<string, string | undefined>, fields: StreamFields): void {
  for (const [field] of pairsOf(fields)) if (field.startsWith('+')) parts.set(field.slice(1), undefined)
  for (const [field, text] of pairsOf(fields)) if (field.startsWith('-')) parts.set(field.slice(1), text)
}

/** Undoes the counts of a request, or of a call that has set counters. */
function undoCounts(counters: Record<'q' | 't', Map<string, string>>, fields: StreamFields): void {
  const known = new Set<string>()
  for (const [field, text] of pairsOf(fields)) {
    const letter = field.charAt(0)
    // If a field occurs twice, the first one is the old value.
    if ((letter !== 'q' && letter !== 't') || known.has(field)) continue
    known.add(field)
    if (text === '') counters[letter].delete(field.slice(1))
    else counters[letter].set(field.slice(1), text)
  }
}

/** The fields after the operation, which is the first pair. */
function* pairsOf(fields: StreamFields): Generator<[field: string, text: string]> {
  for (let index = 2; index < fields.length; index += 2) yield [fields[index] ?? '', fields[index + 1] ?? '']
}
