import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { type Widest, widestOf } from '../../src/contract/widest.ts'
import { type Exchange, KnownBody, type SeenBody } from '../../src/exchanges/exchange.ts'
import { createReader, type ReadExchange } from '../../src/exchanges/reading.ts'
import { valueAt } from '../../src/ground/json.ts'
import { checkContract, judgeSingle } from '../../src/judge/contract-check.ts'
import { isFailure, type JudgedDifference, partyOf } from '../../src/judge/finding.ts'
import { describeRemark } from '../../src/judge/findings.ts'
import { AskedRequest } from '../../src/judge/request.ts'
import { exchangeOf, failure, type Made, readingOf, success } from '../exchanges/made-exchange.ts'
import { play, Twins } from '../independent-service/playing.ts'
import { randomProfile } from '../independent-service/profile.ts'
import { thoroughSession } from '../independent-service/sessions.ts'
import { headersOf } from '../support/exchanges.ts'
import { widest } from '../support/widest.ts'

function find(made: Made, change?: (exchange: Exchange) => Exchange): JudgedDifference[] {
  return problemsIn(readingOf(made, change), widest)
}

function problemsIn(reading: ReadExchange, document: Widest): JudgedDifference[] {
  const found = new Map<string, JudgedDifference>()
  checkContract(reading, new AskedRequest(reading), document, (remark) => {
    const finding = describeRemark(remark, reading, document.contract)
    if (!found.has(finding.id)) found.set(finding.id, finding)
  })
  return [...found.values()]
}

const added = success({ message: 'Added.', domains: ['a.example'], count: 1 })
const ADD = { method: 'POST', path: '/domains', sent: { domains: ['a.example'] } }
const CREATE = { method: 'POST', path: '/domaingroups' }
const REFUSED = { status: 400, body: failure('invalid_request_body') }
const list = (more: Partial<Made> = {}): Made => ({ path: '/domains', body: success({ domains: [] }), ...more })
const listWith = (data: unknown) => list({ body: success(data) })
const refuseList = (status: number, code: string) => list({ status, body: failure(code) })
/** The ends of the ids, and the places: from the beginning of the document, or from /components. */
type Expected = Readonly<Record<string, string>>
type Rows = readonly (readonly [title: string, made: Partial<Made>, expected: Expected])[]

