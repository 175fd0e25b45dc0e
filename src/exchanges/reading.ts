import { shownBy } from '../behaviour/operations/operations.ts'
import type { ShownData } from '../behaviour/presentation.ts'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { createRouter, type Route } from '../contract/router.ts'
import { isDeeperThan, isObject, readJson, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { splitTarget } from '../ground/target.ts'
import { RealDate } from '../ground/timers.ts'
import type { Exchange, SeenBody, SeenResponse } from './exchange.ts'

/** What a service said, as the envelope shows it. `envelope` is the whole body, and `text` its JSON. */
type EnvelopeOutcome =
  | { kind: 'success'; data: unknown; envelope: unknown; text: string }
  | { kind: 'refusal'; code: string; message: string; envelope: unknown; text: string }
  /** The response is not the envelope of the service, or the recording does not have it. */
  | { kind: 'unreadable'; reason: string }

/** An exchange with everything that its judgement needs. */
export interface ReadExchange {
  exchange: Exchange
  /** If none came, one with the status 0. */
  response: SeenResponse
  /** The route under our choice, and where paths are matched leniently. */
  route: Route
  lenient: Route
  /** The operation of the request under our choice. */
  operation: Operation | undefined
  path: string
  /** Without the question mark. */
  query: string | undefined
  outcome: EnvelopeOutcome
  /** Who failed, if the response is no answer to the request. */
  failed: ReturnType<typeof whoFailed>
  /** What the data of a success shows of the account, by the operation that answered. */
  shown: ShownData
  /**
   * When the response was sent by the clock of the service, in milliseconds, if it says so in its Date field (RFC 9110
   * §6.6.1). That field has whole seconds.
   */
  sentAt: number | undefined
}

/** How deeply a response body may be nested to be judged; the contract has four levels. */
const DEEPEST_RESPONSE = 100

const NO_RESPONSE: SeenResponse = { status: 0, headers: {}, body: { isKnown: false, reason: 'No response came.' } }

/** Makes a function that reads exchanges by the contract. */
export function createReader(contract: Contract): (exchange: Exchange) => ReadExchange {
  const findRoute = createRouter(contract, contract.settings)
  const findLeniently = createRouter(contract, { ...contract.settings, pathMatching: 'lenient' })
  return (exchange) => {
    const { request, response = NO_RESPONSE } = exchange
    const { path, query } = splitTarget(request.target)
    const route = findRoute(request.method, path)
    const lenient = route.ok ? route : findLeniently(request.method, path)
    const outcome = readOutcome(request.method, response)
    const isOfService = lenient.ok || lenient.neighbour !== undefined
    const failed = whoFailed({ outcome, method: request.method, response, isOfService }, contract)
    const answering = lenient.ok ? lenient.operation.id : undefined
    const shown = outcome.kind === 'success' ? shownBy(answering, outcome.data) : NOTHING_SHOWN
    const date = RealDate.parse(response.headers['date'] ?? '')
    const sentAt = Number.isNaN(date) ? undefined : date
    const operation = route.ok ? route.operation : undefined
    return { exchange, response, route, lenient, operation, path, query, outcome, failed, shown, sentAt }
  }
}

const NOTHING_SHOWN: ShownData = {}

/** What a response says, if it has the envelope of the service. */
export function readOutcome(method: string, { body }: SeenResponse): EnvelopeOutcome {
  if (method === 'HEAD') return { kind: 'unreadable', reason: 'A response to HEAD has no body.' }
  if (!body.isKnown) return { kind: 'unreadable', reason: body.reason }
  return readEnvelope(body.text)
}

/** Clients ask again and again for what has not changed, so many bodies are read once. */
const readEnvelope = memoize(readText, { limit: 200, longest: 10_000 })

function readText(text: string): EnvelopeOutcome {
  const envelope = readJson(text)
  if (envelope === undefined) return { kind: 'unreadable', reason: 'The body of the response is not JSON.' }
  if (isDeeperThan(DEEPEST_RESPONSE, envelope)) {
    return { kind: 'unreadable', reason: `The body of the response is nested more than ${DEEPEST_RESPONSE} times.` }
  }
  const { success, data, error } = isObject(envelope) ? envelope : {}
  if (success === true && data !== undefined) return { kind: 'success', data, envelope, text }
  const { code, message } = success === false && isObject(error) ? error : {}
  if (typeof code === 'string' && typeof message === 'string') return { kind: 'refusal', code, message, envelope, text }
  return { kind: 'unreadable', reason: 'The body of the response has not the envelope of the service.' }
}

/** A gateway answers with these statuses if it gets no answer from the service (RFC 9110 §15.6). */
const OF_GATEWAYS: ReadonlySet<number> = new Set([502, 503, 504])

/**
 * The statuses of a page of a login, a firewall, or a server in front of the service. For others, such as 400, 404 and 500,
 * the frameworks of services have a page, too, which shows what the service has not made.
 */
const OF_OTHERS: ReadonlySet<number> = new Set([200, 401, 403, 407, 408, 413, 414, 429, 431, 451, 511])
/** Only networks in front of services answer with a status beyond (https://www.iana.org/assignments/http-status-codes). */
const LAST_REGISTERED = 511

/**
 * Who failed, if a response is no answer to the request; `unknown` if it lacks the body that would show it. The code of
 * an error decides it, because each code can have any status, and the specification has none for a failure. `page` is
 * whoever answered with a page in place of the service, such as a firewall or a login. `isOfService`: whether the
 * service has the path.
 */
function whoFailed(
  answer: { outcome: EnvelopeOutcome; method: string; response: SeenResponse; isOfService: boolean },
  { catalogue }: Contract,
): 'service' | 'gateway' | 'page' | 'unknown' | undefined {
  const { outcome, method, response, isOfService } = answer
  const { status, body } = response
  if (outcome.kind === 'refusal' && catalogue.has(outcome.code)) {
    return outcome.code === 'internal_error' ? 'service' : undefined
  }
  if (outcome.kind !== 'unreadable') return status < 500 ? undefined : 'service'
  if (OF_GATEWAYS.has(status)) return 'gateway'
  const isOfOthers = OF_OTHERS.has(status) || status > LAST_REGISTERED
  if (isOfOthers && isOfService && isForeignPage(method, response)) return 'page'
  if (status < 500) return undefined
  return lacksBody(method, body) ? 'unknown' : 'service'
}

/** The header fields of a response that only the service has. */
export const OF_SERVICE = ['x-request-id', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Whether a response is a page, and has no header field of the service. */
function isForeignPage(method: string, { headers, body }: SeenResponse): boolean {
  if (OF_SERVICE.some((name) => headers[name] !== undefined)) return false
  const isHtml = /^\s*text\/html\b/i.test(headers['content-type'] ?? '')
  if (method === 'HEAD' || !body.isKnown) return isHtml
  return /^\s*<[a-z!?]/i.test(body.text) || (isHtml && body.size > 0 && readJson(body.text) === undefined)
}

/** Whether an exchange does not show what the body of the response was, or would have been. */
export function lacksBody(method: string, body: SeenBody): boolean {
  return method === 'HEAD' || !body.isKnown
}

/** The code of an error, even if the rest of the response is not the envelope of the service. */
export function codeIn({ body }: SeenResponse, limit?: number): string | undefined {
  const code = valueAt(envelopeIn(body, limit), '/error/code')
  return typeof code === 'string' ? code : undefined
}

/** The JSON in a body; `undefined` if there is none, or if it has more bytes than the limit. */
export function envelopeIn(body: SeenBody, limit = Number.POSITIVE_INFINITY): unknown {
  return body.isKnown && body.size <= limit ? readJson(body.text) : undefined
}

/** Whether a request with this method may change an account. */
export function changesSomething(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}
