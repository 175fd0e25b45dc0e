import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createMalformedReply } from '../../src/http/engine/malformed.ts'
import { SILENT } from '../../src/http/log.ts'
import { ACCOUNT, pathOf, stateOf } from '../support/account.ts'
import { recordingLog } from '../support/recording-log.ts'
import { API_KEY, startService, type TestService } from '../support/service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  Connection,
  chunked,
  codeOf,
  exchange,
  expectLawful,
  type Header,
  headerOf,
  JSON_BODY,
  messageOf,
  readResponses,
  requestBytes,
  type WireRequest,
  type WireResponse,
} from '../support/wire.ts'

const DOMAINS = '/api/v1/domains'
const GROUPS = '/api/v1/domaingroups'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function post(
  service: TestService,
  target: string,
  body: string | Buffer,
  ...headers: Header[]
): Promise<WireResponse> {
  return exchange(service, { method: 'POST', target, headers: [AUTHORIZED, JSON_BODY, ...headers], body })
}

const ADDITION: WireRequest = {
  ...{ method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY] },
  body: '{"domains":["new.example"]}',
}
const IN_CHUNKS: Header[] = [AUTHORIZED, JSON_BODY, ['Transfer-Encoding', 'chunked']]
const NONE: WireResponse = { status: 0, headers: [], text: '' }

async function expectHealthy(service: TestService): Promise<void> {
  expect((await service.get('/domaingroups')).status).toBe(200)
}

describe('The method', () => {
  it.each([DOMAINS, '/api/v1/dmarc', GROUPS, `${GROUPS}?id=00000000`, '/api/v1/nothing'])(
    'HEAD answers %s as GET does, without the body',
    async (target) => {
      const get = await exchange(await startService({ fixture: ACCOUNT }), { target })
      const head = await exchange(await startService({ fixture: ACCOUNT }), { method: 'HEAD', target })
      expect(head.text).toBe('')
      expect(head.status).toBe(get.status)
      expect(withoutDate(head)).toEqual(withoutDate(get))
      expect(Number(headerOf(head, 'Content-Length'))).toBe(Buffer.byteLength(get.text))
    },
  )

  it('HEAD asks for a key', async () => {
    const service = await startService()
    const response = await exchange(service, { method: 'HEAD', target: DOMAINS, headers: [] })
    expect(response.status).toBe(401)
  })

  it('HEAD is charged to the quota', async () => {
    const service = await startService()
    for (let request = 0; request < 10; request++) await exchange(service, { method: 'HEAD', target: '/api/v1/dmarc' })
    expect((await exchange(service, { method: 'HEAD', target: '/api/v1/dmarc' })).status).toBe(429)
  })

  it.each(['OPTIONS', 'TRACE', 'PUT', 'PATCH', 'LINK', 'PURGE'])('%s is answered 405 with Allow', async (method) => {
    const service = await startService()
    const response = await exchange(service, { method, target: DOMAINS, headers: [] })
    expect([response.status, codeOf(response)]).toEqual([405, 'not_found'])
    expect(headerOf(response, 'Allow')).toBe('GET, HEAD, POST, DELETE')
  })

  it('OPTIONS does not reveal more to a browser of another origin', async () => {
    const service = await startService()
    const headers: Header[] = [
      ['Origin', 'https://dashboard.example'],
      ['Access-Control-Request-Method', 'GET'],
    ]
    const response = await exchange(service, { method: 'OPTIONS', target: DOMAINS, headers })
    expect(response.headers.filter(([name]) => /^access-control/i.test(name))).toEqual([])
  })

  it('OPTIONS of the whole server is answered 404', async () => {
    const service = await startService()
    expect((await exchange(service, { method: 'OPTIONS', target: '*' })).status).toBe(404)
  })

  it.each(['example.com:443', DOMAINS])('CONNECT %s opens no tunnel, and says so', async (target) => {
    const service = await startService()
    const [response] = readResponses(await service.sendRaw(requestBytes({ method: 'CONNECT', target })))
    expect([response?.status, response && codeOf(response)]).toEqual([400, 'invalid_request_body'])
    if (response) expectLawful(service, { target: '/' }, response)
    await expectHealthy(service)
  })

  it.each(['get', 'Get', 'FETCH'])('%s is no method of HTTP', async (method) => {
    const service = await startService()
    expect((await exchange(service, { method, target: DOMAINS })).status).toBe(400)
  })
})

describe('The request target', () => {
  it.each([
    'http://localhost/api/v1/domains',
    'http://api.example/api/v1/domains',
    'https://api.example:8443/api/v1/domains?x=1',
    'HTTP://API.EXAMPLE/api/v1/domains',
    '/api/v1/domains?',
    '/api/v1/domains?id=00000000',
    '/api/v1/domains?%ZZ=%',
  ])('%s is GET /domains', async (target) => {
    const service = await startService({ fixture: ACCOUNT })
    expect((await exchange(service, { target })).status).toBe(200)
  })

  it.each([
    '/',
    '/domains',
    '/api/v1',
    '/api/v1/',
    '/api/v1/domains/',
    '/api/v1/Domains',
    '/API/V1/domains',
    '//api/v1/domains',
    '/api//v1/domains',
    '/api/v1//domains',
    '/api/v1/./domains',
    '/api/v1/x/../domains',
    '/api/v1/%64omains',
    '/api/v1%2fdomains',
    '/api/v1/domains%3fid=1',
    '/api/v1/domains;x=1',
    '/api/v1/domains#x',
    '/api/v1/domains/one.example',
    '/api/v1/__proto__',
    '/api/v1/constructor',
    'http://localhost',
    'http://localhost?x=1',
    'http://localhost/domains',
  ])('%s is answered 404 and asks for no key', async (target) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await exchange(service, { target, headers: [] })
    expect([response.status, codeOf(response)]).toEqual([404, 'not_found'])
  })

  it('of 8 KB is answered 404, and not repeated in full', async () => {
    const service = await startService()
    const response = await exchange(service, { target: `/${'x'.repeat(8000)}` })
    expect(response.status).toBe(404)
    expect(messageOf(response)?.length).toBeLessThan(200)
  })

  it.each(['http://[::1/api/v1/domains', 'http://[x]/api/v1/domains', 'http://', 'http:///api/v1/domains'])(
    '%s, which is no URL, is answered in the envelope',
    async (target) => {
      const service = await startService({ fixture: ACCOUNT })
      const [response] = readResponses(await service.sendRaw(requestBytes({ target, headers: [AUTHORIZED, CLOSE] })))
      expect(response && bodyOf(response)).toMatchObject({ success: expect.any(Boolean) })
      expect(response && headerOf(response, 'X-Request-Id')).toMatch(UUID)
    },
  )
})

