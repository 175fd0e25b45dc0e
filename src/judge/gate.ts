import type { Exchange } from '../exchanges/exchange.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { Belief } from './belief.ts'
import { corridorOf } from './refusals.ts'
import type { AskedRequest } from './request.ts'

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

/** The codes that tell a caller something of the account. */
const OF_ACCOUNT: ReadonlySet<string> = new Set([
  ...['not_monitored', 'duplicate_name', 'not_found', 'domain_delete_failed'],
])

/**
 * Whether a request without a valid key got an answer that only a valid key may get. A service may read a body before it
 * looks at the key, and refuse what is wrong with it.
 */
export function isAnsweredWithoutKey({ exchange, outcome }: ReadExchange, asked: AskedRequest): boolean {
  const form = formOf(exchange.request.credentials)
  if (form !== 'none' && form !== 'wrong') return false
  if (outcome.kind === 'success') return true
  if (outcome.kind !== 'refusal' || outcome.code === 'unauthorized' || outcome.code === 'rate_limited') return false
  return OF_ACCOUNT.has(outcome.code) || !corridorOf(asked, NOTHING_KNOWN).permits(outcome.code)
}

const NOTHING_KNOWN = new Belief()
