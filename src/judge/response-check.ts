import { type Operation, pointerOf } from '../contract/api.ts'
import { overlayFor } from '../contract/assumptions.ts'
import type { PlacedViolation } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import { lacksBody, type ReadExchange } from '../exchanges/reading.ts'
import { type Json, pointTo, readJson, valueAt } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { findInHeaders, findInRequestId, successOf } from './header-check.ts'
import { type ContractProblem, certainOf, codesOfUnusual, inBody, isLong, isPreflight, NONE } from './request-check.ts'

const FAILURE = '/components/schemas/Failure'

/** What is wrong with a response, whatever a service has chosen where the specification leaves it open. */
export function findInResponse(
  reading: ReadExchange,
  operation: Operation | undefined,
  widest: Widest,
): readonly ContractProblem[] {
  const { exchange, route, outcome, response } = reading
  const { request } = exchange
  if (operation === undefined) {
    // The document says nothing about a path outside of the service.
    if (route.ok || (isPreflight(request) && response.status < 300)) return NONE
    if (route.neighbour === undefined) return findAtUnknownPath(reading, widest)
    const content = request.method === 'HEAD' ? NONE : findInRefusedMethod(reading, route.neighbour, widest)
    return [...content, ...findInRequestId(reading, widest)]
  }
  if (isNotModified(reading)) return findInRequestId(reading, widest)
  const find = request.method === 'HEAD' ? findInHead : findInContent
  const content = find(reading, operation, widest)
  // Under our choice the path does not exist, and the document gives such a refusal no header field but the id.
  const isOutside = !route.ok && outcome.kind === 'refusal' && widest.isRefusedOutside(response.status, outcome.code)
  const headers = isOutside ? findInRequestId(reading, widest) : findInHeaders(reading, operation, widest)
  return content.length + headers.length === 0 ? NONE : [...content, ...headers]
}

/** The answer to a request for a new version of what the client has already (RFC 9110 §15.4.5). */
function isNotModified({ exchange: { request }, response: { status } }: ReadExchange): boolean {
  if (status !== 304) return false
  const { 'if-none-match': tag, 'if-modified-since': date } = request.headers
  return (request.method === 'GET' || request.method === 'HEAD') && (tag ?? date) !== undefined
}

/** Each response of the service has the envelope; a page may be that of another program. */
function findAtUnknownPath({ outcome, response, path }: ReadExchange, widest: Widest): readonly ContractProblem[] {
  const { basePath } = widest.contract
  if (response.status < 400 || !path.startsWith(`${basePath}/`) || !response.body.isKnown) return NONE
  const envelope = outcome.kind === 'unreadable' ? readJson(response.body.bytes.toString()) : outcome.envelope
  return envelope === undefined ? NONE : findInFailure(envelope, false, widest)
}

/** The response to a method that a path does not have. */
function findInRefusedMethod(reading: ReadExchange, { path }: Operation, widest: Widest): readonly ContractProblem[] {
  const { outcome, response, exchange } = reading
  const { status } = response
  const { method } = exchange.request
  const place = pointTo('/paths', path)
  if (outcome.kind === 'refusal') {
    const { code } = outcome
    const envelope = findInFailure(outcome.envelope, false, widest)
    if (widest.isRefusedOutside(status, code) || envelope.length > 0) return envelope
    const reason = `refuses ${method} ${path} with ${status} ${show(code)}, which the document does not allow.`
    // Another status of a possible code is left open.
    const isOpen = status >= 400 && [...widest.statusesOf(code)].some((each) => widest.isRefusedOutside(each, code))
    return [{ what: 'response/code', place: isOpen ? pointTo(widest.errors, code) : widest.errors, reason, isOpen }]
  }
  if (outcome.kind === 'unreadable' && status >= 400) return unreadable(reading, place)
  const reason = `answers ${method} ${path} with ${status}, but the document has no such operation.`
  return [{ what: 'response/status', place, reason }]
}

function findInHead(reading: ReadExchange, operation: Operation, widest: Widest): readonly ContractProblem[] {
  const { body } = reading.response
  const reason = 'to HEAD has a body, which RFC 9110 §9.3.2 forbids.'
  const hasBody = body.isKnown && body.bytes.length > 0
  return [
    ...(hasBody ? [{ what: 'response/body', place: pointerOf(operation), reason }] : []),
    ...findInStatus(reading, operation, widest),
  ]
}

/** Problems of the status and the body. */
function findInContent(reading: ReadExchange, operation: Operation, widest: Widest): readonly ContractProblem[] {
  const { outcome, response } = reading
  const { status, body } = response
  const long = body.isKnown && isLong(body.bytes)
  const isSuccess = widest.successStatuses(operation).has(status)
  switch (outcome.kind) {
    case 'success': {
      const problems = findInSuccess(outcome.envelope, long, operation, widest)
      return isSuccess ? problems : [undocumented(reading, operation, widest, status < 300), ...problems]
    }
    case 'refusal':
      return [...findInCode(outcome.code, reading, operation, widest), ...findInFailure(outcome.envelope, long, widest)]
    case 'unreadable': {
      const undocumentedStatus = findInStatus(reading, operation, widest)
      if (!body.isKnown || isOpenAndEmpty(reading, operation, widest)) return undocumentedStatus
      const envelope = readJson(body.bytes.toString())
      const find = () =>
        isSuccess ? findInSuccess(envelope, long, operation, widest) : findInFailure(envelope, long, widest)
      const problems = envelope === undefined ? [] : find()
      const place = isSuccess ? successOf(operation, widest).content : FAILURE
      return [...undocumentedStatus, ...(problems.length > 0 ? problems : unreadable(reading, place))]
    }
  }
}