describe('The query', () => {
  it.each([
    ['?id', 'not_found'],
    ['?id=', 'not_found'],
    ['?id=&id={Sales}', 'not_found'],
    ['?id={Sales}&id=', 'Sales'],
    ['?id={Sales}&id={Marketing}', 'Sales'],
    ['?&&id={Sales}&', 'Sales'],
    ['?x=1&id={Sales}&y', 'Sales'],
    ['?%69d={Sales}', 'Sales'],
    ['?id={Sales}+', 'not_found'],
    ['?id={Sales}%20', 'not_found'],
    ['?id=%00', 'not_found'],
    ['?id=%ZZ', 'not_found'],
    ['?id=%ff', 'not_found'],
    ['?id={Sales}%00', 'not_found'],
    ['?id=__proto__', 'not_found'],
    ['?', 'all'],
    ['?ID={Sales}', 'all'],
    ['?Id={Sales}', 'all'],
    ['?+id={Sales}', 'all'],
    ['?id[]={Sales}', 'all'],
    ['?id%00={Sales}', 'all'],
    ['?x=1;id={Sales}', 'all'],
    ['?__proto__[id]={Sales}', 'all'],
    ['?__proto__={Sales}', 'all'],
  ])('%s of GET /domaingroups finds %s', async (query, found) => {
    const service = await startService({ fixture: ACCOUNT })
    expect(await findGroup(service, query)).toBe(found)
  })

  it('may have 8 KB, before and in the id', async () => {
    const service = await startService({ fixture: ACCOUNT })
    expect(await findGroup(service, `?x=${'x'.repeat(8000)}&id={Sales}`)).toBe('Sales')
    expect(await findGroup(service, `?id=${'x'.repeat(8000)}`)).toBe('not_found')
  })

  /** The name of the group that GET /domaingroups answers, `all`, or the code of its refusal. */
  async function findGroup(service: TestService, query: string): Promise<string | undefined> {
    const response = await exchange(service, { target: GROUPS + (await withIds(service, query)) })
    const data = bodyOf(response)?.data as { group?: { name: string }; groups?: object[] } | undefined
    return codeOf(response) ?? data?.group?.name ?? (data?.groups && 'all')
  }

  it.each(['', '?', '?id', '?id=', '?ID={Sales}', '?id=&id={Sales}', '?id[]={Sales}'])(
    '%j of PATCH and DELETE /domaingroups names no group',
    async (query) => {
      const service = await startService({ fixture: ACCOUNT })
      const target = GROUPS + (await withIds(service, query))
      const body = '{"name":"Support"}'
      const patch = await exchange(service, { method: 'PATCH', target, headers: [AUTHORIZED, JSON_BODY], body })
      const remove = await exchange(service, { method: 'DELETE', target })
      expect([codeOf(patch), codeOf(remove)]).toEqual(['missing_id', 'missing_id'])
    },
  )

  it('is case-sensitive about ids', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const path = await pathOf(service, 'Sales')
    const id = path.split('=')[1] ?? ''
    const other = [...id].map((letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    expect((await service.get(path.replace(id, other.join('')))).status).toBe(404)
  })

  async function withIds(service: TestService, query: string): Promise<string> {
    const [sales, marketing] = [await pathOf(service, 'Sales'), await pathOf(service, 'Marketing')]
    return query
      .replaceAll('{Sales}', sales.split('=')[1] ?? '')
      .replaceAll('{Marketing}', marketing.split('=')[1] ?? '')
  }
})

describe('The header Authorization', () => {
  const UNKNOWN: Header = ['Authorization', 'Bearer unknown']

  it.each<[what: string, headers: Header[]]>([
    ['as it should be', [AUTHORIZED]],
    ['in lower case', [['authorization', `Bearer ${API_KEY}`]]],
    ['with white space around its value', [['Authorization', ` \t Bearer ${API_KEY} \t `]]],
    ['before another one', [AUTHORIZED, UNKNOWN]],
  ])('is accepted %s', async (_, headers) => {
    const service = await startService()
    expect((await exchange(service, { target: DOMAINS, headers })).status).toBe(200)
  })

  it.each<[what: string, headers: Header[]]>([
    ['absent', []],
    ['empty', [['Authorization', '']]],
    ['without a key', [['Authorization', 'Bearer']]],
    ['with a blank key', [['Authorization', 'Bearer ']]],
    ['without a scheme', [['Authorization', API_KEY]]],
    ['with the scheme in lower case', [['Authorization', `bearer ${API_KEY}`]]],
    ['with the scheme in upper case', [['Authorization', `BEARER ${API_KEY}`]]],
    ['with a tab behind the scheme', [['Authorization', `Bearer\t${API_KEY}`]]],
    ['with two spaces behind the scheme', [['Authorization', `Bearer  ${API_KEY}`]]],
    ['with no space behind the scheme', [['Authorization', `Bearer${API_KEY}`]]],
    ['with a colon behind the scheme', [['Authorization', `Bearer: ${API_KEY}`]]],
    ['with the scheme Basic', [['Authorization', `Basic ${Buffer.from(`${API_KEY}:`).toString('base64')}`]]],
    ['with the scheme Token', [['Authorization', `Token ${API_KEY}`]]],
    ['with a key in quotes', [['Authorization', `Bearer "${API_KEY}"`]]],
    ['with two keys', [['Authorization', `Bearer ${API_KEY}, Bearer ${API_KEY}`]]],
    ['with a key in other case', [['Authorization', `Bearer ${API_KEY.toLowerCase()}`]]],
    ['with half a key', [['Authorization', `Bearer ${API_KEY.slice(0, -1)}`]]],
    ['with a key of 8 KB', [['Authorization', `Bearer ${'x'.repeat(8000)}`]]],
    ['with bytes that are not ASCII', [['Authorization', 'Bearer schlüssel']]],
    ['behind another one', [UNKNOWN, AUTHORIZED]],
    ['in a header of another name', [['X-API-Key', API_KEY]]],
    ['in Proxy-Authorization', [['Proxy-Authorization', `Bearer ${API_KEY}`]]],
  ])('is refused %s', async (_, headers) => {
    const service = await startService()
    const response = await exchange(service, { target: DOMAINS, headers })
    expect([response.status, codeOf(response)]).toEqual([401, 'unauthorized'])
    expect(headerOf(response, 'WWW-Authenticate')).toBe('Bearer')
  })

  it('cannot be replaced by the query', async () => {
    const service = await startService()
    const target = `${DOMAINS}?api_key=${API_KEY}&access_token=${API_KEY}`
    expect((await exchange(service, { target, headers: [] })).status).toBe(401)
  })
})

describe('The header Content-Type', () => {
  const body = '{"domains":["new.example"]}'

  it.each([
    'application/json',
    'Application/JSON',
    'application/json;charset=utf-8',
    'application/json; charset=UTF-8',
    'application/json; charset="UTF-8"',
    'application/json ; Charset=utf-8',
  ])('may be %s', async (type) => {
    const service = await startService()
    const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
    expect((await exchange(service, { method: 'POST', target: DOMAINS, headers, body })).status).toBe(200)
  })

  it.each([
    '',
    'json',
    'text/json',
    'text/plain',
    'application/jsonx',
    'application/json5',
    'application/vnd.api+json',
    'application/merge-patch+json',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded',
    '*/*',
  ])('may not be %j', async (type) => {
    const service = await startService()
    const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
    const response = await exchange(service, { method: 'POST', target: DOMAINS, headers, body })
    expect(codeOf(response)).toBe('invalid_request_body')
    expect(messageOf(response)).toContain('Content-Type')
  })

  it('may not be absent', async () => {
    const service = await startService()
    const response = await exchange(service, { method: 'POST', target: DOMAINS, body })
    expect(codeOf(response)).toBe('invalid_request_body')
  })

  it('is no matter without a body to read', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const headers: Header[] = [AUTHORIZED, ['Content-Type', 'text/plain']]
    expect((await exchange(service, { target: DOMAINS, headers })).status).toBe(200)
    const target = `/api/v1${await pathOf(service, 'Sales')}`
    expect((await exchange(service, { method: 'DELETE', target, headers })).status).toBe(200)
  })

  it('is application/json in every answer', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const headers: Header[] = [AUTHORIZED, ['Accept', 'text/html']]
    for (const target of [DOMAINS, '/api/v1/dmarc', GROUPS, `${GROUPS}?id=0`, '/nothing']) {
      expect(headerOf(await exchange(service, { target, headers }), 'Content-Type')).toBe('application/json')
    }
  })
})

