import type { IncomingMessage } from 'node:http'
import type { Operation } from '../contract/api.ts'
import { type Problem, type Refusal, refusalOf } from '../domain/errors.ts'
import type { Settings } from '../domain/settings.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import { isObject, type Json } from '../ground/json.ts'
import { readBody } from './body.ts'
import type { Content } from './content.ts'

/** What was read of a body. */
export interface ReceivedBody {
  /** As received. */
  body?: Content | undefined
  /** Where it is JSON, be it lawful or not. */
  value?: unknown
}

export interface ConformingRequest {
  ok: true
  query: Record<string, string>
  body: Json
}

const NONE: readonly Problem<string>[] = []

export type Conformity = ConformingRequest | Refusal<string>

/** What an API lets pass and what it does not. */
export type RequestSettings = Pick<Settings, 'bodyLimit' | 'contentType' | 'nullFields' | 'unknownQueryParameters'>

/**
 * Holds a request to its operation's parameters and schema; at once, where there is no body to wait for. A refusal
 * names everything that is wrong: which of it is answered, the catalogue says. `received` takes note of the body.
 */
export function conformRequest(
  request: IncomingMessage,
  query: Record<string, string>,
  operation: Operation,
  settings: RequestSettings,
  received: ReceivedBody = {},
): Awaitable<Conformity> {
  const wrong = operation.checkQuery(query)
  const unknown = settings.unknownQueryParameters === 'refused' ? unknownParameters(query, operation) : NONE
  const inQuery = joined(wrong, unknown)
  const reads = operation.readsBody && !(operation.bodyOptional && !hasBody(request))
  if (reads) return conformBody(request, query, operation, settings, received, inQuery)
  return refusalOf(inQuery) ?? { ok: true, query, body: {} }
}

function conformBody(
  request: IncomingMessage,
  query: Record<string, string>,
  operation: Operation,
  settings: RequestSettings,
  received: ReceivedBody,
  inQuery: readonly Problem<string>[],
): Awaitable<Conformity> {
  return whenReady(readBody(request, settings.bodyLimit, settings.contentType === 'required'), (read) => {
    received.body = read.content
    if (!read.ok) return refusalOf(joined(inQuery, read.problems)) ?? read
    const value = settings.nullFields === 'absent' ? withoutNulls(read.value) : read.value
    received.value = value
    // ajv has just proved that it is an object.
    return refusalOf(joined(inQuery, operation.checkBody(value))) ?? { ok: true, query, body: value as Json }
  })
}

/** Both lists in one; most often there is nothing in the first. */
function joined<Item>(some: readonly Item[], others: readonly Item[]): readonly Item[] {
  return some.length === 0 ? others : [...some, ...others]
}

/** RFC 9112 §6.3: a request without either field has no body. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Query parameters that the operation does not have. */
export function unknownParameters(query: Record<string, string>, { parameters }: Operation): Problem<string>[] {
  const unknown = Object.keys(query).filter((name) => !parameters.has(name))
  return unknown.map((name) => ({ code: 'unknown_field', reason: 'query', field: name, value: query[name] }))
}

function withoutNulls(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value
}
