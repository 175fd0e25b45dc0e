import type { IncomingMessage } from 'node:http'
import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Content } from './content.ts'

/** `content` is what was read, be it acceptable or not. */
export type Body = { ok: true; value: unknown; content: Content } | (Refusal & { content?: Content })

const NOTHING = Buffer.alloc(0)
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** A request whose body may have arrived before anybody asks for it. */
export interface Arrival {
  /** Whether it has, all of it. */
  isWhole: boolean
  /** What has arrived, where that is something. */
  arrived: Buffer | undefined
}

/**
 * Reads a body that must be JSON of at most `limit` bytes; at once, where it is there. Checks in the order of the
 * specification's codes: type, size, presence, syntax.
 */
export function readBody(request: IncomingMessage, limit: number, requireType: boolean): Awaitable<Body> {
  const { 'content-type': type, 'content-encoding': coding } = request.headers
  if (requireType && !JSON_TYPE.test(type ?? '')) {
    return refuse({ code: 'invalid_request_body', reason: 'content-type', value: type ?? null })
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return refuse({ code: 'invalid_request_body', reason: 'coding', value: coding })
  }
  return whenReady(readBytes(request, limit), (bytes) => parse(bytes, limit))
}

function parse(bytes: Buffer | undefined, limit: number): Body {
  if (bytes === undefined) return refuse(tooLarge(limit))
  const size = bytes.length
  // RFC 8259 §8.1: JSON is UTF-8 without a byte order mark.
  const text = decode(bytes)
  const content = { held: text ?? bytes, size }
  if (size === 0) return { ...refuse({ code: 'invalid_request_body', reason: 'absent' }), content }
  try {
    if (text !== undefined) return { ok: true, value: JSON.parse(text), content }
  } catch {}
  return { ...refuse({ code: 'invalid_json' }), content }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return UTF8.decode(bytes)
  } catch {
    return undefined
  }
}

function tooLarge(limit: number): Problem {
  return { code: 'request_too_large', reason: 'bytes', about: { limit } }
}

/** The bytes of the body, or `undefined` as soon as there are more than `limit`; the rest is then read past. */
function readBytes(request: IncomingMessage & Partial<Arrival>, limit: number): Awaitable<Buffer | undefined> {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    request.resume()
    return undefined
  }
  if (request.isWhole) {
    const { arrived = NOTHING } = request
    return arrived.length > limit ? undefined : arrived
  }
  return new Promise((resolve, reject) => {
    // It may have been lost while it waited for its turn behind another on the same connection.
    if (request.destroyed) return reject(new ClientGone())
    const chunks: Buffer[] = []
    let length = 0
    function take(chunk: Buffer): void {
      length += chunk.length
      if (length <= limit) {
        chunks.push(chunk)
        return
      }
      request.off('data', take)
      request.resume()
      resolve(undefined)
    }
    request.on('data', take)
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    // Whatever breaks a body off, be it a lost connection or a bad chunk, leaves nobody to answer.
    request.once('error', () => reject(new ClientGone()))
    request.once('close', () => {
      if (!request.complete) reject(new ClientGone())
    })
  })
}

/** The client left before its request was whole, so there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
