import { isObject, type Json, readJson } from '../../ground/json.ts'
import { RealDate } from '../../ground/timers.ts'
import { undoCoding } from '../content-coding.ts'
import type { SeenBody } from '../exchange.ts'
import { type HeaderFields, REDACTED } from '../keys.ts'

/** In bytes. A larger body is not judged. */
export const LARGEST_BODY = 16 << 20
/** In milliseconds. No request takes longer, whatever a recorder says. */
const LONGEST_DURATION = 86_400_000
/** In milliseconds: the assumed duration if the recorder does not know it. */
const UNKNOWN_DURATION = 30_000
/** Requests that are shorter than this many units of a clock coarser than milliseconds may have overlapped. */
const TICKS = 10

/** The replacement for characters that a recorder could not read. */
const LOST_CHARACTER = '\ufffd'

/** When a request was in progress, in milliseconds since the Unix epoch. */
export interface TimeSpan {
  at: number
  until: number
  /**
   * A later request of the same recording that was sent before this time overlaps. In the millisecond in which one
   * request ends, the next one begins: within a millisecond, the order is that of the file. A coarser clock, or a
   * missing duration, leaves more open.
   */
  over: number
}

/**
 * Why an entry is no exchange with the service: a CORS preflight of a browser, a response from its cache, or one that a
 * test made up.
 */
export type Aside = 'preflight' | 'cache' | 'fulfilled'

/** A token (RFC 9110 §5.6.2), not longer than any existing method. */
const METHOD = /^[\w!#$%&'*+.^`|~-]{1,64}$/

/** The method and the URL of an entry; `undefined` if it is not a HAR entry. */
export function requestLineOf(entry: Json): { method: string; url: string } | undefined {
  const request = entry['request']
  if (!isObject(request) || typeof request['method'] !== 'string' || typeof request['url'] !== 'string')
    return undefined
  return METHOD.test(request['method']) ? { method: request['method'], url: request['url'] } : undefined
}

/** When the request of an entry was in progress; `undefined` if the entry does not say it. */
export function spanOf(entry: Json): TimeSpan | undefined {
  const { startedDateTime: started, time } = entry
  if (typeof started !== 'string') return undefined
  const instant = readInstant(started)
  if (instant === undefined) return undefined
  const { at, tick } = instant
  const duration = isDuration(time) ? time : sumOf(entry['timings'])
  if (duration === undefined) return { at, until: at, over: at + UNKNOWN_DURATION }
  const end = at + Math.min(duration, LONGEST_DURATION)
  const until = tick === 1 ? Math.floor(end) : end
  return { at, until, over: tick > 1 && duration < TICKS * tick ? until + tick : until }
}

/** A time in milliseconds, and the unit in which it was written. Without a time zone it is UTC. */
function readInstant(written: string): { at: number; tick: number } | undefined {
  const text = written.trim()
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const at = RealDate.parse(hasZone ? text : `${text}Z`)
  if (!Number.isFinite(at)) return undefined
  const digits = /\.(\d+)/.exec(text)?.[1] ?? ''
  const rest = digits.length > 3 ? Number(`0.${digits.slice(3, 9)}`) : 0
  return { at: at + rest, tick: 1000 / 10 ** Math.min(digits.length, 6) }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value)
}

/** The sum of the phases of an entry; `undefined` if none is known. */
function sumOf(timings: unknown): number | undefined {
  if (!isObject(timings)) return undefined
  // The connection time includes the TLS time.
  const parts = ['blocked', 'dns', 'connect', 'send', 'wait', 'receive'].map((name) => timings[name]).filter(isDuration)
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0)
}

/** Why an entry is no exchange with the service; `undefined` if it is one. */
export function asideOf(entry: Json, method: string): Aside | undefined {
  const response = isObject(entry['response']) ? entry['response'] : {}
  if (typeof entry['_fromCache'] === 'string' || response['_fromDiskCache'] === true) return 'cache'
  if (entry['_wasFulfilled'] === true || response['_wasFulfilled'] === true) return 'fulfilled'
  if (method !== 'OPTIONS') return undefined
  const asks = fieldsOf(entry['request']).some(([name]) => name.toLowerCase() === 'access-control-request-method')
  return asks || entry['_resourceType'] === 'preflight' ? 'preflight' : undefined
}

/** The header fields of a message. Pseudo-header fields of HTTP/2 (`:path`) do not count. */
export function fieldsOf(message: unknown): HeaderFields {
  const list = isObject(message) ? message['headers'] : undefined
  if (!Array.isArray(list)) return []
  return list.flatMap((each): [string, string][] => {
    if (!isObject(each) || typeof each['name'] !== 'string' || typeof each['value'] !== 'string') return []
    const { name, value } = each as { name: string; value: string }
    return name === '' || name.startsWith(':') ? [] : [[name, value]]
  })
}

/** The header fields of a request. If the recorder left out all of them, it may still give the type of the body. */
export function requestFieldsOf(request: Json): HeaderFields {
  const fields = fieldsOf(request)
  const mimeType = isObject(request['postData']) ? request['postData']['mimeType'] : undefined
  return fields.length > 0 || typeof mimeType !== 'string' || mimeType === '' ? fields : [['content-type', mimeType]]
}

export function fieldOf(fields: HeaderFields, wanted: string): string | undefined {
  return fields.find(([name]) => name.toLowerCase() === wanted)?.[1]
}

/** The status of a response; `undefined` if none came, which recorders write as 0 or -1. */
export function statusOf(response: unknown): number | undefined {
  const status = isObject(response) ? Number(response['status']) : Number.NaN
  return Number.isInteger(status) && status >= 200 && status <= 599 ? status : undefined
}

/** Resolves to the bytes of a file that a recorder stored beside its own; `undefined` if it does not exist. */
export type ReadAttached = (name: string) => Promise<Buffer | undefined>

/** The body of a request as it was sent, if the recording has it. */
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

/** The body of a response without content coding, if the recording has it. */
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

interface EntryContext {
  what: 'request' | 'response'
  fields: HeaderFields
  /** `length` is the Content-Length. `size` is what the recorder says of the decoded content. */
  length: number | undefined
  size: number | undefined
  readAttached: ReadAttached
}

async function readContent(content: Json, circumstances: EntryContext): Promise<SeenBody> {
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
  const decoded = isRaw ? undoCoding(bytes, coding, LARGEST_BODY) : bytes
  if (decoded === undefined) return tooLarge(what)
  const expected = coding === 'identity' ? length : undefined
  // A recorder may have removed the coding and its header field. Then there are more bytes than announced.
  const isChanged = expected !== undefined && (what === 'request' ? bytes.length !== expected : bytes.length < expected)
  const isCut = size !== undefined && bytes.length < size && readJson(decoded.toString()) === undefined
  if (isChanged || isCut) return unknown(`The recording does not have all bytes of the body of the ${what}.`)
  return { isKnown: true, bytes: decoded }
}

function tooLarge(what: string): SeenBody {
  return unknown(`The body of the ${what} is larger than ${LARGEST_BODY} bytes.`)
}

function lengthIn(fields: HeaderFields): number | undefined {
  const written = fieldOf(fields, 'content-length')
  return written !== undefined && /^\d{1,15}$/.test(written.trim()) ? Number(written) : undefined
}