describe('The header Content-Encoding', () => {
  const body = '{"domains":["new.example"]}'

  it.each([
    ['gzip', 'of what is compressed so', gzipSync(body)],
    ['gzip', 'of what is not', Buffer.from(body)],
    ['GZIP', 'in upper case', gzipSync(body)],
    ['br', 'of what is not', Buffer.from(body)],
    ['x-unknown', 'of anything', Buffer.from(body)],
    ['identity, gzip', 'in two steps', gzipSync(body)],
  ])('may not be %s %s', async (coding, _, bytes) => {
    const service = await startService()
    const response = await post(service, DOMAINS, bytes, ['Content-Encoding', coding])
    expect(codeOf(response)).toBe('invalid_request_body')
    expect(messageOf(response)).toContain(`Content-Encoding, which "${coding}" is`)
  })

  it('may be identity, which is none', async () => {
    const service = await startService()
    expect((await post(service, DOMAINS, body, ['Content-Encoding', 'identity'])).status).toBe(200)
  })

  it('is never in an answer, whatever the client would accept', async () => {
    const service = await startService({ fixture: 'demo' })
    const headers: Header[] = [AUTHORIZED, ['Accept-Encoding', 'gzip, br']]
    const response = await exchange(service, { target: '/api/v1/dmarc', headers })
    expect(headerOf(response, 'Content-Encoding')).toBeUndefined()
  })
})

describe('The header Expect', () => {
  it('100-continue is answered 100 before the body is sent', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    const body = '{"domains":["new.example"]}'
    const headers: Header[] = [AUTHORIZED, JSON_BODY, ['Content-Length', `${body.length}`], ['Expect', '100-continue']]
    await connection.write(requestBytes({ method: 'POST', target: DOMAINS, headers }))
    expect((await connection.next()).status).toBe(100)
    await connection.write(body)
    expect((await connection.next()).status).toBe(200)
    await connection.destroy()
  })

  it.each(['nonsense', '200-ok', ''])('%j changes nothing', async (expectation) => {
    const service = await startService()
    const response = await post(service, DOMAINS, '{"domains":["new.example"]}', ['Expect', expectation])
    expect(response.status).toBe(200)
    const read = await exchange(service, { target: DOMAINS, headers: [AUTHORIZED, ['Expect', expectation]] })
    expect(read.status).toBe(200)
  })
})

