import { describe, expect } from 'vitest'
import { ACCOUNT } from '../../support/account.ts'
import { it } from '../../support/example-service.ts'
import { API_KEY, startService } from '../../support/service.ts'
import { AUTHORIZED, codeOf, exchange, type Header, headerOf, type WireRequest } from '../../support/wire.ts'
import { ADDITION, DOMAINS, post, UUID } from './requests.ts'

describe('The header Authorization', () => {
  const UNKNOWN: Header = ['Authorization', 'Bearer unknown']
  const given = (value: string): Header[] => [['Authorization', value]]

  it.for<[what: string, headers: Header[]]>([
    ['as it should be', [AUTHORIZED]],
    ['in lower case', [['authorization', `Bearer ${API_KEY}`]]],
    ['with white space around its value', given(` \t Bearer ${API_KEY} \t `)],
    ['before another one', [AUTHORIZED, UNKNOWN]],
    ['behind a thousand small headers', [...Array<Header>(1_000).fill(['A', '']), AUTHORIZED]],
  ])('is accepted %s', async ([, headers], { empty }) => {
    expect((await exchange(empty, { target: DOMAINS, headers })).status).toBe(200)
  })

  it('is refused in every other form, and a header of another name, too', async ({ empty }) => {
    const values = [
      ...['', 'Bearer', 'Bearer ', API_KEY, `BEARER ${API_KEY}`, `Bearer\t${API_KEY}`, `Bearer  ${API_KEY}`],
      ...[`Bearer${API_KEY}`, `Bearer: ${API_KEY}`, `Bearer "${API_KEY}"`],
      ...[`Basic ${Buffer.from(`${API_KEY}:`).toString('base64')}`, `Bearer ${API_KEY}, Bearer ${API_KEY}`],
      ...[`Bearer ${API_KEY.toLowerCase()}`, `Bearer ${API_KEY.slice(0, -1)}`, `Bearer ${'x'.repeat(8000)}`],
      'Bearer schlüssel',
    ]
    const others: Header[][] = [
      ...[[], [UNKNOWN, AUTHORIZED], [['X-API-Key', API_KEY] as const]],
      [['Proxy-Authorization', `Bearer ${API_KEY}`]],
    ]
    for (const headers of [...values.map(given), ...others]) {
      const response = await exchange(empty, { target: DOMAINS, headers })
      expect([response.status, codeOf(response)], JSON.stringify(headers)).toEqual([401, 'unauthorized'])
      expect(headerOf(response, 'WWW-Authenticate')).toBe('Bearer')
    }
  })
})

describe('The header Content-Type', () => {
  const body = '{"domains":["new.example"]}'

  const TYPE = 'application/json'

  const SAME = [
    TYPE,
    'Application/JSON',
    `${TYPE};charset=utf-8`,
    `${TYPE}; charset="UTF-8"`,
    `${TYPE} ; Charset=utf-8`,
  ]
  it.for(SAME)('may be %s', async (type, { empty }) => {
    const headers: Header[] = [AUTHORIZED, ['Content-Type', type]]
    expect((await exchange(empty, { method: 'POST', target: DOMAINS, headers, body })).status).toBe(200)
  })
})

describe('The header Expect', () => {
  it.for(['nonsense', '200-ok', ''])('%j changes nothing', async (expectation, { empty }) => {
    const response = await post(empty, DOMAINS, '{"domains":["new.example"]}', ['Expect', expectation])
    expect(response.status).toBe(200)
    const read = await exchange(empty, { target: DOMAINS, headers: [AUTHORIZED, ['Expect', expectation]] })
    expect(read.status).toBe(200)
  })
})

describe('The headers of an answer', () => {
  const ASKED = '00000000-0000-4000-8000-000000000000'
  const ALWAYS = ['content-type', 'content-length', 'x-request-id', 'date', 'connection']
  const QUOTA = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

  it.for<[status: number, what: string, more: string[], request: WireRequest]>([
    [200, 'GET', QUOTA, { target: DOMAINS }],
    [200, 'HEAD', QUOTA, { method: 'HEAD', target: '/api/v1/dmarc' }],
    [401, 'no key', ['www-authenticate'], { target: DOMAINS, headers: [] }],
    [404, 'an unknown path', [], { target: '/nothing' }],
    [429, 'its quota used', QUOTA, { target: '/api/v1/dmarc' }],
    [403, 'a plan below Stone', [], { target: '/api/v1/dmarc' }],
    [413, 'a large body', QUOTA, { ...ADDITION, body: ' '.repeat(1_048_577) }],
  ])('are those of the contract and no other, on %i for %s', async ([status, , more, request]) => {
    const service = await startService({ fixture: ACCOUNT, plan: status === 403 ? 'below-stone' : 'stone' })
    if (status === 429) for (let used = 0; used < 10; used++) await service.get('/dmarc')
    const headers: Header[] = [...(request.headers ?? [AUTHORIZED]), ['X-Request-Id', ASKED]]
    const response = await exchange(service, { ...request, headers })
    expect(response.status).toBe(status)
    expect(response.headers.map(([name]) => name.toLowerCase()).sort()).toEqual([...ALWAYS, ...more].sort())
    const id = headerOf(response, 'X-Request-Id')
    expect(id).toMatch(UUID)
    expect(id).not.toBe(ASKED)
  })
})
