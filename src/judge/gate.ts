import type { Operation } from '../contract/api.ts'
import { isRefusedBy } from '../contract/rules.ts'
import { type Exchange, formOf } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { permitsAnywhere } from './refusals.ts'
import type { AskedRequest } from './request.ts'

export const ANSWERED_WITHOUT_KEY = 'The request had no valid key, and was answered nevertheless.'

/** Statuses of refusals before the content is looked at: too slow, or too long an address or header (RFC 9110, RFC 6585). */
const UNREAD: ReadonlySet<number> = new Set([408, 414, 431])

/** Whether the service refused the request before it looked at the content. */
export function isRefusedUnread({ outcome, response }: ReadExchange): boolean {
  return outcome.kind === 'refusal' && UNREAD.has(response.status)
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
