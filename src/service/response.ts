import type { ResponseContract } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { Reply } from '../contract/reply.ts'
import { appliedPreference } from '../faults/sources.ts'
import { type Headers, RESPONSE_TYPE, type Response } from '../ground/message.ts'
import { type Clock, RealDate } from '../ground/timers.ts'
import type { Cors } from './cors.ts'
import type { Exchange } from './exchange.ts'

export interface ResponderDeps {
  contract: Contract
  clock: Clock
  cors: Cors | undefined
}

/** RFC 9110 §8.6: a response with one of these statuses has no Content-Length. */
const WITHOUT_LENGTH = new Set([204, 304])

/** Creates the function that gives a reply its header. */
export function createResponder({ contract, clock, cors }: ResponderDeps) {
  const showsAlways = contract.settings.quotaHeaders !== 'success-or-limited'

  /** The quota that a response shows. An injected response shows it if the contract says so. */
  function limitsOf({ allowance, unspent }: Exchange, reply: Reply, documented: ResponseContract | undefined) {
    const isShown = showsAlways || reply.code === undefined || reply.code === 'rate_limited'
    if (!isShown || (reply.injected && (reply.foreign || !documented?.showsQuota))) return undefined
    return allowance ?? unspent
  }

  return function respond(exchange: Exchange, reply: Reply): Response {
    const { operation, principal, requestId, injection, transmission, unrouted } = exchange
    const { foreign, status, body } = reply
    const documented = operation?.responses.get(status)
    const limits = limitsOf(exchange, reply, documented)
    // The time of the account, like every other time. Node would send the machine's time.
    const date = writeDate(principal?.now ?? clock())
    const secondsLeft = limits ? Math.max(1, Math.ceil(limits.resetAt - (principal?.now ?? clock()) / 1000)) : 0
    const reset = contract.settings.rateLimitReset === 'unix-time' ? (limits?.resetAt ?? 0) : secondsLeft
    // Written as one literal: the journal keeps the array, and an array that has grown keeps spare room.
    // biome-ignore format: names and values side by side
    const usual: Headers = limits === undefined
      ? ['Content-Length', body.size, 'Content-Type', RESPONSE_TYPE, 'Date', date, 'X-Request-Id', requestId]
      : ['Content-Length', body.size, 'Content-Type', RESPONSE_TYPE, 'Date', date, 'X-Request-Id', requestId,
         'X-RateLimit-Limit', limits.limit, 'X-RateLimit-Remaining', limits.remaining, 'X-RateLimit-Reset', reset]
    if (cors !== undefined) usual.push(...corsFields(cors, exchange))
    const headers = foreign ? replaceFields(usual, reply) : usual
    if (!foreign) for (const name in reply.headers) headers.push(name, reply.headers[name] ?? '')
    if (reply.code === 'rate_limited' && documented?.retryAfter && limits) headers.push('Retry-After', secondsLeft)
    if (unrouted?.allow !== undefined && status === 405) headers.push('Allow', unrouted.allow)
    const applied = injection?.preference && appliedPreference(injection.preference, status)
    if (applied) headers.push('Preference-Applied', applied)
    return { status, headers, body, transmission }
  }
}

/** The fields that let pages of other origins read the response, or that answer a preflight. */
function corsFields(cors: Cors, { request, unrouted, isPreflight }: Exchange): Readonly<Headers> {
  return isPreflight ? cors.preflightFieldsFor(request.headers, unrouted?.allow ?? '') : cors.fieldsFor(request.headers)
}

/** The header of a foreign response: its own fields replace the `usual` ones. */
function replaceFields(usual: Headers, { status, headers: own, body }: Reply): Headers {
  const replaced = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  if (body.size === 0) replaced.add('content-type')
  if (WITHOUT_LENGTH.has(status)) replaced.add('content-length')
  const headers: Headers = []
  for (let index = 0; index < usual.length; index += 2) {
    const [name = '', value = ''] = usual.slice(index, index + 2)
    if (!replaced.has(String(name).toLowerCase())) headers.push(name, value)
  }
  return headers.concat(...Object.entries(own))
}

let second = Number.NaN
let text = ''

/** The value of a Date field (RFC 9110 §5.6.7); remembered for one second. */
export function writeDate(milliseconds: number): string {
  const current = Math.floor(milliseconds / 1000)
  if (current !== second) {
    second = current
    text = new RealDate(milliseconds).toUTCString()
  }
  return text
}
