import { pointerOf } from '../contract/api.ts'
import { UUID } from '../contract/schema-compiler.ts'
import { hasField } from '../exchanges/exchange.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { isRefusedUnread } from './gate.ts'
import type { ChoiceReading, OpenChoice, ReadChoice, SeenExchange } from './open-choice.ts'

/** How far the end of a window may be from a full one, in seconds. */
const TOLERANCE = 2
const DAY = 86_400_000
/** In milliseconds: two reads that are further apart do not show when the figures changed between them. */
const APART = 3 * 3_600_000
const SKEW = 60_000

const patternOf = memoize((pattern) => new RegExp(pattern), { limit: 100 })

/** The choices that stand in responses, by the id of the assumption. Those of statuses are read by `readStatus`. */
export const OF_RESPONSES: Readonly<Record<string, ReadChoice>> = {
  routing({ reading: { route, exchange }, lenient, code }, choice) {
    if (route.ok || code === undefined || isFoundLeniently(route, lenient)) return undefined
    if (code === 'unauthorized') return choice.of('after-key')
    return code !== 'rate_limited' && isKeyless(exchange) ? choice.of('before-key') : undefined
  },

  'authorization-scheme'({ reading, code, track }, choice) {
    if (track.scheme.take(reading)) return choice.of('exact')
    const { operation, exchange } = reading
    const isOther = operation !== undefined && formOf(exchange.request.credentials) === 'any-case'
    return isOther && code !== 'unauthorized' ? choice.of('any-case') : undefined
  },

  'path-matching'({ reading: { route, query }, lenient, code }, choice) {
    if (route.ok || !lenient.ok || code === 'unauthorized') return undefined
    if (code !== 'not_found') return choice.of('lenient')
    // A group that does not exist has the code of a path that does not exist.
    return query === undefined ? choice.of('exact') : undefined
  },

  'quota-headers'({ reading, code, track: { belief } }, choice) {
    const { operation, route, response, exchange } = reading
    const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
    if (quota === undefined || code === undefined || code === 'rate_limited') return undefined
    if (!hasFields(reading) || isRefusedUnread(reading)) return undefined
    const isShown = hasField(response, 'x-ratelimit-limit')
    const showing = (...values: string[]) => choice.those(({ value }) => values.includes(String(value)) === isShown)
    if (isKeyless(exchange) || (code === 'unauthorized' && operation === undefined)) return showing('any-request')
    // The plan, too, may be the reason.
    if (code === 'unauthorized') return undefined
    if (operation !== undefined) return showing('charged', 'valid-key', 'any-request')
    if (isShown) return choice.of('valid-key', 'any-request')
    // A key that has got a list is valid.
    const isValid = belief.areDomainsComplete || belief.areGroupsComplete
    return choice.of('charged', ...(isValid ? [] : ['valid-key']), 'success-or-limited')
  },

  'rate-limit-reset'({ reset }, choice) {
    return reset && choice.of(reset.isTime ? 'unix-time' : 'seconds-left')
  },

  'quota-window'({ reset }, choice) {
    const { end, window = 0 } = reset ?? {}
    if (end === undefined || window <= 4 * TOLERANCE) return undefined
    const beyond = end % window
    return Math.min(beyond, window - beyond) > TOLERANCE ? choice.except('aligned') : undefined
  },

  'charged-requests'({ reading, reset, track }, choice) {
    const value = track.charges.take(reading, reset)
    return value && choice.of(value)
  },

  grace({ reading: { operation, response } }, choice) {
    const limit = Number(response.headers['x-ratelimit-limit'])
    const usual = operation?.quota?.limit
    if (usual === undefined || !(limit > usual)) return undefined
    return choice.those(({ value }) => Math.floor(usual * Number(value)) === limit)
  },

  'www-authenticate'({ reading, code }, choice) {
    const { response, exchange } = reading
    if (code !== 'unauthorized' || response.status !== 401) return undefined
    if (!hasFields(reading) || !isKeyless(exchange)) return undefined
    const isSent = hasField(response, 'www-authenticate')
    return choice.those(({ headers }) => (isObject(headers) && isObject(headers['WWW-Authenticate'])) === isSent)
  },

  'retry-after'({ reading, code }, choice) {
    if (code !== 'rate_limited' || reading.operation === undefined || !hasFields(reading)) return undefined
    const isSent = hasField(reading.response, 'retry-after')
    return choice.those((holder) => (holder['x-retry-after'] === true) === isSent)
  },

  'request-id-format'({ reading: { exchange, response } }, choice) {
    const id = response.headers['x-request-id']
    const { headers, hidden } = exchange.request
    if (id === undefined || id === headers['x-request-id'] || hidden?.includes('x-request-id')) return undefined
    return choice.those(({ format, pattern }) => (format === 'uuid' ? UUID : patternOf(String(pattern))).test(id))
  },

  'group-id-format'({ reading: { shown } }, choice) {
    const { group, isNew } = shown
    if (group === undefined || !isNew) return undefined
    const { id } = group
    return choice.those(({ minLength, maxLength, pattern }) => {
      return id.length >= Number(minLength) && id.length <= Number(maxLength) && patternOf(String(pattern)).test(id)
    })
  },

  'update-group-response'({ reading: { operation, outcome } }, choice) {
    if (operation?.id !== 'updateDomainGroup' || outcome.kind !== 'success' || !isObject(outcome.data)) return undefined
    const fields = namesIn(outcome.data)
    return choice.those(({ properties }) => namesIn(properties) === fields)
  },

  decimals({ reading }, choice) {
    const { isKept, isShortest } = notationOf(reading) ?? {}
    return isKept === isShortest ? undefined : choice.of(isKept ? 'kept' : 'shortest')
  },

  percentages({ reading }, choice) {
    const notation = notationOf(reading)
    if (notation === undefined) return undefined
    const { isKept, isShortest, places, needed } = notation
    return choice.those((holder) => {
      const own = Math.round(-Math.log10(Number(valueAt(holder, '/x-constraints/multipleOf'))))
      return own >= needed && (!isKept || isShortest || own === places)
    })
  },

  'policies-without-record'({ reading: { operation, outcome } }, choice) {
    if (operation?.id !== 'listDmarc' || outcome.kind !== 'success' || !Array.isArray(outcome.data)) return undefined
    if (!outcome.data.some((record) => isObject(record) && record['p'] === '')) return undefined
    return choice.those((holder) => {
      const values = valueAt(holder, '/schemas/Policy/enum')
      return Array.isArray(values) && values.includes('')
    })
  },

  /** Between which times of day the figures change. */
  'refresh-time'({ track: { figures } }, choice) {
    const { since = 0, until = 0 } = figures.change ?? {}
    if (figures.change === undefined || until - since > APART) return undefined
    return choice.those(({ value }) => {
      const [hours = 0, minutes = 0] = String(value).split(':').map(Number)
      const offset = (hours * 60 + minutes) * 60_000
      return Math.ceil((since - SKEW - offset) / DAY) * DAY + offset <= until + SKEW
    })
  },
}

