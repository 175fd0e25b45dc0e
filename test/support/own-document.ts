import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { load } from 'js-yaml'
import { isObject, type Json, pointTo, valueAt } from '../../src/ground/json.ts'

export const OWN_DOCUMENT = fileURLToPath(new URL('../../openapi.yaml', import.meta.url))

/** openapi.yaml as it is written, parsed anew so that a test may change it. */
export function ownDocument(): Json {
  return load(readFileSync(OWN_DOCUMENT, 'utf8')) as Json
}

/** The object at a JSON pointer; a test that names a place which is none is mistaken. */
export function objectAt(document: unknown, pointer: string): Json {
  const value = valueAt(document, pointer)
  if (!isObject(value)) throw new Error(`There is no object at ${pointer}.`)
  return value
}

/** Every object of the document with its JSON pointer, outermost first. */
export function* objectsIn(value: unknown, pointer = ''): Generator<{ pointer: string; value: Json }> {
  if (isObject(value)) yield { pointer, value }
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) yield* objectsIn(item, pointTo(pointer, key))
}

/** What must hold of every reason that a person reads: one line, one sentence. */
export const ONE_SENTENCE = /^[^\n]*[^.\s]\.$/
