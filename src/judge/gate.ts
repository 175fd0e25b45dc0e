import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { type Exchange, formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { permitsAnywhere } from './refusals.ts'
import type { AskedRequest } from './request.ts'

export const ANSWERED_WITHOUT_KEY = 'The request had no valid key, and was answered nevertheless.'

/** In bytes. Some services refuse request header fields from this size on, most only larger ones. */
const LARGE_HEADER = 4_096

/**
 * Whether the service refused the request before it looked at the content: header fields that may be too large for it,
 * or a body that did not come in time.
 */
export function isRefusedUnread({ exchange, outcome, response }: ReadExchange): boolean {
  if (outcome.kind !== 'refusal') return false
  if (response.status === 408) return true
  const isPossible = outcome.code === 'request_too_large' || outcome.code === 'invalid_request_body'
  return isPossible && sizeOfHead(exchange) > LARGE_HEADER
}

function sizeOfHead({ request: { headers, target } }: Exchange): number {
  return Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, target.length)
}

/** Whether the request has certainly no valid key. */
export function isKeyless({ request }: Exchange): boolean {
  const form = formOf(request.credentials)
  return form === 'none' || form === 'wrong'
}

/** Whether the code is of the gate, so that nothing was looked at behind it. */
export function isOfGate(code: string | undefined): boolean {
  return code === 'unauthorized' || code === 'rate_limited'
}

/** The codes that tell a caller something of the account, so that only a request with a valid key can have them. */
export const OF_ACCOUNT: ReadonlySet<string> = new Set([
  ...['not_monitored', 'duplicate_name', 'not_found', 'domain_delete_failed'],
])

/**
 * Whether a request without a valid key got an answer that only a valid key may get. A service may read a body before it
 * looks at the key, and refuse what is wrong with it.
 */
export function isAnsweredWithoutKey({ exchange, outcome }: ReadExchange, asked: AskedRequest): boolean {
  if (!isKeyless(exchange)) return false
  if (outcome.kind === 'success') return true
  if (outcome.kind !== 'refusal' || isOfGate(outcome.code)) return false
  return OF_ACCOUNT.has(outcome.code) || !permitsAnywhere(asked, outcome.code)
}

/** The rule that requests need a key. */
export function keyRuleOf({ rules }: Operation): Operation['rules'][number] | undefined {
  return rules.find((each) => isRefusedBy(each, 'unauthorized', undefined))
}
