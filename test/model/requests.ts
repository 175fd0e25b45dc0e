import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../support/weighted.ts'
import { bodyOfChanges, bodyOfDomains, bodyOfGroup, idleBody, type SentBody } from './bodies.ts'
import { secretOf } from './pool.ts'

/** A request of which only the ids of groups and the secrets of some keys are open, because the service chooses those. */
export interface PlannedRequest {
  method: string
  path: string
  /** The value of Authorization; `<0>` stands for the last key whose secret the service chose, `<1>` for the one before. */
  authorization: string | undefined
  query: readonly PlannedParameter[]
  body: SentBody
}

/** A query parameter; `of` is how to find an id among those of the moment. */
type PlannedParameter = { name: string; value: string } | { of: IdChoice; index: number }

export type IdChoice = 'group' | 'former group' | 'group in other case' | 'group of another account'

export const bearer = (key: string) => `Bearer ${secretOf(key)}`
const usableKey = weighted(
  [9, fc.constant(bearer('main'))],
  [2, fc.constant(bearer('young'))],
  [3, fc.constant(bearer('other'))],
  [2, fc.constantFrom('Bearer sandbox_one', 'Bearer sandbox_two')],
  [2, fc.constantFrom(bearer('spare'), bearer('late'), bearer('fixed'))],
  [2, fc.constantFrom('Bearer <0>', 'Bearer <1>')],
)
const uselessKey = fc.constantFrom(
  ...['disabled', 'unknown', 'small'].map(bearer),
  bearer('main').toLowerCase(),
  ...['bearer ', 'Bearer  ', 'Basic ', ''].map((scheme) => bearer('main').replace('Bearer ', scheme)),
  ...['Bearer', '', undefined],
)
const authorization = weighted([20, usableKey], [1, uselessKey])

const UNKNOWN_ID = 'zzzzzzzz'
const otherChoice = fc.constantFrom<IdChoice>('former group', 'group in other case', 'group of another account')
const oneId = weighted<PlannedParameter>(
  [24, fc.record({ of: fc.constant('group' as const), index: fc.nat(5) })],
  [1, fc.record({ of: otherChoice, index: fc.nat(5) })],
  [1, fc.constantFrom(UNKNOWN_ID, '', '__proto__', 'zzzzzzz', ' ').map((value) => ({ name: 'id', value }))],
)
const noId = fc.constantFrom<PlannedParameter[]>([], [{ name: 'ID', value: UNKNOWN_ID }])
const withId: Arbitrary<PlannedParameter[]> = weighted(
  [24, oneId.map((id) => [id])],
  [1, fc.tuple(oneId, oneId)],
  [1, oneId.map((id) => [{ name: 'name', value: 'Web' }, id])],
  [1, noId],
)

interface Parts {
  query?: Arbitrary<PlannedParameter[]>
  body?: Arbitrary<SentBody>
}

function plan(
  method: string,
  path: string,
  { query = fc.constant([]), body = fc.constant({}) }: Parts = {},
): Arbitrary<PlannedRequest> {
  return fc.record({ method: fc.constant(method), path: fc.constant(path), authorization, query, body })
}

const stray = fc
  .constantFrom(
    ...['GET /', 'GET /domain', 'GET /domains/', 'GET /Domains', 'POST /domaingroups/zzzzzzzz', 'GET /__proto__'],
    ...['POST /dmarc', 'PATCH /domains', 'PUT /domaingroups', 'OPTIONS /dmarc'],
    ...['HEAD /dmarc', 'HEAD /domains', 'HEAD /domaingroups'],
  )
  .chain((line) => plan(line.split(' ')[0] ?? '', line.split(' ')[1] ?? ''))

/** Requests of every kind, those that change something the most often. */
export const plannedRequest: Arbitrary<PlannedRequest> = weighted(
  [7, plan('POST', '/domains', { body: bodyOfDomains })],
  [5, plan('DELETE', '/domains', { body: bodyOfDomains })],
  [10, plan('POST', '/domaingroups', { body: bodyOfGroup })],
  [9, plan('PATCH', '/domaingroups', { query: withId, body: bodyOfChanges })],
  [3, plan('DELETE', '/domaingroups', { query: withId, body: idleBody })],
  [3, plan('GET', '/domaingroups', { query: fc.oneof(noId, withId) })],
  [2, plan('GET', '/domains')],
  [4, plan('GET', '/dmarc')],
  [2, stray],
)

export function readingOf(path: string, key: string): PlannedRequest {
  return { method: 'GET', path, authorization: key, query: [], body: {} }
}

/** Readings that use up the quota of a path. */
export const plannedReading = fc
  .tuple(fc.constantFrom('/dmarc', '/domains', '/domaingroups'), usableKey)
  .map(([path, key]) => readingOf(path, key))

/** For the report of a failure. */
export function describeRequest({ method, path, authorization = '', query, body }: PlannedRequest): string {
  const parameters = query.map((parameter) =>
    'of' in parameter ? `id=<${parameter.of} ${parameter.index}>` : `${parameter.name}=${parameter.value}`,
  )
  const content = body.content?.toString().trim() ?? ''
  const sent = content.length > 300 ? `${content.slice(0, 300)}…` : content
  const key = authorization.replace(/key_([a-z]+)0*\..*/, '$1')
  return `${method} ${[path, ...parameters].join('?')} (${key}) ${sent} ${body.contentType ?? ''}`.trim()
}
