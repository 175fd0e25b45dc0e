import { describe, expect } from 'vitest'
import { DAY, HOUR, instant, SECOND_KEY, withKey } from '../support/account.ts'
import { ask, it } from '../support/example-service.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { START, startService, type TestResponse } from '../support/service.ts'
import { AUTHORIZED, Connection, chunked, codeOf, expectLawful, JSON_BODY, requestBytes } from '../support/wire.ts'

const MEBIBYTE = 1_048_576

it('[at-most-50-domains] Entries are counted before it is asked whether some are the same', async ({ empty }) => {
  const { body } = await ask(empty, 'POST /domains', { domains: Array(51).fill('one.example') })
  expect(body.error.code).toBe('request_too_large')
})

describe('The size of a body', () => {
  const SIZES = [
    ['a byte less than 1 MiB passes', MEBIBYTE - 1, undefined],
    ['exactly 1 MiB passes', MEBIBYTE, undefined],
    ['a byte more than 1 MiB is refused', MEBIBYTE + 1, 'request_too_large'],
    ['4 MiB are refused', 4 * MEBIBYTE, 'request_too_large'],
  ] as const
  const ANNOUNCED = ['announced by Content-Length', (text: string) => text, []] as const
  const IN_CHUNKS = ['unknown until the last chunk', chunked, [['Transfer-Encoding', 'chunked'] as const]] as const

  const BODIES = [ANNOUNCED, IN_CHUNKS].flatMap((way) => SIZES.map((size) => [way[0], ...size, way] as const))
  it.for(BODIES)('may be %s, and %s', async ([, , size, code, [, write, headers]], { empty }) => {
    const connection = await Connection.open(empty)
    const body = write('{"domains":["one.example"]}'.padEnd(size))
    const request = { method: 'POST', target: '/api/v1/domains', headers: [AUTHORIZED, JSON_BODY, ...headers], body }
    await connection.write(requestBytes(request))
    const response = await connection.next()
    expectLawful(empty, request, response)
    expect(codeOf(response)).toBe(code)
    // What is not read of a body must be read past.
    await connection.write(requestBytes({ target: '/api/v1/domains' }))
    expect((await connection.next()).status).toBe(200)
    await connection.destroy()
  })

  it('counts bytes, not characters', async ({ empty }) => {
    const codeFor = async (letters: number) =>
      (await ask(empty, 'POST /domaingroups', { name: '😀'.repeat(letters) })).body.error.code
    expect(await codeFor((MEBIBYTE - 12) / 4)).toBe('invalid_name')
    expect(await codeFor((MEBIBYTE - 8) / 4)).toBe('request_too_large')
  })
})

describe('A quota', () => {
  it('begins anew exactly at the end of the hour and not a millisecond before', async ({ empty }) => {
    for (let request = 0; request < 10; request++) await empty.get('/dmarc')
    empty.advance(HOUR / 2 - 1)
    const late = await empty.get('/dmarc')
    expect([late.status, quotaOf(late.headers).reset]).toEqual([429, START / 1000 + 1800])
    empty.advance(1)
    const fresh = await empty.get('/dmarc')
    expect(quotaOf(fresh.headers)).toEqual({ limit: 10, remaining: 9, reset: START / 1000 + 5400 })
  })

  it.for<[what: string, charged: number, request: string, body?: unknown, headers?: Record<string, string | null>]>([
    ['no key', 0, 'GET /domains', undefined, { authorization: null }],
    ['an unknown key', 0, 'GET /domains', undefined, { authorization: 'Bearer unknown' }],
    ['an unknown path', 0, 'GET /domains/x'],
    ['a wrong method', 0, 'PUT /domains', { domains: ['new.example'] }],
    ['another path', 0, 'GET /dmarc'],
    ['HEAD', 1, 'HEAD /domains'],
    ['a change', 1, 'POST /domains', { domains: ['new.example'] }],
    ['another Content-Type', 1, 'POST /domains', '{}', { 'content-type': 'text/plain' }],
    ['a body that is no JSON', 1, 'POST /domains', '{'],
    ['a body that is too large', 1, 'POST /domains', ' '.repeat(MEBIBYTE + 1)],
    ['an unsupported field', 1, 'POST /domains', { x: 1 }],
    ['a domain that is none', 1, 'POST /domains', { domains: ['x'] }],
    ['a domain in use', 1, 'DELETE /domains', { domains: ['used.example'] }],
  ])('is charged for a request with %s by %i', async ([, charged, request, body, headers], { service }) => {
    await ask(service, request, body, headers)
    expect(remaining(await service.get('/domains'))).toBe(29 - charged)
  })
})

describe('The grace period of a new key', () => {
  it.each([
    ['/dmarc', 100, 10],
    ['/domains', 300, 30],
    ['/domaingroups', 1000, 100],
  ])(
    '[grace-of-new-keys] multiplies the limit of %s by ten, to %i, until 7 days after its creation',
    async (path, higher, ordinary) => {
      const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: instant(0) }] } })
      const limit = async (headers = withKey(SECOND_KEY)) =>
        quotaOf((await ask(service, `GET ${path}`, undefined, headers)).headers).limit
      // It belongs to the key and not to the account.
      expect([await limit(), await limit({})]).toEqual([higher, ordinary])
      service.advance(7 * DAY - 1)
      expect(await limit()).toBe(higher)
      service.advance(1)
      expect(await limit()).toBe(ordinary)
    },
  )

  it('ends for the hour that has begun, too: what was used counts against the ordinary limit', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: instant(1 - 7 * DAY) }] } })
    const read = () => ask(service, 'GET /dmarc', undefined, withKey(SECOND_KEY))
    for (let request = 0; request < 20; request++) expect((await read()).status).toBe(200)
    service.advance(1)
    const refused = await read()
    expect([refused.status, quotaOf(refused.headers)]).toMatchObject([429, { limit: 10, remaining: 0 }])
  })
})

function remaining({ headers }: TestResponse): number | undefined {
  return quotaOf(headers).remaining
}
