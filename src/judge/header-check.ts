import { type Operation, pointerOf } from '../contract/api.ts'
import { walkTo } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import { hasField } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import type { Tell } from './findings.ts'

const REQUEST_ID = '/components/headers/X-Request-Id'
const REQUEST_ID_SCHEMA = `${REQUEST_ID}/schema`

/** Tells of the header fields. If a recording has no header field at all, the recorder has left them out. */
export function checkHeaders(reading: ReadExchange, operation: Operation, widest: Widest, tell: Tell): void {
  if (hasNone(reading.response.headers)) return
  if (operation.success.showsQuota) checkQuota(reading, operation, widest, tell)
  checkRetryAfter(reading, operation, widest, tell)
  checkFixed(reading, operation, tell)
  checkType(reading, operation, widest, tell)
  checkRequestId(reading, widest, tell)
}

function hasNone(headers: ReadExchange['response']['headers']): boolean {
  for (const _ in headers) return false
  return true
}

/** Rate-limit headers accompany responses; which refusals have them is not shown. A response with one has all. */
function checkQuota(reading: ReadExchange, operation: Operation, widest: Widest, tell: Tell): void {
  const { outcome, exchange, response } = reading
  const { headers, status } = response
  const { quota } = widest.of(operation)
  const isSuccess = outcome.kind === 'success' || (exchange.request.method === 'HEAD' && status < 300)
  const isLimited = outcome.kind === 'refusal' && outcome.code === 'rate_limited'
  const isShown = quota.some(({ field }) => hasField(response, field))
  let isWrong = false
  const note = (field: string, keyword: string, place: string, reason: string, isOpen = false) => {
    isWrong = true
    tell({ what: `response/headers/${field}/${keyword}`, place, reason: `has a wrong header: ${reason}.`, isOpen })
  }
  for (const { field, name, check, placeOf } of quota) {
    const text = headers[field]
    if (text === undefined) {
      const isMissing = (isShown || isSuccess || isLimited) && !hasField(response, field)
      if (isMissing) note(field, 'required', placeOf('required'), `${name} is missing`, outcome.kind === 'refusal')
      continue
    }
    // A text that is no number is told as it came.
    const value = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
    for (const { keyword, reason, place } of check(value)) note(field, keyword, place, `${name} ${reason}`)
  }
  const [limit, remaining] = [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
  if (isWrong || !(Number(remaining) > Number(limit))) return
  const place = quota[1]?.placeOf('schema', 'maximum') ?? ''
  const reason = `X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}`
  note('x-ratelimit-remaining', 'maximum', place, reason)
}

/** RFC 9110 §10.2.3: a number of seconds or a date. */
function checkRetryAfter({ response }: ReadExchange, operation: Operation, widest: Widest, tell: Tell): void {
  const text = response.headers['retry-after']
  if (text === undefined || /^\d+$/.test(text) || !Number.isNaN(RealDate.parse(text))) return
  const declaring = [...operation.responses.values()].find(({ codes }) => codes.has('rate_limited'))
  const pointer = pointTo(`${pointerOf(operation)}/responses`, declaring?.status ?? operation.success.status)
  const place = walkTo(widest.contract.document.source, pointer, 'headers', 'Retry-After', 'schema', 'type')
  const reason = `has a wrong header: Retry-After is ${show(text)} but must be a number of seconds or a date.`
  tell({ what: 'response/headers/retry-after/type', place, reason })
}

/** A header field whose only value in the document is that of our choice. */
function checkFixed({ outcome, response }: ReadExchange, operation: Operation, tell: Tell): void {
  if (outcome.kind !== 'refusal') return
  const documented = operation.responses.get(response.status)
  if (documented?.codes.has(outcome.code) !== true) return
  for (const [name, fixed] of Object.entries(documented.constantHeaders)) {
    const field = name.toLowerCase()
    const value = response.headers[field]
    if (value === undefined || value === fixed) continue
    const reason = `has the header ${name} with the value ${show(value)}.`
    tell({ what: `headers/${field}`, place: `/components/headers/${name}`, reason, isOpen: true })
  }
}

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
