/** A JSON object from a parser. */
export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value of a JSON text; `undefined` for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value of a JSON text. For any other text, throws what `fail` makes of a sentence about the syntax error. */
export function parseJson(text: string, fail: (reason: string) => Error): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw fail(`This is not valid JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}.`)
  }
}

/** The JSON of a value; `undefined` for a value that has none or is nested too deeply. */
export function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Appends one step to a JSON pointer (RFC 6901). */
export function pointTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The steps of a JSON pointer, unescaped. */
export function stepsOf(pointer: string): string[] {
  const steps = pointer.split('/').slice(1)
  // Few pointers have an escaped character.
  return pointer.includes('~') ? steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : steps
}

/** The value at a JSON pointer; `undefined` if there is none. Inherited properties do not count. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const step of stepsOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Json)[step]
  }
  return value
}

/**
 * Applies a JSON merge patch (RFC 7396): null removes, objects merge, anything else replaces. Changes neither argument.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Json = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else define(merged, key, mergePatch(merged[key], value))
  }
  return merged
}

export function mapValues(object: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

/** Sets a property. A property called `__proto__` does not change the prototype. */
export function define(target: Json, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Whether arrays and objects are nested more than `limit` levels. Not recursive, because the stack could overflow. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  let level: object[] = isNested(value) ? [value] : []
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === limit) return level.some((each) => Object.keys(each).length > 0)
    const next: object[] = []
    for (const each of level) {
      // Faster than `Object.values` for an object with many fields.
      const names = Array.isArray(each) ? undefined : Object.keys(each)
      const values = each as Readonly<Record<string | number, unknown>>
      for (let index = 0; index < (names ?? (each as unknown[])).length; index++) {
        const value = values[names?.[index] ?? index]
        if (isNested(value)) next.push(value)
      }
    }
    level = next
  }
  return false
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** The relevant parts of JSON: a string, with the colon that makes it the name of a field, or a bracket. */
const PART = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g

/** The first duplicate field name of one object in a valid JSON text; `undefined` if there is none. */
export function findDuplicateField(json: string): string | undefined {
  /** The names of the fields so far, of each object or array that is still open. */
  const open: Set<string>[] = []
  for (const [part, text, colon] of json.matchAll(PART)) {
    if (part === '{' || part === '[') open.push(new Set())
    else if (part === '}' || part === ']') open.pop()
    else if (text !== undefined && colon !== undefined) {
      // Two spellings with different escapes are one name.
      const name: string = JSON.parse(text)
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
  }
  return undefined
}
