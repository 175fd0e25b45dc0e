/** A JSON object, as it comes out of a parser. */
export type Json = Record<string, unknown>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Appends one step to a JSON pointer (RFC 6901). */
export function pointTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The steps of a JSON pointer. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const step of stepsOf(pointer)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = (value as Json)[step]
  }
  return value
}

/** Applies a JSON merge patch (RFC 7396): null removes, objects merge, all else replaces. Changes neither argument. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged: Json = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key]
    else define(merged, key, mergePatch(merged[key], value))
  }
  return merged
}

/** Sets a property that may be called `__proto__` without touching the prototype. */
export function define(target: Json, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
