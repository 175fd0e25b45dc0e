import { isObject, valueAt } from '../ground/json.ts'

/** What a local reference refers to. Any other value is returned as it is. */
export function follow(document: object, value: unknown): unknown {
  const reference = isObject(value) ? value['$ref'] : undefined
  return typeof reference === 'string' && reference.startsWith('#/')
    ? follow(document, valueAt(document, reference.slice(1)))
    : value
}
