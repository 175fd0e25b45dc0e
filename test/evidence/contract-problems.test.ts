import { beforeAll, describe, expect, it } from 'vitest'
import { findContractProblems } from '../../src/evidence/contract-problems.ts'
import type { Exchange } from '../../src/evidence/exchange.ts'
import type { Finding } from '../../src/evidence/finding.ts'
import type { Permitted } from '../../src/evidence/permitted.ts'
import { createReader } from '../../src/evidence/reading.ts'
import { valueAt } from '../../src/ground/json.ts'
import { headersOf } from '../support/exchanges.ts'
import { readPermitted } from '../support/permitted.ts'
import { exchangeOf, failure, type Made, success } from './made-exchange.ts'

let permitted: Permitted

beforeAll(async () => {
  permitted = (await readPermitted()).permitted
}, 60_000)

const GROUP = { id: '4fTq81Zb', name: 'Shop', domains: ['a.example'] }
const RECORD = { domain: 'a.example', p: 'reject', sp: 'reject', np: 'none', pct: 100, testing: 'n' }
const FIGURES = { dmarc: 99.2, dkim: 98.7, spf: 91.5, count: 7 }

function find(made: Made, change: (exchange: Exchange) => Exchange = (exchange) => exchange): Finding[] {
  const reading = createReader(permitted.contract)(change(exchangeOf(made)))
  if (reading === undefined) throw new Error('It has no response.')
  return findContractProblems(reading, permitted)
}

const added = success({ message: 'Added.', domains: ['a.example'], count: 1 })
const ADD = { method: 'POST', path: '/domains', sent: { domains: ['a.example'] } }

/** The end of the id, and the place. */
type Expected = readonly (readonly [what: string, pointer: string])[]

const SCHEMAS = '/components/schemas'
const HEADERS = '/components/headers'

