import { type Operation, pointerOf } from '../contract/api.ts'
import type { Widest } from '../contract/widest.ts'
import { hasField } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { show } from '../ground/show.ts'
import type { Tell } from './findings.ts'

const REQUEST_ID = '/components/headers/X-Request-Id'
const REQUEST_ID_SCHEMA = `${REQUEST_ID}/schema`

/** Tells of the header fields. If a recording has no header field at all, the recorder has left them out. */
export function checkHeaders(reading: ReadExchange, operation: Operation, widest: Widest, tell: Tell): void {
  if (hasNone(reading.response.headers)) return
  if (operation.success.showsQuota) checkQuota(reading, operation, widest, tell)
  checkType(reading, operation, widest, tell)
  checkRequestId(reading, widest, tell)
}

function hasNone(headers: ReadExchange['response']['headers']): boolean {
  return headers['content-type'] === undefined && Object.keys(headers).length === 0
}

/** Rate-limit headers accompany responses; which refusals have them is not shown. A response with one has all. */
function checkQuota(
  { outcome, exchange, response }: ReadExchange,
  operation: Operation,
  widest: Widest,
  tell: Tell,
): void {
  const { headers, status } = response
  const { quota } = widest.of(operation)
  const {
    'x-ratelimit-limit': limit = '',
    'x-ratelimit-remaining': remaining = '',
    'x-ratelimit-reset': reset = '',
  } = headers
  if (!WHOLE.test(limit) || !WHOLE.test(remaining) || !WHOLE.test(reset) || limit === '0') {
    const isSuccess = outcome.kind === 'success' || (exchange.request.method === 'HEAD' && status < 300)
    const isLimited = outcome.kind === 'refusal' && outcome.code === 'rate_limited'
    const isNeeded = isSuccess || isLimited || quota.some(({ field }) => hasField(response, field))
    for (const { field, name, check, placeOf } of quota) {
      const what = `response/headers/${field}`
      const text = headers[field]
      if (text === undefined) {
        if (!isNeeded || hasField(response, field)) continue
        const reason = `has a wrong header: ${name} is missing.`
        tell({ what: `${what}/required`, place: placeOf('required'), reason, isOpen: outcome.kind === 'refusal' })
        continue
      }
      // A text that is no number is told as it came.
      const value = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
      for (const { keyword, reason, place } of check(value)) {
        tell({ what: `${what}/${keyword}`, place, reason: `has a wrong header: ${name} ${reason}.` })
      }
    }
  } else if (Number(remaining) > Number(limit)) {
    const place = quota[1]?.placeOf('schema', 'maximum') ?? ''
    const reason = `has a wrong header: X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}.`
    tell({ what: 'response/headers/x-ratelimit-remaining/maximum', place, reason })
  }
}

const WHOLE = /^\d{1,15}$/

function checkType(
  { exchange, response, outcome }: ReadExchange,
  operation: Operation,
  widest: Widest,
  tell: Tell,
): void {
  const type = response.headers['content-type']
  if (type !== undefined && JSON_TYPE.test(type)) return
  const isEmpty = !response.body.isKnown || response.body.size === 0
  const isUnseen = isEmpty || exchange.request.method === 'HEAD' || hasField(response, 'content-type')
  if (type === undefined && isUnseen) return
  const place = outcome.kind === 'refusal' ? `${pointerOf(operation)}/responses` : widest.of(operation).content
  const reason =
    type === undefined ? 'has no Content-Type.' : `has the Content-Type ${show(type)}, not application/json.`
  tell({ what: 'response/headers/content-type', place, reason })
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i

/** The specification shows no form of the id. A service may repeat that of the request. */
export function checkRequestId({ exchange, response }: ReadExchange, widest: Widest, tell: Tell): void {
  const id = response.headers['x-request-id']
  if (id === undefined) {
    if (hasField(response, 'x-request-id') || hasNone(response.headers)) return
    tell({ what: 'response/headers/x-request-id/required', place: REQUEST_ID, reason: 'has no X-Request-Id.' })
  } else if (id === '' || /[\s,]/.test(id)) {
    const reason = `has an X-Request-Id whose form the document does not permit: ${show(id)}.`
    tell({ what: 'response/headers/x-request-id/format', place: REQUEST_ID_SCHEMA, reason })
  } else if (!isOfClient(id, exchange.request) && widest.checkAt(REQUEST_ID_SCHEMA)(id).length > 0) {
    const reason = `has an X-Request-Id of another form: ${show(id)}.`
    tell({ what: 'headers/x-request-id', place: REQUEST_ID_SCHEMA, reason, isOpen: true })
  }
}

/** Whether a service may have repeated the id that the client has sent. */
export function isOfClient(id: string, { headers, hidden }: ReadExchange['exchange']['request']): boolean {
  return id === headers['x-request-id'] || hidden?.includes('x-request-id') === true
}
