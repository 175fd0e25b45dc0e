import type { IncomingMessage } from 'node:http'
import type { Operation } from '../contract/api.ts'
import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { findDuplicateField } from '../ground/duplicate-fields.ts'
import { pointTo } from '../ground/json.ts'
import { acceptsType, BYTE_ORDER_MARK, createDecoder } from './charset.ts'
import type { Content } from './content.ts'

/** A body that was read: a JSON value, or why it is none. `content` is what was received, acceptable or not. */
type ReadBody = { ok: true; value: unknown; content: Content } | (Refusal & { content?: Content })

/** Settings of an API that decide how bodies are read. */
export type BodySettings = Pick<
  Settings,
  'bodyLimit' | 'contentType' | 'requestCharset' | 'byteOrderMark' | 'duplicateFields' | 'unreadBodies'
>

/** The header fields that say what a body is. */
export interface MediaFields {
  'content-type'?: string | undefined
  'content-encoding'?: string | undefined
}

const NOTHING = Buffer.alloc(0)

/** A request whose body may have arrived before anybody asks for it. */
export interface Arrival {
  /** Whether it has, all of it. */
  isWhole: boolean
  /** What has arrived, where that is something. */
  arrived: Buffer | undefined
}

/** Reads bodies by the settings of an API. */
export interface BodyReader {
  /**
   * Reads the body that the operation asks for; `undefined` where it asks for none. A body that has already arrived is
   * read at once. The checks follow the order of the specification's codes: type, size, presence, syntax.
   */
  read(
    request: IncomingMessage,
    operation: Pick<Operation, 'readsBody' | 'bodyOptional'>,
  ): Awaitable<ReadBody | undefined>
  /** Reads a body that is a text in memory, as `read` reads one from a connection. `size` is in bytes. */
  readText(
    text: string,
    size: number,
    fields: MediaFields,
    operation: Pick<Operation, 'readsBody'>,
  ): ReadBody | undefined
}

export function createBodyReader(settings: BodySettings): BodyReader {
  const { bodyLimit, unreadBodies, duplicateFields, byteOrderMark } = settings
  const decode = createDecoder(settings)
  const parse = duplicateFields === 'last' ? parseLast : parseUnique

  function parseBytes(bytes: Buffer, type: string | undefined): ReadBody {
    const text = decode(bytes, type)
    return parseText(text, { held: text ?? bytes, size: bytes.length })
  }

  /** `text` is `undefined` if the bytes are not in their charset. */
  function parseText(text: string | undefined, content: Content): ReadBody {
    if (content.size === 0) return { ...refuse({ code: 'invalid_request_body', reason: 'absent' }), content }
    return text === undefined ? { ...refuse({ code: 'invalid_json' }), content } : parse(text, content)
  }

  return {
    read(request, { readsBody, bodyOptional }) {
      if (!readsBody) return unreadBodies === 'refused' && hasBody(request) ? UNREAD : undefined
      if (bodyOptional && !hasBody(request)) return undefined
      const { headers } = request
      const problem = findMediaProblem(headers, settings)
      if (problem !== undefined) return refuse(problem)
      return whenReady(readBytes(request, bodyLimit), (bytes) =>
        bytes === undefined ? refuse(tooLarge(bodyLimit)) : parseBytes(bytes, headers['content-type']),
      )
    },

    readText(text, size, fields, { readsBody }) {
      if (!readsBody) return unreadBodies === 'refused' && size > 0 ? UNREAD : undefined
      const problem = findMediaProblem(fields, settings)
      if (problem !== undefined) return refuse(problem)
      if (size > bodyLimit) return refuse(tooLarge(bodyLimit))
      const isMarked = byteOrderMark === 'ignored' && text.startsWith(BYTE_ORDER_MARK)
      return parseText(isMarked ? text.slice(1) : text, { held: text, size })
    },
  }
}

const UNREAD = refuse({ code: 'invalid_request_body', reason: 'unread' })

function findMediaProblem(
  { 'content-type': type, 'content-encoding': coding }: MediaFields,
  settings: Pick<Settings, 'contentType' | 'requestCharset'>,
): Problem | undefined {
  if (!acceptsType(type, settings)) {
    return { code: 'invalid_request_body', reason: 'content-type', value: type ?? null }
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return { code: 'invalid_request_body', reason: 'coding', value: coding }
  }
  return undefined
}

/** Of several fields with one name, `JSON.parse` keeps the last. */
function parseLast(text: string, content: Content): ReadBody {
  try {
    return { ok: true, value: JSON.parse(text), content }
  } catch {}
  return { ...refuse({ code: 'invalid_json' }), content }
}

function parseUnique(text: string, content: Content): ReadBody {
  const body = parseLast(text, content)
  const repeated = body.ok ? findDuplicateField(text) : undefined
  if (repeated === undefined) return body
  const field = pointTo('', repeated)
  return { ...refuse({ code: 'invalid_json', reason: 'duplicate-field', field }), content }
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
