import { type Operation, pointerOf } from '../contract/api.ts'
import { overlayFor } from '../contract/assumptions.ts'
import type { Widest } from '../contract/widest.ts'
import { lacksBody, type ReadExchange } from '../exchanges/reading.ts'
import { type Json, pointTo, readJson, valueAt } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import type { ContractProblem, Tell } from './findings.ts'
import { isRefusedUnread } from './gate.ts'
import { checkHeaders, checkRequestId } from './header-check.ts'
import { permitsAnywhere } from './refusals.ts'
import type { AskedRequest } from './request.ts'
import { certainOf, isLong, isPreflight, problemOf } from './request-check.ts'

const FAILURE = '/components/schemas/Failure'

/** Tells what is wrong with a response, whatever a service has chosen where the specification leaves it open. */
export function checkResponse(reading: ReadExchange, asked: AskedRequest, widest: Widest, tell: Tell): void {
  const { exchange, route, lenient, outcome, response } = reading
  const { request } = exchange
  const isHead = request.method === 'HEAD'
  if (!lenient.ok) {
    // The document says nothing about a path outside of the service.
    if (route.ok || (isPreflight(request) && response.status < 300)) return
    if (route.neighbour === undefined) {
      checkAtUnknownPath(reading, widest, tell)
      return
    }
    if (!isHead) checkRefusedMethod(reading, route.neighbour, widest, tell)
    checkRequestId(reading, widest, tell)
    return
  }
  const { operation } = lenient
  if (isNotModified(reading)) {
    checkRequestId(reading, widest, tell)
    return
  }
  if (isHead) checkHead(reading, operation, widest, tell)
  else checkContent(reading, asked, operation, widest, tell)
  // Under our choice the path does not exist, and the document gives such a refusal no header field but the id.
  const isOutside = !route.ok && outcome.kind === 'refusal' && widest.isRefusedOutside(response.status, outcome.code)
  if (isOutside) checkRequestId(reading, widest, tell)
  else checkHeaders(reading, operation, widest, tell)
}

/** The answer to a request for a new version of what the client has already (RFC 9110 §15.4.5). */
function isNotModified({ exchange: { request }, response: { status } }: ReadExchange): boolean {
  if (status !== 304) return false
  const { 'if-none-match': tag, 'if-modified-since': date } = request.headers
  return (request.method === 'GET' || request.method === 'HEAD') && (tag ?? date) !== undefined
}

/** Each response of the service has the envelope; a page may be that of another program. */
function checkAtUnknownPath({ outcome, response, path }: ReadExchange, widest: Widest, tell: Tell): void {
  const { basePath } = widest.contract
  if (response.status < 400 || !path.startsWith(`${basePath}/`) || !response.body.isKnown) return
  const envelope = outcome.kind === 'unreadable' ? readJson(response.body.text) : outcome.envelope
  if (envelope !== undefined) checkFailure(envelope, false, widest, tell)
}

/** The response to a method that a path does not have. */
function checkRefusedMethod(reading: ReadExchange, { path }: Operation, widest: Widest, tell: Tell): void {
  const { outcome, response, exchange } = reading
  const { status } = response
  const { method } = exchange.request
  const place = pointTo('/paths', path)
  if (outcome.kind === 'refusal') {
    const { code } = outcome
    const isWrong = checkFailure(outcome.envelope, false, widest, tell)
    if (isWrong || widest.isRefusedOutside(status, code)) return
    const reason = `refuses ${method} ${path} with ${status} ${show(code)}, which the document does not allow.`
    // Another status of a possible code is left open.
    const isOpen = status >= 400 && [...widest.statusesOf(code)].some((each) => widest.isRefusedOutside(each, code))
    tell({ what: 'response/code', place: isOpen ? pointTo(widest.errors, code) : widest.errors, reason, isOpen })
  } else if (outcome.kind === 'unreadable' && status >= 400) tellUnreadable(reading, place, tell)
  else {
    const reason = `answers ${method} ${path} with ${status}, but the document has no such operation.`
    tell({ what: 'response/status', place, reason })
  }
}

function checkHead(reading: ReadExchange, operation: Operation, widest: Widest, tell: Tell): void {
  const { body } = reading.response
  const reason = 'to HEAD has a body, which RFC 9110 §9.3.2 forbids.'
  if (body.isKnown && body.size > 0) tell({ what: 'response/body', place: pointerOf(operation), reason })
  checkStatus(reading, operation, widest, tell)
}

