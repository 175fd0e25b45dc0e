import { type Problem, type Refusal, refuse } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import type { Arrival } from '../ground/arrival.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { bytesOf, type Content, isCut, textOf } from '../ground/content.ts'
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
