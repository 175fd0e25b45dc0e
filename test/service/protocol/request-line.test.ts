import { describe, expect } from 'vitest'
import { ACCOUNT } from '../../support/account.ts'
import { it, withIds } from '../../support/example-service.ts'
import { startService, type TestService } from '../../support/service.ts'
import {
  bodyOf,
  codeOf,
  exchange,
  expectLawful,
  type Header,
  headerOf,
  readResponses,
  requestBytes,
  type WireResponse,
} from '../../support/wire.ts'
import { DOMAINS, expectHealthy, GROUPS } from './requests.ts'

describe('The method', () => {
  const TARGETS = ['/api/v1/dmarc', `${GROUPS}?id=00000000`, '/api/v1/nothing']
  it.for(TARGETS)('HEAD answers %s as GET does, without the body, and is charged', async (target, { service }) => {
    const get = await exchange(await startService({ fixture: ACCOUNT }), { target })
    const head = await exchange(service, { method: 'HEAD', target })
    expect([head.status, head.text]).toEqual([get.status, ''])
    expect(withoutDate(head)).toEqual(withoutDate(get))
    expect(Number(headerOf(head, 'Content-Length'))).toBe(Buffer.byteLength(get.text))
  })

  it.for(['example.com:443', DOMAINS])('CONNECT %s opens no tunnel, and says so', async (target, { empty }) => {
    const [response] = readResponses(await empty.sendRaw(requestBytes({ method: 'CONNECT', target })))
    expect([response?.status, response && codeOf(response)]).toEqual([400, 'invalid_request_body'])
    if (response) expectLawful(empty, { target: '/' }, response)
    await expectHealthy(empty)
  })
})

describe('The request target', () => {
  it('is GET /domains with a server or a query, too', async ({ service }) => {
    for (const target of [
      ...['http://localhost/api/v1/domains', 'http://api.example/api/v1/domains', 'HTTP://API.EXAMPLE/api/v1/domains'],
      ...['https://api.example:8443/api/v1/domains?x=1', '/api/v1/domains?', '/api/v1/domains?id=00000000'],
      '/api/v1/domains?%ZZ=%',
    ]) {
      expect((await exchange(service, { target })).status, target).toBe(200)
    }
  })

  it('is answered 404 in any other form, and asks for no key', async ({ service }) => {
    for (const target of [
      ...['/api/v1/', '/API/V1/domains'],
      ...['/api/v1//domains', '/api/v1/./domains', '/api/v1/x/../domains'],
      ...['/api/v1/%64omains', '/api/v1%2fdomains', '/api/v1/domains%3fid=1', '/api/v1/domains;x=1'],
      ...['/api/v1/domains#x', '/api/v1/constructor'],
      ...['http://localhost', 'http://localhost?x=1', 'http://localhost/domains'],
    ]) {
      const response = await exchange(service, { target, headers: [] })
      expect([response.status, codeOf(response)], target).toEqual([404, 'not_found'])
    }
  })
})

describe('The query', () => {
  it.for<[found: string, queries: string[]]>([
    [
      'Sales',
      ['?id={Sales}&id=', '?id={Sales}&id={Marketing}', '?&&id={Sales}&', '?x=1&id={Sales}&y', '?%69d={Sales}'],
    ],
    ['not_found', ['?id', '?id=', '?id=&id={Sales}', '?id={Sales}+', '?id={Sales}%20', '?id={Sales}%00']],
    ['not_found', ['?id=%00', '?id=%ZZ', '?id=%ff']],
    ['all', ['?', '?ID={Sales}', '?Id={Sales}', '?+id={Sales}', '?id[]={Sales}', '?id%00={Sales}', '?x=1;id={Sales}']],
    ['all', ['?__proto__[id]={Sales}', '?__proto__={Sales}']],
  ])('of GET /domaingroups finds %s: %j', async ([found, queries], { service }) => {
    for (const query of queries) expect(await findGroup(service, query), query).toBe(found)
  })

  /** The name of the group that GET /domaingroups answers, `all`, or the code of its refusal. */
  async function findGroup(service: TestService, query: string): Promise<string | undefined> {
    const response = await exchange(service, { target: GROUPS + (await withIds(service, query)) })
    const data = bodyOf(response)?.data as { group?: { name: string }; groups?: object[] } | undefined
    return codeOf(response) ?? data?.group?.name ?? (data?.groups && 'all')
  }
})

function withoutDate({ headers }: WireResponse): Header[] {
  return headers.filter(([name]) => name !== 'Date')
}
