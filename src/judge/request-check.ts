import { type Operation, pointerOf } from '../contract/api.ts'
import type { PlacedViolation } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import type { Problem } from '../domain/errors.ts'
import type { KnownBody, SeenRequest } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, pointTo, valueAt } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { readQuery } from '../ground/target.ts'
import type { Tell } from './findings.ts'
import { shortest } from './names.ts'
import type { AskedRequest } from './request.ts'

/** An exchange that is compared with the widest document. */
export interface Checking {
  reading: ReadExchange
  asked: AskedRequest
  widest: Widest
  tell: Tell
}

/** In bytes: of a longer body, only the first mistake is told. */
const LONG = 1 << 18

export const isLong = ({ size }: KnownBody): boolean => size > LONG

/** Tells what is wrong with a request, whatever a service has chosen where the specification leaves it open. */
export function checkRequest(checking: Checking): void {
  const { reading, widest, tell } = checking
  const { path, route, lenient, exchange } = reading
  if (lenient.ok) {
    checkQuery(lenient.operation, checking)
    checkBody(lenient.operation, checking)
    return
  }
  if (route.ok || !path.startsWith(`${widest.contract.basePath}/`) || isPreflight(exchange.request)) return
  if (route.neighbour === undefined) {
    tell('request/path', '/paths', 'asks for a path that the document does not have.')
    return
  }
  const known = route.neighbour.path
  const reason = `has the method ${show(exchange.request.method)}, which ${known} does not have; it has ${route.allow}.`
  tell('request/method', pointTo('/paths', known), reason)
}

/** Whether a browser asks for leave to send another request (CORS), which is no request to the service. */
export function isPreflight({ method, headers }: SeenRequest): boolean {
  const isAsking = headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  return method === 'OPTIONS' && isAsking
}

/** Other parameters, repeated ones and empty values are left open. */
function checkQuery(operation: Operation, { reading: { query }, widest, tell }: Checking): void {
  if (operation.parameters.size === 0) return
  const given = query === undefined ? {} : readQuery(query)
  for (const problem of operation.checkQuery(given)) {
    const { field = '', reason, code } = problem
    if (given[field] === '') continue
    const { message } = widest.contract.catalogue.answer(problem)
    const what = `request/query/${field || 'parameter'}/${reason ?? code}`
    tell(what, `${pointerOf(operation)}/parameters`, `is refused: ${message}`)
  }
}

function checkBody(operation: Operation, { reading, asked, widest, tell }: Checking): void {
  const { body, headers } = reading.exchange.request
  if (!body.isKnown || !operation.readsBody || (operation.bodyOptional && body.size === 0)) return
  const { settings, catalogue } = widest.contract
  const tellUnread = (problem: Problem<string>) => {
    const reason = `has a body that cannot be read: ${catalogue.answer(problem).message}`
    tell(`request/body/${problem.reason ?? problem.code}`, `${pointerOf(operation)}/requestBody`, reason)
  }
  const { 'content-encoding': coding = 'identity', 'content-type': type = '' } = headers
  if (body.size === 0) tellUnread({ code: 'invalid_request_body', reason: 'absent' })
  else if (coding.toLowerCase() !== 'identity') {
    tellUnread({ code: 'invalid_request_body', reason: 'coding', value: coding })
  } else if (body.size > settings.bodyLimit) {
    tellUnread({ code: 'request_too_large', reason: 'bytes', about: { limit: settings.bodyLimit } })
  } else if (body.isUtf8 && asked.value !== undefined) {
    const violations = widest.of(operation).checkBody(withoutNulls(asked.value), isLong(body))
    tellViolations('request/body', violations, widest, tell)
  } else if (!OTHER_CHARSET.test(type)) tellUnread({ code: 'invalid_json' })
}

const OTHER_CHARSET = /;\s*charset="?(?!"?utf-?8\b)/i

/** Whether a field that is null counts as sent is left open. */
function withoutNulls(value: unknown): unknown {
  if (!isObject(value) || !Object.values(value).includes(null)) return value
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

/**
 * Tells of the violations in a body that every service sees, and returns whether there are any. `where` is the beginning of
 * the ids, which have no list indexes: the same mistake at another index is the same mistake.
 */
export function tellViolations(
  where: string,
  violations: readonly PlacedViolation[],
  { contract }: Widest,
  tell: Tell,
  isOpen: (violation: PlacedViolation) => boolean = () => false,
): boolean {
  // What a character of a name is, and whether it is counted, is left open.
  const certain = violations.filter(({ keyword, value, place }) => {
    const isCounted = keyword === 'maxLength' && typeof value === 'string'
    return !isCounted || shortest(value) > Number(valueAt(contract.document.source, place))
  })
  for (const violation of certain) {
    const { pointer, keyword, reason, place } = violation
    const field = pointer === '' ? 'its body' : `\`${pointer}\` of its body`
    const what = pointTo(where + pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*'), keyword)
    tell(what, place, `breaks the schema: ${field} ${reason}.`, { isOpen: isOpen(violation) })
  }
  return certain.length > 0
}
