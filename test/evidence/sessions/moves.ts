import fc, { type Arbitrary } from 'fast-check'
import { ALL_DOMAINS, ALL_NAMES, BAD_DOMAINS, BAD_NAMES, CROWD, CROWD_AND_ONE, USUAL_NAMES } from '../../model/pool.ts'

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

const domain = fc.oneof(
  { arbitrary: fc.constantFrom('a.example', 'b.example', 'c.a.example', 'd.example', 'e.example'), weight: 12 },
  { arbitrary: fc.constantFrom('acme.example', 'münchen.example', 'locked.example', 'used.example'), weight: 2 },
  { arbitrary: fc.constantFrom(...ALL_DOMAINS), weight: 3 },
)
const anyText = fc.oneof(
  { arbitrary: domain, weight: 4 },
  { arbitrary: fc.constantFrom(...BAD_DOMAINS, 'co.uk', '_dmarc.b.example'), weight: 1 },
)
const name = fc.oneof(
  { arbitrary: fc.constantFrom(...USUAL_NAMES), weight: 6 },
  { arbitrary: fc.constantFrom(...ALL_NAMES, 'Shop', ' Shop ', 'sho\u00adp', 'mail', 'é'.repeat(60)), weight: 3 },
)
const anyName = fc.oneof({ arbitrary: name, weight: 5 }, { arbitrary: fc.constantFrom(...BAD_NAMES), weight: 1 })
const strange = fc.constantFrom<unknown>(null, 7, true, {}, [], 'a.example', [null], [['a.example']], { 0: 'x' })

/** Distinct and canonical, so that the contract forbids nothing about them. */
const plainDomains = fc.uniqueArray(
  fc.constantFrom('a.example', 'b.example', 'c.a.example', 'd.example', 'e.example'),
  {
    minLength: 1,
    maxLength: 3,
  },
)
const domains = fc.oneof(
  { arbitrary: fc.array(domain, { maxLength: 3 }), weight: 6 },
  { arbitrary: fc.array(anyText, { minLength: 1, maxLength: 4 }), weight: 2 },
  { arbitrary: fc.constantFrom([], CROWD, CROWD_AND_ONE), weight: 1 },
  { arbitrary: strange, weight: 1 },
)
const members = fc.array(fc.constantFrom('a.example', 'b.example', 'c.a.example', 'd.example'), { maxLength: 3 })
const plainName = fc.constantFrom('Web', 'Mail', 'Shop', 'shop', 'Post')

const group = fc.nat(9).map((index) => `?id={${index}}`)
const anyGroup = fc.oneof(
  { arbitrary: group, weight: 12 },
  { arbitrary: fc.constantFrom('?id=Unknown1', '?id=', '', '?id={0}&id={1}', '?page=2&id={0}'), weight: 2 },
)

type Sent = Omit<Asked, 'as'>

const lawful = (method: string, path: Arbitrary<string>, body?: Arbitrary<unknown>): Arbitrary<Sent> =>
  fc.record({ method: fc.constant(method), path, body: body ?? fc.constant(undefined), isLawful: fc.constant(true) })
const doubtful = (method: string, path: Arbitrary<string>, body?: Arbitrary<unknown>): Arbitrary<Sent> =>
  lawful(method, path, body).map((sent) => ({ ...sent, isLawful: false }))
const at = (path: string) => fc.constant(path)
const changes = { domains: members, add_domains: members, remove_domains: fc.array(anyText, { maxLength: 3 }) }
const lawfulChange = fc.oneof(
  fc.record({ name: plainName }),
  fc.record({ domains: changes.domains, name: plainName }, { requiredKeys: ['domains'] }),
  fc.record({ add_domains: changes.add_domains }),
  fc.record({ remove_domains: members }),
  fc.record({ add_domains: changes.add_domains, remove_domains: members }),
)
const anyFields = fc.record(
  {
    name: fc.oneof(anyName, strange),
    domains: fc.oneof(members, domains),
    add_domains: domains,
    remove_domains: domains,
    note: strange,
  },
  { requiredKeys: [] },
)
const anyBody = fc.oneof(
  { arbitrary: anyFields, weight: 8 },
  fc.constantFrom<unknown>('', '{', '[]', 'null', '"x"', '{"name":"A","name":"B"}', '\ufeff{"name":"Bom"}', {}),
)

