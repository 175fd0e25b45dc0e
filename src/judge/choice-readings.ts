import { pointerOf } from '../contract/api.ts'
import { UUID } from '../contract/schema-compiler.ts'
import { hasField } from '../exchanges/exchange.ts'
import { formOf } from '../exchanges/key-form.ts'
import type { ReadExchange } from '../exchanges/reading.ts'
import { isObject, valueAt } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import type { Route } from '../http/router.ts'
import { readGroupOrder, readMoves, readOrder, readRecordOrder, readSpelling, readUnprocessed } from './choice-lists.ts'
import { readEmptyLists, readInternational, readTooMany } from './choice-requests.ts'
import { isRefusedUnread } from './gate.ts'
import type { ChoiceReading, OpenChoice, ReadChoice, SeenExchange } from './open-choice.ts'

/** How far the end of a window may be from a full one, in seconds. */
const TOLERANCE = 2

const patternOf = memoize((pattern) => new RegExp(pattern), { limit: 100 })

/** By the id of the assumption. Those of statuses are read by `readStatus`. */
export const READINGS: Readonly<Record<string, ReadChoice>> = {
  routing({ reading, lenient }, choice) {
    const { route, outcome } = reading
    if (route.ok || outcome.kind !== 'refusal' || isFoundLeniently(route, lenient)) return undefined
    if (outcome.code === 'unauthorized') return choice.of('after-key')
    return outcome.code !== 'rate_limited' && isKeyless(reading) ? choice.of('before-key') : undefined
  },

  'authorization-scheme'({ reading: { exchange, operation, outcome } }, choice) {
    if (operation === undefined || formOf(exchange.request.credentials) !== 'any-case') return undefined
    const isAnswered = outcome.kind === 'success' || (outcome.kind === 'refusal' && outcome.code !== 'unauthorized')
    return isAnswered ? choice.of('any-case') : undefined
  },

  'path-matching'({ reading: { route, outcome, query }, lenient }, choice) {
    if (route.ok || !lenient.ok) return undefined
    if (outcome.kind === 'success') return choice.of('lenient')
    if (outcome.kind !== 'refusal' || outcome.code === 'unauthorized') return undefined
    // A group that does not exist has the code of a path that does not exist.
    if (outcome.code === 'not_found') return query === undefined ? choice.of('exact') : undefined
    return choice.of('lenient')
  },

  'quota-headers'({ reading, belief }, choice) {
    const { outcome, operation, route, response } = reading
    const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
    if (quota === undefined || outcome.kind !== 'refusal' || outcome.code === 'rate_limited') return undefined
    if (!hasFields(reading) || isRefusedUnread(reading)) return undefined
    const isShown = hasField(response, 'x-ratelimit-limit')
    const isOfKey = outcome.code === 'unauthorized'
    const showing = (...values: string[]) => choice.those(({ value }) => values.includes(String(value)) === isShown)
    if (isKeyless(reading) || (isOfKey && operation === undefined)) return showing('any-request')
    // The plan, too, may be the reason.
    if (isOfKey) return undefined
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
    return Math.min(beyond, window - beyond) > TOLERANCE ? choice.those(({ value }) => value !== 'aligned') : undefined
  },

  grace({ reading: { operation, response } }, choice) {
    const limit = Number(response.headers['x-ratelimit-limit'])
    const usual = operation?.quota?.limit
    if (usual === undefined || !(limit > usual)) return undefined
    return choice.those(({ value }) => Math.floor(usual * Number(value)) === limit)
  },

  'www-authenticate'({ reading }, choice) {
    const { outcome, response } = reading
    if (outcome.kind !== 'refusal' || outcome.code !== 'unauthorized' || response.status !== 401) return undefined
    if (!hasFields(reading) || !isKeyless(reading)) return undefined
    const isSent = hasField(response, 'www-authenticate')
    return choice.those(({ headers }) => (isObject(headers) && isObject(headers['WWW-Authenticate'])) === isSent)
  },

  'retry-after'({ reading }, choice) {
    const { outcome, response, operation } = reading
    if (outcome.kind !== 'refusal' || outcome.code !== 'rate_limited' || operation === undefined) return undefined
    const isSent = hasField(response, 'retry-after')
    return hasFields(reading) ? choice.those((holder) => (holder['x-retry-after'] === true) === isSent) : undefined
  },

  'request-id-format'({ reading: { exchange, response } }, choice) {
    const id = response.headers['x-request-id']
    const { headers, hidden } = exchange.request
    if (id === undefined || id === headers['x-request-id'] || hidden?.includes('x-request-id')) return undefined
    return choice.those(({ format, pattern }) => (format === 'uuid' ? UUID : new RegExp(String(pattern))).test(id))
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
    const fields = Object.keys(outcome.data).toSorted().join()
    return choice.those(({ properties }) => {
      const shown = isObject(properties) ? Object.entries(properties).filter(([, schema]) => schema !== null) : []
      return (
        fields ===
        shown
          .map(([name]) => name)
          .toSorted()
          .join()
      )
    })
  },

  decimals({ reading }, choice) {
    const { isKept, isShortest } = notationOf(reading)
    return isKept === isShortest ? undefined : choice.of(isKept ? 'kept' : 'shortest')
  },

  percentages({ reading }, choice) {
    const { isKept, isShortest, places, needed } = notationOf(reading)
    return choice.those((holder) => {
      const own = Math.round(-Math.log10(Number(valueAt(holder, '/x-constraints/multipleOf'))))
      return own >= needed && (!isKept || isShortest || own === places)
    })
  },

  'too-many-domains': readTooMany,
  'empty-lists': readEmptyLists,
  'policies-without-record'({ reading: { operation, outcome } }, choice) {
    if (operation?.id !== 'listDmarc' || outcome.kind !== 'success' || !Array.isArray(outcome.data)) return undefined
    if (!outcome.data.some((record) => isObject(record) && record['p'] === '')) return undefined
    return choice.those((holder) => {
      const values = valueAt(holder, '/schemas/Policy/enum')
      return Array.isArray(values) && values.includes('')
    })
  },

  'canonical-form': readSpelling,
  'international-names': readInternational,
  'domain-order': readOrder,
  'record-order': readRecordOrder,
  'group-order': readGroupOrder,
  'unprocessed-domains': readUnprocessed,
  'shared-domains': readMoves,
}

