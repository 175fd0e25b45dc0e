import { type Operation, pointerOf } from '../contract/api.ts'
import type { PlacedCheck, PlacedViolation } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import type { SeenRequest } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, pointTo, readJson, valueAt } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { show } from '../ground/show.ts'
import { readQuery } from '../ground/target.ts'
import { shortest } from './names.ts'
import { readText, USUAL_TYPE } from './request.ts'

/** What the document forbids in a request or a response. */
export interface ContractProblem {
  /** What is wrong, as the end of an id: `request/body/domains/*\/format`. */
  what: string
  /** JSON pointer into openapi.yaml. */
  place: string
  /** A sentence without its subject, which is the request or the response. */
  reason: string
  /** Whether the specification leaves it open. */
  isOpen?: boolean
  /** With `isOpen`: what an overlay would have to say. */
  overlay?: string | undefined
}

export const NONE: readonly ContractProblem[] = []

/** In bytes: of a longer body, only the first mistake is told. */
const LONG = 1 << 18

export const isLong = (bytes: Buffer): boolean => bytes.length > LONG

/** What is wrong with a request, whatever a service has chosen where the specification leaves it open. */
export function findInRequest(
  { exchange: { request }, path, query, route }: ReadExchange,
  operation: Operation | undefined,
  widest: Widest,
): readonly ContractProblem[] {
  const { basePath } = widest.contract
  if (operation !== undefined)
    return [...findInQuery(query, operation, widest), ...findInBody(request, operation, widest)]
  if (route.ok || !path.startsWith(`${basePath}/`) || isPreflight(request)) return []
  if (route.neighbour === undefined) {
    return [{ what: 'request/path', place: '/paths', reason: 'asks for a path that the document does not have.' }]
  }
  const place = pointTo('/paths', route.neighbour.path)
  const reason = `has the method ${show(request.method)}, which ${route.neighbour.path} does not have; it has ${route.allow}.`
  return [{ what: 'request/method', place, reason }]
}

/** Whether a browser asks for leave to send another request (CORS), which is no request to the service. */
export function isPreflight({ method, headers }: Pick<SeenRequest, 'method' | 'headers'>): boolean {
  const isAsking = headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  return method === 'OPTIONS' && isAsking
}

/** Other parameters, repeated ones and empty values are left open. */
function findInQuery(query: string | undefined, operation: Operation, widest: Widest): readonly ContractProblem[] {
  if (operation.parameters.size === 0) return NONE
  const given = query === undefined ? {} : readQuery(query)
  const problems = operation.checkQuery(given)
  if (problems.length === 0) return NONE
  return problems
    .filter(({ field = '' }) => given[field] !== '')
    .map((problem) => ({
      what: `request/query/${problem.field || 'parameter'}/${problem.reason ?? problem.code}`,
      place: `${pointerOf(operation)}/parameters`,
      reason: `is refused: ${widest.contract.catalogue.answer(problem).message}`,
    }))
}

function findInBody({ body, headers }: SeenRequest, operation: Operation, widest: Widest): readonly ContractProblem[] {
  if (!body.isKnown || !operation.readsBody || (operation.bodyOptional && body.bytes.length === 0)) return NONE
  const { bytes } = body
  const { settings } = widest.contract
  if (bytes.length === 0) return [unread('invalid_request_body', 'absent', operation, widest)]
  const coding = headers['content-encoding']
  if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    return [unread('invalid_request_body', 'coding', operation, widest, { value: coding })]
  }
  if (bytes.length > settings.bodyLimit) {
    return [unread('request_too_large', 'bytes', operation, widest, { about: { limit: settings.bodyLimit } })]
  }
  const check = bodyChecksOf(widest)(operation)
  let fewest: readonly ContractProblem[] | undefined
  for (const value of valuesOf(bytes, headers['content-type'])) {
    if (value === undefined) continue
    const found = findInValue(value, (sent) => check(sent, isLong(bytes)), widest)
    if (fewest === undefined || found.length < fewest.length) fewest = found
  }
  return fewest ?? [unread('invalid_json', undefined, operation, widest)]
}

