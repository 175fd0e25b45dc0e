import type { Settings } from '../../domain/settings.ts'
import { joinParts } from '../parts.ts'
import type { FormerAccount, Moment } from '../store.ts'
import { LARGE_DEADLINE, type Reply, type StoreConnection } from './connection.ts'
import { readCounters, readTexts } from './counter-texts.ts'
import { accountKeys, formerKeys } from './keys.ts'
import type { readScripts } from './scripts.ts'

/** The fields of a record of a stream: names and values alternate. */
type Fields = readonly string[]

/**
 * The account as it was at a moment; `undefined` where the records of what was changed since do not reach back so far, or
 * the account has ended. The present account and these records are read in one step.
 */
export async function recallAccount(
  { incarnation, version: text, sequence }: Moment,
  connection: StoreConnection,
  { recall }: ReturnType<typeof readScripts>,
  { prefix, settings }: { prefix: string; settings: Pick<Settings, 'nameComparison'> },
): Promise<FormerAccount | undefined> {
  // See `momentVersion`.
  const [version = '', token = ''] = text.split(' ')
  const keys = [...accountKeys(prefix, `${incarnation}`), ...formerKeys(prefix, `${incarnation}`)]
  const reply = (await connection.run(recall, keys, [version, token, `${sequence}`], {
    deadline: LARGE_DEADLINE,
  })) as readonly Reply[]
  const [outcome, told, changes, counts, quotas, tallies] = reply
  if (outcome !== 'ok') return undefined
  const parts = new Map(readTexts(told))
  for (const fields of [...(changes as readonly Fields[])].reverse()) undoChange(parts, fields)
  const counters = { q: new Map(readTexts(quotas)), t: new Map(readTexts(tallies)) }
  const records = counts as readonly (readonly [id: string, fields: Fields])[]
  for (const [, fields] of [...records].reverse()) undoCounts(counters, fields)
  return { incarnation, state: joinParts(parts, settings), counters: readCounters(counters.q, counters.t) }
}

/** Undoes a change: each part was what stands behind `-`, and was not there where nothing does. */
function undoChange(parts: Map<string, string>, fields: Fields): void {
  for (const [field] of pairsOf(fields)) if (field.startsWith('+')) parts.delete(field.slice(1))
  for (const [field, text] of pairsOf(fields)) if (field.startsWith('-')) parts.set(field.slice(1), text)
}

/** Undoes what a request, or somebody who has set counters, has counted. */
function undoCounts(counters: Record<'q' | 't', Map<string, string>>, fields: Fields): void {
  const known = new Set<string>()
  for (const [field, text] of pairsOf(fields)) {
    const letter = field.charAt(0)
    // Where a field stands twice, the first one is what was there.
    if ((letter !== 'q' && letter !== 't') || known.has(field)) continue
    known.add(field)
    if (text === '') counters[letter].delete(field.slice(1))
    else counters[letter].set(field.slice(1), text)
  }
}

/** The fields after the operation, which comes first. */
function* pairsOf(fields: Fields): Generator<[field: string, text: string]> {
  for (let index = 2; index < fields.length; index += 2) yield [fields[index] ?? '', fields[index + 1] ?? '']
}
