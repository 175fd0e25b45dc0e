import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { jsonrepair } from 'jsonrepair'
import type { Operation } from '../contract/api.ts'
import { acceptsType } from '../contract/body.ts'
import type { Settings } from '../domain/settings.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { isObject, type Json, readJson, valueAt } from '../ground/json.ts'
import type { Parameters } from '../ground/target.ts'
import { type Entry, fieldOf } from '../journal/entry.ts'
import { syntaxErrorIn } from './json-position.ts'

/** What a client has sent to an operation. */
export interface SentContent {
  operation: Operation
  parameters: Parameters
  /** The segment after the path of the operation. */
  rest: string | undefined
  headers: Entry['headers']
  body: Buffer | undefined
}

/** A body, and what has to change beside its fields. */
interface ReadBody {
  body: Json
  changes: string[]
}

/** The JSON object that the client probably meant; empty if there is none. */
export function readSentBody(sent: SentContent, settings: Settings): ReadBody {
  const { operation, parameters, rest, body, headers } = sent
  const isEmpty = body === undefined || body.length === 0
  const coding = fieldOf(headers, 'content-encoding')
  const isMarked = coding === undefined && acceptsType(fieldOf(headers, 'content-type'), settings)
  const how = 'The body is one JSON object in UTF-8, with `Content-Type: application/json` and without a coding.'
  if (!operation.readsBody) {
    return { body: {}, changes: isEmpty ? [] : ['The body was left out, because none is read.'] }
  }
  if (isEmpty) {
    // Clients that cannot send a body with DELETE put the domains into the query or the path.
    const named = parameters.filter(([name]) => nearestName(name, ['domains']) !== undefined).map(([, value]) => value)
    const domains = [...(rest === undefined ? [] : [rest]), ...named]
    if (requiredBy(operation).includes('domains') && domains.length > 0)
      return { body: { domains }, changes: ['The body names what stood in the target.'] }
    return { body: {}, changes: [...(isMarked ? [] : [how]), 'The body is an example, because none was read.'] }
  }
  const text = textOf(body, coding, settings.bodyLimit)
  const object = asObject(readJson(text) ?? repair(text), operation)
  if (object === undefined) {
    return { body: {}, changes: ['The body is an example, because what was sent is no JSON object.'] }
  }
  const isRead =
    isDeepStrictEqual(object, readJson(body.toString())) && isUtf8(body) && body.length <= settings.bodyLimit
  return { body: object, changes: isMarked && isRead ? [] : [how] }
}

function requiredBy({ bodySchema }: Operation): readonly string[] {
  return (bodySchema?.['required'] ?? []) as string[]
}

/** The text that was meant with the bytes of a body, without a byte order mark. */
function textOf(body: Buffer, coding: string | undefined, limit: number): string {
  const plain = decodeBody(body, coding, limit)
  const bytes = plain.isKnown ? plain.bytes : body
  const isUtf16 = ['fffe', 'feff'].includes(bytes.toString('hex', 0, 2))
  return new TextDecoder(isUtf16 ? 'utf-16le' : isUtf8(bytes) ? 'utf-8' : 'windows-1252').decode(bytes)
}

/** In characters, the longest text that is repaired. The time grows with its square if all quotes are wrong. */
const REPAIRED = 20_000

/** The object or array that is nearest to a text that is no JSON; `undefined` if there is none, or nothing in it. */
function repair(text: string): unknown {
  if (text.length > REPAIRED) return undefined
  // A text that breaks off within a string loses it: a half of a domain is another domain.
  const isCutOff = syntaxErrorIn(text)?.startsWith('Unterminated string') === true
  try {
    const value = readJson(jsonrepair(isCutOff ? text.slice(0, text.lastIndexOf('"')) : text))
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0 ? value : undefined
  } catch {
    // The text is too different from JSON, or nested too deeply.
    return undefined
  }
}

/** The JSON object that a value means: JSON in a JSON string, an object in an array, or the value of the only field. */
function asObject(value: unknown, operation: Operation): Json | undefined {
  if (isObject(value)) return value
  if (Array.isArray(value) && value.length === 1 && isObject(value[0])) return value[0]
  if (typeof value === 'string' && value.trimStart().startsWith('{')) {
    const inner = readJson(value) ?? repair(value)
    return isObject(inner) ? inner : undefined
  }
  const [required] = requiredBy(operation)
  if (required === undefined) return undefined
  const isArray = valueAt(operation.bodySchema, `/properties/${required}/type`) === 'array'
  return typeof value === 'string' || (Array.isArray(value) && isArray) ? { [required]: value } : undefined
}
