import { type Operation, pointerOf } from '../contract/api.ts'
import { overlayFor } from '../contract/assumptions.ts'
import { hasField } from '../exchanges/exchange.ts'
import { lacksBody, type ReadExchange } from '../exchanges/reading.ts'
import { type Json, pointTo, readJson, valueAt } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { isRefusedUnread } from './gate.ts'
import { checkHeaders, checkRequestId } from './header-check.ts'
import { permitsAnywhere } from './refusals.ts'
import { type Checking, isLong, isPreflight, tellViolations } from './request-check.ts'

const FAILURE = '/components/schemas/Failure'

/** Tells what is wrong with a response, whatever a service has chosen where the specification leaves it open. */
export function checkResponse(checking: Checking): void {
  const { reading, widest } = checking
  const { exchange, route, lenient, outcome, response } = reading
  const { request } = exchange
  const isHead = request.method === 'HEAD'
  if (!lenient.ok) {
    // The document says nothing about a path outside of the service.
    if (route.ok || (isPreflight(request) && response.status < 300)) return
    if (route.neighbour === undefined) {
      checkAtUnknownPath(checking)
      return
    }
    if (!isHead) checkRefusedMethod(route.neighbour, checking)
    checkRequestId(checking)
    return
  }
  const { operation } = lenient
  if (isNotModified(reading)) {
    checkRequestId(checking)
    return
  }
  if (isHead) checkHead(operation, checking)
  else checkContent(operation, checking)
  // Under our choice the path does not exist, and the document gives such a refusal no header field but the id.
  const isOutside = !route.ok && outcome.kind === 'refusal' && widest.isRefusedOutside(response.status, outcome.code)
  if (isOutside) checkRequestId(checking)
  else checkHeaders(operation, checking)
}

/** The answer to a request for a new version of what the client has already (RFC 9110 §15.4.5). */
function isNotModified({ exchange: { request }, response: { status } }: ReadExchange): boolean {
  if (status !== 304 || (request.method !== 'GET' && request.method !== 'HEAD')) return false
  return hasField(request, 'if-none-match') || hasField(request, 'if-modified-since')
}

/** Each response of the service has the envelope; a page may be that of another program. */
function checkAtUnknownPath(checking: Checking): void {
  const { reading, widest } = checking
  const { response, path } = reading
  if (response.status < 400 || !path.startsWith(`${widest.contract.basePath}/`)) return
  const envelope = envelopeOf(reading)
  if (envelope !== undefined) checkFailure(envelope, checking)
}

/** The response to a method that a path does not have. */
function checkRefusedMethod({ path }: Operation, checking: Checking): void {
  const { reading, widest, tell } = checking
  const { outcome, response, exchange } = reading
  const { status } = response
  const { method } = exchange.request
  const place = pointTo('/paths', path)
  if (outcome.kind === 'refusal') {
    const { code } = outcome
    if (checkFailure(outcome.envelope, checking) || widest.isRefusedOutside(status, code)) return
    const reason = `refuses ${method} ${path} with ${status} ${show(code)}, which the document does not allow.`
    // Another status of a possible code is left open.
    const isOpen = status >= 400 && [...widest.statusesOf(code)].some((each) => widest.isRefusedOutside(each, code))
    tell('response/code', isOpen ? pointTo(widest.errors, code) : widest.errors, reason, { isOpen })
  } else if (outcome.kind === 'unreadable' && status >= 400) tellUnreadable(place, checking)
  else
    tell('response/status', place, `answers ${method} ${path} with ${status}, but the document has no such operation.`)
}

function checkHead(operation: Operation, checking: Checking): void {
  const { body } = checking.reading.response
  const reason = 'to HEAD has a body, which RFC 9110 §9.3.2 forbids.'
  if (body.isKnown && body.size > 0) checking.tell('response/body', pointerOf(operation), reason)
  checkStatus(operation, checking)
}

/** Tells what is wrong with the status and the body. */
function checkContent(operation: Operation, checking: Checking): void {
  const { reading, widest } = checking
  const { outcome, response } = reading
  const { statuses, content } = widest.of(operation)
  const isSuccess = statuses.has(response.status)
  if (outcome.kind === 'success') {
    if (!isSuccess) tellStatus(operation, response.status < 300, checking)
    checkSuccess(operation, outcome.envelope, checking)
  } else if (outcome.kind === 'refusal') {
    checkCode(outcome.code, operation, checking)
    checkFailure(outcome.envelope, checking)
  } else {
    checkStatus(operation, checking)
    if (isOpenAndEmpty(operation, checking)) return
    const envelope = envelopeOf(reading)
    const check = isSuccess ? () => checkSuccess(operation, envelope, checking) : () => checkFailure(envelope, checking)
    if (envelope === undefined || !check()) tellUnreadable(isSuccess ? content : FAILURE, checking)
  }
}

