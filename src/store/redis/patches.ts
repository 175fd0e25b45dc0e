import type { AccountState } from '../../domain/account.ts'
import { type AccountRecord, encodeAccount } from '../record.ts'

/** What leads from an account back to the account before a change, by the names of the fields that differ. */
type Patch = Record<
  string,
  { was: unknown } | { between: [start: number, end: number, items: readonly unknown[]] } | null
>

/**
 * Describes the way back from `after` to `before`. Lists that share their items are short: only the items between the
 * first and the last difference are kept. Null stands for a field that was absent.
 */
export function patchBack(after: AccountState, before: AccountState): string {
  const [newer, older] = [encodeAccount(after), encodeAccount(before)] as unknown as Record<string, unknown>[]
  const patch: Patch = {}
  for (const name of new Set([...Object.keys(newer ?? {}), ...Object.keys(older ?? {})])) {
    const isSame = after[name as keyof AccountState] === before[name as keyof AccountState]
    if (!isSame) patch[name] = describe(newer?.[name], older?.[name])
  }
  return JSON.stringify(patch)
}

function describe(newer: unknown, older: unknown): Patch[string] {
  if (older === undefined) return null
  if (!Array.isArray(newer) || !Array.isArray(older)) return { was: older }
  const shorter = Math.min(newer.length, older.length)
  let start = 0
  while (start < shorter && newer[start] === older[start]) start++
  let end = 0
  while (end < shorter - start && newer.at(-1 - end) === older.at(-1 - end)) end++
  return { between: [start, end, older.slice(start, older.length - end)] }
}

/** The account before the change that has left this patch. */
export function applyPatch(record: AccountRecord, text: string): AccountRecord {
  const fields: Record<string, unknown> = { ...record }
  for (const [name, part] of Object.entries(JSON.parse(text) as Patch)) {
    if (part === null) delete fields[name]
    else if ('was' in part) fields[name] = part.was
    else {
      const [start, end, items] = part.between
      const list = fields[name] as readonly unknown[]
      fields[name] = [...list.slice(0, start), ...items, ...list.slice(list.length - end)]
    }
  }
  return fields as unknown as AccountRecord
}