function findInSuccess(
  envelope: unknown,
  long: boolean,
  operation: Operation,
  widest: Widest,
): readonly ContractProblem[] {
  const { check, isOpen } = successOf(operation, widest)
  const violations = check(envelope, long)
  return violations.length === 0
    ? NONE
    : certainOf(violations, widest).map((violation) => inResponse(violation, widest, isOpen))
}

function findInFailure(envelope: unknown, long: boolean, widest: Widest): readonly ContractProblem[] {
  const violations = widest.checkAt(FAILURE)(envelope, long)
  return violations.length === 0 ? NONE : violations.map((violation) => inResponse(violation, widest, false))
}

/** `isOpen`: whether nothing is shown of the data. */
function inResponse(violation: PlacedViolation, widest: Widest, isOpen: boolean): ContractProblem {
  const { pointer, keyword, place } = violation
  const isInData = pointer.startsWith('/data') && !(pointer === '/data' && keyword === 'required')
  return { ...inBody('response', violation), isOpen: (isOpen && isInData) || widest.isOpen(place) }
}

/** Where the specification does not show the content of a success, there may be none. */
function isOpenAndEmpty({ response: { status, body } }: ReadExchange, operation: Operation, widest: Widest): boolean {
  return status < 300 && body.isKnown && body.bytes.length === 0 && successOf(operation, widest).isOpen
}

/**
 * Statuses with which HTTP itself refuses a request that was not read (RFC 9110 §15.5, RFC 6585), and codes that fit
 * to that. The document has none of them, because it says nothing about such requests.
 */
const UNREAD: ReadonlySet<number> = new Set([406, 408, 411, 413, 414, 415, 417, 431])
const OF_READING: ReadonlySet<string> = new Set([
  ...['invalid_request_body', 'invalid_json', 'invalid_field_type'],
  ...['unknown_field', 'missing_field', 'request_too_large'],
])

/** Whether the operation can answer with the code, and whether the code can have the status. */
function findInCode(
  code: string,
  reading: ReadExchange,
  operation: Operation,
  widest: Widest,
): readonly ContractProblem[] {
  const { status } = reading.response
  const { catalogue, document } = widest.contract
  // The schema of a refusal tells of an unknown code. A path that may not exist may be refused as such.
  if (!catalogue.has(code) || (!reading.route.ok && widest.isRefusedOutside(status, code))) return NONE
  const what = `response/code/${code}`
  if (!widest.codesOf(operation).has(code) && !codesOfUnusual(reading, operation).has(code)) {
    const reason = `has the code ${show(code)}, with which ${operation.id} never answers.`
    return [{ what, place: `${pointerOf(operation)}/responses`, reason }]
  }
  const statuses = widest.statusesOf(code)
  if (statuses.has(status) || (OF_READING.has(code) && UNREAD.has(status))) return NONE
  const place = pointTo(widest.errors, code)
  const reason = `has the code ${show(code)} with the status ${status}, but the document has it with ${[...statuses].join(' or ')}.`
  // The specification shows no status for an error code, but the status of a success is never correct for it.
  const isOpen = status >= 400 && status < 600
  const { actions } = overlayFor({ id: code, place }, { status }, document.source)
  return [{ what, place, reason, isOpen, ...(isOpen && { overlay: JSON.stringify(actions) }) }]
}

/** Whether a response of which no code is known has a status that the operation can have. */
function findInStatus(reading: ReadExchange, operation: Operation, widest: Widest): readonly ContractProblem[] {
  const { exchange, response, route } = reading
  const { status, body } = response
  const { method } = exchange.request
  const codes = [...widest.codesOf(operation)]
  const isPossible =
    widest.successStatuses(operation).has(status) ||
    codes.some((code) => widest.statusesOf(code).has(status)) ||
    ((!route.ok || method === 'HEAD') && widest.isRefusedOutside(status))
  if (isPossible) return NONE
  // Without a body, it is not known which error code comes with a status, and each code can have any.
  const isOpen = (lacksBody(method, body) && status >= 400) || isOpenAndEmpty(reading, operation, widest)
  return [undocumented(reading, operation, widest, isOpen)]
}

function undocumented(
  { response: { status } }: ReadExchange,
  operation: Operation,
  { contract: { document } }: Widest,
  isOpen: boolean,
): ContractProblem {
  const place = `${pointerOf(operation)}/responses`
  const reason = `has the status ${status}, which ${operation.id} does not have.`
  const problem = { what: 'response/status', place, reason, isOpen }
  if (!isOpen || status >= 300) return problem
  const chosen = String(operation.success.status)
  const response = valueAt(document.source, pointTo(place, chosen))
  const update: Json = { responses: { [chosen]: null, [status]: response } }
  const { actions } = overlayFor({ id: operation.id, place: pointerOf(operation) }, update, document.source)
  return { ...problem, overlay: JSON.stringify(actions) }
}

function unreadable({ outcome, response }: ReadExchange, place: string): readonly ContractProblem[] {
  if (!response.body.isKnown || outcome.kind !== 'unreadable') return NONE
  if (response.body.bytes.length === 0) return [{ what: 'response/body', place, reason: 'has no body.' }]
  const text = response.body.bytes.toString()
  const reason = `has a body that is ${readJson(text) === undefined ? 'not JSON' : 'not the envelope of the service'}: ${show(text)}.`
  return [{ what: 'response/body', place, reason }]
}
