import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { isNestedBeyond, isObject, type Json } from '../ground/json.ts'
import { createRouter, type Route } from '../http/router.ts'
import { splitTarget } from '../http/target.ts'
import type { Exchange, SeenResponse } from './exchange.ts'

/** What a service said, as far as the envelope tells it. */
type Outcome =
  | { kind: 'success'; data: unknown; text: string }
  | { kind: 'refusal'; code: string; message: string; text: string }
  /** What came is not the envelope of the service, or the recording does not have it. */
  | { kind: 'unreadable'; reason: string }

/** An exchange as everything that judges it needs it. */
export interface Reading {
  exchange: Exchange
  response: SeenResponse
  /** Under our choice. */
  route: Route
  /** The operation that was asked, under our choice. */
  operation: Operation | undefined
  path: string
  /** Without the question mark. */
  query: string | undefined
  outcome: Outcome
}

/** How deeply the body of a response may be nested that is judged; the contract has four levels. */
const DEEPEST_RESPONSE = 100

/** Reads exchanges by the contract. Returns `undefined` for a request that got no response. */
export function createReader(contract: Contract): (exchange: Exchange) => Reading | undefined {
  const findRoute = createRouter(contract, contract.settings)
  return (exchange) => {
    const { request, response } = exchange
    if (response === undefined) return undefined
    const { path, query } = splitTarget(request.target)
    const route = findRoute(request.method, path)
    const operation = route.ok ? route.operation : undefined
    return { exchange, response, route, operation, path, query, outcome: readOutcome(request.method, response) }
  }
}

function readOutcome(method: string, { body }: SeenResponse): Outcome {
  if (method === 'HEAD') return { kind: 'unreadable', reason: 'A response to HEAD has no body.' }
  if (!body.isKnown) return { kind: 'unreadable', reason: body.reason }
  const text = body.bytes.toString()
  let envelope: unknown
  try {
    envelope = JSON.parse(text)
  } catch {
    return { kind: 'unreadable', reason: 'The body of the response is not JSON.' }
  }
  if (isNestedBeyond(envelope, DEEPEST_RESPONSE)) {
    return { kind: 'unreadable', reason: `The body of the response is nested more than ${DEEPEST_RESPONSE} times.` }
  }
  if (isObject(envelope) && envelope['success'] === true && envelope['data'] !== undefined) {
    return { kind: 'success', data: envelope['data'], text }
  }
  const error = isObject(envelope) && envelope['success'] === false ? envelope['error'] : undefined
  if (isObject(error) && typeof error['code'] === 'string' && typeof error['message'] === 'string') {
    return { kind: 'refusal', code: error['code'], message: (error as Json)['message'] as string, text }
  }
  return { kind: 'unreadable', reason: 'The body of the response has not the envelope of the service.' }
}

/** Whether a request with this method may change an account. */
export function changesSomething(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}
