import fc, { type Arbitrary } from 'fast-check'
import { plannedRequest } from '../../model/requests.ts'
import { weighted } from '../../support/weighted.ts'

/** A request of a random session. `{3}` in a path stands for the id of a group that was seen. */
export interface Asked {
  method: string
  path: string
  body?: unknown
  headers?: Readonly<Record<string, string | null>>
  /** Whose key it has; `none` has no key, and the others are no keys of the account. */
  as: Key
  /** Whether it obeys the contract, so that nobody may say otherwise. */
  isLawful: boolean
}

/** `old` and `own` are keys of the account without a grace period, `young` has one, and `off` is switched off at times. */
export type Key = 'old' | 'own' | 'young' | 'off' | 'none' | 'foreign' | 'malformed' | 'lower-case'

export type Move =
  | { kind: 'ask'; request: Asked }
  /** Sent at once. */
  | { kind: 'together'; requests: readonly Asked[] }
  /** What the recording does not show: a request of somebody else. */
  | { kind: 'other'; request: Asked }
  | { kind: 'wait'; milliseconds: number }
  /** Monitoring features begin or end to use a domain. */
  | { kind: 'features'; domain: string; features: readonly string[] }
  | { kind: 'switch'; disabled: boolean }
  /** As many reads as use up a quota. */
  | { kind: 'burst'; path: string; count: number }

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const NAMED = ['a.example', 'b.example', 'c.a.example', 'd.example', 'e.example']
/** Distinct and canonical, so that the contract forbids nothing about them. */
const plainDomains = fc.uniqueArray(fc.constantFrom(...NAMED), { minLength: 1, maxLength: 3 })
const members = fc.array(fc.constantFrom(...NAMED.slice(0, 4)), { maxLength: 3 })
const plainName = fc.constantFrom('Web', 'Mail', 'Shop', 'shop', 'Post')
const group = fc.nat(9).map((index) => `/domaingroups?id={${index}}`)

type Sent = Omit<Asked, 'as'>

const lawful = (method: string, path: Arbitrary<string>, body?: Arbitrary<unknown>): Arbitrary<Sent> =>
  fc.record({ method: fc.constant(method), path, body: body ?? fc.constant(undefined), isLawful: fc.constant(true) })
const at = (path: string) => fc.constant(path)
const lawfulChange = fc.oneof(
  fc.record({ name: plainName }),
  fc.record({ domains: members, name: plainName }, { requiredKeys: ['domains'] }),
  fc.record({ add_domains: members }),
  fc.record({ remove_domains: members }),
  fc.record({ add_domains: members, remove_domains: members }),
)
const newGroup = fc.record({ name: plainName, domains: members }, { requiredKeys: ['name'] })

/** Requests of the model, of which nobody says whether the contract permits them. */
const doubtful: Arbitrary<Sent> = plannedRequest.map(({ method, path, query, body }) => {
  const parameters = query.map((each) => ('of' in each ? `id={${each.index}}` : `${each.name}=${each.value}`))
  const target = parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
  return {
    method,
    path: target,
    body: body.content,
    headers: { 'content-type': body.contentType ?? null },
    isLawful: false,
  }
})
const ADDITION = { method: 'POST', path: '/domains' }
const CREATION = { method: 'POST', path: '/domaingroups' }
/** What the model has no verdict on. */
const odd: Arbitrary<Sent> = fc
  .constantFrom<Omit<Sent, 'isLawful'>>(
    ...['co.uk', '_dmarc.b.example', 'used.example'].map((name) => ({ ...ADDITION, body: { domains: [name] } })),
    { ...CREATION, body: '{"name":"A","name":"B"}' },
    ...['sho\u00adp', 'é'.repeat(60), ' Shop '].map((name) => ({ ...CREATION, body: { name } })),
    { ...CREATION, body: { name: 'Origin' }, headers: { origin: 'http://localhost:5173' } },
    { ...CREATION, body: '\ufeff{"name":"Bom"}' },
    ...['/domains', '/dmarc'].map((path) => ({ method: 'GET', path, body: {} })),
    ...['/nowhere', '/Domains', '/domains/'].map((path) => ({ method: 'GET', path })),
    { method: 'PUT', path: '/domains', body: { domains: [] } },
    { method: 'GET', path: '/domains?page=2', headers: { 'x-request-id': 'trace-1' } },
  )
  .map((each) => ({ ...each, isLawful: false }))

/** Nearly all of what a usual client sends, and a good part of what an unusual one does. */
const sent: Arbitrary<Sent> = weighted(
  [6, lawful('GET', at('/domains'))],
  [6, lawful('GET', at('/domaingroups'))],
  [4, lawful('GET', at('/dmarc'))],
  [4, lawful('GET', group)],
  [6, lawful('POST', at('/domains'), fc.record({ domains: plainDomains }))],
  [4, lawful('DELETE', at('/domains'), fc.record({ domains: plainDomains }))],
  [6, lawful('POST', at('/domaingroups'), newGroup)],
  [8, lawful('PATCH', group, lawfulChange)],
  [2, lawful('DELETE', group)],
  [24, doubtful],
  [6, odd],
)

const key = weighted<Key>(
  [30, fc.constant('old')],
  [4, fc.constantFrom('own', 'young', 'off')],
  [1, fc.constantFrom('none', 'foreign', 'malformed', 'lower-case')],
)

const request: Arbitrary<Asked> = fc.tuple(sent, key).map(([asked, as]) => ({ ...asked, as }))

/** Somebody else's request changes the account, with the same key or another one. */
const other: Arbitrary<Asked> = fc
  .tuple(sent, fc.constantFrom<Key>('own', 'own', 'old', 'young'))
  .map(([asked, as]) => ({ ...asked, as }))

const requests = fc.array(request, { minLength: 2, maxLength: 4 })
const wait = fc.constantFrom(1000, MINUTE, 20 * MINUTE, 60 * MINUTE, 7 * 60 * MINUTE, DAY, 8 * DAY)
const used = fc.tuple(fc.constantFrom('a.example', 'b.example', 'used.example'), fc.constantFrom([], ['mta-sts']))
const burst = fc.constantFrom('/dmarc', '/dmarc', '/domains')

/** The moves of a session; only with `hasOthers`, somebody else changes the account. */
export function movesOf({ hasOthers, length }: { hasOthers: boolean; length: number }): Arbitrary<Move[]> {
  const move = weighted<Move>(
    [40, request.map((each) => ({ kind: 'ask', request: each }))],
    [2, requests.map((each) => ({ kind: 'together', requests: each }))],
    [4, wait.map((milliseconds) => ({ kind: 'wait', milliseconds }))],
    [1, used.map(([named, features]) => ({ kind: 'features', domain: named, features }))],
    [1, fc.boolean().map((disabled) => ({ kind: 'switch', disabled }))],
    [1, burst.map((path) => ({ kind: 'burst', path, count: path === '/dmarc' ? 11 : 31 }))],
    [hasOthers ? 12 : 0, other.map((each) => ({ kind: 'other', request: each }))],
  )
  return fc.array(move, { minLength: 5, maxLength: length, size: 'max' })
}
