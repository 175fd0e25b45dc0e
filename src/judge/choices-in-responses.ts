import type { Route } from '../contract/router.ts'
import { UUID } from '../contract/schema-compiler.ts'
import { formOf, hasField } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { isKeyless, isRefusedUnread } from './gate.ts'
import { isOfClient } from './header-check.ts'
import type { ChoiceRows } from './open-choice.ts'

/** How far the end of a window may be from a full one, in seconds. */
const TOLERANCE = 2
const DAY = 86_400_000
/** In milliseconds: two reads that are further apart do not show when the figures changed between them. */
const APART = 3 * 3_600_000
const SKEW = 60_000

const patternOf = memoize((pattern) => new RegExp(pattern), { limit: 100 })
const RECORDS = { of: ['listDmarc'], on: 'success' } as const

/** The choices that stand in responses, by the id of the assumption. */
export const IN_RESPONSES: ChoiceRows = {
  routing: {
    on: 'refusal',
    read({ reading: { route, lenient, exchange }, code }, choice) {
      if (route.ok || isFoundLeniently(route, lenient)) return undefined
      if (code === 'unauthorized') return choice.of('after-key')
      return code !== 'rate_limited' && isKeyless(exchange) ? choice.of('before-key') : undefined
    },
  },
  'authorization-scheme': {
    read({ reading, code, track }, choice) {
      if (track.scheme.isShown) return choice.of('exact')
      const { operation, exchange } = reading
      const isOther = operation !== undefined && formOf(exchange.request.credentials) === 'any-case'
      return isOther && code !== 'unauthorized' ? choice.of('any-case') : undefined
    },
  },
  'path-matching': {
    read({ reading: { route, lenient, query }, code }, choice) {
      if (route.ok || !lenient.ok || code === 'unauthorized') return undefined
      if (code !== 'not_found') return choice.of('lenient')
      // A group that does not exist has the code of a path that does not exist.
      return query === undefined ? choice.of('exact') : undefined
    },
  },
  'quota-headers': {
    on: 'refusal',
    read({ reading, code, track: { belief } }, choice) {
      const { operation, route, response, exchange } = reading
      const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
      if (quota === undefined || code === 'rate_limited' || !hasFields(reading) || isRefusedUnread(reading)) {
        return undefined
      }
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
  },
  'rate-limit-reset': {
    read({ quota }, choice) {
      if (quota === undefined || !quota.isDated || quota.isStrange) return undefined
      return choice.of(quota.isTime ? 'unix-time' : 'seconds-left')
    },
  },
  'quota-window': {
    read({ quota }, choice) {
      if (quota === undefined || !quota.isDated || quota.isStrange || quota.window <= 4 * TOLERANCE) return undefined
      const beyond = quota.end % quota.window
      return Math.min(beyond, quota.window - beyond) > TOLERANCE ? choice.except('aligned') : undefined
    },
  },
  'charged-requests': {
    read({ track: { charges } }, choice) {
      return charges.shown && choice.of(charges.shown)
    },
  },
  grace: {
    read({ reading: { operation, response } }, choice) {
      const limit = Number(response.headers['x-ratelimit-limit'])
      const usual = operation?.quota?.limit
      if (usual === undefined || !(limit > usual)) return undefined
      return choice.those(({ value }) => Math.floor(usual * Number(value)) === limit)
    },
  },
  'www-authenticate': {
    on: 'refusal',
    read({ reading, code }, choice) {
      const { response, exchange } = reading
      if (code !== 'unauthorized' || response.status !== 401) return undefined
      if (!hasFields(reading) || !isKeyless(exchange)) return undefined
      const isSent = hasField(response, 'www-authenticate')
      return choice.those(({ headers }) => (isObject(headers) && isObject(headers['WWW-Authenticate'])) === isSent)
    },
  },
  'retry-after': {
    on: 'refusal',
    read({ reading, code }, choice) {
      if (code !== 'rate_limited' || reading.operation === undefined || !hasFields(reading)) return undefined
      const isSent = hasField(reading.response, 'retry-after')
      return choice.those((holder) => (holder['x-retry-after'] === true) === isSent)
    },
  },
  'request-id-format': {
    read({ reading: { exchange, response } }, choice) {
      const id = response.headers['x-request-id']
      if (id === undefined || isOfClient(id, exchange.request)) return undefined
      return choice.those(({ format, pattern }) => (format === 'uuid' ? UUID : patternOf(String(pattern))).test(id))
    },
  },
  'group-id-format': {
    on: 'success',
    read({ reading: { shown } }, choice) {
      const { group, isNew } = shown
      if (group === undefined || !isNew) return undefined
      const { id } = group
      return choice.those(({ minLength, maxLength, pattern }) => {
        return id.length >= Number(minLength) && id.length <= Number(maxLength) && patternOf(String(pattern)).test(id)
      })
    },
  },
  'update-group-response': {
    of: ['updateDomainGroup'],
    on: 'success',
    read({ reading: { outcome } }, choice) {
      if (outcome.kind !== 'success' || !isObject(outcome.data)) return undefined
      const fields = namesIn(outcome.data)
      return choice.those(({ properties }) => isObject(properties) && fieldsOf(properties) === fields)
    },
  },
  decimals: {
    ...RECORDS,
    read({ reading }, choice) {
      const { isKept, isShortest } = notationOf(reading) ?? {}
      return isKept === isShortest ? undefined : choice.of(isKept ? 'kept' : 'shortest')
    },
  },
  percentages: {
    ...RECORDS,
    read({ reading }, choice) {
      const notation = notationOf(reading)
      if (notation === undefined) return undefined
      const { isKept, isShortest, places, needed } = notation
      return choice.those((holder) => {
        const own = Math.round(-Math.log10(Number(valueAt(holder, '/x-constraints/multipleOf'))))
        return own >= needed && (!isKept || isShortest || own === places)
      })
    },
  },
  'policies-without-record': {
    ...RECORDS,
    read({ reading: { outcome } }, choice) {
      if (outcome.kind !== 'success' || !Array.isArray(outcome.data)) return undefined
      if (!outcome.data.some((record) => isObject(record) && record['p'] === '')) return undefined
      return choice.those((holder) => {
        const values = valueAt(holder, '/schemas/Policy/enum')
        return Array.isArray(values) && values.includes('')
      })
    },
  },
  /** Between which times of day the figures change. */
  'refresh-time': {
    ...RECORDS,
    read({ track: { figures } }, choice) {
      const { since = 0, until = 0 } = figures.change ?? {}
      if (figures.change === undefined || until - since > APART) return undefined
      return choice.those(({ value }) => {
        const [hours = 0, minutes = 0] = String(value).split(':').map(Number)
        const offset = (hours * 60 + minutes) * 60_000
        return Math.ceil((since - SKEW - offset) / DAY) * DAY + offset <= until + SKEW
      })
    },
  },
}

/** Whether a lenient service knows the path, which ours does not. */
export function isFoundLeniently(route: Route, lenient: Route): boolean {
  if (route.ok || route.problems[0].reason !== 'path') return false
  return lenient.ok || lenient.problems[0].reason !== 'path'
}

/** Whether the header fields of the response are known: each response has this one. */
function hasFields({ response }: ReadExchange): boolean {
  return hasField(response, 'x-request-id')
}

/** The names of the fields, without those that are null. */
function namesIn(object: Json): string {
  const names = Object.keys(object).filter((name) => object[name] !== null)
  return names.toSorted().join()
}

/** The fields of the alternatives. */
const fieldsOf = memoizeWeakly(namesIn)

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
function notationOf({ outcome }: ReadExchange): Notation | undefined {
  if (outcome.kind !== 'success') return undefined
  const decimals = [...outcome.text.slice(0, LOOKED_AT).matchAll(PERCENTAGE)].map(([, digits = '']) => digits)
  const places = Math.max(0, ...decimals.map(({ length }) => length))
  const needed = Math.max(0, ...decimals.map((digits) => digits.replace(/0+$/, '').length))
  const isShortest = decimals.some(({ length }) => length < places)
  return { isKept: decimals.some((digits) => digits.endsWith('0')), isShortest, places, needed }
}