describe('The body', () => {
  it.each([
    ['a byte that begins nothing', Buffer.from([0xff])],
    ['half a character', Buffer.from([0xc3])],
    ['an overlong character', Buffer.from([0xc0, 0xaf])],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80])],
    ['a character beyond Unicode', Buffer.from([0xf4, 0x90, 0x80, 0x80])],
  ])('is no JSON with %s, which is not UTF-8', async (_, bytes) => {
    const service = await startService()
    const body = Buffer.concat([Buffer.from('{"name":"'), bytes, Buffer.from('"}')])
    expect(codeOf(await post(service, GROUPS, body))).toBe('invalid_json')
  })

  it.each([
    ['a byte order mark', Buffer.from('\ufeff{"name":"Sales"}')],
    ['UTF-16', Buffer.from('{"name":"Sales"}', 'utf16le')],
    ['NUL behind it', Buffer.from('{"name":"Sales"}\0')],
    ['a line feed in a string', Buffer.from('{"name":"Sa\nles"}')],
    ['a comment', Buffer.from('{"name":"Sales"} // x')],
    ['hexadecimal numbers', Buffer.from('{"name":0x5}')],
    ['a single opening bracket', Buffer.from('{')],
    ['100,000 opening brackets', Buffer.from('['.repeat(100_000))],
  ])('is no JSON with %s', async (_, body) => {
    const service = await startService()
    expect(codeOf(await post(service, GROUPS, body))).toBe('invalid_json')
  })

  it('may be surrounded by the white space of JSON', async () => {
    const service = await startService()
    expect((await post(service, GROUPS, '\r\n\t {"name":"Sales"} \r\n')).status).toBe(200)
  })

  it('may spell characters as escapes', async () => {
    const service = await startService()
    const response = await post(service, GROUPS, '{"n\\u0061me":"\\u0053ales \\ud83d\\ude00"}')
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Sales 😀' } })
  })

  it('means the last of several fields with one name', async () => {
    const service = await startService()
    const response = await post(service, GROUPS, '{"name":"One","name":5,"name":"Two"}')
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Two' } })
    expect(codeOf(await post(service, GROUPS, '{"name":"Three","name":5}'))).toBe('invalid_field_type')
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', ''])(
    'may not have the field %j, and nothing comes of it',
    async (field) => {
      const service = await startService({ fixture: ACCOUNT })
      const before = await stateOf(service)
      for (const value of [{ polluted: true }, null, 1]) {
        const response = await post(service, GROUPS, `{"name":"x",${JSON.stringify(field)}:${JSON.stringify(value)}}`)
        expect(codeOf(response)).toBe('unknown_field')
        expect(messageOf(response)).toBe(`The field \`${field}\` is not supported.`)
      }
      expect(await stateOf(service)).toEqual(before)
      expect('polluted' in {}).toBe(false)
    },
  )

  it('does not find a required field in a prototype', async () => {
    const service = await startService()
    expect(codeOf(await post(service, GROUPS, '{"__proto__":{"name":"x"}}'))).toBe('unknown_field')
    expect((await stateOf(service)).groups).toEqual([])
  })

  it.each([
    ['of 100,000 arrays', 'invalid_request_body', '['.repeat(100_000) + ']'.repeat(100_000)],
    ['of 100,000 objects', 'unknown_field', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['in a field', 'invalid_field_type', `{"domains":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['in another', 'unknown_field', `{"domains":["x"],"notes":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
  ])('may be as deep as it likes, %s, and is answered `%s`', async (_, code, body) => {
    const service = await startService()
    expect(codeOf(await post(service, DOMAINS, body))).toBe(code)
    await expectHealthy(service)
  })

  it.each([
    ['beyond the largest', '1e999'],
    ['beyond the smallest', '-1e999'],
    ['of 1000 digits', '9'.repeat(1000)],
    ['next to nothing', '1e-999'],
    ['that is minus zero', '-0'],
  ])('may hold a number %s', async (_, number) => {
    const service = await startService()
    const response = await post(service, DOMAINS, `{"domains":[${number}]}`)
    expect(messageOf(response)).toBe('`domains[0]` must be of type string, not number.')
  })

  it('may hold a field whose name has the characters of a JSON pointer', async () => {
    const service = await startService()
    const response = await post(service, GROUPS, '{"name":"x","a/b~c":1}')
    expect(messageOf(response)).toBe('The field `a/b~c` is not supported.')
  })

  it('may hold a thousand unsupported fields, of which one is named', async () => {
    const service = await startService()
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, index]))
    const response = await post(service, GROUPS, JSON.stringify(fields))
    expect(messageOf(response)).toBe('The field `x0` is not supported.')
  })

  it('may hold lone surrogates in a name, which come back as they were', async () => {
    const service = await startService()
    const created = await post(service, GROUPS, '{"name":"\\ud83d x \\ude00"}')
    expect(created.text).toContain('"name":"\\ud83d x \\ude00"')
    const listed = await exchange(service, { target: GROUPS })
    expect(listed.text).toContain('"name":"\\ud83d x \\ude00"')
  })

  it('may hold any text in a name, which comes back as it was', async () => {
    const service = await startService({ enforceQuotas: false })
    for (const name of [
      '"\\/',
      '\b\f\n\r\tx',
      '\0\u001f\u007f',
      '<b>&amp;',
      '\u2028\u2029x',
      '$& {field}',
      '__proto__',
    ]) {
      expect((await service.send('POST', '/domaingroups', { name })).body.data.group.name).toBe(name)
      expect((await service.get(await pathOf(service, name))).body.data.group.name).toBe(name)
    }
  })

  it.each(['nonsense', '{"domains":5}', ''])('of GET is ignored: %j', async (body) => {
    const service = await startService({ fixture: ACCOUNT })
    for (const target of ['/api/v1/dmarc', DOMAINS, GROUPS]) {
      expect((await exchange(service, { target, body })).status).toBe(200)
    }
  })

  it.each(['nonsense', '{"id":"00000000"}', ''])('of DELETE /domaingroups is ignored: %j', async (body) => {
    const service = await startService({ fixture: ACCOUNT })
    const target = `/api/v1${await pathOf(service, 'Sales')}`
    expect((await exchange(service, { method: 'DELETE', target, body })).status).toBe(200)
    expect(codeOf(await exchange(service, { method: 'DELETE', target: GROUPS, body: '{"id":"x"}' }))).toBe('missing_id')
  })

  it('may come in chunks, with extensions and a trailer', async () => {
    const service = await startService()
    const body = '5;x=1\r\n{"nam\r\nb\r\ne":"Sales"}\r\n0\r\nX-Trailer: x\r\n\r\n'
    expect((await post(service, GROUPS, body, ['Transfer-Encoding', 'chunked'])).status).toBe(200)
  })

  it('may come byte by byte', async () => {
    const service = await startService()
    const body = chunked('{"name":"Café 😀"}', 1)
    const response = await post(service, GROUPS, body, ['Transfer-Encoding', 'chunked'])
    expect(bodyOf(response)?.data).toMatchObject({ group: { name: 'Café 😀' } })
  })

  it.each<[how: string, headers: Header[], body: string]>([
    ['of no length', [['Content-Length', '0']], ''],
    ['of no chunk', [['Transfer-Encoding', 'chunked']], '0\r\n\r\n'],
    ['that nothing announces', [], ''],
  ])('%s is empty', async (_, headers, body) => {
    const service = await startService()
    const request = { method: 'POST', target: GROUPS, headers: [AUTHORIZED, JSON_BODY, ...headers, CLOSE], body }
    const bytes = Buffer.from(
      requestBytes(request)
        .toString()
        .replace(/^Content-Length: 0\r\n/m, headers[0] ? '$&' : ''),
    )
    const [response] = readResponses(await service.sendRaw(bytes))
    expect(response && messageOf(response)).toBe('Request body must not be empty.')
  })
})

