import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'

/** The text of a message that a service sent, with its place in openapi.yaml. */
export interface SeenMessage {
  /** An error code, or the `operationId` of a success. */
  of: string
  text: string
  /** JSON pointer of the object that holds the text, and its field. */
  place: string
  key: 'message' | 'default'
}

/** A word that no value of a request looks like. */
const ORDINARY = /^\(?(?:[A-Z]?[a-z]+(?:['’-][a-z]+)*|[A-Z]+)[.,;:!?)]*$/
/** What a request may have as ordinary words, such as the name of a group. */
const FREE = /\{(?:name|value)\}/

/**
 * The messages that were always the same, apart from those that `document` has already. A text with anything but words,
 * and that of a code with several reasons, may be another one next time, so it is left out.
 */
export function messagesIn(texts: Readonly<Record<string, readonly string[]>>, document: Json): SeenMessage[] {
  return Object.entries(texts).flatMap(([of, seen]) => {
    const [text, ...others] = seen
    if (text === undefined || others.length > 0 || !text.split(' ').every((word) => ORDINARY.test(word))) return []
    const place = placeOfRefusal(of, document) ?? placeOfSuccess(of, document)
    if (place === undefined || place.present === text || FREE.test(place.present)) return []
    return [{ of, text, place: place.pointer, key: place.key }]
  })
}

/** `present` is the text that the document has there. */
type MessagePlace = Pick<SeenMessage, 'key'> & { pointer: string; present: string }

function placeOfRefusal(code: string, document: Json): MessagePlace | undefined {
  const pointer = pointTo('/x-errors', code)
  const entry = valueAt(document, pointer)
  if (!isObject(entry) || typeof entry['message'] !== 'string') return undefined
  const reasons = Object.values(entry['reasons'] ?? {}) as Json[]
  if (reasons.some(({ message }) => message !== undefined)) return undefined
  return { pointer, key: 'message', present: entry['message'] }
}

/** The schema of the message in the successes of an operation. */
function placeOfSuccess(operationId: string, document: Json): MessagePlace | undefined {
  const operations = Object.values(document['paths'] as Json).flatMap((path) => Object.values(path as Json))
  const operation = operations.find((each) => isObject(each) && each['operationId'] === operationId)
  const responses = Object.entries(((operation as Json | undefined)?.['responses'] ?? {}) as Json)
  for (const [, response] of responses.filter(([status]) => status.startsWith('2'))) {
    let found = follow(document, response, '')
    for (const step of ['content', 'application/json', 'schema', 'properties', 'data', 'properties', 'message']) {
      found = isObject(found?.value) ? follow(document, found.value[step], pointTo(found.pointer, step)) : undefined
    }
    const present = isObject(found?.value) ? found.value['default'] : undefined
    if (found !== undefined && typeof present === 'string') return { pointer: found.pointer, key: 'default', present }
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
