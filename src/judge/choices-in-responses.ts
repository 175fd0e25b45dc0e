import type { Route } from '../contract/router.ts'
import { UUID } from '../contract/schema-compiler.ts'
import { formOf, hasField } from '../exchanges/exchange.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, type Json, valueAt } from '../ground/json.ts'
import { memoize, memoizeWeakly } from '../ground/memo.ts'
import { isKeyless, isRefusedUnread } from './gate.ts'
import { isOfClient } from './header-check.ts'
import type { ChoiceTable, ReadChoice } from './open-choice.ts'

/** How far the end of a window may be from a full one, in seconds. */
const TOLERANCE = 2
const DAY = 86_400_000
/** In milliseconds: two reads that are further apart do not show when the figures changed between them. */
const APART = 3 * 3_600_000
const SKEW = 60_000

const patternOf = memoize((pattern) => new RegExp(pattern), { limit: 100 })

/** Which responses have the fields of the quota. */
const quotaHeaders: ReadChoice = ({ reading, code, track: { belief } }) => {
  const { operation, route, response, exchange } = reading
  const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
  if (quota === undefined || code === 'rate_limited' || !hasFields(reading) || isRefusedUnread(reading))
    return undefined
  const isShown = hasField(response, 'x-ratelimit-limit')
  const showing =
    (...values: string[]) =>
    ({ value }: Json) =>
      values.includes(String(value)) === isShown
  if (isKeyless(exchange) || (code === 'unauthorized' && operation === undefined)) return showing('any-request')
  // The plan, too, may be the reason.
  if (code === 'unauthorized') return undefined
  if (operation !== undefined) return showing('charged', 'valid-key', 'any-request')
  if (isShown) return ['valid-key', 'any-request']
  // A key that has got a list is valid.
  const isValid = belief.areDomainsComplete || belief.areGroupsComplete
  return ['charged', ...(isValid ? [] : ['valid-key']), 'success-or-limited']
}

