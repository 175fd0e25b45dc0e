import { bytesOf, isCut } from '../../http/content.ts'
import type { Entry } from '../../journal/entry.ts'

/** Of a body that was refused unread, only its size is known. No more than so many bytes are sent in its place. */
export const LONGEST_FILLER = 4 << 20
/** These decide what becomes of the connection, and nothing about the response that is compared. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade'])

/** A request as it goes over a connection. */
export interface SentRequest {
  bytes: Buffer
  /** Whether no other request may follow it on its connection. */
  isLast: boolean
}

/** The bytes of a recorded request; `undefined` for one of which too little is known. */
export function bytesOfRequest(entry: Entry): SentRequest | undefined {
  const { method, target, headers, problems } = entry
  const reason = problems[0]?.reason
  if (headers.length === 0 && isNoHttp(entry)) return bytesOfMalformed(reason)
  const body = bodyOf(entry)
  if (body === undefined) return undefined
  let head = ''
  let hasHost = false
  let isChunked = false
  for (let index = 0; index < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2)
    const lower = name.toLowerCase()
    if (OF_CONNECTION.has(lower)) continue
    if (lower === 'host') hasHost = true
    if (lower === 'transfer-encoding') isChunked = true
    head += `${name}: ${value}\r\n`
  }
  // Only HTTP/1.0 does without a Host, or else the request is refused for that. The journal does not keep the version.
  const version = hasHost || reason === 'malformed' ? '1.1' : '1.0'
  const start = Buffer.from(`${method} ${target} HTTP/${version}\r\n${head}\r\n`, 'latin1')
  const sent = isChunked ? chunk(body) : body
  const isLast = !hasHost || entry.injection !== undefined || (entry.body !== undefined && isCut(entry.body))
  return { bytes: Buffer.concat([start, sent]), isLast }
}

/** Whether it was answered before it was a request: by a response that closes the connection, or by none. */
function isNoHttp({ status, responseHeaders, problems }: Entry): boolean {
  return problems[0]?.reason === 'timeout' || status === undefined || responseHeaders.includes('Connection')
}

function bodyOf({ body, headers }: Entry): Buffer | undefined {
  const declared = Number(fieldOf(headers, 'content-length') ?? Number.NaN)
  if (body === undefined) return declared > 0 ? undefined : Buffer.alloc(0)
  if (isCut(body)) return body.size > LONGEST_FILLER ? undefined : Buffer.alloc(body.size, ' ')
  const bytes = bytesOf(body)
  // The text of a body is not always what it was decoded from, and a client may leave in the middle of one.
  if (bytes.length !== body.size || (declared >= 0 && declared !== body.size)) return undefined
  return bytes
}

function fieldOf(headers: readonly string[], name: string): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === name) return headers[index + 1]
  }
  return undefined
}

function chunk(body: Buffer): Buffer {
  const size = Buffer.from(`${body.length.toString(16)}\r\n`)
  const end = Buffer.from('\r\n0\r\n\r\n')
  return body.length === 0 ? Buffer.from('0\r\n\r\n') : Buffer.concat([size, body, end])
}

/** Something that is no more HTTP than what a client has sent, of which the journal keeps little. */
function bytesOfMalformed(reason: string | undefined): SentRequest | undefined {
  if (reason === 'malformed') return { bytes: Buffer.from('NO HTTP\r\n\r\n'), isLast: true }
  if (reason !== 'large-header') return undefined
  return { bytes: Buffer.from(`GET / HTTP/1.1\r\nX: ${'x'.repeat(1 << 17)}\r\n\r\n`), isLast: true }
}