describe('A connection', () => {
  it('answers pipelined requests in their order', async () => {
    const service = await startService()
    const requests: WireRequest[] = [
      { target: DOMAINS },
      { ...ADDITION, body: '{"domains":["one.example"]}' },
      { target: '/api/v1/nothing' },
      { method: 'HEAD', target: DOMAINS },
      { target: DOMAINS, headers: [] },
      { ...ADDITION, body: '{"domains":["two.example"]}' },
      { target: '/api/v1/dmarc', headers: [AUTHORIZED, CLOSE] },
    ]
    const bytes = await service.sendRaw(Buffer.concat(requests.map(requestBytes)))
    const responses = readResponses(
      bytes,
      requests.map(({ method = 'GET' }) => method),
    )
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 404, 200, 401, 200, 200])
    for (const [index, response] of responses.entries()) {
      expectLawful(service, requests[index] ?? { target: '' }, response)
    }
    expect(bodyOf(responses[5] ?? NONE)?.data).toMatchObject({ domains: ['two.example'] })
  })

  // RFC 9112 §9.3.2: only requests with safe methods may be processed in parallel.
  it('carries out a pipelined change before it reads for the next request', async () => {
    const service = await startService()
    const requests = [ADDITION, { target: DOMAINS, headers: [AUTHORIZED, CLOSE] }]
    const [, read] = readResponses(await service.sendRaw(Buffer.concat(requests.map(requestBytes))))
    expect(bodyOf(read ?? NONE)?.data).toEqual({ domains: ['new.example'] })
  })

  it('answers a hundred pipelined requests, each with a count less', async () => {
    const service = await startService()
    const requests = Array.from({ length: 100 }, (_, index) => ({
      target: GROUPS,
      headers: index === 99 ? [AUTHORIZED, CLOSE] : [AUTHORIZED],
    }))
    const responses = readResponses(await service.sendRaw(Buffer.concat(requests.map(requestBytes))))
    const left = responses.map((response) => Number(headerOf(response, 'X-RateLimit-Remaining')))
    expect(left).toEqual(Array.from({ length: 100 }, (_, index) => 99 - index))
  })

  it('is kept for the next request after every kind of refusal', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const connection = await Connection.open(service)
    const body = '{"x":'
    for (const [status, request] of [
      [400, { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY], body }],
      [401, { method: 'POST', target: DOMAINS, headers: [], body }],
      [404, { method: 'POST', target: '/nothing', headers: [], body }],
      [405, { method: 'PUT', target: DOMAINS, headers: [], body }],
      [413, { method: 'POST', target: DOMAINS, headers: [AUTHORIZED, JSON_BODY], body: ' '.repeat(2_000_000) }],
      [200, { target: DOMAINS }],
    ] as const) {
      await connection.write(requestBytes(request))
      expect((await connection.next()).status).toBe(status)
    }
    await connection.destroy()
  })

  it('of HTTP/1.0 is answered and closed', async () => {
    const service = await startService()
    const [response] = readResponses(
      await service.sendRaw(`GET ${DOMAINS} HTTP/1.0\r\nAuthorization: Bearer ${API_KEY}\r\n\r\n`),
    )
    expect(response?.status).toBe(200)
  })

  it('whose client has closed its side after the request is answered', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    connection.socket.end(requestBytes({ target: DOMAINS }))
    expect((await connection.next()).status).toBe(200)
    await connection.closed
  })

  it('is not upgraded', async () => {
    const service = await startService()
    const headers: Header[] = [AUTHORIZED, ['Connection', 'Upgrade'], ['Upgrade', 'websocket']]
    const connection = await Connection.open(service)
    await connection.write(requestBytes({ target: DOMAINS, headers }))
    expect((await connection.next()).status).toBe(200)
    await connection.destroy()
  })

  it('without the header Host is refused in the envelope', async () => {
    const service = await startService()
    const [response] = readResponses(
      await service.sendRaw(`GET ${DOMAINS} HTTP/1.1\r\nAuthorization: Bearer ${API_KEY}\r\nConnection: close\r\n\r\n`),
    )
    expect(response && bodyOf(response)).toMatchObject({ success: false })
    expect(response && headerOf(response, 'X-Request-Id')).toMatch(UUID)
  })
})