const OF_ANY = ['authorization-scheme', 'rate-limit-reset', 'quota-window', 'grace', 'request-id-format']
const OF_REFUSALS = [...OF_ANY, 'quota-headers', 'www-authenticate', 'retry-after']
const OF_NO_ROUTE = ['routing', 'path-matching']
const OF_REFUSED: Readonly<Record<string, readonly string[]>> = {
  addDomains: ['too-many-domains', 'international-names'],
  updateDomainGroup: ['empty-lists'],
}
const OF_SUCCESSES: Readonly<Record<string, readonly string[]>> = {
  listDmarc: [
    ...['decimals', 'percentages', 'policies-without-record', 'record-order', 'unprocessed-domains', 'canonical-form'],
  ],
  listDomains: ['domain-order', 'canonical-form'],
  addDomains: ['canonical-form', 'international-names'],
  deleteDomains: ['canonical-form'],
  listDomainGroups: ['group-order', 'canonical-form', 'shared-domains'],
  createDomainGroup: ['group-id-format', 'canonical-form'],
  updateDomainGroup: ['update-group-response', 'empty-lists', 'canonical-form', 'shared-domains'],
}

/** The ids of the readings to which an exchange can say something. */
export function* readingsFor({ outcome, route, answering, operation }: ReadExchange): Generator<string> {
  const isSuccess = outcome.kind === 'success'
  yield* isSuccess ? OF_ANY : OF_REFUSALS
  if (!route.ok) yield* OF_NO_ROUTE
  const id = (isSuccess ? answering : operation)?.id ?? ''
  yield* (isSuccess ? OF_SUCCESSES : OF_REFUSED)[id] ?? []
}

/** Where openapi.yaml has the statuses of codes. */
const ERRORS = '/x-errors'

/** The choice about the status of a response, with the numbers that have this status. */
export function readStatus(
  { reading, lenient }: SeenExchange,
  choiceAt: (place: string) => OpenChoice | undefined,
): ChoiceReading | undefined {
  const { outcome, operation, route, response } = reading
  const { status } = response
  if (outcome.kind === 'success') {
    const choice = operation && choiceAt(pointerOf(operation))
    const permits = choice?.those(({ responses }) => isObject(responses) && isObject(responses[status]))
    return choice && permits && { id: choice.id, permits }
  }
  if (outcome.kind !== 'refusal' || isRefusedUnread(reading)) return undefined
  const { code } = outcome
  const reason = route.ok ? undefined : route.problems[0].reason
  // The paths that a service knows are another choice.
  if (reason !== undefined && code !== 'unauthorized' && isFoundLeniently(route, lenient)) return undefined
  // A key may be refused for its plan, which has a status of its own.
  if (code === 'unauthorized' && !isKeyless(reading)) return undefined
  const isOutside = reason !== undefined && code !== 'unauthorized' && code !== 'rate_limited'
  const choice = choiceAt(isOutside ? `${ERRORS}/not_found/reasons/${reason}` : `${ERRORS}/${code}`)
  const permits = choice?.those((holder) => {
    return holder['status'] === status && (!isOutside || (holder['code'] ?? 'not_found') === code)
  })
  return choice && permits && { id: choice.id, permits }
}

/** Whether a lenient service knows the path, which ours does not. */
function isFoundLeniently(route: Route, lenient: Route): boolean {
  if (route.ok || route.problems[0].reason !== 'path') return false
  return lenient.ok || lenient.problems[0].reason !== 'path'
}

/** Whether the request has certainly no valid key. */
function isKeyless({ exchange }: ReadExchange): boolean {
  const form = formOf(exchange.request.credentials)
  return form === 'none' || form === 'wrong'
}

/** Whether the header fields of the response are known: each response has this one. */
function hasFields({ response }: ReadExchange): boolean {
  return hasField(response, 'x-request-id')
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

function notationOf({ operation, outcome }: ReadExchange): Notation {
  const notation = { isKept: false, isShortest: false, places: 0, needed: 0 }
  if (operation?.id !== 'listDmarc' || outcome.kind !== 'success') return notation
  const decimals = [...outcome.text.slice(0, LOOKED_AT).matchAll(PERCENTAGE)].map(([, digits = '']) => digits)
  for (const digits of decimals) {
    notation.places = Math.max(notation.places, digits.length)
    notation.needed = Math.max(notation.needed, digits.replace(/0+$/, '').length)
    if (digits.endsWith('0')) notation.isKept = true
  }
  notation.isShortest = decimals.some(({ length }) => length < notation.places)
  return notation
}
