import { readParameters, splitTarget } from '../../ground/target.ts'
import { RealDate } from '../../ground/timers.ts'
import { type Redact, recordBody, redactField, redactTarget } from '../../journal/redaction/redaction.ts'
import type { Credentials } from '../exchange.ts'
import { type HeaderFields, writeCredentials } from '../keys.ts'
import { fieldOf } from './entry.ts'

/** The field of an entry that says how many exchanges before it are missing. */
export const LEFT_OUT = '_leftOutBefore'

/** A request and its response as the proxy has seen them. The writer of recordings removes the keys. */
export interface RecordedExchange {
  /** When the request was sent, in milliseconds since the Unix epoch, with the fraction. */
  at: number
  /** When the response was complete, or when it was clear that none would come. */
  until: number
  /** When the first byte of the response came, if it is known. */
  answeredAt?: number | undefined
  /** With scheme and host. */
  url: string
  request: RecordedMessage & { method: string }
  response: (RecordedMessage & { status: number; statusText: string }) | undefined
  /** Why there is no response, as a short phrase. */
  problem?: string | undefined
  credentials: Credentials
  /** Hides keys in every text of the exchange. */
  redact: Redact
}

interface RecordedMessage {
  /** Such as `HTTP/1.1`. */
  httpVersion: string
  fields: HeaderFields
  /** Without content coding: all of the body or nothing, the size of all, and the size as it was sent. */
  body: { bytes: Buffer; size: number; sentSize?: number | undefined }
}

/**
 * Writes an exchange without keys as the JSON of a HAR entry. A body has at most `largestBody` bytes. `leftOut` is how
 * many exchanges are missing before it.
 */
export function writeEntry(exchange: RecordedExchange, largestBody: number, leftOut = 0): Buffer {
  const { at, until, answeredAt = until, request, response, redact, problem } = exchange
  const [, origin = '', target = ''] = /^([a-z]+:\/\/[^/]*)(.*)$/i.exec(exchange.url) ?? []
  const shownTarget = redactTarget(target, redact)
  const { query = '' } = splitTarget(shownTarget)
  const text = postDataOf(request, largestBody, redact)
  return Buffer.from(
    JSON.stringify({
      startedDateTime: writeInstant(at),
      time: rounded(until - at),
      request: {
        method: redact(request.method),
        url: redact(origin) + shownTarget,
        httpVersion: request.httpVersion,
        // The values are secrets, and the names are in the header fields.
        cookies: [],
        headers: fieldsOf(request.fields, exchange),
        queryString: readParameters(query).map(([name, value]) => ({ name, value })),
        ...(text !== undefined && { postData: text }),
        headersSize: -1,
        bodySize: request.body.sentSize ?? request.body.size,
      },
      response: responseOf(exchange, largestBody),
      cache: {},
      timings: { send: 0, wait: rounded(answeredAt - at), receive: rounded(until - answeredAt) },
      ...(leftOut > 0 && { [LEFT_OUT]: leftOut }),
      ...(response === undefined && { comment: redact(problem ?? 'There was no response.') }),
    }),
  )
}

function responseOf(exchange: RecordedExchange, largestBody: number) {
  const { response, redact, problem = 'There was no response.' } = exchange
  const error = { _error: redact(problem) }
  const { fields = [], status = 0, statusText = '', httpVersion = '', body } = response ?? {}
  return {
    ...{ status, statusText: redact(statusText), httpVersion, cookies: [], headers: fieldsOf(fields, exchange) },
    content: {
      size: body?.size ?? 0,
      mimeType: redact(fieldOf(fields, 'content-type') ?? 'x-unknown'),
      ...(body && contentOf(body, largestBody, 'encoding', redact)),
    },
    redirectURL: redact(fieldOf(fields, 'location') ?? ''),
    ...{ headersSize: -1, bodySize: body === undefined ? -1 : (body.sentSize ?? body.size) },
    ...((response === undefined || exchange.problem !== undefined) && error),
  }
}

function postDataOf({ fields, body }: RecordedMessage, largestBody: number, redact: Redact) {
  if (body.size === 0) return undefined
  const mimeType = redact(fieldOf(fields, 'content-type') ?? '')
  // HAR 1.2 has no base64 field for a request body. It permits custom names with an underscore.
  return { mimeType, params: [], ...contentOf(body, largestBody, '_encoding', redact) }
}

/** A body as text, or as base64 if it is not text; a long body is cut off. */
function contentOf({ bytes, size }: RecordedMessage['body'], largest: number, encoding: string, redact: Redact) {
  const { text = '', base64 } = recordBody({ held: bytes, size }, largest, redact)
  const cut = Math.min(largest, bytes.length) < size && {
    _truncated: true,
    comment: `This is the beginning; the body has ${size} bytes.`,
  }
  if (base64 !== undefined) return { text: base64, [encoding]: 'base64', ...cut }
  const isRedacted = !bytes.toString('utf8', 0, largest).startsWith(text)
  return { text, ...cut, ...(isRedacted && { _redacted: true }) }
}

function fieldsOf(fields: HeaderFields, { redact, credentials }: RecordedExchange) {
  return fields.map(([name, value]) => {
    const isKey = name.toLowerCase() === 'authorization'
    return { name: redact(name), value: isKey ? writeCredentials(credentials) : redactField(name, value, redact) }
  })
}

/** RFC 3339 with microseconds, because many requests take less than a millisecond. */
function writeInstant(milliseconds: number): string {
  const whole = Math.floor(milliseconds)
  const micros = Math.min(999, Math.floor((milliseconds - whole) * 1000))
  return new RealDate(whole).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

function rounded(milliseconds: number): number {
  return Math.max(0, Math.round(milliseconds * 1000) / 1000)
}
