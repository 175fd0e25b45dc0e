import { type Operation, pointerOf } from '../contract/api.ts'
import { hasField } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { show } from '../ground/show.ts'
import type { Checking } from './request-check.ts'

const REQUEST_ID = '/components/headers/X-Request-Id'
const REQUEST_ID_SCHEMA = `${REQUEST_ID}/schema`

/** Tells of the header fields. If a recording has no header field at all, the recorder has left them out. */
export function checkHeaders(operation: Operation, checking: Checking): void {
  if (hasNone(checking.reading.response.headers)) return
  if (operation.success.showsQuota) checkQuota(operation, checking)
  checkType(operation, checking)
  checkRequestId(checking)
}

function hasNone(headers: ReadExchange['response']['headers']): boolean {
  return headers['content-type'] === undefined && Object.keys(headers).length === 0
}

/** Rate-limit headers accompany responses; which refusals have them is not shown. A response with one has all. */
function checkQuota(operation: Operation, { reading, widest, tell }: Checking): void {
  const { outcome, exchange, response } = reading
  const { headers, status } = response
  const { quota } = widest.of(operation)
  const limit = headers['x-ratelimit-limit'] ?? ''
  const remaining = headers['x-ratelimit-remaining'] ?? ''
  if (WHOLE.test(limit) && WHOLE.test(remaining) && WHOLE.test(headers['x-ratelimit-reset'] ?? '') && limit !== '0') {
    if (Number(remaining) <= Number(limit)) return
    const reason = `has a wrong header: X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}.`
    tell('response/headers/x-ratelimit-remaining/maximum', quota[1]?.placeOf('schema', 'maximum') ?? '', reason)
    return
  }
  const isSuccess = outcome.kind === 'success' || (exchange.request.method === 'HEAD' && status < 300)
  const isLimited = outcome.kind === 'refusal' && outcome.code === 'rate_limited'
  const isNeeded = isSuccess || isLimited || quota.some(({ field }) => hasField(response, field))
  for (const { field, name, check, placeOf } of quota) {
    const what = `response/headers/${field}`
    const text = headers[field]
    if (text === undefined) {
      if (!isNeeded || hasField(response, field)) continue
      const reason = `has a wrong header: ${name} is missing.`
      tell(`${what}/required`, placeOf('required'), reason, { isOpen: outcome.kind === 'refusal' })
      continue
    }
    // A text that is no number is told as it came.
    const value = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
    for (const { keyword, reason, place } of check(value)) {
      tell(`${what}/${keyword}`, place, `has a wrong header: ${name} ${reason}.`)
    }
  }
}

const WHOLE = /^\d{1,15}$/

function checkType(operation: Operation, { reading, widest, tell }: Checking): void {
  const { exchange, response, outcome } = reading
  const type = response.headers['content-type']
  if (type !== undefined && JSON_TYPE.test(type)) return
  const isEmpty = !response.body.isKnown || response.body.size === 0
  if (type === undefined && (isEmpty || exchange.request.method === 'HEAD' || hasField(response, 'content-type')))
    return
  const place = outcome.kind === 'refusal' ? `${pointerOf(operation)}/responses` : widest.of(operation).content
  const what = type === undefined ? 'no Content-Type' : `the Content-Type ${show(type)}, not application/json`
  // The specification names a type for requests only, so a response may have any type of JSON, or none.
  tell('response/headers/content-type', place, `has ${what}.`, { isOpen: type === undefined || /json/i.test(type) })
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i

/** The specification shows no form of the id. A service may repeat that of the request. */
export function checkRequestId({ reading: { exchange, response }, widest, tell }: Checking): void {
  const id = response.headers['x-request-id']
  if (id === undefined) {
    if (hasField(response, 'x-request-id') || hasNone(response.headers)) return
    tell('response/headers/x-request-id/required', REQUEST_ID, 'has no X-Request-Id.')
  } else if (id === '' || /[\s,]/.test(id)) {
    const reason = `has an X-Request-Id whose form the document does not permit: ${show(id)}.`
    tell('response/headers/x-request-id/format', REQUEST_ID_SCHEMA, reason)
  } else if (!isOfClient(id, exchange.request) && widest.checkAt(REQUEST_ID_SCHEMA)(id).length > 0) {
    const reason = `has an X-Request-Id of another form: ${show(id)}.`
    tell('headers/x-request-id', REQUEST_ID_SCHEMA, reason, { isOpen: true })
  }
}

/** Whether a service may have repeated the id that the client has sent. */
export function isOfClient(id: string, { headers, hidden }: ReadExchange['exchange']['request']): boolean {
  return id === headers['x-request-id'] || hidden?.includes('x-request-id') === true
}
