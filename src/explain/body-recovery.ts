import { isUtf8 } from 'node:buffer'
import { jsonrepair } from 'jsonrepair'
import type { Operation } from '../contract/api.ts'
import { acceptsType, BYTE_ORDER_MARK } from '../contract/charset.ts'
import type { Settings } from '../domain/settings.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import { isObject, type Json, readJson, valueAt } from '../ground/json.ts'
import { syntaxErrorIn } from './json-position.ts'
import { spelt } from './wording.ts'

export interface RecoveredBody {
  /** `undefined` if no part of it could be used. */
  body: Json | undefined
  changes: readonly string[]
}

/** The JSON object that the client probably meant with the bytes of a body. */
export function recoverBody(
  body: Buffer | undefined,
  headers: Readonly<Record<string, string>>,
  operation: Operation,
  settings: Settings,
): RecoveredBody {
  const { bodyLimit } = settings
  const { 'content-type': type, 'content-encoding': coding } = headers
  const changes: string[] = []
  if (!acceptsType(type, settings)) {
    const sent = type === undefined ? '' : ` instead of ${spelt(type)}`
    changes.push(`The header \`Content-Type\` is application/json${sent}.`)
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    changes.push('The body is sent without a `Content-Encoding`.')
  }
  if (body === undefined || body.length === 0) {
    const why =
      body === undefined
        ? 'The body is an example, because none was read.'
        : 'The body, which was empty, is an example.'
    return { body: undefined, changes: [...changes, why] }
  }
  if (body.length > bodyLimit) changes.push(`The body is written in no more than ${bodyLimit} bytes.`)

  const plain = decodeBody(body, coding, bodyLimit)
  const { text, change } = decode(plain.isKnown ? plain.bytes : body)
  if (change !== undefined) changes.push(change)
  const valid = readJson(text)
  const value = valid ?? repair(text)
  const object = asObject(value, operation)
  if (object === undefined)
    changes.push(`The body is an example, because what was sent is no JSON${valid === undefined ? '' : ' object'}.`)
  else if (valid === undefined) changes.push('The body is valid JSON, which it nearly was.')
  else if (object !== value) changes.push('The body is a JSON object.')
  return { body: object, changes }
}

const UTF_16: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' }

/** The text of a body in the encodings that clients use by mistake. */
function decode(bytes: Buffer): { text: string; change?: string } {
  const utf16 = UTF_16[bytes.subarray(0, 2).toString('hex')]
  const text = new TextDecoder(utf16 ?? (isUtf8(bytes) ? 'utf-8' : 'windows-1252')).decode(bytes)
  if (utf16 !== undefined) return { text, change: 'The body is encoded in UTF-8 instead of UTF-16.' }
  if (!isUtf8(bytes)) return { text, change: 'The body is encoded in UTF-8, which it was not.' }
  // The decoder has removed the mark.
  const isMarked = bytes.toString().startsWith(BYTE_ORDER_MARK)
  return isMarked ? { text, change: 'The body has no byte order mark.' } : { text }
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
  const [required] = (operation.bodySchema?.['required'] ?? []) as string[]
  if (required === undefined) return undefined
  const isArray = valueAt(operation.bodySchema, `/properties/${required}/type`) === 'array'
  return typeof value === 'string' || (Array.isArray(value) && isArray) ? { [required]: value } : undefined
}
