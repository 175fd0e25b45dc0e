import { describe, expect, it } from 'vitest'
import { ACCOUNT } from '../../support/account.ts'
import { startService } from '../../support/service.ts'
import { AUTHORIZED, exchange, type Header, headerOf, type WireRequest, type WireResponse } from '../../support/wire.ts'
import { ADDITION, DOMAINS, GROUPS, UUID } from './requests.ts'

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