describe('What is not HTTP', () => {
  const HEAD = `Host: localhost\r\nAuthorization: Bearer ${API_KEY}\r\nContent-Type: application/json\r\n`

  it.each<[what: string, bytes: string | Buffer, status: number]>([
    ['a word', 'NONSENSE\r\n\r\n', 400],
    ['a TLS handshake', Buffer.from('16030100a5010000a10303', 'hex'), 400],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['an unknown version', `GET ${DOMAINS} HTTP/3.1\r\n${HEAD}\r\n`, 400],
    ['a target that is not ASCII', `GET ${DOMAINS}\u00e7 HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['a space in the target', `GET ${DOMAINS} x HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['an unknown method', `FETCH ${DOMAINS} HTTP/1.1\r\n${HEAD}\r\n`, 400],
    ['a header with a space in its name', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X Y: z\r\n\r\n`, 400],
    ['a header without a colon', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}nonsense\r\n\r\n`, 400],
    ['a header with a control character', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: a\0b\r\n\r\n`, 400],
    ['a header of 64 KB', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}X: ${'x'.repeat(65_536)}\r\n\r\n`, 431],
    ['a target of 64 KB', `GET /${'x'.repeat(65_536)} HTTP/1.1\r\n${HEAD}\r\n`, 431],
    ['a thousand headers', `GET ${DOMAINS} HTTP/1.1\r\n${HEAD}${'X-Something: something\r\n'.repeat(1000)}\r\n`, 431],
    ['a negative length', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: -1\r\n\r\n`, 400],
    ['a length that is no number', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: two\r\n\r\n{}`, 400],
    [
      'a length beyond all numbers',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: ${'9'.repeat(30)}\r\n\r\n`,
      400,
    ],
    ['two lengths', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `, 400],
    ['two lengths in one', `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 2, 3\r\n\r\n{} `, 400],
    [
      'a length beside chunks',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunks beside a length',
      `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n`,
      400,
    ],
  ])('is answered in the envelope and cut off: %s', async (_, bytes, status) => {
    const service = await startService()
    const [response, ...more] = readResponses(await service.sendRaw(bytes))
    expect(more).toEqual([])
    expect(response?.status).toBe(status)
    if (response === undefined) return
    expectLawful(service, { target: '/' }, response)
    expect(codeOf(response)).toBe(status === 431 ? 'request_too_large' : 'invalid_request_body')
    expect(headerOf(response, 'X-Request-Id')).toMatch(UUID)
    expect(headerOf(response, 'Connection')).toBe('close')
    await expectHealthy(service)
  })

  it.each<[what: string, head: string, rest: string]>([
    ['a chunk size that is no number', 'Transfer-Encoding: chunked', 'ZZ\r\n{}\r\n0\r\n\r\n'],
    ['a chunk longer than its size', 'Transfer-Encoding: chunked', '2\r\n{}{}\r\n0\r\n\r\n'],
    ['a chunk size with white space', 'Transfer-Encoding: chunked', '2 \t\r\n{}\r\n0\r\n\r\n'],
    ['a coding that is none', 'Transfer-Encoding: identity', '0\r\n\r\n'],
    ['chunks that are not the last coding', 'Transfer-Encoding: chunked, identity', '0\r\n\r\n'],
  ])('in a body is answered 4xx or cut off, and changes nothing: %s', async (_, head, rest) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    const responses = readResponses(await service.sendRaw(`POST ${DOMAINS} HTTP/1.1\r\n${HEAD}${head}\r\n\r\n${rest}`))
    for (const response of responses) {
      expectLawful(service, { target: '/' }, response)
      expect(response.status).toBe(400)
    }
    expect(await stateOf(service)).toEqual(before)
    await expectHealthy(service)
  })

  it('does not smuggle a request into the body of another', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const smuggled = `DELETE ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: 29\r\n\r\n{"domains":["three.example"]}`
    for (const [length, coding] of [
      [0, 'chunked'],
      [4, 'chunked'],
      [4, 'Chunked'],
      [4, 'xchunked'],
      [4, '\x0bchunked'],
      [4, 'chunked, chunked'],
    ] as const) {
      const outer = `POST ${DOMAINS} HTTP/1.1\r\n${HEAD}Content-Length: ${length}\r\nTransfer-Encoding: ${coding}\r\n\r\n`
      await service.sendRaw(`${outer}0\r\n\r\n${smuggled}`)
    }
    expect((await stateOf(service)).domains.map(({ name }) => name)).toContain('three.example')
    await expectHealthy(service)
  })

  it('behind a good request leaves the service in order', async () => {
    const service = await startService()
    const good = requestBytes({ target: DOMAINS })
    const responses = readResponses(await service.sendRaw(Buffer.concat([good, Buffer.from('NONSENSE\r\n\r\n')])))
    for (const { status } of responses) expect([200, 400]).toContain(status)
    await expectHealthy(service)
  })

  it('has an id of its own each time', async () => {
    const service = await startService()
    const ids = new Set<string | undefined>()
    for (let request = 0; request < 20; request++) {
      const [response] = readResponses(await service.sendRaw('NONSENSE\r\n\r\n'))
      ids.add(response && headerOf(response, 'X-Request-Id'))
    }
    expect(ids.size).toBe(20)
  })

  it.each([1, 3, 25])('is answered after all %d requests before it, which are', async (count) => {
    const service = await startService()
    const names = Array.from({ length: count }, (_, index) => `new-${index}.example`)
    const changes = names.map((name) =>
      requestBytes({
        method: 'POST',
        target: DOMAINS,
        headers: [AUTHORIZED, JSON_BODY],
        body: JSON.stringify({ domains: [name] }),
      }),
    )
    const received = await service.sendRaw(Buffer.concat([...changes, Buffer.from('what is this?\r\n\r\n')]))
    const responses = readResponses(received)
    expect(responses.map(({ status }) => status)).toEqual([...names.map(() => 200), 400])
    expect((await service.get('/domains')).body.data.domains).toEqual(expect.arrayContaining(names))
  })

  it.each<[what: string, bytes: string, statuses: number[]]>([
    ['after an answer that closes the connection', 'zz', [200]],
    ['in the body of a request that is refused for its key', 'refused', [200, 401]],
  ])('is not answered %s', async (_, what, statuses) => {
    const service = await startService()
    const read = requestBytes({ target: DOMAINS, headers: [AUTHORIZED, ...(what === 'zz' ? [CLOSE] : [])] })
    const refused = requestBytes({ method: 'POST', target: DOMAINS, headers: [['Transfer-Encoding', 'chunked']] })
    const rest = what === 'zz' ? requestBytes({ target: DOMAINS }) : Buffer.concat([refused, Buffer.from('zz\r\n')])
    const responses = readResponses(await service.sendRaw(Buffer.concat([read, rest])))
    expect(responses.map(({ status }) => status)).toEqual(statuses)
  })

  it('is answered 408 when it does not come in time', async () => {
    const service = await startService()
    const refuseMalformed = createMalformedReply(service.contract, 42, SILENT)
    const late = createServer((socket) =>
      refuseMalformed(Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
    ).listen(0, '127.0.0.1')
    await once(late, 'listening')
    const connection = await Connection.open({ baseUrl: `http://127.0.0.1:${(late.address() as AddressInfo).port}` })
    const response = await connection.next()
    await connection.closed
    late.close()
    expectLawful(service, { target: '/' }, response)
    expect([response.status, codeOf(response)]).toEqual([408, 'invalid_request_body'])
  })
})

