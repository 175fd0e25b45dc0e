import type { Contract } from '../contract/contract.ts'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'

/** The text of a message that a service sent, with its place in openapi.yaml. */
export interface SeenMessage {
  /** An error code, or the `operationId` of a success. */
  of: string
  /** JSON pointer of the object that holds the text. */
  place: string
  /** The field of the text in this object. */
  key: 'message' | 'default'
  /** The text with placeholders. */
  template: string
}

/** With more texts than this, some may have been dropped, so the texts say nothing for certain. */
const MOST = 4
const PARTS = /`[^`]*`|[\w/.-]+|\s+|[^\s]/gu
const WORD = /[\w`]/

/**
 * The messages that are certain, apart from those that `document` already has. Either the text was always the same, or
 * only the values of a catalogue placeholder differ. Each such place must have at least two values. Two kinds are left
 * out. A code with several reasons may have a text for each. A text may contain the name of a group, which is not
 * known.
 */
export function messagesIn(
  texts: Readonly<Record<string, readonly string[]>>,
  { operations }: Pick<Contract, 'operations'>,
  document: Json,
): SeenMessage[] {
  const values = vocabularyOf(operations)
  return Object.entries(texts).flatMap(([of, seen]) => {
    if (seen.length > MOST || seen.length === 0) return []
    const place = placeOf(of, document)
    if (place === undefined) return []
    const allowed = place.key === 'message' ? [...place.text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) : []
    const template = templateOf(seen, values, allowed)
    return template === undefined || template === place.text
      ? []
      : [{ of, place: place.pointer, key: place.key, template }]
  })
}

interface MessagePlace {
  pointer: string
  key: SeenMessage['key']
  /** The present text. */
  text: string
}

function placeOf(of: string, document: Json): MessagePlace | undefined {
  const pointer = pointTo('/components/x-errors', of)
  const entry = valueAt(document, pointer)
  if (isObject(entry) && typeof entry['message'] === 'string') {
    return entry['reasons'] === undefined ? { pointer, key: 'message', text: entry['message'] } : undefined
  }
  return placeOfSuccess(of, document)
}

/** The schema of the message in the successes of an operation on domains. */
function placeOfSuccess(operationId: string, document: Json): MessagePlace | undefined {
  const operations = Object.values(valueAt(document, '/paths/~1domains') ?? {}).filter(isObject)
  const responses = operations.find((each) => each['operationId'] === operationId)?.['responses']
  if (!isObject(responses)) return undefined
  for (const [status, response] of Object.entries(responses)) {
    if (!status.startsWith('2')) continue
    let found = follow(document, response, '')
    for (const step of ['content', 'application/json', 'schema', 'properties', 'data', 'properties', 'message']) {
      found = isObject(found?.value) ? follow(document, found.value[step], pointTo(found.pointer, step)) : undefined
    }
    const text = isObject(found?.value) ? found.value['default'] : undefined
    if (found !== undefined && typeof text === 'string') return { pointer: found.pointer, key: 'default', text }
  }
  return undefined
}

/** The value, or if it is a reference, its target; with the place. */
function follow(document: Json, value: unknown, pointer: string): { value: unknown; pointer: string } | undefined {
  const reference = isObject(value) ? value['$ref'] : undefined
  if (typeof reference !== 'string') return value === undefined ? undefined : { value, pointer }
  const place = reference.slice(1)
  return { value: valueAt(document, place), pointer: place }
}

/** The possible values of each placeholder as messages write them, if their number is limited. */
function vocabularyOf(operations: Contract['operations']): ReadonlyMap<string, (word: string) => boolean> {
  const paths = new Set(operations.map(({ path }) => path))
  const limits = new Set(operations.flatMap(({ quota }) => (quota === undefined ? [] : [`${quota.limit}`])))
  return new Map([
    ['field', (word) => /^`[^`]+`$/.test(word)],
    ['path', (word) => paths.has(word)],
    ['limit', (word) => limits.has(word)],
  ])
}

function templateOf(
  texts: readonly string[],
  values: ReadonlyMap<string, (word: string) => boolean>,
  allowed: readonly string[],
): string | undefined {
  if (texts.some((text) => /[{}]/.test(text))) return undefined
  const split = texts.map((text) => text.match(PARTS) ?? [])
  const [first = []] = split
  if (split.some(({ length }) => length !== first.length)) return undefined
  const parts: string[] = []
  for (const [index, part] of first.entries()) {
    const words = new Set(split.map((each) => each[index] ?? ''))
    if (words.size === 1) {
      // A part that was seen in one text only may depend on the request, unless it is an ordinary word.
      if (texts.length === 1 && WORD.test(part) && !/^[A-Za-z]+$/.test(part.replace(/\.$/, ''))) return undefined
      parts.push(part)
      continue
    }
    const name = allowed.find((each) => [...words].every((word) => values.get(each)?.(word)))
    if (name === undefined) return undefined
    parts.push(`{${name}}`)
  }
  // A text with a name in it may be different for another name.
  const isOpen = allowed.some((name) => !values.has(name))
  return texts.length === 1 && isOpen ? undefined : parts.join('')
}
