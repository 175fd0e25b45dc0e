import { type Operation, pointerOf } from '../contract/api.ts'
import { walkTo } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import { hasField, type SeenHeaders } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { type ContractProblem, whatIsWrong } from './request-check.ts'

const QUOTA = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'].map((name) => ({
  name,
  field: name.toLowerCase(),
}))

/** Problems of the header fields. If a recording has no header field at all, the recorder has left them out. */
export function findInHeaders(reading: ReadExchange, operation: Operation, widest: Widest): ContractProblem[] {
  const { headers } = reading.response
  if (Object.keys(headers).length === 0) return []
  return [
    ...findInQuota(reading, operation, widest),
    ...findInRetryAfter(headers, operation, widest),
    ...findInFixed(reading, operation),
    ...findInType(reading, operation, widest),
    ...findInRequestId(reading, widest),
  ]
}

/** Rate-limit headers accompany responses; which refusals have them is not shown. A response with one has all. */
function findInQuota(reading: ReadExchange, operation: Operation, widest: Widest): ContractProblem[] {
  const { outcome, exchange, response } = reading
  const { headers, status } = response
  const isRefusal = outcome.kind === 'refusal'
  const isSuccess = outcome.kind === 'success' || (exchange.request.method === 'HEAD' && status < 300)
  if (!operation.success.showsQuota) return []
  const missing = QUOTA.filter(({ field }) => !hasField(response, field))
  const isNeeded = missing.length < QUOTA.length || isSuccess || (isRefusal && outcome.code === 'rate_limited')
  const absent = (isNeeded ? missing : []).map(({ name, field }) => ({
    what: `response/headers/${field}/required`,
    place: placeOfHeader(operation, widest, name, 'required'),
    reason: `has a wrong header: ${name} is missing.`,
    isOpen: isRefusal,
  }))
  const malformed = QUOTA.flatMap((each) => findInNumber(each, headers, operation, widest))
  const [limit, remaining] = [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
  if (absent.length + malformed.length > 0 || !(Number(remaining) > Number(limit))) return [...absent, ...malformed]
  return [
    {
      what: 'response/headers/x-ratelimit-remaining/maximum',
      place: placeOfHeader(operation, widest, 'X-RateLimit-Remaining', 'maximum'),
      reason: `has a wrong header: X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}.`,
    },
  ]
}

function findInNumber(
  { name, field }: (typeof QUOTA)[number],
  headers: SeenHeaders,
  operation: Operation,
  widest: Widest,
): ContractProblem[] {
  const text = headers[field]
  if (text === undefined) return []
  const check = widest.checkAt(`${pointerOfSuccess(operation)}/headers/${name}/schema`)
  // A text that is no number is told as it came.
  return check(/^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text).map(({ keyword, reason, place }) => ({
    what: whatIsWrong('response/headers', pointTo('', field), keyword),
    place,
    reason: `has a wrong header: ${name} ${reason}.`,
  }))
}

/** RFC 9110 §10.2.3: a number of seconds or a date. */
function findInRetryAfter(headers: SeenHeaders, operation: Operation, widest: Widest): ContractProblem[] {
  const text = headers['retry-after']
  if (text === undefined || /^\d+$/.test(text) || !Number.isNaN(RealDate.parse(text))) return []
  const declaring = [...operation.responses.values()].find(({ codes }) => codes.has('rate_limited'))
  const pointer = pointTo(`${pointerOf(operation)}/responses`, declaring?.status ?? operation.success.status)
  const place = walkTo(widest.contract.document.source, pointer, 'headers', 'Retry-After', 'schema', 'type')
  const reason = `has a wrong header: Retry-After is ${show(text)} but must be a number of seconds or a date.`
  return [{ what: 'response/headers/retry-after/type', place, reason }]
}

/** A header field whose only value in the document is that of our choice. */
function findInFixed({ outcome, response }: ReadExchange, operation: Operation): ContractProblem[] {
  if (outcome.kind !== 'refusal') return []
  const documented = operation.responses.get(response.status)
  if (documented?.codes.has(outcome.code) !== true) return []
  return Object.entries(documented.constantHeaders).flatMap(([name, fixed]) => {
    const value = response.headers[name.toLowerCase()]
    if (value === undefined || value === fixed) return []
    const reason = `has the header ${name} with the value ${show(value)}.`
    return [{ what: `headers/${name.toLowerCase()}`, place: `/components/headers/${name}`, reason, isOpen: true }]
  })
}

function findInType(
  { exchange, response, outcome }: ReadExchange,
  operation: Operation,
  widest: Widest,
): ContractProblem[] {
  const type = response.headers['content-type']
  const isEmpty = !response.body.isKnown || response.body.bytes.length === 0
  const isUnseen = isEmpty || exchange.request.method === 'HEAD' || hasField(response, 'content-type')
  if (type === undefined && isUnseen) return []
  const [media = ''] = (type ?? '').split(';')
  if (media.trim().toLowerCase() === 'application/json') return []
  const place = outcome.kind === 'refusal' ? `${pointerOf(operation)}/responses` : placeOfSuccess(operation, widest)
  const reason =
    type === undefined ? 'has no Content-Type.' : `has the Content-Type ${show(type)}, not application/json.`
  return [{ what: 'response/headers/content-type', place, reason }]
}

const REQUEST_ID = '/components/headers/X-Request-Id'

/** The specification shows no form of the id. A service may repeat that of the request. */
export function findInRequestId({ exchange, response }: ReadExchange, widest: Widest): ContractProblem[] {
  if (Object.keys(response.headers).length === 0) return []
  const id = response.headers['x-request-id']
  if (id === undefined) {
    if (hasField(response, 'x-request-id')) return []
    return [{ what: 'response/headers/x-request-id/required', place: REQUEST_ID, reason: 'has no X-Request-Id.' }]
  }
  const place = `${REQUEST_ID}/schema`
  if (id === '' || /[\s,]/.test(id)) {
    const reason = `has an X-Request-Id whose form the document does not permit: ${show(id)}.`
    return [{ what: 'response/headers/x-request-id/format', place, reason }]
  }
  const isRepeated = id === exchange.request.headers['x-request-id']
  if (isRepeated || exchange.request.hidden?.includes('x-request-id') || widest.checkAt(place)(id).length === 0)
    return []
  const reason = `has an X-Request-Id of another form: ${show(id)}.`
  return [{ what: 'headers/x-request-id', place, reason, isOpen: true }]
}

export const pointerOfSuccess = memoizeWeakly((operation: Operation) =>
  pointTo(`${pointerOf(operation)}/responses`, operation.success.status),
)

export function placeOfSuccess(operation: Operation, { contract }: Widest): string {
  return walkTo(contract.document.source, pointerOfSuccess(operation), 'content')
}

function placeOfHeader(operation: Operation, { contract }: Widest, name: string, keyword: string): string {
  const steps = ['headers', name, ...(keyword === 'required' ? [] : ['schema', keyword])]
  return walkTo(contract.document.source, pointerOfSuccess(operation), ...steps)
}
