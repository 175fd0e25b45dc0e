import type { IncomingMessage } from 'node:http'
import type { Operation } from '../contract/api.ts'
import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Content } from './content.ts'

/** A body that was read: a JSON value, or why it is none. `content` is what was received, acceptable or not. */
export type ReadBody = { ok: true; value: unknown; content: Content } | (Refusal & { content?: Content })

/** Settings of an API that decide how bodies are read. */
export type BodySettings = Pick<Settings, 'bodyLimit' | 'contentType'>

/** The header fields that say what a body is. */
export interface MediaFields {
  'content-type'?: string | undefined
  'content-encoding'?: string | undefined
}

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
 * Reads the body that the operation asks for; `undefined` where it asks for none. A body that has already arrived is
 * read at once. The checks follow the order of the specification's codes: type, size, presence, syntax.
 */
export function readBody(
  request: IncomingMessage,
  { readsBody, bodyOptional }: Pick<Operation, 'readsBody' | 'bodyOptional'>,
  settings: BodySettings,
): Awaitable<ReadBody | undefined> {
  if (!readsBody || (bodyOptional && !hasBody(request))) return undefined
  const problem = findMediaProblem(request.headers, settings)
  if (problem !== undefined) return refuse(problem)
  const { bodyLimit } = settings
  return whenReady(readBytes(request, bodyLimit), (bytes) =>
    bytes === undefined ? refuse(tooLarge(bodyLimit)) : parseBytes(bytes),
  )
}

/** Reads a body that is a text in memory, as `readBody` reads one from a connection. `size` is in bytes. */
export function readText(text: string, size: number, fields: MediaFields, settings: BodySettings): ReadBody {
  const problem = findMediaProblem(fields, settings)
  if (problem !== undefined) return refuse(problem)
  if (size > settings.bodyLimit) return refuse(tooLarge(settings.bodyLimit))
  return parseText(text, { held: text, size })
}

function findMediaProblem(
  { 'content-type': type, 'content-encoding': coding }: MediaFields,
  { contentType }: BodySettings,
): Problem | undefined {
  if (contentType === 'required' && !JSON_TYPE.test(type ?? '')) {
    return { code: 'invalid_request_body', reason: 'content-type', value: type ?? null }
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return { code: 'invalid_request_body', reason: 'coding', value: coding }
  }
  return undefined
}

function parseBytes(bytes: Buffer): ReadBody {
  // RFC 8259 §8.1: JSON is UTF-8 without a byte order mark.
  const text = decode(bytes)
  return parseText(text, { held: text ?? bytes, size: bytes.length })
}

/** `text` is `undefined` if the bytes are not UTF-8. */
function parseText(text: string | undefined, content: Content): ReadBody {
  if (content.size === 0) return { ...refuse({ code: 'invalid_request_body', reason: 'absent' }), content }
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

/** The problem of a body of more than `limit` bytes. */
export function tooLarge(limit: number): Problem {
  return { code: 'request_too_large', reason: 'bytes', about: { limit } }
}

/** RFC 9112 §6.3: a request without either field has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
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

/** The client left before its request was complete, so there is nobody to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
