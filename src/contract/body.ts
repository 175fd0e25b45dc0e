import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import type { Arrival } from '../ground/arrival.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { Content } from '../ground/content.ts'
import type { Operation } from './api.ts'
import { acceptsType, decodeBody } from './charset.ts'
import { receiveBody } from './reception.ts'

/** A JSON value, or the reason why a body has none. `content` is what was received, acceptable or not. */
export type ReadBody = { ok: true; value: unknown; content: Content } | (Refusal & { content?: Content })

/** Settings of an API that decide how bodies are read. */
export type BodySettings = Pick<Settings, 'bodyLimit' | 'contentType'>

/** The header fields that describe a body. */
export interface MediaFields {
  'content-type'?: string | undefined
  'content-encoding'?: string | undefined
}

/** Reads bodies by the settings of an API. */
export interface BodyReader {
  /**
   * Reads the body that the operation needs; `undefined` if it needs none. A body that the door has is read at once. The checks follow the order of the specification's codes: type, size, presence, syntax.
   */
  read(request: Arrival, operation: Pick<Operation, 'readsBody' | 'bodyOptional'>): Awaitable<ReadBody | undefined>
  /** Reads a body from a text in memory, like `read` from a connection. `size` is in bytes. */
  readText(
    text: string,
    size: number,
    fields: MediaFields,
    operation: Pick<Operation, 'readsBody'>,
  ): ReadBody | undefined
  /** Reads a body from bytes that were received before. */
  readBytes(
    bytes: Buffer,
    fields: MediaFields,
    operation: Pick<Operation, 'readsBody' | 'bodyOptional'>,
  ): ReadBody | undefined
}

export function createBodyReader(settings: BodySettings): BodyReader {
  function readWhole(
    size: number,
    fields: MediaFields,
    { readsBody, bodyOptional = false }: Pick<Operation, 'readsBody'> & Partial<Pick<Operation, 'bodyOptional'>>,
    readContent: () => ReadBody,
  ): ReadBody | undefined {
    if (!readsBody) return undefined
    if (bodyOptional && size === 0) return undefined
    const problem = findMediaProblem(fields, settings)
    if (problem !== undefined) return refuse(problem)
    if (size === 0) return readContent()
    const { bodyLimit } = settings
    return size > bodyLimit ? refuse(tooLarge(bodyLimit)) : readContent()
  }

  return {
    read(request, { readsBody, bodyOptional }) {
      if (!readsBody) return undefined
      if (bodyOptional && !hasBody(request)) return undefined
      const { headers } = request
      const { bodyLimit } = settings
      const problem = findMediaProblem(headers, settings)
      if (problem !== undefined) return refuse(problem)
      return whenReady(receiveBody(request, bodyLimit), (bytes) => {
        return bytes === undefined ? refuse(tooLarge(bodyLimit)) : parseBytes(bytes)
      })
    },

    readText: (text, size, fields, { readsBody }) =>
      readWhole(size, fields, { readsBody }, () => parseText(text, { held: text, size })),

    readBytes: (bytes, fields, operation) => readWhole(bytes.length, fields, operation, () => parseBytes(bytes)),
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
