import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { ACCOUNT, DISABLED_KEY, withKey } from '../support/account.ts'
import { askControl, journalOf } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'
import type { SentHeaders } from '../support/request.ts'
import { sends } from '../support/rows.ts'
import { API_KEY, openService, type TestService } from '../support/service.ts'
import { CLOSE, requestBytes } from '../support/wire.ts'

const KEY_ID = 'key_TestKey1'
const KEYLESS = { authorization: null }
const UNKNOWN = withKey('no-such-key')

type Send = (service: TestService) => Promise<unknown>
const get = (path: string, headers: SentHeaders = {}) => sends('GET', path, undefined, headers)
/** Sends these bytes as they are. */
const raw = (bytes: string | Buffer) => (service: TestService) => service.sendRaw(bytes)
/** Sends a request without a key, with these headers, on a connection of its own. */
const bare = (target: string, ...headers: [name: string, value: string][]) =>
  raw(requestBytes({ target, headers: [...headers, CLOSE] }))

/** A server that is reset before each test. */
const shared = await openService({ fixture: ACCOUNT })
afterAll(shared.stop)
beforeEach(async () => {
  await askControl(shared, 'POST', '/accounts/default/reset')
})
const latest = async () => (await askControl(shared, 'GET', '/requests?limit=1')).data.requests[0]

describe('an exchange is listed', () => {
  it('with all that came in and went out', async () => {
    const service = await startObserved()
    const response = await service.send('POST', '/domaingroups?x=1', { name: 'Sales' }, { 'x-client': 'test' })
    const id = response.headers['x-request-id']
    expect(await service.requests()).toEqual([
      {
        ...{
          ordinal: 1,
          id: expect.stringMatching(/^[0-9a-f]{8}-1$/),
          request_id: id,
          account: 'default',
          key: KEY_ID,
          at: '2026-01-15T09:30:00Z',
        },
        ...{ method: 'POST', path: '/api/v1/domaingroups', query: 'x=1', operation: 'createDomainGroup' },
        ...{ status: 200, code: null, injected: false, fault: null, duration_ms: expect.any(Number) },
        ...{ problems: [], violates_contract: false, violations: [] },
        quota: { limit: 100, remaining: 99, resets_at: '2026-01-15T10:00:00Z' },
        request: {
          headers: expect.objectContaining({ authorization: `Bearer ${KEY_ID}.[redacted]`, 'x-client': 'test' }),
          ...{ body: '{"name":"Sales"}', body_size: 16, truncated: false },
        },
        response: {
          headers: expect.objectContaining({ 'x-request-id': id }),
          ...{ body: response.text, body_size: response.text.length, truncated: false },
        },
      },
    ])
  })

  it.each<[what: string, send: Send, expected: object]>([
    [
      'with a body that was declared too large',
      sends('POST', '/domains', ' '.repeat(1_048_577)),
      { status: 413, request: { body: null, body_size: 1_048_577, truncated: true } },
    ],
    [
      'that is not HTTP',
      raw('GET /api/v1/dmarc?key=secret1234 HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n'),
      { status: 400, code: 'invalid_request_body', account: null, method: 'GET', query: 'key=[redacted]' },
    ],
    [
      'with names of the prototype',
      bare('/api/v1/domains?__proto__=1&constructor=2', ['__proto__', 'x'], ['constructor', 'y']),
      { query: '__proto__=1&constructor=2', request: { headers: { constructor: 'y' } } },
    ],
    [
      'that a preference answered',
      get('/domains', { prefer: 'code=rate_limited' }),
      { injected: true, code: 'rate_limited', fault: { source: 'prefer' } },
    ],
  ])('%s', async (_, send, expected) => {
    await send(shared)
    expect(await latest()).toMatchObject(expected)
  })
})

type Sent = [method: string, path: string, headers?: SentHeaders]

describe('the journal of an account', () => {
  it.each<[what: string, sent: Sent, status: number, key: string]>([
    ['to a wrong path', ['GET', '/nothing'], 404, KEY_ID],
    ['with a wrong method', ['PUT', '/domains'], 405, KEY_ID],
    ['with a disabled key', ['GET', '/domains', withKey(DISABLED_KEY)], 401, 'key_TestKey3'],
    ['with its key in another form', ['GET', '/domains', { authorization: `bearer  ${API_KEY}` }], 401, KEY_ID],
  ])('has a request %s', async (_, [method, path, headers], status, key) => {
    await shared.send(method, path, undefined, headers)
    expect(await latest()).toMatchObject({ account: 'default', key, status, at: '2026-01-15T09:30:00Z' })
  })

  it.each<[what: string, headers: SentHeaders, path: string]>([
    ['without a key', KEYLESS, '/domains'],
    ['with a wrong key and a wrong path', UNKNOWN, '/nothing'],
    ['with the key of a sandbox that is not open, to a wrong path', withKey('sandbox_new'), '/nothing'],
  ])('has no request %s', async (_, headers, path) => {
    await shared.send('GET', path, undefined, headers)
    expect(await journalOf(shared)).toEqual([])
    expect((await askControl(shared, 'GET', '/requests?account=none&limit=1')).data.requests).toEqual([await latest()])
    expect(await latest()).toMatchObject({ account: null, key: null })
    expect((await askControl(shared, 'GET', '/accounts')).data.count).toBe(1)
  })

  it.each([
    [3, ['n=3', 'n=4', 'n=5']],
    [0, []],
  ])('keeps the newest %d, in their order, and the coverage counts all', async (journal, kept) => {
    const service = await startObserved({ journal })
    for (const number of [1, 2, 3, 4, 5]) await service.get(`/domains?n=${number}`)
    expect((await service.requests()).map(({ query }) => query)).toEqual(kept)
    expect((await service.ask('GET', '/accounts/default/coverage')).data.summary.operations.seen).toBe(1)
  })

  it('has the time of its own clock, while an answer to any client has the time of the machine', async () => {
    await askControl(shared, 'PATCH', '/accounts/default/clock', { advance: 'P40D' })
    const { headers } = await shared.get('/nothing')
    expect(await latest()).toMatchObject({ at: '2026-02-24T09:30:00Z' })
    expect(headers['date']).toBe('Thu, 15 Jan 2026 09:30:00 GMT')
  })
})