/** Tells what is wrong with the status and the body. */
function checkContent(
  reading: ReadExchange,
  asked: AskedRequest,
  operation: Operation,
  widest: Widest,
  tell: Tell,
): void {
  const { outcome, response } = reading
  const { status, body } = response
  const long = body.isKnown && isLong(body)
  const isSuccess = widest.of(operation).statuses.has(status)
  if (outcome.kind === 'success') {
    if (!isSuccess) tell(undocumented(reading, operation, widest, status < 300))
    checkSuccess(outcome.envelope, long, operation, widest, tell)
  } else if (outcome.kind === 'refusal') {
    checkCode(outcome.code, reading, asked, operation, widest, tell)
    checkFailure(outcome.envelope, long, widest, tell)
  } else {
    checkStatus(reading, operation, widest, tell)
    if (!body.isKnown || isOpenAndEmpty(reading, operation, widest)) return
    const envelope = readJson(body.text)
    const isWrong =
      envelope !== undefined &&
      (isSuccess ? checkSuccess(envelope, long, operation, widest, tell) : checkFailure(envelope, long, widest, tell))
    if (!isWrong) tellUnreadable(reading, isSuccess ? widest.of(operation).content : FAILURE, tell)
  }
}

/** Returns whether something is wrong. */
function checkSuccess(envelope: unknown, long: boolean, operation: Operation, widest: Widest, tell: Tell): boolean {
  const { checkSuccess: check, isOpen } = widest.of(operation)
  const violations = certainOf(check(envelope, long), widest)
  for (const violation of violations) {
    const { pointer, keyword, place } = violation
    // Nothing is shown of the data of some operations.
    const isInData = pointer.startsWith('/data') && !(pointer === '/data' && keyword === 'required')
    tell({ ...problemOf('response', violation), isOpen: (isOpen && isInData) || widest.isOpen(place) })
  }
  return violations.length > 0
}

/** Returns whether something is wrong. */
function checkFailure(envelope: unknown, long: boolean, widest: Widest, tell: Tell): boolean {
  const violations = widest.checkAt(FAILURE)(envelope, long)
  for (const each of violations) tell({ ...problemOf('response', each), isOpen: widest.isOpen(each.place) })
  return violations.length > 0
}

/** Where the specification does not show the content of a success, there may be none. */
function isOpenAndEmpty({ response: { status, body } }: ReadExchange, operation: Operation, widest: Widest): boolean {
  return status < 300 && body.isKnown && body.size === 0 && widest.of(operation).isOpen
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

/** Tells if the operation cannot answer with the code, or if the code cannot have the status. */
function checkCode(
  code: string,
  reading: ReadExchange,
  asked: AskedRequest,
  operation: Operation,
  widest: Widest,
  tell: Tell,
): void {
  const { status } = reading.response
  const { catalogue, document } = widest.contract
  // The schema of a refusal tells of an unknown code. A path that may not exist may be refused as such.
  if (!catalogue.has(code) || (!reading.route.ok && widest.isRefusedOutside(status, code))) return
  const what = `response/code/${code}`
  // What the specification does not describe, such as another Content-Type, may be refused with other codes.
  const isPossible = widest.of(operation).codes.has(code) || permitsAnywhere(asked, code) || isRefusedUnread(reading)
  if (!isPossible) {
    const reason = `has the code ${show(code)}, with which ${operation.id} never answers.`
    tell({ what, place: `${pointerOf(operation)}/responses`, reason })
    return
  }
  const statuses = widest.statusesOf(code)
  if (statuses.has(status) || (OF_READING.has(code) && UNREAD.has(status))) return
  const place = pointTo(widest.errors, code)
  const reason = `has the code ${show(code)} with the status ${status}, but the document has it with ${[...statuses].join(' or ')}.`
  // The specification shows no status for an error code, but the status of a success is never correct for it.
  const isOpen = status >= 400 && status < 600
  const { actions } = overlayFor({ id: code, place }, { status }, document.source)
  tell({ what, place, reason, isOpen, ...(isOpen && { overlay: JSON.stringify(actions) }) })
}

/** Tells if a response of which no code is known has a status that the operation cannot have. */
function checkStatus(reading: ReadExchange, operation: Operation, widest: Widest, tell: Tell): void {
  const { exchange, response, route } = reading
  const { status, body } = response
  const { method } = exchange.request
  const { statuses, codes } = widest.of(operation)
  const isPossible =
    statuses.has(status) ||
    [...codes].some((code) => widest.statusesOf(code).has(status)) ||
    ((!route.ok || method === 'HEAD') && widest.isRefusedOutside(status))
  if (isPossible) return
  // Without a body, it is not known which error code comes with a status, and each code can have any.
  const isOpen = (lacksBody(method, body) && status >= 400) || isOpenAndEmpty(reading, operation, widest)
  tell(undocumented(reading, operation, widest, isOpen))
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

function tellUnreadable({ outcome, response: { body } }: ReadExchange, place: string, tell: Tell): void {
  if (!body.isKnown || outcome.kind !== 'unreadable') return
  const what = readJson(body.text) === undefined ? 'not JSON' : 'not the envelope of the service'
  const reason = body.size === 0 ? 'has no body.' : `has a body that is ${what}: ${show(body.text)}.`
  tell({ what: 'response/body', place, reason })
}
