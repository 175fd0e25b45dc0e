import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { type Widest, widestOf } from '../../src/contract/widest.ts'
import { type Exchange, KnownBody, type SeenBody } from '../../src/exchanges/exchange.ts'
import { createReader, type ReadExchange } from '../../src/exchanges/reading.ts'
import { valueAt } from '../../src/ground/json.ts'
import { checkContract, judgeSingle } from '../../src/judge/contract-check.ts'
import { isFailure, type JudgedDifference, partyOf } from '../../src/judge/finding.ts'
import { collectFindings } from '../../src/judge/findings.ts'
import { AskedRequest } from '../../src/judge/request.ts'
import { exchangeOf, failure, type Made, readingOf, success } from '../exchanges/made-exchange.ts'
import { play, Twins } from '../independent-service/playing.ts'
import { randomProfile } from '../independent-service/profile.ts'
import { thoroughSession } from '../independent-service/sessions.ts'
import { headersOf } from '../support/exchanges.ts'
import { widest } from '../support/widest.ts'

type Change = (exchange: Exchange) => Exchange

function find(made: Made, change?: Change): JudgedDifference[] {
  return problemsIn(readingOf(made, change), widest)
}

function problemsIn(reading: ReadExchange, document: Widest): JudgedDifference[] {
  const { findings, report } = collectFindings(reading, document.contract)
  checkContract(reading, new AskedRequest(reading), document, report)
  return findings
}

/** Without the beginning of the ids, which is the same for all violations. */
const idsOf = (findings: readonly JudgedDifference[]) => findings.map(({ id }) => id.replace('contract-violation/', ''))
const whole = (made: Made, change?: Change) => idsOf(judgeSingle(readingOf(made, change), widest))

