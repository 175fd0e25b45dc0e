import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { isObject, type Json } from '../../ground/json.ts'
import type { SeenBody } from '../exchange.ts'
import { type Fields, REDACTED } from '../keys.ts'

/** A larger body is not judged. In bytes. */
export const LARGEST_BODY = 16 << 20
/** A request takes no longer, whatever a recorder says. In milliseconds. */
const LONGEST_DURATION = 86_400_000
/** What a duration may have been that the recorder does not know. In milliseconds. */
const UNKNOWN_DURATION = 30_000
/** Requests that take less than this many units of the recorder's clock may have been under way together. */
const TICKS = 10

/** What stands in place of characters that a recorder could not read. */
const LOST_CHARACTER = '\ufffd'

/** When a request was under way, in milliseconds since the Unix epoch. */
export interface Span {
  at: number
  until: number
  /** When it was certainly over: a recorder's clock has ticks, and may not say how long the request took. */
  over: number
}

/** Why an entry is no exchange with the service: nothing was sent to it, or not by the client. */
export type Aside = 'preflight' | 'cache' | 'fulfilled'

/** A token (RFC 9110 §5.6.2), and no longer than any method that there is. */
const METHOD = /^[\w!#$%&'*+.^`|~-]{1,64}$/

/** The method and the URL of an entry; `undefined` where it is not an entry of a HAR. */
export function requestLineOf(entry: Json): { method: string; url: string } | undefined {
  const request = entry['request']
  if (!isObject(request) || typeof request['method'] !== 'string' || typeof request['url'] !== 'string')
    return undefined
  return METHOD.test(request['method']) ? { method: request['method'], url: request['url'] } : undefined
}

/** When the request of an entry was under way; `undefined` where the entry does not say it. */
export function spanOf(entry: Json): Span | undefined {
  const { startedDateTime: started, time } = entry
  if (typeof started !== 'string') return undefined
  const instant = readInstant(started)
  if (instant === undefined) return undefined
  const { at, tick } = instant
  const duration = isDuration(time) ? time : sumOf(entry['timings'])
  if (duration === undefined) return { at, until: at, over: at + UNKNOWN_DURATION }
  const until = at + Math.min(duration, LONGEST_DURATION)
  return { at, until, over: duration < TICKS * tick ? until + tick : until }
}

/** An instant in milliseconds, and the unit in which it was written. Without a time zone it is in UTC. */
function readInstant(written: string): { at: number; tick: number } | undefined {
  const text = written.trim()
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const at = Date.parse(hasZone ? text : `${text}Z`)
  if (!Number.isFinite(at)) return undefined
  const digits = /\.(\d+)/.exec(text)?.[1] ?? ''
  const rest = digits.length > 3 ? Number(`0.${digits.slice(3, 9)}`) : 0
  return { at: at + rest, tick: 1000 / 10 ** Math.min(digits.length, 6) }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value)
}

/** What the phases of an entry took together; `undefined` where none is known. */
function sumOf(timings: unknown): number | undefined {
  if (!isObject(timings)) return undefined
  // The time for TLS is a part of that for the connection.
  const parts = ['blocked', 'dns', 'connect', 'send', 'wait', 'receive'].map((name) => timings[name]).filter(isDuration)
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0)
}

/** Why an entry is no exchange with the service, if it is none. */
export function asideOf(entry: Json, method: string): Aside | undefined {
  const response = isObject(entry['response']) ? entry['response'] : {}
  if (typeof entry['_fromCache'] === 'string' || response['_fromDiskCache'] === true) return 'cache'
  if (entry['_wasFulfilled'] === true || response['_wasFulfilled'] === true) return 'fulfilled'
  if (method !== 'OPTIONS') return undefined
  const asks = fieldsOf(entry['request']).some(([name]) => name.toLowerCase() === 'access-control-request-method')
  return asks || entry['_resourceType'] === 'preflight' ? 'preflight' : undefined
}

/** The header fields of a message. What HTTP/2 says in their place (`:path`) is no field. */
export function fieldsOf(message: unknown): Fields {
  const list = isObject(message) ? message['headers'] : undefined
  if (!Array.isArray(list)) return []
  return list.flatMap((each): [string, string][] => {
    if (!isObject(each) || typeof each['name'] !== 'string' || typeof each['value'] !== 'string') return []
    const { name, value } = each as { name: string; value: string }
    return name === '' || name.startsWith(':') ? [] : [[name, value]]
  })
}

/** The header fields of a request. Where the recorder has left out all of them, it may still say what the body is. */
export function requestFieldsOf(request: Json): Fields {
  const fields = fieldsOf(request)
  const mimeType = isObject(request['postData']) ? request['postData']['mimeType'] : undefined
  return fields.length > 0 || typeof mimeType !== 'string' || mimeType === '' ? fields : [['content-type', mimeType]]
}

