import { isObject, valueAt } from '../ground/json.ts'

/** The target of a local reference. Any other value is returned unchanged. */
export function follow(document: object, value: unknown): unknown {
  const reference = isObject(value) ? value['$ref'] : undefined
  return typeof reference === 'string' && reference.startsWith('#/')
    ? follow(document, valueAt(document, reference.slice(1)))
    : value
}