describe('A client that leaves', () => {
  it.each<[when: string, bytes: Buffer]>([
    ['in the first line', Buffer.from('POST /api')],
    ['in the header', Buffer.from(`POST ${DOMAINS} HTTP/1.1\r\nHost: x\r\nContent-`)],
    ['in the body', half(ADDITION)],
    ['in the body of a request without a key', half({ method: 'POST', target: DOMAINS, headers: [], body: '{}' })],
    ['in the body of GET', half({ target: DOMAINS, body: '{"domains":["new.example"]}' })],
    ['in a chunk', half({ ...ADDITION, headers: IN_CHUNKS, body: '1b\r\n{"domains":["new.example"]}\r\n' })],
    ['without waiting for an answer', requestBytes({ target: '/api/v1/dmarc' })],
  ])('%s leaves the service in order', async (_, bytes) => {
    const service = await startService({ fixture: ACCOUNT })
    const before = await stateOf(service)
    for (let round = 0; round < 5; round++) {
      const connection = await Connection.open(service)
      await connection.write(bytes)
      await connection.destroy()
    }
    await expectHealthy(service)
    expect(await stateOf(service)).toEqual(before)
  })

  it.each([
    ['leaves in the body', half(ADDITION)],
    ['leaves in a chunk', half({ ...ADDITION, headers: IN_CHUNKS, body: '1b\r\n{"domains":["new.example"]}\r\n' })],
    ['sends a chunk that is none', requestBytes({ ...ADDITION, headers: IN_CHUNKS, body: 'ZZ\r\n' })],
  ])('who %s is no failure of the stand-in, so the log has no error', async (_, bytes) => {
    const log = recordingLog()
    const service = await startService({ log })
    const connection = await Connection.open(service)
    await connection.write(bytes)
    await connection.destroy()
    // By the time this is answered, the service has seen the end of the other connection and what comes of it.
    await expectHealthy(service)
    expect(log.errors).toEqual([])
  })

  it('does not undo a change that was made', async () => {
    const service = await startService()
    const connection = await Connection.open(service)
    await connection.write(requestBytes(ADDITION))
    await once(connection.socket, 'data')
    await connection.destroy()
    expect((await service.get('/domains')).body.data.domains).toEqual(['new.example'])
  })
})

/** All but the last byte of a request. */
function half(request: WireRequest): Buffer {
  return requestBytes({ headers: [AUTHORIZED, JSON_BODY], ...request }).subarray(0, -1)
}