/** The choices that stand in responses. */
export const IN_RESPONSES: ChoiceTable = {
  any: {
    'authorization-scheme'({ reading: { operation, exchange }, code, track }) {
      if (track.scheme.isShown) return 'exact'
      const isOther = operation !== undefined && formOf(exchange.request.credentials) === 'any-case'
      return isOther && code !== 'unauthorized' ? 'any-case' : undefined
    },
    'path-matching'({ reading: { route, lenient, query }, code }) {
      if (route.ok || !lenient.ok || code === 'unauthorized') return undefined
      if (code !== 'not_found') return 'lenient'
      // A group that does not exist has the code of a path that does not exist.
      return query === undefined ? 'exact' : undefined
    },
    'rate-limit-reset'({ quota }) {
      if (quota === undefined || !quota.isDated || quota.isStrange) return undefined
      return quota.isTime ? 'unix-time' : 'seconds-left'
    },
    'quota-window'({ quota }) {
      if (quota === undefined || !quota.isDated || quota.isStrange || quota.window <= 4 * TOLERANCE) return undefined
      const beyond = quota.end % quota.window
      const isAligned = Math.min(beyond, quota.window - beyond) <= TOLERANCE
      return isAligned ? undefined : ({ value }) => value !== 'aligned'
    },
    'charged-requests': ({ track }) => track.charges.shown,
    grace({ reading: { operation, response } }) {
      const limit = Number(response.headers['x-ratelimit-limit'])
      const usual = operation?.quota?.limit
      if (usual === undefined || !(limit > usual)) return undefined
      return ({ value }) => Math.floor(usual * Number(value)) === limit
    },
    'request-id-format'({ reading: { exchange, response } }) {
      const id = response.headers['x-request-id']
      if (id === undefined || isOfClient(id, exchange.request)) return undefined
      return ({ format, pattern }) => (format === 'uuid' ? UUID : patternOf(String(pattern))).test(id)
    },
  },
  refusal: {
    routing({ reading: { route, lenient, exchange }, code }) {
      if (route.ok || isFoundLeniently(route, lenient)) return undefined
      if (code === 'unauthorized') return 'after-key'
      return code !== 'rate_limited' && isKeyless(exchange) ? 'before-key' : undefined
    },
    'quota-headers': quotaHeaders,
    'www-authenticate'({ reading, code }) {
      const { response, exchange } = reading
      if (code !== 'unauthorized' || response.status !== 401) return undefined
      if (!hasFields(reading) || !isKeyless(exchange)) return undefined
      const isSent = hasField(response, 'www-authenticate')
      return ({ headers }) => (isObject(headers) && isObject(headers['WWW-Authenticate'])) === isSent
    },
    'retry-after'({ reading, code }) {
      if (code !== 'rate_limited' || reading.operation === undefined || !hasFields(reading)) return undefined
      const isSent = hasField(reading.response, 'retry-after')
      return (holder) => (holder['x-retry-after'] === true) === isSent
    },
  },
  success: {
    'group-id-format'({ reading: { shown } }) {
      const { group, isNew } = shown
      if (group === undefined || !isNew) return undefined
      const { id } = group
      return ({ minLength, maxLength, pattern }) =>
        id.length >= Number(minLength) && id.length <= Number(maxLength) && patternOf(String(pattern)).test(id)
    },
  },
  updateDomainGroup: {
    'update-group-response'({ reading: { outcome } }) {
      if (outcome.kind !== 'success' || !isObject(outcome.data)) return undefined
      const fields = namesIn(outcome.data)
      return ({ properties }) => isObject(properties) && fieldsOf(properties) === fields
    },
  },
  listDmarc: {
    decimals({ reading }) {
      const { isKept, isShortest } = notationOf(reading)
      return isKept === isShortest ? undefined : isKept ? 'kept' : 'shortest'
    },
    percentages({ reading }) {
      const { isKept, isShortest, places, needed } = notationOf(reading)
      return (holder) => {
        const own = Math.round(-Math.log10(Number(valueAt(holder, '/x-constraints/multipleOf'))))
        return own >= needed && (!isKept || isShortest || own === places)
      }
    },
    'policies-without-record'({ reading: { outcome } }) {
      if (outcome.kind !== 'success' || !Array.isArray(outcome.data)) return undefined
      if (!outcome.data.some((record) => isObject(record) && record['p'] === '')) return undefined
      return (holder) => {
        const values = valueAt(holder, '/schemas/Policy/enum')
        return Array.isArray(values) && values.includes('')
      }
    },
    /** Between which times of day the figures change. */
    'refresh-time'({ track: { figures } }) {
      const { since = 0, until = 0 } = figures.change ?? {}
      if (figures.change === undefined || until - since > APART) return undefined
      return ({ value }) => {
        const [hours = 0, minutes = 0] = String(value).split(':').map(Number)
        const offset = (hours * 60 + minutes) * 60_000
        return Math.ceil((since - SKEW - offset) / DAY) * DAY + offset <= until + SKEW
      }
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

/** So many characters of a response are looked at. */
const LOOKED_AT = 20_000
const PERCENTAGE = /"(?:dmarc|dkim|spf)"\s*:\s*\d+(?:\.(\d+))?\s*[,}]/g

/**
 * How the percentages of a response are written: whether a zero at the end shows that services keep zeros, or a missing one
 * that they do not; the most decimals, and the most that are needed.
 */
function notationOf({ outcome }: ReadExchange) {
  const text = outcome.kind === 'success' ? outcome.text.slice(0, LOOKED_AT) : ''
  const decimals = [...text.matchAll(PERCENTAGE)].map(([, digits = '']) => digits)
  const places = Math.max(0, ...decimals.map(({ length }) => length))
  const needed = Math.max(0, ...decimals.map((digits) => digits.replace(/0+$/, '').length))
  const isShortest = decimals.some(({ length }) => length < places)
  return { isKept: decimals.some((digits) => digits.endsWith('0')), isShortest, places, needed }
}
