import { type Operation, pointerOf } from '../contract/api.ts'
import { walkTo } from '../contract/placed-check.ts'
import type { Widest } from '../contract/widest.ts'
import { hasField } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { pointTo } from '../ground/json.ts'
import { memoizeWeakly } from '../ground/memo.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { type ContractProblem, NONE, whatIsWrong } from './request-check.ts'

const REQUEST_ID = '/components/headers/X-Request-Id'
const REQUEST_ID_SCHEMA = `${REQUEST_ID}/schema`
const QUOTA_FIELDS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** What the document says of the success of an operation. */
export const successOf = (operation: Operation, widest: Widest) => successesOf(widest)(operation)
const successesOf = memoizeWeakly((widest: Widest) =>
  memoizeWeakly((operation: Operation) => {
    const { source } = widest.contract.document
    const pointer = pointTo(`${pointerOf(operation)}/responses`, operation.success.status)
    const body = `${pointer}/content/application~1json/schema`
    const data = walkTo(source, body, 'properties', 'data', 'type').replace(/\/type$/, '')
    return {
      content: walkTo(source, pointer, 'content'),
      check: widest.checkAt(body),
      /** Whether the specification does not show the data. */
      isOpen: widest.isOpen(data),
      quota: QUOTA_FIELDS.map((name) => ({
        name,
        field: name.toLowerCase(),
        check: widest.checkAt(`${pointer}/headers/${name}/schema`),
        placeOf: (...steps: string[]) => walkTo(source, pointer, 'headers', name, ...steps),
      })),
    }
  }),
)

/** Problems of the header fields. If a recording has no header field at all, the recorder has left them out. */
export function findInHeaders(reading: ReadExchange, operation: Operation, widest: Widest): readonly ContractProblem[] {
  if (hasNone(reading.response.headers)) return NONE
  return [
    ...(operation.success.showsQuota ? findInQuota(reading, operation, widest) : NONE),
    ...findInRetryAfter(reading, operation, widest),
    ...findInFixed(reading, operation),
    ...findInType(reading, operation, widest),
    ...findInRequestId(reading, widest),
  ]
}

function hasNone(headers: ReadExchange['response']['headers']): boolean {
  for (const _ in headers) return false
  return true
}

/** Rate-limit headers accompany responses; which refusals have them is not shown. A response with one has all. */
function findInQuota(reading: ReadExchange, operation: Operation, widest: Widest): readonly ContractProblem[] {
  const { outcome, exchange, response } = reading
  const { headers, status } = response
  const { quota } = successOf(operation, widest)
  const isSuccess = outcome.kind === 'success' || (exchange.request.method === 'HEAD' && status < 300)
  const missing = quota.filter(({ field }) => !hasField(response, field))
  const isLimited = outcome.kind === 'refusal' && outcome.code === 'rate_limited'
  const problems: ContractProblem[] = []
  const note = (field: string, keyword: string, place: string, reason: string, isOpen = false) => {
    const what = whatIsWrong('response/headers', pointTo('', field), keyword)
    problems.push({ what, place, reason: `has a wrong header: ${reason}.`, isOpen })
  }
  if (missing.length < quota.length || isSuccess || isLimited) {
    for (const { field, name, placeOf } of missing) {
      note(field, 'required', placeOf('required'), `${name} is missing`, outcome.kind === 'refusal')
    }
  }
  for (const { field, name, check } of quota) {
    const text = headers[field]
    if (text === undefined) continue
    // A text that is no number is told as it came.
    const value = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text
    for (const { keyword, reason, place } of check(value)) note(field, keyword, place, `${name} ${reason}`)
  }
  const [limit, remaining] = [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]
  if (problems.length > 0 || !(Number(remaining) > Number(limit))) return problems
  const place = quota[1]?.placeOf('schema', 'maximum') ?? ''
  const reason = `X-RateLimit-Remaining is ${remaining}, more than the limit of ${limit}`
  note('x-ratelimit-remaining', 'maximum', place, reason)
  return problems
}

/** RFC 9110 §10.2.3: a number of seconds or a date. */
function findInRetryAfter(
  { response: { headers } }: ReadExchange,
  operation: Operation,
  widest: Widest,
): readonly ContractProblem[] {
  const text = headers['retry-after']
  if (text === undefined || /^\d+$/.test(text) || !Number.isNaN(RealDate.parse(text))) return NONE
  const declaring = [...operation.responses.values()].find(({ codes }) => codes.has('rate_limited'))
  const pointer = pointTo(`${pointerOf(operation)}/responses`, declaring?.status ?? operation.success.status)
  const place = walkTo(widest.contract.document.source, pointer, 'headers', 'Retry-After', 'schema', 'type')
  const reason = `has a wrong header: Retry-After is ${show(text)} but must be a number of seconds or a date.`
  return [{ what: 'response/headers/retry-after/type', place, reason }]
}

/** A header field whose only value in the document is that of our choice. */
function findInFixed({ outcome, response }: ReadExchange, operation: Operation): readonly ContractProblem[] {
  if (outcome.kind !== 'refusal') return NONE
  const documented = operation.responses.get(response.status)
  if (documented?.codes.has(outcome.code) !== true) return NONE
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
): readonly ContractProblem[] {
  const type = response.headers['content-type']
  if (type !== undefined && JSON_TYPE.test(type)) return NONE
  const isEmpty = !response.body.isKnown || response.body.bytes.length === 0
  const isUnseen = isEmpty || exchange.request.method === 'HEAD' || hasField(response, 'content-type')
  if (type === undefined && isUnseen) return NONE
  const place = outcome.kind === 'refusal' ? `${pointerOf(operation)}/responses` : successOf(operation, widest).content
  const reason =
    type === undefined ? 'has no Content-Type.' : `has the Content-Type ${show(type)}, not application/json.`
  return [{ what: 'response/headers/content-type', place, reason }]
}

const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i

/** The specification shows no form of the id. A service may repeat that of the request. */
export function findInRequestId({ exchange, response }: ReadExchange, widest: Widest): readonly ContractProblem[] {
  const id = response.headers['x-request-id']
  if (id === undefined) {
    if (hasField(response, 'x-request-id') || hasNone(response.headers)) return NONE
    return [{ what: 'response/headers/x-request-id/required', place: REQUEST_ID, reason: 'has no X-Request-Id.' }]
  }
  if (id === '' || /[\s,]/.test(id)) {
    const reason = `has an X-Request-Id whose form the document does not permit: ${show(id)}.`
    return [{ what: 'response/headers/x-request-id/format', place: REQUEST_ID_SCHEMA, reason }]
  }
  const isRepeated = id === exchange.request.headers['x-request-id']
  if (isRepeated || exchange.request.hidden?.includes('x-request-id')) return NONE
  if (widest.checkAt(REQUEST_ID_SCHEMA)(id).length === 0) return NONE
  const reason = `has an X-Request-Id of another form: ${show(id)}.`
  return [{ what: 'headers/x-request-id', place: REQUEST_ID_SCHEMA, reason, isOpen: true }]
}