/** The JSON of the body, even if it is not the envelope of the service. */
function envelopeOf({ outcome, response: { body } }: ReadExchange): unknown {
  if (outcome.kind !== 'unreadable') return outcome.envelope
  return body.isKnown ? readJson(body.text) : undefined
}

/** Returns whether something is wrong. */
function checkSuccess(operation: Operation, envelope: unknown, { reading, widest, tell }: Checking): boolean {
  const { body } = reading.response
  const { checkSuccess: check, isOpen } = widest.of(operation)
  return tellViolations('response', check(envelope, body.isKnown && isLong(body)), widest, tell, (violation) => {
    const { pointer, keyword, place } = violation
    // Nothing is shown of the data of some operations.
    const isInData = pointer.startsWith('/data') && !(pointer === '/data' && keyword === 'required')
    return (isOpen && isInData) || widest.isOpen(place)
  })
}

/** Returns whether something is wrong. */
function checkFailure(envelope: unknown, { reading, widest, tell }: Checking): boolean {
  const { body } = reading.response
  const violations = widest.checkAt(FAILURE)(envelope, body.isKnown && isLong(body))
  return tellViolations('response', violations, widest, tell, ({ place }) => widest.isOpen(place))
}

/** Where the specification does not show the content of a success, there may be none. */
function isOpenAndEmpty(operation: Operation, { reading, widest }: Checking): boolean {
  const { status, body } = reading.response
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
function checkCode(code: string, operation: Operation, { reading, asked, widest, tell }: Checking): void {
  const { status } = reading.response
  const { catalogue, document } = widest.contract
  // The schema of a refusal tells of an unknown code. A path that may not exist may be refused as such.
  if (!catalogue.has(code) || (!reading.route.ok && widest.isRefusedOutside(status, code))) return
  const what = `response/code/${code}`
  // What the specification does not describe, such as another Content-Type, may be refused with other codes.
  const isPossible = widest.of(operation).codes.has(code) || permitsAnywhere(asked, code) || isRefusedUnread(reading)
  if (!isPossible) {
    const reason = `has the code ${show(code)}, with which ${operation.id} never answers.`
    tell(what, `${pointerOf(operation)}/responses`, reason)
    return
  }
  const statuses = widest.statusesOf(code)
  if (statuses.has(status) || (OF_READING.has(code) && UNREAD.has(status))) return
  const place = pointTo(widest.errors, code)
  const reason = `has the code ${show(code)} with the status ${status}, but the document has it with ${[...statuses].join(' or ')}.`
  // The specification shows no status for an error code, but the status of a success is never correct for it.
  const isOpen = status >= 400 && status < 600
  const { actions } = overlayFor({ id: code, place }, { status }, document.source)
  tell(what, place, reason, isOpen ? { isOpen, overlay: JSON.stringify(actions) } : {})
}

/** Tells if a response of which no code is known has a status that the operation cannot have. */
function checkStatus(operation: Operation, checking: Checking): void {
  const { reading, widest } = checking
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
  const isOpen = (lacksBody(method, body) && status >= 400) || isOpenAndEmpty(operation, checking)
  tellStatus(operation, isOpen, checking)
}

/** Tells of a status that the operation does not have, and if it is one of a success, how it would have it. */
function tellStatus(operation: Operation, isOpen: boolean, { reading, widest, tell }: Checking): void {
  const { status } = reading.response
  const { source } = widest.contract.document
  const place = `${pointerOf(operation)}/responses`
  const chosen = String(operation.success.status)
  const update: Json = { responses: { [chosen]: null, [status]: valueAt(source, pointTo(place, chosen)) } }
  const { actions } = overlayFor({ id: operation.id, place: pointerOf(operation) }, update, source)
  const reason = `has the status ${status}, which ${operation.id} does not have.`
  const overlay = isOpen && status < 300 ? JSON.stringify(actions) : undefined
  tell('response/status', place, reason, { isOpen, overlay })
}

function tellUnreadable(place: string, { reading: { outcome, response }, tell }: Checking): void {
  const { body } = response
  if (!body.isKnown || outcome.kind !== 'unreadable') return
  const what = readJson(body.text) === undefined ? 'not JSON' : 'not the envelope of the service'
  const reason = body.size === 0 ? 'has no body.' : `has a body that is ${what}: ${show(body.text)}.`
  tell('response/body', place, reason)
}
