import fc, { type Arbitrary } from 'fast-check'
import { weighted } from '../support/weighted.ts'
import type { Account } from './account.ts'
import {
  bodyOfAddition,
  bodyOfChanges,
  bodyOfDeletion,
  bodyOfGroup,
  idleBody,
  noBody,
  type SentBody,
} from './bodies.ts'
import type { Model, Request } from './model.ts'
import { secretOf } from './pool.ts'

/** A request of which only the ids of groups are open, because the service chooses those. */
export interface PlannedRequest {
  method: string
  path: string
  authorization: string | undefined
  query: readonly PlannedParameter[]
  body: SentBody
}

/** A query parameter; `of` is how to find an id among those of the moment. */
type PlannedParameter = { name: string; value: string } | { of: IdChoice; index: number }

type IdChoice = 'group' | 'former group' | 'group in other case' | 'group of another account'

/** The request as it is sent, and as the model sees it. */
export function settleRequest(plan: PlannedRequest, model: Model): { target: string; request: Request } {
  const { method, path, authorization, body } = plan
  const account = model.accountOf(authorization) ?? [...model.accounts.values()][0]
  const parameters = plan.query.map((parameter): [string, string] =>
    'of' in parameter
      ? ['id', findId(parameter.of, parameter.index, account, model)]
      : [parameter.name, parameter.value],
  )
  const ids = parameters.filter(([name]) => name === 'id').map(([, value]) => value)
  const query = new URLSearchParams(parameters).toString()
  return {
    target: query === '' ? path : `${path}?${query}`,
    request: { method, path, ids, authorization, body: body.arrives },
  }
}

/** The key whose secret the service chose, if one is meant. */
export function settleKey(authorization: string | undefined, { laterKeys }: Model): string | undefined {
  const index = LATER_KEYS.indexOf(authorization ?? '')
  return index < 0 ? authorization : (laterKeys.at(-1 - index) ?? authorization)
}

const UNKNOWN_ID = 'zzzzzzzz'

function findId(choice: IdChoice, index: number, account: Account | undefined, model: Model): string {
  const pick = (ids: readonly string[] = []) => ids[index % ids.length] ?? UNKNOWN_ID
  const groupIds = account?.groups.map(({ id }) => id)
  switch (choice) {
    case 'group':
      return pick(groupIds)
    case 'former group':
      return pick(account?.formerIds)
    case 'group in other case':
      return pick(groupIds).replace(/[a-z]/gi, (letter) =>
        /[a-z]/.test(letter) ? letter.toUpperCase() : letter.toLowerCase(),
      )
    case 'group of another account': {
      const others = [...model.accounts.values()].filter((other) => other !== account)
      return pick(others.flatMap(({ groups }) => groups.map(({ id }) => id)))
    }
  }
}

const bearer = (key: string) => `Bearer ${secretOf(key)}`
/** In place of the last key whose secret the service chose, and of the one before it. */
const LATER_KEYS = ['<last chosen key>', '<chosen key before the last>']
const usableKey = weighted(
  [8, fc.constant(bearer('main'))],
  [2, fc.constant(bearer('young'))],
  [2, fc.constant(bearer('other'))],
  [1, fc.constant(bearer('spare'))],
  [1, fc.constantFrom(bearer('late'), bearer('fixed'))],
  [1, fc.constantFrom(...LATER_KEYS)],
)
const uselessKey = fc.constantFrom(
  ...['small', 'small', 'small', 'disabled', 'unknown'].map(bearer),
  bearer('main').toLowerCase(),
  ...['bearer ', 'Bearer  ', 'Basic ', ''].map((scheme) => bearer('main').replace('Bearer ', scheme)),
  ...['Bearer', '', undefined],
)
const authorization = weighted([20, usableKey], [1, uselessKey])

const oneId = weighted<PlannedParameter>(
  [24, fc.record({ of: fc.constant('group' as const), index: fc.nat(5) })],
  [
    1,
    fc.record({
      of: fc.constantFrom<IdChoice>('former group', 'group in other case', 'group of another account'),
      index: fc.nat(5),
    }),
  ],
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
  { query = fc.constant([]), body = fc.constant(noBody) }: Parts = {},
): Arbitrary<PlannedRequest> {
  return fc.record({ method: fc.constant(method), path: fc.constant(path), authorization, query, body })
}

const strayRequest = fc
  .constantFrom(
    ...['GET /', 'GET /domain', 'GET /domains/', 'GET /Domains', 'POST /domaingroups/zzzzzzzz', 'GET /__proto__'],
    ...['POST /dmarc', 'PATCH /domains', 'PUT /domaingroups', 'OPTIONS /dmarc'],
  )
  .chain((stray) => {
    const [method = '', path = ''] = stray.split(' ')
    return plan(method, path)
  })

/** Requests of every kind, those that change something the most often. */
export const plannedRequest: Arbitrary<PlannedRequest> = weighted(
  [7, plan('POST', '/domains', { body: bodyOfAddition })],
  [5, plan('DELETE', '/domains', { body: bodyOfDeletion })],
  [10, plan('POST', '/domaingroups', { body: bodyOfGroup })],
  [9, plan('PATCH', '/domaingroups', { query: withId, body: bodyOfChanges })],
  [3, plan('DELETE', '/domaingroups', { query: withId, body: idleBody })],
  [3, plan('GET', '/domaingroups', { query: fc.oneof(noId, withId) })],
  [2, plan('GET', '/domains')],
  [4, plan('GET', '/dmarc')],
  [
    1,
    plan('HEAD', '/dmarc').chain((head) =>
      fc.constantFrom('/dmarc', '/domains', '/domaingroups').map((path) => ({ ...head, path })),
    ),
  ],
  [1, strayRequest],
)

/** Readings that use up the quota of a path. */
export const plannedReading: Arbitrary<PlannedRequest> = fc
  .tuple(fc.constantFrom('/dmarc', '/domains', '/domaingroups'), usableKey)
  .map(([path, key]) => readingOf(path, key))

export function readingOf(path: string, authorization: string): PlannedRequest {
  return { method: 'GET', path, authorization, query: [], body: noBody }
}

/** For the report of a failure. */
export function describeRequest({ method, path, authorization, query, body }: PlannedRequest): string {
  const parameters = query.map((parameter) =>
    'of' in parameter
      ? `id=<${parameter.of} ${parameter.index}>`
      : `${parameter.name}=${JSON.stringify(parameter.value)}`,
  )
  const target = parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
  const content = body.content?.toString().trim() ?? ''
  const sent = content.length > 300 ? `${content.slice(0, 300)}…` : content
  const type = body.contentType === 'application/json' ? '' : ` as ${body.contentType ?? 'nothing'}`
  const key = /key_[a-z]+/.exec(authorization ?? '')?.[0] ?? authorization
  return `${method} ${target} ${key}${sent === '' ? '' : ` ${sent}${type}`}`
}