const WRONG: readonly (readonly [title: string, made: Made, expected: Expected])[] = [
  [
    'a field of a wrong type',
    { path: '/domains', body: success({ domains: ['a.example', 5] }) },
    [['listDomains/200/response/data/domains/*/type', `${SCHEMAS}/Domain/type`]],
  ],
  [
    'a field that is missing',
    { path: '/domains', body: success({}) },
    [['listDomains/200/response/data/domains/required', `${SCHEMAS}/DomainList/required`]],
  ],
  [
    'a field that is too much',
    { path: '/domains', body: success({ domains: [], page: 1 }) },
    [['listDomains/200/response/data/page/additionalProperties', `${SCHEMAS}/DomainList/additionalProperties`]],
  ],
  [
    'a name twice in a list, and one that is none',
    { path: '/domains', body: success({ domains: ['a.example', 'a.example', 'b c'] }) },
    [
      ['listDomains/200/response/data/domains/*/format', `${SCHEMAS}/Domain/format`],
      ['listDomains/200/response/data/domains/uniqueItems', `${SCHEMAS}/Domains/x-constraints/uniqueItems`],
    ],
  ],
  [
    'an undocumented status of a success',
    { ...ADD, status: 206, body: added },
    [['addDomains/206/response/status', '/paths/~1domains/post/responses']],
  ],
  [
    'an error with the status of a success',
    { path: '/domains', status: 200, body: failure('rate_limited') },
    [['listDomains/200/response/code/rate_limited', '/components/x-errors/rate_limited']],
  ],
  [
    'a code that the operation does not have',
    { path: '/domains', status: 409, body: failure('duplicate_name') },
    [['listDomains/409/response/code/duplicate_name', '/paths/~1domains/get/responses']],
  ],
  [
    'a code that the catalogue does not have',
    { path: '/domains', status: 400, body: failure('nonsense') },
    [['listDomains/400/response/error/code/enum', `${SCHEMAS}/ErrorCode/enum`]],
  ],
  [
    'an error without a message',
    { path: '/domains', status: 401, body: { success: false, error: { code: 'unauthorized' } } },
    [['listDomains/401/response/error/message/required', `${SCHEMAS}/Error/required`]],
  ],
  [
    'an envelope of its own',
    { path: '/domains', body: { domains: [] } },
    [
      ['listDomains/200/response/success/required', `${SCHEMAS}/DomainListEnvelope/required`],
      ['listDomains/200/response/data/required', `${SCHEMAS}/DomainListEnvelope/required`],
      ['listDomains/200/response/domains/additionalProperties', `${SCHEMAS}/DomainListEnvelope/additionalProperties`],
    ],
  ],
  [
    'a page',
    { path: '/domains', status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>' },
    [
      ['listDomains/502/response/body', `${SCHEMAS}/Failure`],
      ['listDomains/502/response/headers/content-type', '/components/responses/DomainsListed/content'],
    ],
  ],
  ['no body', { path: '/domains' }, [['listDomains/200/response/body', '/components/responses/DomainsListed/content']]],
  [
    'a body after HEAD',
    { method: 'HEAD', path: '/domains', body: success({ domains: [] }) },
    [['listDomains/200/response/body', '/paths/~1domains/get']],
  ],
  [
    'an empty X-Request-Id',
    { path: '/domains', headers: { 'X-Request-Id': '' }, body: success({ domains: [] }) },
    [['listDomains/200/response/headers/x-request-id/format', `${HEADERS}/X-Request-Id/schema`]],
  ],
  [
    'quota headers of a wrong form',
    {
      path: '/domains',
      headers: { 'X-RateLimit-Limit': 'many', 'X-RateLimit-Reset': '2026-01-15T10:00:00Z' },
      body: success({ domains: [] }),
    },
    [
      ['listDomains/200/response/headers/x-ratelimit-limit/type', `${HEADERS}/X-RateLimit-Limit/schema/type`],
      ['listDomains/200/response/headers/x-ratelimit-reset/type', `${HEADERS}/X-RateLimit-Reset/schema/type`],
    ],
  ],
  [
    'more left than the limit',
    { path: '/domains', headers: { 'X-RateLimit-Remaining': '101' }, body: success({ domains: [] }) },
    [['listDomains/200/response/headers/x-ratelimit-remaining/maximum', `${HEADERS}/X-RateLimit-Remaining/schema`]],
  ],
  [
    'a Retry-After that is no number of seconds',
    { path: '/domains', status: 429, headers: { 'Retry-After': 'soon' }, body: failure('rate_limited') },
    [['listDomains/429/response/headers/retry-after/type', `${HEADERS}/Retry-After/schema/type`]],
  ],
  [
    'several deviations of a record, beside some that are alternatives',
    {
      path: '/dmarc',
      body: success([
        { ...RECORD, ...FIGURES },
        { domain: 'b.example', p: null, pct: 101, testing: 'n', ...FIGURES, dmarc: 99.25, spf: '91.5' },
        { ...RECORD, ...FIGURES, count: -1 },
      ]),
    },
    [
      ['listDmarc/200/response/data/*/pct/maximum', `${SCHEMAS}/DmarcRecord/properties/pct/maximum`],
      ['listDmarc/200/response/data/*/spf/type', `${SCHEMAS}/Percentage/type`],
      ['listDmarc/200/response/data/*/count/minimum', `${SCHEMAS}/DmarcRecord/properties/count/minimum`],
    ],
  ],
  [
    'an operation that the document does not have',
    { method: 'PUT', path: '/domains', body: success({ domains: [] }) },
    [
      ['domains/200/request/method', '/paths/~1domains'],
      ['domains/200/response/status', '/paths/~1domains'],
    ],
  ],
]

const REFUSED = { status: 400, body: failure('invalid_request_body') }
const CREATE = { method: 'POST', path: '/domaingroups' }

const WRONGLY_ASKED: readonly (readonly [title: string, made: Made, expected: Expected])[] = [
  [
    'an unknown path',
    { path: '/users', status: 404, body: failure('not_found') },
    [['unknown-path/404/request/path', '/paths']],
  ],
  [
    'a wrong method',
    { method: 'PATCH', path: '/dmarc', status: 405, body: failure('not_found') },
    [['dmarc/405/request/method', '/paths/~1dmarc']],
  ],
  [
    'no id',
    { method: 'DELETE', path: '/domaingroups', status: 400, body: failure('missing_id') },
    [['deleteDomainGroup/400/request/query/id/required', '/paths/~1domaingroups/delete/parameters']],
  ],
  [
    'no JSON',
    { ...ADD, sent: '{', status: 400, body: failure('invalid_json') },
    [['addDomains/400/request/body/invalid_json', '/paths/~1domains/post/requestBody']],
  ],
  [
    'no body',
    { ...ADD, sent: '', ...REFUSED },
    [['addDomains/400/request/body/absent', '/paths/~1domains/post/requestBody']],
  ],
  [
    'a content coding',
    { ...ADD, fields: { 'Content-Encoding': 'gzip' }, ...REFUSED },
    [['addDomains/400/request/body/coding', '/paths/~1domains/post/requestBody']],
  ],
  [
    'too many domains, also where the service accepts them',
    { ...ADD, sent: { domains: Array.from({ length: 51 }, (_, index) => `d${index}.example`) }, body: added },
    [['addDomains/200/request/body/domains/maxItems', `${SCHEMAS}/DomainsToAdd/properties/domains/maxItems`]],
  ],
  [
    'several mistakes',
    { ...ADD, sent: { domains: ['no host', 5], more: 1 }, ...REFUSED },
    [
      ['addDomains/400/request/body/domains/*/format', `${SCHEMAS}/Hostname/x-constraints/format`],
      ['addDomains/400/request/body/domains/*/type', `${SCHEMAS}/Hostname/type`],
      ['addDomains/400/request/body/more/additionalProperties', `${SCHEMAS}/DomainsToAdd/additionalProperties`],
    ],
  ],
  [
    'a name that is too long in every unit',
    { ...CREATE, sent: { name: 'x'.repeat(101) }, status: 400, body: failure('invalid_name') },
    [['createDomainGroup/400/request/body/name/maxLength', `${SCHEMAS}/DomainGroupName/maxLength`]],
  ],
]

function expectFindings(findings: readonly Finding[], expected: Expected): void {
  const found = findings.map(({ id, pointer }) => [id.replace('contract-violation/', ''), pointer])
  expect(found.toSorted()).toEqual([...expected].map((each) => [...each]).toSorted())
  for (const { label, pointer = '', line, message, request_id } of findings) {
    expect(label).toBe('contract violation')
    expect(valueAt(permitted.contract.document.source, pointer), pointer).toBeDefined()
    expect(line).toBeGreaterThan(1)
    expect(message).toMatch(/^The (request|response) .*\.$/)
    expect(request_id).toBe('one')
  }
}

/** The id, and the place. */
const OPEN: readonly (readonly [title: string, made: Made, id: string, pointer: string])[] = [
  [
    'the status of an error code',
    { ...ADD, status: 404, body: failure('invalid_domain') },
    'addDomains/404/response/code/invalid_domain',
    '/components/x-errors/invalid_domain',
  ],
  [
    'a policy beside the one that is shown',
    { path: '/dmarc', body: success([{ ...RECORD, ...FIGURES, p: 'deny' }]) },
    'listDmarc/200/response/data/*/p/enum',
    `${SCHEMAS}/Policy/enum`,
  ],
  [
    'the form of the id of a group',
    { path: '/domaingroups', body: success({ groups: [{ ...GROUP, id: '12345' }], count: 1 }) },
    'listDomainGroups/200/response/data/groups/*/id/minLength',
    `${SCHEMAS}/DomainGroupId/minLength`,
  ],
]

describe('the specification leaves open, so that nobody has done anything wrong,', () => {
  it.each(OPEN)('%s', (_, made, id, pointer) => {
    const headers = made.path === '/dmarc' ? { 'X-RateLimit-Remaining': '9' } : {}
    const found = find({ ...made, headers })
    expect(found.map((each) => [each.id, each.label, each.pointer])).toEqual([
      [`cannot-tell/${id}`, 'cannot tell', pointer],
    ])
  })
})

describe('a response violates the contract by', () => {
  it.each(WRONG)('%s', (_, made, expected) => {
    const headers = made.path === '/dmarc' ? { 'X-RateLimit-Remaining': '9' } : {}
    expectFindings(find({ ...made, headers: { ...headers, ...made.headers } }), expected)
  })

  it('no header of the quota where every alternative has them, and by one alone where none needs them', () => {
    const without = (names: readonly string[]) => (exchange: Exchange) => {
      const { response } = exchange
      const kept = Object.entries(response?.headers ?? {}).filter(([name]) => !names.includes(name))
      return { ...exchange, response: response && { ...response, headers: headersOf(kept) } }
    }
    const all = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    const listed = { path: '/domains', body: success({ domains: [] }) }
    expect(find(listed, without(all)).map(({ id }) => id.split('/').at(-2))).toEqual(all)
    const unknown = { path: '/domaingroups?id=x', status: 404, body: failure('not_found') }
    expect(find(unknown, without(all))).toEqual([])
    expect(find(unknown, without(all.slice(1))).map(({ id }) => id.split('/').at(-2))).toEqual(all.slice(1))
    expect(find(listed, without(['x-request-id'])).map(({ id }) => id.split('/').at(-2))).toEqual(['x-request-id'])
    expect(find(listed, without(['content-type'])).map(({ id }) => id.split('/').at(-1))).toEqual(['content-type'])
  })
})

describe('a request violates the contract by', () => {
  it.each(WRONGLY_ASKED)('%s', (_, made, expected) => {
    const findings = find(made)
    expectFindings(findings, expected)
    const answered = made.status === undefined ? 'accepted' : 'refused'
    for (const { message } of findings) expect(message).toContain(`The service ${answered} it with`)
  })
})

const WITHOUT_NP = { domain: 'b.example', p: '', pct: 100, testing: 'n', dmarc: 1, dkim: 0.25, spf: 0.5, count: 7 }

describe('nothing is wrong with', () => {
  it.each<[title: string, made: Made]>([
    ['another status of a success', { ...ADD, status: 202, body: added }],
    ['another status of a refusal', { ...ADD, status: 409, body: failure('invalid_domain') }],
    [
      'a code that only an alternative gives to the operation, with a status of another alternative',
      { path: '/domains?page=2', status: 422, body: failure('unknown_field') },
    ],
    [
      'a message in the data of PATCH',
      {
        method: 'PATCH',
        path: '/domaingroups?id=4fTq81Zb',
        sent: { name: 'Shop' },
        body: success({ message: 'Done.', group: GROUP }),
      },
    ],
    ['a small reset', { path: '/domains', headers: { 'X-RateLimit-Reset': '1800' }, body: success({ domains: [] }) }],
    [
      'records of several alternatives',
      { path: '/dmarc', body: success([WITHOUT_NP, { ...RECORD, ...FIGURES, np: null, dmarc: 100 }]) },
    ],
    [
      'ids of several alternatives',
      { path: '/domaingroups', body: success({ groups: [GROUP, { ...GROUP, id: '0a1b2c' }], count: 2 }) },
    ],
    [
      'a charset',
      {
        path: '/domains',
        headers: { 'Content-Type': 'application/json; charset=utf-8' },
        body: success({ domains: [] }),
      },
    ],
    [
      'a request id in hexadecimal digits',
      { path: '/domains', headers: { 'X-Request-Id': '0'.repeat(32) }, body: success({ domains: [] }) },
    ],
    [
      'a request id of the client',
      {
        path: '/domains',
        fields: { 'X-Request-Id': 'mine' },
        headers: { 'X-Request-Id': 'mine' },
        body: success({ domains: [] }),
      },
    ],
    [
      'names that are hostnames under several alternatives',
      { path: '/domains', body: success({ domains: ['*._x', '192.0.2.1', 'MÜNCHEN.'] }) },
    ],
    ['a header that is too large', { path: '/domains', status: 431, body: failure('request_too_large') }],
    ['a request that did not arrive in time', { ...ADD, status: 408, body: failure('invalid_request_body') }],
    ['a wrong method with another code', { method: 'HEAD', path: '/domains', status: 405 }],
    [
      'a preflight request',
      {
        method: 'OPTIONS',
        path: '/domains',
        fields: { Origin: 'http://a.example', 'Access-Control-Request-Method': 'GET' },
        status: 204,
      },
    ],
    ['a path in another case', { path: '/Domains/', body: success({ domains: [] }) }],
    [
      'another type, null and a blank name',
      { ...CREATE, sent: { name: ' ', domains: null }, fields: { 'Content-Type': 'text/plain' }, ...REFUSED },
    ],
    ['an empty list of domains', { ...ADD, sent: { domains: [] }, status: 400, body: failure('missing_field') }],
    ['an unknown parameter', { path: '/domains?page=2', body: success({ domains: [] }) }],
    ['an empty id', { method: 'DELETE', path: '/domaingroups?id=', status: 404, body: failure('not_found') }],
    ['a byte order mark', { ...CREATE, sent: '\ufeff{"name":"Shop"}', status: 400, body: failure('invalid_json') }],
  ])('%s', (_, made) => {
    expect(find(made)).toEqual([])
  })

  it('what the recording does not have', () => {
    const unknown = { isKnown: false as const, reason: 'It was left out.' }
    expect(
      find({ ...ADD, sent: undefined, status: 201 }, (exchange) => ({
        ...exchange,
        request: { ...exchange.request, body: unknown },
        response: { status: 201, headers: headersOf([]), body: unknown },
      })),
    ).toEqual([])
  })
})

describe('a finding', () => {
  it('counts the places of one mistake, and has the same id wherever it is', () => {
    const [finding, ...others] = find({
      path: '/domains',
      body: success({ domains: ['a b', 'c.example', 'd e', 'f g'] }),
    })
    expect(others).toEqual([])
    expect(finding).toMatchObject({ method: 'GET', path: '/domains', status: 200 })
    expect(finding?.message).toContain('The same is wrong at 2 more of its places.')
  })

  it('shows no key that a service repeats', () => {
    const key = `key_${'A'.repeat(8)}.${'b'.repeat(48)}`
    const findings = find({ path: `/nowhere?key=${key}`, status: 404, body: failure('not_found') })
    expect(findings.length).toBe(1)
    expect(JSON.stringify(findings)).not.toContain('bbbb')
    expect(JSON.stringify(find({ path: '/domains', body: success({ domains: [key] }) }))).not.toContain('bbbb')
  })
})

describe('what is permitted', () => {
  it('includes every code and status of random combinations of alternatives', async () => {
    const { choices } = await readPermitted()
    for (let seed = 0; seed < 10; seed++) {
      const chosen = choices.alternatives.filter(({ id, number }, index, all) => {
        const pick = (id.length * 7 + seed * 13 + index) % 3
        const siblings = all.filter((each) => each.id === id).length
        return pick !== 0 && number === (seed % siblings) + 1
      })
      const contract = await choices.compile(chosen)
      for (const operation of contract.operations) {
        expect(permitted.successStatuses(operation)).toContain(operation.success.status)
        for (const { status, codes } of operation.responses.values()) {
          for (const code of codes) {
            expect(permitted.codesOf(operation), operation.id).toContain(code)
            expect(permitted.statusesOf(code), code).toContain(status)
          }
        }
      }
    }
  })
})