/** Nearly all of what a usual client sends, and a good part of what an unusual one does. */
const sent: Arbitrary<Sent> = fc.oneof(
  { arbitrary: lawful('GET', at('/domains')), weight: 6 },
  { arbitrary: lawful('GET', at('/domaingroups')), weight: 6 },
  { arbitrary: lawful('GET', at('/dmarc')), weight: 4 },
  {
    arbitrary: lawful(
      'GET',
      group.map((query) => `/domaingroups${query}`),
    ),
    weight: 4,
  },
  { arbitrary: lawful('POST', at('/domains'), fc.record({ domains: plainDomains })), weight: 6 },
  { arbitrary: lawful('DELETE', at('/domains'), fc.record({ domains: plainDomains })), weight: 4 },
  {
    arbitrary: lawful(
      'POST',
      at('/domaingroups'),
      fc.record({ name: plainName, domains: members }, { requiredKeys: ['name'] }),
    ),
    weight: 6,
  },
  {
    arbitrary: lawful(
      'PATCH',
      group.map((query) => `/domaingroups${query}`),
      lawfulChange,
    ),
    weight: 8,
  },
  {
    arbitrary: lawful(
      'DELETE',
      group.map((query) => `/domaingroups${query}`),
    ),
    weight: 2,
  },
  { arbitrary: doubtful('POST', at('/domains'), fc.record({ domains })), weight: 5 },
  { arbitrary: doubtful('DELETE', at('/domains'), fc.record({ domains })), weight: 3 },
  {
    arbitrary: doubtful('POST', at('/domaingroups'), fc.record({ name: anyName, domains }, { requiredKeys: ['name'] })),
    weight: 4,
  },
  {
    arbitrary: doubtful(
      'PATCH',
      anyGroup.map((query) => `/domaingroups${query}`),
      anyBody,
    ),
    weight: 4,
  },
  { arbitrary: doubtful('POST', fc.constantFrom('/domains', '/domaingroups'), anyBody), weight: 2 },
  {
    arbitrary: doubtful(
      'DELETE',
      anyGroup.map((query) => `/domaingroups${query}`),
      fc.option(anyBody),
    ),
    weight: 1,
  },
  {
    arbitrary: doubtful(
      'GET',
      anyGroup.map((query) => `/domaingroups${query}`),
    ),
    weight: 2,
  },
  { arbitrary: doubtful('GET', fc.constantFrom('/nowhere', '/Domains', '/domains/', '/domains?page=2')), weight: 1 },
  { arbitrary: doubtful('GET', fc.constantFrom('/domains', '/dmarc'), anyBody), weight: 1 },
  { arbitrary: doubtful('HEAD', fc.constantFrom('/domains', '/dmarc', '/domaingroups')), weight: 1 },
  {
    arbitrary: doubtful(
      'PUT',
      fc.constantFrom('/domains', '/dmarc', '/domaingroups?id={0}'),
      fc.constant({ domains: [] }),
    ),
    weight: 1,
  },
)

const headers = fc.oneof(
  { arbitrary: fc.constant(undefined), weight: 40 },
  fc.constantFrom<Asked['headers']>(
    { 'content-type': null },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json; charset=utf-8' },
    { 'content-type': 'application/json; charset=latin1' },
    { 'x-request-id': 'trace-1' },
    { origin: 'http://localhost:5173' },
  ),
)
const key = fc.oneof(
  { arbitrary: fc.constant<Key>('old'), weight: 30 },
  { arbitrary: fc.constantFrom<Key>('own', 'young', 'off'), weight: 4 },
  { arbitrary: fc.constantFrom<Key>('none', 'foreign', 'malformed', 'lower-case'), weight: 1 },
)

const request: Arbitrary<Asked> = fc.tuple(sent, headers, key).map(([asked, fields, as]) => ({
  ...asked,
  as,
  ...(fields !== undefined && { headers: fields, isLawful: false }),
}))

/** Somebody else's request changes the account, with the same key or another one. */
const other: Arbitrary<Asked> = fc
  .tuple(sent, fc.constantFrom<Key>('own', 'own', 'old', 'young'))
  .map(([asked, as]) => ({ ...asked, as }))

/** The moves of a session; only with `hasOthers`, somebody else changes the account. */
export function movesOf({ hasOthers, length }: { hasOthers: boolean; length: number }): Arbitrary<Move[]> {
  const move: Arbitrary<Move> = fc.oneof(
    { arbitrary: request.map((each): Move => ({ kind: 'ask', request: each })), weight: 40 },
    {
      arbitrary: fc
        .array(request, { minLength: 2, maxLength: 4 })
        .map((requests): Move => ({ kind: 'together', requests })),
      weight: 2,
    },
    {
      arbitrary: fc
        .constantFrom(1000, MINUTE, 20 * MINUTE, 60 * MINUTE, 7 * 60 * MINUTE, DAY, 8 * DAY)
        .map((milliseconds): Move => ({ kind: 'wait', milliseconds })),
      weight: 4,
    },
    {
      arbitrary: fc
        .tuple(fc.constantFrom('a.example', 'b.example', 'used.example'), fc.constantFrom([], ['mta-sts']))
        .map(([named, features]): Move => ({ kind: 'features', domain: named, features })),
      weight: 1,
    },
    { arbitrary: fc.boolean().map((disabled): Move => ({ kind: 'switch', disabled })), weight: 1 },
    {
      arbitrary: fc
        .constantFrom('/dmarc', '/dmarc', '/domains')
        .map((path): Move => ({ kind: 'burst', path, count: path === '/dmarc' ? 11 : 31 })),
      weight: 1,
    },
    { arbitrary: other.map((each): Move => ({ kind: 'other', request: each })), weight: hasOthers ? 12 : 0 },
  )
  return fc.array(move, { minLength: 5, maxLength: length, size: 'max' })
}