/** Where openapi.yaml has the statuses of codes. */
const ERRORS = '/x-errors'

/** The choice about the status of a response, with the numbers that have this status. */
export function readStatus(
  { reading, lenient, code }: SeenExchange,
  choiceAt: (place: string) => OpenChoice | undefined,
): ChoiceReading | undefined {
  const { operation, route, response, exchange } = reading
  const { status } = response
  const read = (choice: OpenChoice | undefined, fits: (holder: Json) => boolean) => {
    const permits = choice?.those(fits)
    return choice && permits && { id: choice.id, permits }
  }
  if (code === undefined) {
    const choice = operation && choiceAt(pointerOf(operation))
    return read(choice, ({ responses }) => isObject(responses) && isObject(responses[status]))
  }
  if (isRefusedUnread(reading)) return undefined
  const reason = route.ok ? undefined : route.problems[0].reason
  // The paths that a service knows are another choice.
  if (reason !== undefined && code !== 'unauthorized' && isFoundLeniently(route, lenient)) return undefined
  // A key may be refused for its plan, which has a status of its own.
  if (code === 'unauthorized' && !isKeyless(exchange)) return undefined
  const isOutside = reason !== undefined && code !== 'unauthorized' && code !== 'rate_limited'
  const choice = choiceAt(isOutside ? `${ERRORS}/not_found/reasons/${reason}` : `${ERRORS}/${code}`)
  return read(choice, (holder) => {
    return holder['status'] === status && (!isOutside || (holder['code'] ?? 'not_found') === code)
  })
}

/** Whether a lenient service knows the path, which ours does not. */
function isFoundLeniently(route: SeenExchange['lenient'], lenient: SeenExchange['lenient']): boolean {
  if (route.ok || route.problems[0].reason !== 'path') return false
  return lenient.ok || lenient.problems[0].reason !== 'path'
}

/** Whether the request has certainly no valid key. */
function isKeyless({ request }: ReadExchange['exchange']): boolean {
  const form = formOf(request.credentials)
  return form === 'none' || form === 'wrong'
}

/** Whether the header fields of the response are known: each response has this one. */
function hasFields({ response }: ReadExchange): boolean {
  return hasField(response, 'x-request-id')
}

/** The names of the fields, without those that are null. */
function namesIn(value: unknown): string {
  const fields = isObject(value) ? Object.entries(value).filter(([, field]) => field !== null) : []
  return fields
    .map(([name]) => name)
    .toSorted()
    .join()
}

/** How the percentages of a response are written. */
interface Notation {
  /** Whether a zero at the end shows that services keep zeros; or a missing one, that they do not. */
  isKept: boolean
  isShortest: boolean
  /** The most decimals, and the most that are needed. */
  places: number
  needed: number
}

/** So many characters of a response are looked at. */
const LOOKED_AT = 20_000
const PERCENTAGE = /"(?:dmarc|dkim|spf)"\s*:\s*\d+(?:\.(\d+))?\s*[,}]/g

/** `undefined` if the response has no percentages. */
function notationOf({ operation, outcome }: ReadExchange): Notation | undefined {
  if (operation?.id !== 'listDmarc' || outcome.kind !== 'success') return undefined
  const notation = { isKept: false, isShortest: false, places: 0, needed: 0 }
  const decimals = [...outcome.text.slice(0, LOOKED_AT).matchAll(PERCENTAGE)].map(([, digits = '']) => digits)
  for (const digits of decimals) {
    notation.places = Math.max(notation.places, digits.length)
    notation.needed = Math.max(notation.needed, digits.replace(/0+$/, '').length)
    if (digits.endsWith('0')) notation.isKept = true
  }
  notation.isShortest = decimals.some(({ length }) => length < notation.places)
  return notation
}
