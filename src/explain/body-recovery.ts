import { isUtf8 } from 'node:buffer'
import type { Operation } from '../contract/api.ts'
import { acceptsType, BYTE_ORDER_MARK } from '../contract/charset.ts'
import type { Settings } from '../domain/settings.ts'
import { decodeBody } from '../exchanges/content-coding.ts'
import { isObject, type Json, readJson, valueAt } from '../ground/json.ts'
import { parseNearlyJson } from './lenient-json.ts'
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
    changes.push(
      `The header \`Content-Type\` is application/json${type === undefined ? '' : ` instead of ${spelt(type)}`}.`,
    )
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    changes.push('The body is sent without a `Content-Encoding`.')
  }
  if (body === undefined)
    return { body: undefined, changes: [...changes, 'The body is an example, because none was read.'] }
  if (body.length === 0) return { body: undefined, changes: [...changes, 'The body, which was empty, is an example.'] }
  if (body.length > bodyLimit) changes.push(`The body is written in no more than ${bodyLimit} bytes.`)

  const plain = decodeBody(body, coding, bodyLimit)
  const { text, change } = decode(plain.isKnown ? plain.bytes : body)
  if (change !== undefined) changes.push(change)
  const { value, valid } = parse(text)
  const object = asObject(value, operation)
  if (object === undefined)
    changes.push(`The body is an example, because what was sent is no JSON${valid ? ' object' : ''}.`)
  else if (!valid) changes.push('The body is valid JSON, which it nearly was.')
  else if (object !== value) changes.push('The body is a JSON object.')
  return { body: object, changes }
}

const UTF_16: Readonly<Record<string, string>> = { fffe: 'utf-16le', feff: 'utf-16be' }

function decode(bytes: Buffer): { text: string; change?: string } {
  const encoding = UTF_16[bytes.subarray(0, 2).toString('hex')]
  if (encoding !== undefined) {
    const text = new TextDecoder(encoding).decode(bytes)
    return { text, change: 'The body is encoded in UTF-8 instead of UTF-16.' }
  }
  if (!isUtf8(bytes)) {
    const text = new TextDecoder('windows-1252').decode(bytes)
    return { text, change: 'The body is encoded in UTF-8, which it was not.' }
  }
  const text = bytes.toString()
  return text.startsWith(BYTE_ORDER_MARK)
    ? { text: text.slice(1), change: 'The body has no byte order mark.' }
    : { text }
}

function parse(text: string): { value: unknown; valid: boolean } {
  const valid = readJson(text)
  if (valid !== undefined) return { value: valid, valid: true }
  const value = parseNearlyJson(text)
  // An empty object that was recovered from another text contains no intention of the client.
  return { value: isObject(value) && Object.keys(value).length === 0 ? undefined : value, valid: false }
}

/** The JSON object that a value means: JSON in a JSON string, an object in an array, or the value of the only field. */
function asObject(value: unknown, operation: Operation): Json | undefined {
  if (isObject(value)) return value
  if (Array.isArray(value) && value.length === 1 && isObject(value[0])) return value[0]
  if (typeof value === 'string' && value.trimStart().startsWith('{')) {
    const inner = parse(value).value
    return isObject(inner) ? inner : undefined
  }
  const [required] = (operation.bodySchema?.['required'] ?? []) as string[]
  if (required === undefined) return undefined
  const isArray = valueAt(operation.bodySchema, `/properties/${required}/type`) === 'array'
  return typeof value === 'string' || (Array.isArray(value) && isArray) ? { [required]: value } : undefined
}
