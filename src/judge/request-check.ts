import { type Operation, pointerOf } from '../contract/api.ts'
import type { PlacedViolation } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import type { KnownBody, SeenRequest } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, pointTo, valueAt } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { readQuery } from '../ground/target.ts'
import type { ContractProblem, Tell } from './findings.ts'
import { shortest } from './names.ts'
import type { AskedRequest } from './request.ts'

/** In bytes: of a longer body, only the first mistake is told. */
const LONG = 1 << 18

export const isLong = ({ size }: KnownBody): boolean => size > LONG

/** Tells what is wrong with a request, whatever a service has chosen where the specification leaves it open. */
export function checkRequest(
  { exchange: { request }, path, query, route, lenient }: ReadExchange,
  asked: AskedRequest,
  widest: Widest,
  tell: Tell,
): void {
  if (lenient.ok) {
    checkQuery(query, lenient.operation, widest, tell)
    checkBody(request, asked, lenient.operation, widest, tell)
    return
  }
  if (route.ok || !path.startsWith(`${widest.contract.basePath}/`) || isPreflight(request)) return
  if (route.neighbour === undefined) {
    tell({ what: 'request/path', place: '/paths', reason: 'asks for a path that the document does not have.' })
    return
  }
  const place = pointTo('/paths', route.neighbour.path)
  const reason = `has the method ${show(request.method)}, which ${route.neighbour.path} does not have; it has ${route.allow}.`
  tell({ what: 'request/method', place, reason })
}

/** Whether a browser asks for leave to send another request (CORS), which is no request to the service. */
export function isPreflight({ method, headers }: Pick<SeenRequest, 'method' | 'headers'>): boolean {
  const isAsking = headers['origin'] !== undefined && headers['access-control-request-method'] !== undefined
  return method === 'OPTIONS' && isAsking
}

/** Other parameters, repeated ones and empty values are left open. */
function checkQuery(query: string | undefined, operation: Operation, widest: Widest, tell: Tell): void {
  if (operation.parameters.size === 0) return
  const given = query === undefined ? {} : readQuery(query)
  for (const problem of operation.checkQuery(given)) {
    if (given[problem.field ?? ''] === '') continue
    tell({
      what: `request/query/${problem.field || 'parameter'}/${problem.reason ?? problem.code}`,
      place: `${pointerOf(operation)}/parameters`,
      reason: `is refused: ${widest.contract.catalogue.answer(problem).message}`,
    })
  }
}

function checkBody(
  { body, headers }: SeenRequest,
  asked: AskedRequest,
  operation: Operation,
  widest: Widest,
  tell: Tell,
): void {
  if (!body.isKnown || !operation.readsBody || (operation.bodyOptional && body.size === 0)) return
  const { settings, catalogue } = widest.contract
  const tellUnread = (
    code: string,
    reason?: string,
    more: { value?: unknown; about?: Record<string, number> } = {},
  ) => {
    const { message } = catalogue.answer({ code, ...(reason !== undefined && { reason }), ...more })
    const place = `${pointerOf(operation)}/requestBody`
    tell({ what: `request/body/${reason ?? code}`, place, reason: `has a body that cannot be read: ${message}` })
  }
  const coding = headers['content-encoding']
  if (body.size === 0) tellUnread('invalid_request_body', 'absent')
  else if (coding !== undefined && coding.toLowerCase() !== 'identity') {
    tellUnread('invalid_request_body', 'coding', { value: coding })
  } else if (body.size > settings.bodyLimit) {
    tellUnread('request_too_large', 'bytes', { about: { limit: settings.bodyLimit } })
  } else {
    // A type or a way to write it that services may read in another way is no reason to call the body wrong.
    const { content } = asked
    if (content?.isValid !== true || content.value === undefined) {
      if (!OTHER_CHARSET.test(headers['content-type'] ?? '')) tellUnread('invalid_json')
      return
    }
    const check = widest.of(operation).checkBody
    for (const violation of certainOf(check(withoutNulls(content.value), isLong(body)), widest)) {
      tell(problemOf('request/body', violation))
    }
  }
}

const OTHER_CHARSET = /;\s*charset="?(?!"?utf-?8\b)/i

/** Whether a field that is null counts as sent is left open. */
function withoutNulls(value: unknown): unknown {
  if (!isObject(value) || !Object.values(value).includes(null)) return value
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

/** The violations that every service sees. What a character of a name is, and whether it is counted, is left open. */
export function certainOf(violations: readonly PlacedViolation[], { contract }: Widest): readonly PlacedViolation[] {
  return violations.filter(({ keyword, value, place }) => {
    if (keyword !== 'maxLength' || typeof value !== 'string') return true
    return shortest(value) > Number(valueAt(contract.document.source, place))
  })
}

/** A violation in a body. `where` is the beginning of the id: `request/body`. */
export function problemOf(where: string, { pointer, keyword, reason, place }: PlacedViolation): ContractProblem {
  const field = pointer === '' ? 'its body' : `\`${pointer}\` of its body`
  // The id has no list indexes: the same mistake at another index is the same mistake.
  const what = pointTo(where + pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*'), keyword)
  return { what, place, reason: `breaks the schema: ${field} ${reason}.` }
}