const added = success({ message: 'Added.', domains: ['a.example'], count: 1 })
const ADD = { method: 'POST', path: '/domains', sent: { domains: ['a.example'] } }
const CREATE = { method: 'POST', path: '/domaingroups' }
const REFUSED = { status: 400, body: failure('invalid_request_body') }
const SHOP = { id: '4fTq81Zb', name: 'Shop', domains: [] }
const PATCH = { method: 'PATCH', path: '/domaingroups?id=4fTq81Zb', sent: { name: 'Shop' } }
const TEXT = { 'Content-Type': 'text/plain' }
const PAGE = { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<html>' }
const list = (more: Partial<Made> = {}): Made => ({ path: '/domains', body: success({ domains: [] }), ...more })
const listWith = (data: unknown) => list({ body: success(data) })
const refuseList = (status: number, code: string) => list({ status, body: failure(code) })
const withHeaders = (headers: Record<string, string>) => list({ headers })
const unknown: SeenBody = { isKnown: false, reason: 'It was left out.' }
const withBody =
  (body: SeenBody): Change =>
  ({ response, ...exchange }) => ({ ...exchange, response: response && { ...response, body } })

const only =
  (headers: Record<string, string>): Change =>
  ({ response, ...exchange }) => ({ ...exchange, response: response && { ...response, headers } })

describe('a violation of the contract', () => {
  const CONTENT = 'responses/DomainsListed/content'
  const TYPE = `listDomains/200/response/headers/content-type ${CONTENT}`
  /** The ends of the ids, and the places: from the beginning of the document, or from /components. */
  it.each<[title: string, made: Made, expected: string[]]>([
    ['of a type', listWith({ domains: [5] }), ['listDomains/200/response/data/domains/*/type schemas/Domain/type']],
    [
      'by an error in a success',
      refuseList(200, 'rate_limited'),
      ['listDomains/200/response/code/rate_limited /x-errors/rate_limited'],
    ],
    [
      'by a code that the operation does not have',
      refuseList(409, 'duplicate_name'),
      ['listDomains/409/response/code/duplicate_name /paths/~1domains/get/responses'],
    ],
    [
      'by a refusal that calls itself a success, with a number as its code',
      list({ status: 400, body: { success: true, error: { code: 400 } } }),
      [
        'listDomains/400/response/error/code/enum schemas/ErrorCode/enum',
        'listDomains/400/response/error/code/type schemas/ErrorCode/type',
        'listDomains/400/response/error/message/required schemas/Error/required',
        'listDomains/400/response/success/const schemas/Failure/properties/success/const',
      ],
    ],
    ['by half of a body', list({ body: '{"success":true,' }), [`listDomains/200/response/body ${CONTENT}`]],
    ['by no body', list({ body: undefined }), [`listDomains/200/response/body ${CONTENT}`]],
    ['by a body after HEAD', list({ method: 'HEAD' }), ['listDomains/200/response/body /paths/~1domains/get']],
    ['by another type', withHeaders(TEXT), [TYPE]],
    [
      'by a page',
      list({ ...PAGE, status: 404 }),
      [
        'listDomains/404/response/body schemas/Failure',
        TYPE.replace('200', '404'),
        'listDomains/404/response/status /paths/~1domains/get/responses',
      ],
    ],
    [
      'by a header of the quota that is no number',
      withHeaders({ 'X-RateLimit-Limit': 'many' }),
      ['listDomains/200/response/headers/x-ratelimit-limit/type headers/X-RateLimit-Limit/schema/type'],
    ],
    [
      'by more left than the limit',
      withHeaders({ 'X-RateLimit-Remaining': '101' }),
      ['listDomains/200/response/headers/x-ratelimit-remaining/maximum headers/X-RateLimit-Remaining/schema'],
    ],
    [
      'by an undocumented status of a success',
      { ...ADD, status: 400, body: added },
      ['addDomains/400/response/status /paths/~1domains/post/responses'],
    ],
    [
      'by an operation that the document does not have',
      list({ method: 'PUT' }),
      ['domains/200/request/method /paths/~1domains', 'domains/200/response/status /paths/~1domains'],
    ],
  ])('%s is found with its place', (_, made, expected) => {
    const findings = find(made)
    expect(
      findings
        .map(({ id, pointer = '' }) => `${idsOf([{ id } as never])} ${pointer.replace('/components/', '')}`)
        .toSorted(),
    ).toEqual(expected)
    for (const { label, pointer = '', message, request_id } of findings) {
      expect([label, request_id]).toEqual(['contract violation', 'one'])
      expect(valueAt(widest.contract.document.source, pointer), pointer).toBeDefined()
      expect(message).toMatch(/^The (request|response) .*\.$/)
    }
  })

  it('is a missing header of the quota where every alternative has them, and one alone where none needs them', () => {
    const without =
      (names: readonly string[]): Change =>
      (exchange) => {
        const kept = Object.entries(exchange.response?.headers ?? {}).filter(([name]) => !names.includes(name))
        return { ...exchange, response: exchange.response && { ...exchange.response, headers: headersOf(kept) } }
      }
    const missed = (made: Made, names: readonly string[]) =>
      find(made, without(names)).map(({ id }) => id.split('/headers/')[1]?.split('/')[0])
    const all = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    const none = { path: '/domaingroups?id=x', status: 404, body: failure('not_found') }
    expect(missed(list(), all)).toEqual(all)
    expect(missed(none, all)).toEqual([])
    expect(missed(none, all.slice(1))).toEqual(all.slice(1))
    expect(missed(list(), ['x-request-id'])).toEqual(['x-request-id'])
    expect(missed(list(), ['content-type'])).toEqual(['content-type'])
  })

  it('at several places is told once, with the same id wherever it is', () => {
    const [finding, ...others] = find(listWith({ domains: ['a b', 'c.example', 'd e'] }))
    expect(others).toEqual([])
    expect(finding).toMatchObject({ method: 'GET', path: '/domains', status: 200 })
    expect(finding?.message).toContain('`/data/domains/0`')
  })
})

it.each([
  { 'Content-Type': 'text/json' },
  { 'Content-Type': 'application/vnd.api+json' },
  { Date: 'Mon, 30 Nov 2026 09:00:00 GMT' },
])(
  'A response of JSON may have the header fields %j, because the specification names a type for requests only',
  (headers) => {
    const found = find(list(), only(headers)).filter(({ id }) => id.includes('content-type'))
    expect(found.map(({ label }) => label)).toEqual(['another choice'])
  },
)

describe('another choice, which nobody has done wrong, is', () => {
  const group = { ...SHOP, id: '12345' }
  it.each<[title: string, made: Made, id: string, pointer: string]>([
    [
      'the status of an error code',
      { ...ADD, status: 404, body: failure('invalid_domain') },
      'addDomains/404/response/code/invalid_domain',
      '/x-errors/invalid_domain',
    ],
    [
      'the form of the id of a group',
      { path: '/domaingroups', body: success({ groups: [group], count: 1 }) },
      'listDomainGroups/200/response/data/groups/*/id/minLength',
      '/components/schemas/DomainGroupId/minLength',
    ],
    [
      'another status of a success',
      { ...ADD, status: 206, body: added },
      'addDomains/206/response/status',
      '/paths/~1domains/post/responses',
    ],
  ])('%s', (_, made, id, pointer) => {
    const found = find(made).map((each) => [each.id, each.label, each.pointer])
    expect(found).toContainEqual([`another-choice/${id}`, 'another choice', pointer])
    expect(new Set(found.map(([, label]) => label))).toEqual(new Set(['another choice']))
  })

  it.each<[title: string, body: unknown, status: number, found: string[]]>([
    ['a group', SHOP, 200, ['domains', 'id', 'name'].map((name) => `data/${name}/additionalProperties`)],
    ['more fields', { group: { ...SHOP, at: 1 } }, 200, ['data/group/at/additionalProperties']],
    ['a text', 'Done.', 200, ['data/type']],
    ['nothing', undefined, 204, ['status']],
    ['nothing with our status', undefined, 200, []],
  ])('the content of an answer to PATCH: %s', (_, data, status, found) => {
    const body = data === undefined ? undefined : success(data)
    const expected = found.map((what) => `another-choice/updateDomainGroup/${status}/response/${what}`)
    expect(whole({ ...PATCH, status, body }).toSorted()).toEqual(expected)
  })

  it('not the envelope of an answer to PATCH', () => {
    const body = { ...success({}), meta: {} }
    expect(whole({ ...PATCH, body })).toEqual(['updateDomainGroup/200/response/meta/additionalProperties'])
  })

  it('told with what an overlay would have to say', async () => {
    const seen = [
      { ...ADD, status: 404, body: failure('invalid_domain') },
      { ...ADD, status: 203, body: added },
    ]
    const overlays = seen.map((made, index) => ({
      name: `${index}`,
      actions: JSON.parse(find(made)[0]?.overlay ?? ''),
    }))
    const own = widestOf(await loadContract({ overlays }))
    const read = createReader(own.contract)
    for (const made of seen) expect(problemsIn(read(exchangeOf(made)), own)).toEqual([])
  })
})

describe('a failure', () => {
  it.each([
    { status: 500, body: 'Oops' },
    { status: 500, body: undefined },
    { status: 503, body: failure('internal_error') },
    { status: 400, body: failure('internal_error') },
    { status: 502, body: failure('server_error') },
  ])('of the service is found, whatever it answers with: %o', (made) => {
    expect(idsOf(find(list(made)))).toEqual([`unexplained/listDomains/${made.status}/failed`])
  })

  it.each([
    [500, 'unexplained/addDomains/500/failed', 'The service failed with 500.'],
    [502, 'cannot-tell/addDomains/502/gateway', 'A gateway answered with 502 in place of the service.'],
  ])('with %d does not hide what is wrong with the request', (status, id, outcome) => {
    const [failed, ...asked] = find({ ...ADD, sent: { domains: 5, nope: 1 }, status, body: '<html>' })
    expect(failed?.id).toBe(id)
    expect(asked.map(partyOf)).toEqual(['client', 'client'])
    for (const { message } of asked) expect(message).toContain(outcome)
  })

  it.each<[what: string, made: Partial<Made>, change?: Change]>([
    ['has one of the error codes, which can have any status', { status: 503, body: failure('rate_limited') }],
    ['is to HEAD, so that its code is not shown', { status: 500, method: 'HEAD', body: undefined }],
    ['has a body that was not recorded', { status: 500 }, withBody(unknown)],
  ])('is none if the response %s', (_, made, change) => {
    expect(find(list(made), change).filter(({ label }) => label !== 'another choice')).toEqual([])
  })
})

describe('a page without a header field of the service', () => {
  const HTML = { 'content-type': 'text/html; charset=utf-8' }
  it.each<[what: string, made: Made, headers?: Record<string, string>]>([
    ['of a firewall', list({ status: 403, body: '<html>' })],
    ['of a login', list({ status: 200, body: '<!doctype html><form>' })],
    ['without a type', list({ status: 413, body: ' <h1>Too large</h1>' }), {}],
    ['of words', list({ status: 429, body: 'Slow down.' })],
    ['to HEAD', { path: '/domains', method: 'HEAD', status: 401 }],
    ['of a host that is not there', list({ status: 521, body: '<html>' })],
  ])('is nobody known, so that it cannot be told what the service did: %s', (_, made, headers = HTML) => {
    const [found, ...others] = find(made, only(headers)).filter((each) => partyOf(each) === 'service')
    expect([found?.id, others]).toEqual([expect.stringMatching(/^cannot-tell\/.*\/page$/), []])
  })

  it('is nothing special at a path that the service does not have', () => {
    const found = find({ path: '/docs', body: '<html>' }, only(HTML))
    expect(found.filter((each) => partyOf(each) === 'service')).toEqual([])
  })

  it.each<[what: string, made: Made, headers?: Record<string, string>]>([
    ['a header field of the service', list({ status: 403, body: '<html>' }), { ...HTML, 'x-ratelimit-limit': '30' }],
    ['JSON in it', list({ status: 403, body: { message: 'Forbidden' } })],
    ['the envelope in it', list()],
    ['nothing in it', list({ status: 403, body: undefined })],
    ['the failure of a framework', list({ status: 500, body: '<html>' })],
    ['the refusal of a framework to read a body', { method: 'POST', path: '/domains', status: 400, body: '<html>' }],
    ['the word of a framework that there is nothing', list({ status: 404, body: '<html>' })],
  ])('is an answer of the service with %s', (_, made, headers = HTML) => {
    const found = find(made, only(headers))
    expect(found.some(isFailure)).toBe(true)
    expect(found.map(({ label }) => label)).not.toContain('cannot tell')
  })
})

describe('nothing is wrong with', () => {
  const preflight = { Origin: 'http://a.example', 'Access-Control-Request-Method': 'GET' }
  it.each<[title: string, made: Made, change?: Change]>([
    [
      'a code and a status that two alternatives give',
      { ...refuseList(422, 'unknown_field'), path: '/domains?page=2' },
    ],
    ['names that are hostnames under several alternatives', listWith({ domains: ['*._x', '192.0.2.1', 'MÜNCHEN.'] })],
    ['a wrong method with another code', { method: 'HEAD', path: '/domains', status: 405 }],
    ['a preflight request', { method: 'OPTIONS', path: '/domains', fields: preflight, status: 204 }],
    [
      'another type, null and a blank name',
      { ...CREATE, sent: { name: ' ', domains: null }, fields: TEXT, ...REFUSED },
    ],
    ['what the recording does not have', { path: '/domains/', status: 404 }, withBody(unknown)],
    ['the id of the request', list({ fields: { 'X-Request-Id': 'mine' }, headers: { 'X-Request-Id': 'mine' } })],
    ['415 for another type', { ...ADD, fields: TEXT, status: 415, body: failure('invalid_request_body') }],
    ['414', { ...ADD, status: 414, body: failure('request_too_large') }],
    ['304 for what has not changed', list({ fields: { 'If-None-Match': '"a"' }, status: 304, body: undefined })],
    [
      '304 for a condition that the recording does not show',
      list({ status: 304, body: undefined }),
      (exchange) => ({ ...exchange, request: { ...exchange.request, hidden: ['if-none-match'] } }),
    ],
    ['a parameter of the type', withHeaders({ 'Content-Type': 'application/json; charset=ISO-8859-1; profile=x' })],
    ['any other header field', withHeaders({ 'Access-Control-Allow-Origin': '*', Vary: 'Origin' })],
  ])('%s', (_, made, change) => {
    expect(find(made, change)).toEqual([])
  })

  it('an answer to a coding that the service reads', () => {
    const ids = whole({ ...ADD, fields: { 'Content-Encoding': 'gzip' }, body: added })
    expect(ids).toEqual(['addDomains/200/request/body/coding'])
  })
})

describe('of a request that every service has to refuse,', () => {
  const keyless: Change = (exchange) => ({
    ...exchange,
    request: { ...exchange.request, credentials: { kind: 'none' } },
  })
  const deleted = success({ message: 'Done.' })
  const domains = (sent: unknown[]) => ({ ...ADD, sent: { domains: sent }, body: added })
  it.each<[title: string, made: Made, found: string[]]>([
    ['a list of numbers', domains([1]), ['request/body/domains/*/type', 'response/accepted/body/domains/*/type']],
    [
      'no id',
      { method: 'DELETE', path: '/domaingroups', body: deleted },
      ['request/query/id/required', 'response/accepted/query/id/required'],
    ],
    ['a removal of no hostname', { ...domains(['a b']), method: 'DELETE' }, ['request/body/domains/*/format']],
    ['an empty list', domains([]), []],
    ['a name of 100 accents', { ...CREATE, sent: { name: 'e\u0301'.repeat(100) }, body: success({ group: SHOP }) }, []],
    ['a mark before the body', { ...ADD, sent: '\ufeff{"domains":["a.example"]}', body: added }, []],
    ['a name that is null', { ...PATCH, sent: { name: null, domains: [] }, body: success({}) }, []],
  ])('the acceptance is found, but not where another service may accept it: %s', (_, made, found) => {
    expect(whole(made).map((id) => id.split('/200/')[1])).toEqual(found)
  })

  it.each<[title: string, made: Made, isBroken: boolean]>([
    ['answered', list(), true],
    ['refused for a reason that is not there', refuseList(404, 'not_found'), true],
    ['refused as without a key', refuseList(401, 'unauthorized'), false],
    ['refused because of its body', { ...ADD, sent: '{', status: 400, body: failure('invalid_json') }, false],
    ['refused because of a parameter', { ...refuseList(400, 'unknown_field'), path: '/domains?page=2' }, false],
  ])('a missing key breaks the rule only if the request is answered: %s', (_, made, isBroken) => {
    const ids = whole(made, keyless)
    expect(ids.some((id) => id.startsWith('broken-rule/') && id.endsWith('/key-required'))).toBe(isBroken)
    expect(ids.some((id) => id.endsWith('/request/headers/authorization'))).toBe(true)
  })
})

describe('at a path that is none,', () => {
  it.each<[title: string, body: unknown, found: string[]]>([
    ['an envelope is right', failure('not_found'), []],
    ['a page may be that of another program', '<html>', []],
    ['an unknown code is none', failure('teapot'), ['response/error/code/enum']],
    ['so is another envelope', { error: 'No.' }, ['response/error/type', 'response/success/required']],
  ])('%s', (_, body, found) => {
    const expected = ['request/path', ...found].map((what) => `unknown-path/404/${what}`)
    expect(whole({ path: '/nothing', status: 404, body }).toSorted()).toEqual(expected)
  })
})

describe('a header field', () => {
  it.each<[title: string, headers: Record<string, string>, id: string, text: string]>([
    [
      'that came twice is told as it came',
      { 'X-RateLimit-Limit': '30, 30' },
      'listDomains/200/response/headers/x-ratelimit-limit/type',
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
      'listDomains/200/response/headers/x-request-id/format',
      '"a, b"',
    ],
  ])('%s', (_, headers, id, text) => {
    const found = find(withHeaders(headers))
    expect(idsOf(found)).toEqual([id])
    expect(found[0]?.message).toContain(text)
  })
})

describe('a body of whatever kind never throws, and is found:', () => {
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  it.each<[title: string, text: string]>([
    ['__proto__', '{"success":true,"data":{"__proto__":{"domains":[]}},"__proto__":{"a":1}}'],
    ['fields of Object', '{"success":true,"data":{"constructor":1,"toString":2,"hasOwnProperty":3}}'],
    ['deep arrays', `{"success":true,"data":{"domains":${deep(50_000)}}}`],
    ['deep items', `{"success":true,"data":{"domains":[${deep(90)},${deep(90)}]}}`],
    ['300,000 items', `{"success":true,"data":{"domains":[${'1,'.repeat(300_000)}1]}}`],
    ['many fields', `{"success":true,"data":{${Array.from({ length: 5_000 }, (_, i) => `"f${i}":1`).join()}}}`],
    ['numbers beyond numbers', '{"success":true,"data":{"domains":[1e999,-0,1e-999]}}'],
    ['NaN', '{"success":true,"data":{"domains":[NaN]}}'],
    ['fields twice', '{"success":true,"success":false,"data":{"domains":[1]},"data":{"domains":2}}'],
    ['null', 'null'],
    ['bytes that are no text', '\u0000\ufffd'],
    ['an error of arrays', '{"success":false,"error":[[["code"]]]}'],
    ['a code of another kind', '{"success":false,"error":{"code":"__proto__","message":"No."}}'],
  ])('%s', (_, text) => {
    const found = judgeSingle(readingOf(list({ body: text })), widest)
    expect(found.filter(isFailure).length).toBeGreaterThan(0)
    expect(JSON.stringify(found).length).toBeLessThan(200_000)
    expect(judgeSingle(readingOf({ ...ADD, sent: text, ...REFUSED }), widest).map(partyOf)).toContain('client')
  })

  it('bytes that are not UTF-8, with a type that names no other charset', () => {
    const body = new KnownBody(Buffer.from('{"name":"\xfc"}', 'latin1'))
    const sent = find({ ...CREATE, sent: {} }, (exchange) => ({ ...exchange, request: { ...exchange.request, body } }))
    expect(idsOf(sent)).toContain('createDomainGroup/200/request/body/invalid_json')
  })
})

it.each([1, 2, 3])('a service that keeps the specification is not accused of one exchange: %d', (seed) => {
  const read = createReader(widest.contract)
  for (const exchange of play(thoroughSession, new Twins(randomProfile(seed)))) {
    const found = judgeSingle(read(exchange), widest)
    expect(found.filter((finding) => isFailure(finding) && partyOf(finding) === 'service')).toEqual([])
  }
})