const CONTENT = 'responses/DomainsListed/content'
const PAGE = { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>' }
const withHeaders = (headers: Record<string, string>) => list({ headers })

/** Of responses to GET /domains; the ids go on from the status. */
const WRONG_LISTS: Rows = [
  ['a wrong type', listWith({ domains: ['a.example', 5] }), { 'data/domains/*/type': 'schemas/Domain/type' }],
  ['an error in a success', refuseList(200, 'rate_limited'), { 'code/rate_limited': '/x-errors/rate_limited' }],
  [
    'a code that the operation does not have',
    refuseList(409, 'duplicate_name'),
    { 'code/duplicate_name': '/paths/~1domains/get/responses' },
  ],
  [
    'a refusal that calls itself a success, with a number as its code',
    list({ status: 400, body: { success: true, error: { code: 400 } } }),
    {
      'success/const': 'schemas/Failure/properties/success/const',
      'error/code/enum': 'schemas/ErrorCode/enum',
      'error/code/type': 'schemas/ErrorCode/type',
      'error/message/required': 'schemas/Error/required',
    },
  ],
  ['half of a body', list({ body: '{"success":true,' }), { body: CONTENT }],
  ['another type', withHeaders({ 'Content-Type': 'text/plain' }), { 'headers/content-type': CONTENT }],
  [
    'a page',
    list({ ...PAGE, status: 404 }),
    { status: '/paths/~1domains/get/responses', body: 'schemas/Failure', 'headers/content-type': CONTENT },
  ],
  ['no body', list({ body: undefined }), { body: CONTENT }],
  ['a body after HEAD', list({ method: 'HEAD' }), { body: '/paths/~1domains/get' }],
  [
    'a header of the quota that is no number',
    withHeaders({ 'X-RateLimit-Limit': 'many' }),
    { 'headers/x-ratelimit-limit/type': 'headers/X-RateLimit-Limit/schema/type' },
  ],
  [
    'more left than the limit',
    withHeaders({ 'X-RateLimit-Remaining': '101' }),
    { 'headers/x-ratelimit-remaining/maximum': 'headers/X-RateLimit-Remaining/schema' },
  ],
]

const WRONG: Rows = [
  [
    'an undocumented status of a success',
    { ...ADD, status: 400, body: added },
    { 'addDomains/400/response/status': '/paths/~1domains/post/responses' },
  ],
  [
    'an operation that the document does not have',
    list({ method: 'PUT' }),
    { 'domains/200/request/method': '/paths/~1domains', 'domains/200/response/status': '/paths/~1domains' },
  ],
]

function expectFindings(findings: readonly JudgedDifference[], expected: Expected, prefix = ''): void {
  const found = findings.map(({ id, pointer = '' }) => [
    id.replace(`contract-violation/${prefix}`, ''),
    pointer.replace('/components/', ''),
  ])
  expect(found.toSorted()).toEqual(Object.entries(expected).toSorted())
  for (const { label, pointer = '', message, request_id } of findings) {
    expect(label).toBe('contract violation')
    expect(valueAt(widest.contract.document.source, pointer), pointer).toBeDefined()
    expect(message).toMatch(/^The (request|response) .*\.$/)
    expect(request_id).toBe('one')
  }
}

describe('the specification leaves open, so that nobody has done anything wrong,', () => {
  it.each<[title: string, made: Made, id: string, pointer: string]>([
    [
      'the status of an error code',
      { ...ADD, status: 404, body: failure('invalid_domain') },
      'addDomains/404/response/code/invalid_domain',
      '/x-errors/invalid_domain',
    ],
    [
      'the form of the id of a group',
      { path: '/domaingroups', body: success({ groups: [{ id: '12345', name: 'Shop', domains: [] }], count: 1 }) },
      'listDomainGroups/200/response/data/groups/*/id/minLength',
      '/components/schemas/DomainGroupId/minLength',
    ],
    [
      'another status of a success',
      { ...ADD, status: 206, body: success({ message: 'Done.', domains: ['b.example'], count: 1 }) },
      'addDomains/206/response/status',
      '/paths/~1domains/post/responses',
    ],
  ])('%s', (_, made, id, pointer) => {
    const found = find(made)
      .filter((each) => !each.id.includes('/request/'))
      .map((each) => [each.id, each.label, each.pointer])
    expect(found).toContainEqual([`another-choice/${id}`, 'another choice', pointer])
    expect(new Set(found.map(([, label]) => label))).toEqual(new Set(['another choice']))
  })
})

describe('a failure', () => {
  it('of the service is found, whatever it answers with, and so is one with the code of the stand-in', () => {
    for (const made of [
      { status: 500, body: 'Oops' },
      { status: 500 },
      { status: 503, body: failure('internal_error') },
      { status: 400, body: failure('internal_error') },
      { status: 502, body: failure('server_error') },
    ]) {
      expect(find(list(made)).map(({ id, label }) => [id, label])).toEqual([
        [`unexplained/listDomains/${made.status}/failed`, 'unexplained'],
      ])
    }
  })

  it('of a gateway is not that of the service', () => {
    expect(find(list(PAGE)).map(({ id, label }) => [id, label])).toEqual([
      ['cannot-tell/listDomains/502/gateway', 'cannot tell'],
    ])
  })

  it.each([
    [500, 'unexplained/addDomains/500/failed', 'The service failed with 500.'],
    [502, 'cannot-tell/addDomains/502/gateway', 'A gateway answered with 502 in place of the service.'],
  ])('with %d does not hide what is wrong with the request', (status, id, outcome) => {
    const [failed, ...asked] = find({ ...ADD, sent: { domains: 5, nope: 1 }, status, body: '<html>' })
    expect(failed?.id).toBe(id)
    expect(asked.map((finding) => [finding.id, partyOf(finding)])).toEqual([
      [`contract-violation/addDomains/${status}/request/body/nope/additionalProperties`, 'client'],
      [`contract-violation/addDomains/${status}/request/body/domains/type`, 'client'],
    ])
    for (const { message } of asked) expect(message).toContain(outcome)
  })

  it.each<[what: string, made: Partial<Made>, body?: SeenBody]>([
    ['has one of the error codes, which can have any status', { status: 503, body: failure('rate_limited') }],
    ['is to HEAD, so that its code is not shown', { status: 500, method: 'HEAD' }],
    ['has a body that was not recorded', { status: 500 }, { isKnown: false, reason: 'It is not there.' }],
  ])('is none if the response %s', (_, made, body) => {
    const found = find(list({ body: undefined, ...made }), ({ response, ...exchange }) => ({
      ...exchange,
      response: response && { ...response, body: body ?? response.body },
    }))
    expect(found.filter(({ label }) => label !== 'another choice')).toEqual([])
  })
})

describe('a response violates the contract by', () => {
  it.each(WRONG_LISTS)('%s', (_, made, expected) => {
    expectFindings(find(list(made)), expected, `listDomains/${made.status ?? 200}/response/`)
  })

  it.each(WRONG)('%s', (_, made, expected) => {
    expectFindings(find(list(made)), expected)
  })

  it('no header of the quota where every alternative has them, and by one alone where none needs them', () => {
    const without = (names: readonly string[]) => (exchange: Exchange) => {
      const { response } = exchange
      const kept = Object.entries(response?.headers ?? {}).filter(([name]) => !names.includes(name))
      return { ...exchange, response: response && { ...response, headers: headersOf(kept) } }
    }
    const all = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    const unknown = { path: '/domaingroups?id=x', status: 404, body: failure('not_found') }
    const missed = (made: Made, names: readonly string[]) =>
      find(made, without(names)).map(({ id }) => id.split('/headers/')[1]?.split('/')[0])
    expect(missed(list(), all)).toEqual(all)
    expect(missed(unknown, all)).toEqual([])
    expect(missed(unknown, all.slice(1))).toEqual(all.slice(1))
    expect(missed(list(), ['x-request-id'])).toEqual(['x-request-id'])
    expect(missed(list(), ['content-type'])).toEqual(['content-type'])
  })
})

const PREFLIGHT = { Origin: 'http://a.example', 'Access-Control-Request-Method': 'GET' }

describe('nothing is wrong with', () => {
  it.each<[title: string, made: Made]>([
    [
      'a code that only an alternative gives to the operation, with a status of another alternative',
      { ...refuseList(422, 'unknown_field'), path: '/domains?page=2' },
    ],
    ['names that are hostnames under several alternatives', listWith({ domains: ['*._x', '192.0.2.1', 'MÜNCHEN.'] })],
    ['a wrong method with another code', { method: 'HEAD', path: '/domains', status: 405 }],
    ['a preflight request', { method: 'OPTIONS', path: '/domains', fields: PREFLIGHT, status: 204 }],
    [
      'another type, null and a blank name',
      { ...CREATE, sent: { name: ' ', domains: null }, fields: { 'Content-Type': 'text/plain' }, ...REFUSED },
    ],
  ])('%s', (_, made) => {
    expect(find(made)).toEqual([])
  })

  it('what the recording does not have', () => {
    const unknown = { isKnown: false as const, reason: 'It was left out.' }
    const withoutBody = ({ response, ...exchange }: Exchange) => ({
      ...exchange,
      response: response && { ...response, body: unknown },
    })
    expect(find({ path: '/domains/', status: 404 }, withoutBody)).toEqual([])
    expect(find({ path: '/domains', status: 404 }, withoutBody)).toHaveLength(1)
  })
})

const DOMAIN_GROUP = { id: '4fTq81Zb', name: 'Shop', domains: [] }
const PATCH = { method: 'PATCH', path: '/domaingroups?id=4fTq81Zb', sent: { name: 'Shop' } }
const whole = (made: Made, change?: (exchange: Exchange) => Exchange) =>
  judgeSingle(readingOf(made, change), widest).map(({ id }) => id)

describe('the content of an answer to PATCH is another choice, whatever it is,', () => {
  it.each<[title: string, body: unknown, status: number, found: string[]]>([
    [
      'the group',
      DOMAIN_GROUP,
      200,
      ['data/id/additionalProperties', 'data/name/additionalProperties', 'data/domains/additionalProperties'],
    ],
    [
      'a group with more fields',
      { group: { ...DOMAIN_GROUP, updated_at: 1 } },
      200,
      ['data/group/updated_at/additionalProperties'],
    ],
    ['a text', 'Done.', 200, ['data/type']],
    ['nothing', undefined, 204, ['status']],
    ['nothing with our status', undefined, 200, []],
  ])('%s', (_, data, status, found) => {
    const body = data === undefined ? undefined : success(data)
    const expected = found.map((what) => `another-choice/updateDomainGroup/${status}/response/${what}`)
    expect(whole({ ...PATCH, status, body }).toSorted()).toEqual(expected.toSorted())
  })

  it('but its envelope is not', () => {
    expect(whole({ ...PATCH, body: { ...success({}), meta: {} } })).toEqual([
      'contract-violation/updateDomainGroup/200/response/meta/additionalProperties',
    ])
  })
})

describe('HTTP itself explains', () => {
  it.each<[title: string, made: Partial<Made>]>([
    [
      '415 for another type',
      { ...ADD, fields: { 'Content-Type': 'text/plain' }, status: 415, body: failure('invalid_request_body') },
    ],
    ['413 and 414', { ...ADD, status: 414, body: failure('request_too_large') }],
    ['a coding that the service reads', { ...ADD, fields: { 'Content-Encoding': 'gzip' }, body: added }],
    ['304 for what has not changed', { fields: { 'If-None-Match': '"a"' }, status: 304, body: undefined }],
    [
      'parameters of the Content-Type',
      { headers: { 'Content-Type': 'application/json; charset=ISO-8859-1; profile=x' } },
    ],
    ['any other header field', { headers: { 'Access-Control-Allow-Origin': '*', Vary: 'Origin' } }],
  ])('%s', (_, made) => {
    expect(whole(list(made)).filter((id) => !id.includes('/request/'))).toEqual([])
  })
})

describe('of a request that every service has to refuse,', () => {
  const keyless = (exchange: Exchange): Exchange => ({
    ...exchange,
    request: { ...exchange.request, credentials: { kind: 'none' } },
  })
  it.each<[title: string, made: Made, found: string[]]>([
    [
      'a list of numbers',
      { ...ADD, sent: { domains: [1] }, body: added },
      ['request/body/domains/*/type', 'response/accepted/body/domains/*/type'],
    ],
    [
      'no id',
      { method: 'DELETE', path: '/domaingroups', body: success({ message: 'Done.' }) },
      ['request/query/id/required', 'response/accepted/query/id/required'],
    ],
    [
      'a removal of what is no hostname',
      { method: 'DELETE', path: '/domains', sent: { domains: ['a b'] }, body: added },
      ['request/body/domains/*/format'],
    ],
    [
      'an empty list',
      { ...ADD, sent: { domains: [] }, body: success({ message: 'Done.', domains: [], count: 0 }) },
      [],
    ],
    [
      'a name of a hundred letters with accents',
      { ...CREATE, sent: { name: 'e\u0301'.repeat(100) }, body: success({ group: DOMAIN_GROUP }) },
      [],
    ],
    ['a mark before the body', { ...ADD, sent: '\ufeff{"domains":["a.example"]}', body: added }, []],
    ['a name that is null', { ...PATCH, sent: { name: null, domains: [] }, body: success({}) }, []],
  ])('the acceptance is found, but not where another service may accept it: %s', (_, made, found) => {
    expect(whole(made).map((id) => id.split('/200/')[1])).toEqual(found)
  })

  it.each<[title: string, made: Made, isBroken: boolean]>([
    ['answered', list(), true],
    ['refused for a reason that is not there', refuseList(404, 'not_found'), true],
    ['refused as without a key', refuseList(401, 'unauthorized'), false],
    [
      'refused because of its body, which may be read before the key',
      { ...ADD, sent: '{', status: 400, body: failure('invalid_json') },
      false,
    ],
    ['refused because of a parameter', { ...refuseList(400, 'unknown_field'), path: '/domains?page=2' }, false],
  ])('a missing key breaks the rule only if the request is answered: %s', (_, made, isBroken) => {
    const ids = whole(made, keyless)
    expect(ids.some((id) => id.startsWith('broken-rule/') && id.endsWith('/key-required'))).toBe(isBroken)
    expect(ids.some((id) => id.endsWith('/request/headers/authorization'))).toBe(true)
  })
})

describe('at a path that is none,', () => {
  const at = (status: number, body: unknown, headers = {}) => whole({ path: '/nothing', status, body, headers })
  const asked = 'contract-violation/unknown-path/404/request/path'
  it.each<[title: string, body: unknown, found: string[]]>([
    ['an envelope is right', failure('not_found'), []],
    ['a page may be that of another program', '<html>', []],
    ['an unknown code is none', failure('teapot'), ['error/code/enum']],
    ['so is another envelope', { error: 'No.' }, ['success/required', 'error/type']],
  ])('%s', (_, body, found) => {
    const expected = found.map((what) => `contract-violation/unknown-path/404/response/${what}`)
    expect(at(404, body).toSorted()).toEqual([asked, ...expected].toSorted())
  })
})

describe('a header field', () => {
  it.each<[title: string, headers: Record<string, string>, id: string, text: string]>([
    [
      'that came twice is told as it came',
      { 'X-RateLimit-Limit': '30, 30' },
      'contract-violation/listDomains/200/response/headers/x-ratelimit-limit/type',
      '"30, 30"',
    ],
    [
      'with an id of another form is another choice',
      { 'X-Request-Id': 'req_1' },
      'another-choice/listDomains/200/headers/x-request-id',
      '"req_1"',
    ],
    [
      'with two ids is wrong',
      { 'X-Request-Id': 'a, b' },
      'contract-violation/listDomains/200/response/headers/x-request-id/format',
      '"a, b"',
    ],
  ])('%s', (_, headers, id, text) => {
    const [found, ...others] = find(withHeaders(headers))
    expect([found?.id, others]).toEqual([id, []])
    expect(found?.message).toContain(text)
  })

  it('with the id of the request is right', () => {
    expect(find(list({ fields: { 'X-Request-Id': 'mine' }, headers: { 'X-Request-Id': 'mine' } }))).toEqual([])
  })
})

it('Another choice comes with what an overlay would have to say', async () => {
  const [code] = find({ ...ADD, status: 404, body: failure('invalid_domain') })
  const [status] = find({ ...ADD, status: 203, body: added })
  const overlays = [code, status].map((each, index) => ({ name: `${index}`, actions: JSON.parse(each?.overlay ?? '') }))
  const own = widestOf(await loadContract({ overlays }))
  const read = createReader(own.contract)
  const judge = (made: Made) => {
    return problemsIn(read(exchangeOf(made)), own)
  }
  expect(judge({ ...ADD, status: 404, body: failure('invalid_domain') })).toEqual([])
  expect(judge({ ...ADD, status: 203, body: added })).toEqual([])
})

describe('a body of whatever kind never throws, and is found:', () => {
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const bodies: readonly [title: string, text: string][] = [
    ['__proto__', '{"success":true,"data":{"__proto__":{"domains":[]}},"__proto__":{"a":1}}'],
    ['fields of Object', '{"success":true,"data":{"constructor":1,"toString":2,"hasOwnProperty":3}}'],
    ['deep arrays', `{"success":true,"data":{"domains":${deep(50_000)}}}`],
    ['deep items', `{"success":true,"data":{"domains":[${deep(90)},${deep(90)}]}}`],
    ['a million items', `{"success":true,"data":{"domains":[${'1,'.repeat(1_000_000)}1]}}`],
    [
      'many fields',
      `{"success":true,"data":{${Array.from({ length: 50_000 }, (_, index) => `"f${index}":1`).join()}}}`,
    ],
    ['numbers beyond numbers', '{"success":true,"data":{"domains":[1e999,-0,1e-999]}}'],
    ['NaN', '{"success":true,"data":{"domains":[NaN]}}'],
    ['fields twice', '{"success":true,"success":false,"data":{"domains":[1]},"data":{"domains":2}}'],
    ['null', 'null'],
    ['a text', '"{}"'],
    ['bytes that are no text', '\u0000\ufffd'],
    ['an error of arrays', '{"success":false,"error":[[["code"]]]}'],
    ['a code of another kind', '{"success":false,"error":{"code":"__proto__","message":"No."}}'],
  ]

  it.each(bodies)('%s', (_, text) => {
    const found = judgeSingle(readingOf(list({ body: text })), widest)
    expect(found.filter(isFailure).length).toBeGreaterThan(0)
    expect(JSON.stringify(found).length).toBeLessThan(200_000)
    const asked = judgeSingle(readingOf({ ...ADD, sent: text, ...REFUSED }), widest)
    expect(asked.map(partyOf)).toContain('client')
  })
})

describe('a service that keeps the specification in its own way is not accused', () => {
  it.each(Array.from({ length: 24 }, (_, seed) => seed))('of anything in a single exchange: %d', (seed) => {
    const read = createReader(widest.contract)
    for (const exchange of play(thoroughSession, new Twins(randomProfile(seed)))) {
      const found = judgeSingle(read(exchange), widest)
      const accused = found.filter((finding) => isFailure(finding) && partyOf(finding) === 'service')
      expect(accused).toEqual([])
    }
  })
})

it('a body that is not UTF-8, and names no other charset, is no JSON', () => {
  const body = new KnownBody(Buffer.from('{"name":"\xfc"}', 'latin1'))
  const sent = find({ ...CREATE, sent: {} }, (exchange) => ({ ...exchange, request: { ...exchange.request, body } }))
  expect(sent.map(({ id }) => id)).toContain('contract-violation/createDomainGroup/200/request/body/invalid_json')
})

describe('a finding', () => {
  it('tells one mistake at several places once, with the same id wherever it is', () => {
    const [finding, ...others] = find(listWith({ domains: ['a b', 'c.example', 'd e', 'f g'] }))
    expect(others).toEqual([])
    expect(finding).toMatchObject({ method: 'GET', path: '/domains', status: 200 })
    expect(finding?.message).toContain('`/data/domains/0`')
  })
})