const bodyChecksOf = memoizeWeakly(({ checkAt }: Widest) =>
  memoizeWeakly((operation: Operation) =>
    checkAt(`${pointerOf(operation)}/requestBody/content/application~1json/schema`),
  ),
)

function unread(
  code: string,
  reason: string | undefined,
  operation: Operation,
  { contract: { catalogue } }: Widest,
  more: { value?: unknown; about?: Record<string, number> } = {},
): ContractProblem {
  const { message } = catalogue.answer({ code, ...(reason !== undefined && { reason }), ...more })
  return {
    what: `request/body/${reason ?? code}`,
    place: `${pointerOf(operation)}/requestBody`,
    reason: `has a body that cannot be read: ${message}`,
  }
}

const CHARSET = /;\s*charset="?([\w.:-]+)/i

/** The values that a body may be: in UTF-8, or in the charset of its Content-Type. */
function valuesOf(bytes: Buffer, type = ''): unknown[] {
  const { value, isValid } = readText(bytes)
  const values = isValid ? [value] : []
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase() ?? 'utf-8'
  if (charset === 'utf-8') return values
  try {
    return [...values, readJson(new TextDecoder(charset, { fatal: true }).decode(bytes))]
  } catch {
    // The bytes are invalid in this charset, or there is no such charset.
    return values
  }
}

/** Whether a field that is null counts as sent is left open. */
function findInValue(value: unknown, check: PlacedCheck, widest: Widest): readonly ContractProblem[] {
  const problemsOf = (sent: unknown) => certainOf(check(sent), widest).map((each) => inBody('request/body', each))
  const problems = problemsOf(value)
  if (problems.length === 0 || !isObject(value) || !Object.values(value).includes(null)) return problems
  const others = problemsOf(withoutNulls(value))
  return others.length < problems.length ? others : problems
}

function withoutNulls(value: Json): Json {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

/** The violations that every service sees. What a character of a name is, and whether it is counted, is left open. */
export function certainOf(violations: readonly PlacedViolation[], { contract }: Widest): readonly PlacedViolation[] {
  if (violations.length === 0) return violations
  return violations.filter(({ keyword, value, place }) => {
    if (keyword !== 'maxLength' || typeof value !== 'string') return true
    return shortest(value) > Number(valueAt(contract.document.source, place))
  })
}

/** A violation in a body. `where` is the beginning of the id: `request/body`. */
export function inBody(where: string, { pointer, keyword, reason, place }: PlacedViolation): ContractProblem {
  const field = pointer === '' ? 'its body' : `\`${pointer}\` of its body`
  return { what: whatIsWrong(where, pointer, keyword), place, reason: `breaks the schema: ${field} ${reason}.` }
}

/** The id has no list indexes: the same mistake at another index is the same mistake. */
export function whatIsWrong(where: string, pointer: string, keyword: string): string {
  return pointTo(where + pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*'), keyword)
}

/** In bytes. Some services refuse request header fields, or bodies, from this size on, most only larger ones. */
const LARGE_HEADER = 4096
const LARGE_BODY = 16_000

/** The codes with which a service may refuse what the specification does not describe, such as another Content-Type. */
export function codesOfUnusual(
  { exchange: { request }, query }: ReadExchange,
  { readsBody, parameters }: Operation,
): ReadonlySet<string> {
  const { body, headers, target } = request
  const codes = new Set<string>()
  const add = (...more: string[]) => {
    for (const code of more) codes.add(code)
  }
  if (query !== undefined) add('unknown_field', 'invalid_field_type', 'invalid_request_body')
  if (query !== undefined && parameters.size > 0) add('missing_id')
  const size = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, target.length)
  if (size > LARGE_HEADER) add('request_too_large', 'invalid_request_body')
  // A body that is no object has no field.
  if (readsBody) add('missing_field')
  if (body.isKnown && body.bytes.length === 0) return codes
  const isUsual = USUAL_TYPE.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined
  if (!readsBody || !isUsual || !body.isKnown) add('invalid_request_body', 'invalid_json', 'invalid_field_type')
  if (!readsBody) add('unknown_field')
  if (!body.isKnown || body.bytes.length > LARGE_BODY) add('request_too_large')
  return codes
}
