import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { type Arrival, type BodyStream, bytesOf, type Content, isCut, textOf } from '../ground/message.ts'
import type { Operation } from './api.ts'

/** A JSON value, or the reason why a body has none. `content` is what was received, acceptable or not. */
export type ReadBody = { ok: true; value: unknown; content: Content } | (Refusal & { content?: Content })

/** Settings of an API that decide how bodies are read. */
export type BodySettings = Pick<Settings, 'bodyLimit' | 'contentType'>

/** The header fields that describe a body. */
export interface MediaFields {
  'content-type'?: string | undefined
  'content-encoding'?: string | undefined
}

type BodyNeeds = Pick<Operation, 'readsBody' | 'bodyOptional'>

/**
 * Reads bodies by the settings of an API; `undefined` if the operation needs none. The checks follow the order of the
 * specification's codes: type, size, presence, syntax.
 */
export interface BodyReader {
  /** Reads the body of a request: at once if the door has it. */
  read(request: Arrival, operation: BodyNeeds): Awaitable<ReadBody | undefined>
  /** Reads a body that was received before, or the beginning of one. */
  readHeld(content: Content, fields: MediaFields, operation: BodyNeeds): ReadBody | undefined
}

export function createBodyReader(settings: BodySettings): BodyReader {
  return {
    read(request, { readsBody, bodyOptional }) {
      if (!readsBody || (bodyOptional && !hasBody(request))) return undefined
      const { bodyLimit } = settings
      const problem = findMediaProblem(request.headers, settings)
      if (problem !== undefined) return refuse(problem)
      return whenReady(receiveBody(request, bodyLimit), (bytes) =>
        bytes === undefined ? refuse(tooLarge(bodyLimit)) : parseBytes(bytes),
      )
    },

    readHeld(content, fields, { readsBody, bodyOptional }) {
      const { size } = content
      if (!readsBody || (bodyOptional && size === 0)) return undefined
      const problem = findMediaProblem(fields, settings)
      if (problem !== undefined) return refuse(problem)
      // The setting is read only for a body that it can make a difference to.
      if (size > 0 && size > settings.bodyLimit) return refuse(tooLarge(settings.bodyLimit))
      return isCut(content) ? parseText(textOf(content), content) : parseBytes(bytesOf(content))
    },
  }
}

function findMediaProblem(
  { 'content-type': type, 'content-encoding': coding }: MediaFields,
  settings: Pick<Settings, 'contentType'>,
): Problem | undefined {
  if (!acceptsType(type, settings)) {
    return { code: 'invalid_request_body', reason: 'content-type', value: type ?? null }
  }
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return { code: 'invalid_request_body', reason: 'coding', value: coding }
  }
  return undefined
}

function parseBytes(bytes: Buffer): ReadBody {
  const text = decodeBody(bytes)
  return parseText(text, { held: text ?? bytes, size: bytes.length })
}

/** `text` is `undefined` if the bytes are no UTF-8. Of several fields with one name, `JSON.parse` keeps the last one. */
function parseText(text: string | undefined, content: Content): ReadBody {
  if (content.size === 0) return { ...refuse({ code: 'invalid_request_body', reason: 'absent' }), content }
  try {
    if (text !== undefined) return { ok: true, value: JSON.parse(text), content }
  } catch {}
  return { ...refuse({ code: 'invalid_json' }), content }
}

/** The problem of a body of more than `limit` bytes. */
export function tooLarge(limit: number): Problem {
  return { code: 'request_too_large', reason: 'bytes', about: { limit } }
}

/** RFC 9112 §6.3: a request without either field has no body. */
export function hasBody({ headers }: Pick<Arrival, 'headers'>): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export const BYTE_ORDER_MARK = '\ufeff'

const UTF8_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** Whether a body with this Content-Type is read. */
export function acceptsType(type: string | undefined, settings: Pick<Settings, 'contentType'>): boolean {
  // The setting is read only for a type that it can make a difference to.
  return UTF8_TYPE.test(type ?? '') || settings.contentType === 'ignored'
}

/** RFC 8259 §8.1: JSON is UTF-8 without a byte order mark. Such a mark stays in the text, which is then no JSON. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of a body; `undefined` if it is no UTF-8. */
function decodeBody(bytes: Buffer): string | undefined {
  try {
    return UTF_8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * The bytes of a body, or `undefined` as soon as there are more than `longest`; the rest is then read and discarded.
 * Rejects with `ClientGone`.
 */
function receiveBody(
  { headers, body }: Pick<Arrival, 'headers' | 'body'>,
  longest: number,
): Awaitable<Buffer | undefined> {
  const isWhole = Buffer.isBuffer(body)
  const size = isWhole ? body.length : Number(headers['content-length'] ?? 0)
  if (size <= longest) return isWhole ? body : collect(body, longest)
  if (!isWhole) body.resume()
  return undefined
}

function collect(stream: BodyStream, longest: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(new ClientGone())
    // The connection may have been lost while the request waited behind another one.
    if (stream.destroyed) return leave()
    const chunks: Buffer[] = []
    let length = 0
    function take(chunk: Buffer): void {
      length += chunk.length
      if (length <= longest) return void chunks.push(chunk)
      stream.off('data', take)
      stream.resume()
      resolve(undefined)
    }
    stream.on('data', take)
    stream.once('end', () => resolve(Buffer.concat(chunks)))
    // After a lost connection or a bad chunk, no client waits for an answer.
    stream.once('error', leave)
    stream.once('close', () => {
      if (!stream.complete) leave()
    })
  })
}

/** The client left before its request was complete, so there is no client to answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}
