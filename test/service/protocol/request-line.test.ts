import { describe, expect, it } from 'vitest'
import { ACCOUNT, pathOf } from '../../support/account.ts'
import { startService, type TestService } from '../../support/service.ts'
import {
  AUTHORIZED,
  bodyOf,
  CLOSE,
  codeOf,
  exchange,
  expectLawful,
  type Header,
  headerOf,
  JSON_BODY,
  messageOf,
  readResponses,
  requestBytes,
  type WireResponse,
} from '../../support/wire.ts'
import { DOMAINS, expectHealthy, GROUPS, UUID } from './requests.ts'

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

function withoutDate({ headers }: WireResponse): Header[] {
  return headers.filter(([name]) => name !== 'Date')
}