export function fieldOf(fields: Fields, wanted: string): string | undefined {
  return fields.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

/** The status of a response; `undefined` where none came, which recorders write as 0 or -1. */
export function statusOf(response: unknown): number | undefined {
  const status = isObject(response) ? Number(response['status']) : Number.NaN
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined
}

/** Resolves to the bytes of a file that a recorder has put beside its own; `undefined` where it is not there. */
export type ReadAttached = (name: string) => Promise<Buffer | undefined>

/** The body of a request as it was sent, as far as the recorder has it. */
export async function requestBodyOf(request: Json, readAttached: ReadAttached): Promise<SeenBody> {
  const fields = fieldsOf(request)
  const content = request['postData']
  const length = lengthIn(fields)
  if (isObject(content) && isTextual(content)) {
    return readContent(content, { what: 'request', fields, length, size: undefined, readAttached })
  }
  if (isObject(content) && Array.isArray(content['params']) && content['params'].length > 0) {
    return unknown('The recording has the parameters of the request, and not its body.')
  }
  const method = request['method']
  const isBodiless = method === 'GET' || method === 'HEAD'
  const mentions = ['content-type', 'content-length', 'transfer-encoding'].some(
    (name) => fieldOf(fields, name) !== undefined,
  )
  const isEmpty =
    length === undefined ? isBodiless || request['bodySize'] === 0 || (fields.length > 0 && !mentions) : length === 0
  return isEmpty ? EMPTY : unknown('The recording does not have the body of the request.')
}

/** The body of a response without content coding, as far as the recorder has it. */
export async function responseBodyOf(
  response: Json,
  { method, status }: { method: string; status: number },
  readAttached: ReadAttached,
): Promise<SeenBody> {
  if (method === 'HEAD' || status === 204 || status === 304) return EMPTY
  const fields = fieldsOf(response)
  const length = lengthIn(fields)
  const content = isObject(response['content']) ? response['content'] : {}
  const size = typeof content['size'] === 'number' && content['size'] >= 0 ? content['size'] : undefined
  if (isTextual(content) && (content['text'] !== '' || (size ?? length) === 0)) {
    return readContent(content, { what: 'response', fields, length, size, readAttached })
  }
  return length === 0 ? EMPTY : unknown('The recording does not have the body of the response.')
}

const EMPTY: SeenBody = { isKnown: true, bytes: Buffer.alloc(0) }

function unknown(reason: string): SeenBody {
  return { isKnown: false, reason }
}

function isTextual(content: Json): boolean {
  return typeof content['text'] === 'string' || typeof content['_file'] === 'string'
}

interface Circumstances {
  what: 'request' | 'response'
  fields: Fields
  /** What Content-Length says, and what the recorder says of the content without coding. */
  length: number | undefined
  size: number | undefined
  readAttached: ReadAttached
}

async function readContent(content: Json, circumstances: Circumstances): Promise<SeenBody> {
  const { what, fields, length, size, readAttached } = circumstances
  if (content['_truncated'] === true) return unknown(`The recording has only the beginning of the body of the ${what}.`)
  if (content['_redacted'] === true) return unknown(REDACTED)
  const { text, _file: file } = content
  const isBase64 = content['encoding'] === 'base64' || content['_encoding'] === 'base64'
  if (typeof text === 'string' && text.length > (isBase64 ? 2 : 1) * LARGEST_BODY) return tooLarge(what)
  const attached = typeof text === 'string' ? undefined : await readAttached(String(file))
  if (typeof text !== 'string' && attached === undefined) {
    return unknown(`The body of the ${what} is in the file ${JSON.stringify(file)}, which is not beside the recording.`)
  }
  const bytes = attached ?? Buffer.from(String(text), isBase64 ? 'base64' : 'utf8')
  if (bytes.length > LARGEST_BODY) return tooLarge(what)
  if (!isBase64 && attached === undefined && String(text).includes(LOST_CHARACTER)) {
    return unknown(`The recording has lost characters of the body of the ${what}.`)
  }
  const coding = fieldOf(fields, 'content-encoding')?.trim().toLowerCase() ?? 'identity'
  const isRaw = coding !== 'identity' && (isBase64 || attached !== undefined)
  const decoded = isRaw ? decode(bytes, coding) : bytes
  if (decoded === undefined) return tooLarge(what)
  const expected = coding === 'identity' ? length : undefined
  // A recorder may have removed the coding and the field that names it; then there is more than was announced.
  const isChanged = expected !== undefined && (what === 'request' ? bytes.length !== expected : bytes.length < expected)
  const isCut = size !== undefined && bytes.length < size && !isJson(decoded)
  if (isChanged || isCut) return unknown(`The recording does not have all bytes of the body of the ${what}.`)
  return { isKnown: true, bytes: decoded }
}

function tooLarge(what: string): SeenBody {
  return unknown(`The body of the ${what} is larger than ${LARGEST_BODY} bytes.`)
}

function lengthIn(fields: Fields): number | undefined {
  const written = fieldOf(fields, 'content-length')
  return written !== undefined && /^\d{1,15}$/.test(written.trim()) ? Number(written) : undefined
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    return false
  }
}

/**
 * Bytes without their coding; `undefined` where that is too much. Most recorders have removed the coding already; then the
 * bytes cannot be decoded, and are right.
 */
function decode(bytes: Buffer, coding: string): Buffer | undefined {
  const limits = { maxOutputLength: LARGEST_BODY }
  try {
    if (coding === 'gzip' || coding === 'x-gzip') return gunzipSync(bytes, limits)
    if (coding === 'deflate') return inflateSync(bytes, limits)
    if (coding === 'br') return brotliDecompressSync(bytes, limits)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? undefined : bytes
  }
  return bytes
}