describe('The header X-Request-Id', () => {
  const ASKED = '00000000-0000-4000-8000-000000000000'

  it.each<[status: number, what: string, request: WireRequest]>([
    [200, 'GET', { target: DOMAINS }],
    [200, 'HEAD', { method: 'HEAD', target: DOMAINS }],
    [400, 'no id', { method: 'DELETE', target: GROUPS }],
    [401, 'no key', { target: DOMAINS, headers: [] }],
    [404, 'an unknown path', { target: '/nothing' }],
    [404, 'an unknown id', { target: `${GROUPS}?id=0` }],
    [405, 'a wrong method', { method: 'PUT', target: DOMAINS }],
    [413, 'a large body', { ...ADDITION, body: ' '.repeat(1_048_577) }],
  ])('is a UUID that the client did not choose, on %i for %s', async (status, _, request) => {
    const service = await startService()
    const headers: Header[] = [...(request.headers ?? [AUTHORIZED]), ['X-Request-Id', ASKED]]
    const response = await exchange(service, { ...request, headers })
    expect(response.status).toBe(status)
    expect(headerOf(response, 'X-Request-Id')).toMatch(UUID)
    expect(headerOf(response, 'X-Request-Id')).not.toBe(ASKED)
  })

  it('is there on 403 and 429 as well', async () => {
    const low = await startService({ plan: 'below-stone' })
    const limited = await startService()
    for (let request = 0; request < 10; request++) await limited.get('/dmarc')
    for (const [status, service] of [
      [403, low],
      [429, limited],
    ] as const) {
      const response = await exchange(service, { target: '/api/v1/dmarc' })
      expect(response.status).toBe(status)
      expect(headerOf(response, 'X-Request-Id')).toMatch(UUID)
    }
  })

  it('never repeats over a thousand requests of every kind', async () => {
    const service = await startService({ fixture: ACCOUNT, enforceQuotas: false })
    const ids = new Set<string | undefined>()
    for (let round = 0; round < 200; round++) {
      const responses = await Promise.all([
        service.get('/domains'),
        service.get('/domaingroups?id=0'),
        service.get('/nothing'),
        service.send('GET', '/domains', undefined, { authorization: null }),
        service.send('POST', '/domains', '{'),
      ])
      for (const { headers } of responses) ids.add(headers['x-request-id'])
    }
    expect(ids.size).toBe(1000)
  })
})

describe('The headers of an answer', () => {
  const ALWAYS = ['content-type', 'content-length', 'x-request-id', 'date', 'connection']
  const QUOTA = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

  it.each<[status: number, what: string, more: string[], request: WireRequest]>([
    [200, 'GET', QUOTA, { target: DOMAINS }],
    [200, 'HEAD', QUOTA, { method: 'HEAD', target: '/api/v1/dmarc' }],
    [400, 'no id', QUOTA, { method: 'DELETE', target: GROUPS }],
    [401, 'no key', ['www-authenticate'], { target: DOMAINS, headers: [] }],
    [404, 'an unknown path', [], { target: '/nothing' }],
    [404, 'an unknown id', QUOTA, { target: `${GROUPS}?id=0` }],
    [405, 'a wrong method', ['allow'], { method: 'PUT', target: DOMAINS }],
    [409, 'a name that is taken', QUOTA, { ...ADDITION, target: GROUPS, body: '{"name":"sales"}' }],
    [413, 'a large body', QUOTA, { ...ADDITION, body: ' '.repeat(1_048_577) }],
  ])('are those of the contract and no other, on %i for %s', async (status, _, more, request) => {
    const service = await startService({ fixture: ACCOUNT })
    const response = await exchange(service, request)
    expect(response.status).toBe(status)
    expect(namesOf(response)).toEqual([...ALWAYS, ...more].sort())
  })

  it('are those of the contract and no other, on 403', async () => {
    const service = await startService({ plan: 'below-stone' })
    expect(namesOf(await exchange(service, { target: DOMAINS }))).toEqual([...ALWAYS].sort())
  })

  it('are those of the contract and no other, on 429, without Retry-After', async () => {
    const service = await startService()
    for (let request = 0; request < 10; request++) await service.get('/dmarc')
    const response = await exchange(service, { target: '/api/v1/dmarc' })
    expect(response.status).toBe(429)
    expect(namesOf(response)).toEqual([...ALWAYS, ...QUOTA].sort())
  })

  it('offer nothing to revalidate with: no ETag, and If-None-Match changes nothing', async () => {
    const service = await startService()
    const headers: Header[] = [
      AUTHORIZED,
      ['If-None-Match', '*'],
      ['If-Modified-Since', 'Thu, 01 Jan 2099 00:00:00 GMT'],
    ]
    const response = await exchange(service, { target: DOMAINS, headers })
    expect(response.status).toBe(200)
    expect(headerOf(response, 'ETag')).toBeUndefined()
  })

  it('ignore Range', async () => {
    const service = await startService()
    const response = await exchange(service, { target: DOMAINS, headers: [AUTHORIZED, ['Range', 'bytes=0-3']] })
    expect(response.status).toBe(200)
  })

  function namesOf({ headers }: WireResponse): string[] {
    return headers.map(([name]) => name.toLowerCase()).sort()
  }
})

function withoutDate({ headers }: WireResponse): Header[] {
  return headers.filter(([name]) => name !== 'Date')
}

describe('A client that closes its side at once', () => {
  it.each([
    [1, 0],
    [11, 0],
    [100, 0],
    [1, 70_000],
    [1, 100_000],
  ])('gets the answers to its %d requests with bodies of %d bytes', async (count, padding) => {
    const service = await startService({ enforceQuotas: false })
    const names = Array.from({ length: count }, (_, index) => `${' '.repeat(padding)}"new-${index}.example"`)
    const requests = names.map((name) =>
      requestBytes({
        method: 'POST',
        target: DOMAINS,
        headers: [AUTHORIZED, JSON_BODY],
        body: `{"domains":[${name}]}`,
      }),
    )
    const { hostname, port } = new URL(service.baseUrl)
    const socket = connect(Number(port), hostname)
    let received = ''
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.end(Buffer.concat(requests))
    await once(socket, 'close')
    expect(readResponses(received).map(({ status }) => status)).toEqual(names.map(() => 200))
  })
})
