import { isObject } from './json.ts'
import type { Work } from './work.ts'

/** How many items of a list are written in one step. */
const SLICE = 1_000
/** Below this depth, a value is written at once. */
const DEPTH = 3

/** The same text as that of `JSON.stringify`, as work that can pause between the items of long lists. */
export function* writeJson(value: unknown, depth = 0): Work<string> {
  if (Array.isArray(value) && value.length > SLICE) {
    const parts: string[] = []
    for (let first = 0; first < value.length; first += SLICE) {
      parts.push(JSON.stringify(value.slice(first, first + SLICE)).slice(1, -1))
      yield
    }
    return `[${parts.join(',')}]`
  }
  if (!isObject(value) || depth === DEPTH) return JSON.stringify(value)
  const fields: string[] = []
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined) fields.push(`${JSON.stringify(name)}:${yield* writeJson(field, depth + 1)}`)
  }
  return `{${fields.join(',')}}`
}
