import { describe, expect, it } from 'vitest'
import { ACCOUNT, DISABLED_KEY, withKey } from '../support/account.ts'
import { addFault } from '../support/control-plane.ts'
import { startObserved } from '../support/observed-service.ts'
import { sends } from '../support/rows.ts'
import { API_KEY, type TestService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, Connection, JSON_BODY, requestBytes } from '../support/wire.ts'

const KEY_ID = 'key_TestKey1'
const CUSTOM_KEY = 'Correct-Horse+Battery/Staple'

type Send = (service: TestService) => Promise<unknown>

const get = (path: string, headers: Record<string, string | null> = {}) => sends('GET', path, undefined, headers)
const add = (domains: string[], headers = {}) => sends('POST', '/domains', { domains }, headers)
const createGroup = (name: string, headers = {}) => sends('POST', '/domaingroups', { name }, headers)
const NO_KEY = { authorization: null }
/** Sends these bytes as they are. */
const raw = (bytes: string | Buffer) => (service: TestService) => service.sendRaw(bytes)
/** Sends a request without a key, with these headers, on a connection of its own. */
const bare = (target: string, ...headers: [name: string, value: string][]) =>
  raw(requestBytes({ target, headers: [...headers, CLOSE] }))

describe('an exchange is listed', () => {
  it('with all that came in and went out', async () => {
    const service = await startObserved()
    const response = await service.send('POST', '/domaingroups?x=1', { name: 'Sales' }, { 'x-client': 'test' })
    const id = response.headers['x-request-id']
    expect(await service.requests()).toEqual([
      {
        ...{ ordinal: 1, request_id: id, account: 'default', key: KEY_ID, at: '2026-01-15T09:30:00Z' },
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
      'refused by its schema',
      add(['no host', 'x']),
      { status: 400, code: 'invalid_domain', problems: [{ field: '/domains/0' }, { field: '/domains/1' }] },
    ],
    ['without a key', get('/dmarc', NO_KEY), { status: 401, code: 'unauthorized', account: null, key: null }],
    [
      'with a disabled key, as one of its account',
      get('/dmarc', withKey(DISABLED_KEY)),
      { status: 401, code: 'unauthorized', account: 'default', key: 'key_TestKey3' },
    ],
    ['for an unknown path', get('/nothing'), { status: 404, operation: null, path: '/api/v1/nothing' }],
    ['with a wrong method', sends('PUT', '/domains'), { status: 405, method: 'PUT' }],
    ['of HEAD', sends('HEAD', '/domains'), { status: 200, method: 'HEAD', operation: 'listDomains' }],
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
    ['that is no text', raw('\0\x01\x02\r\n\r\n'), { status: 400, method: '', path: '' }],
    [
      'without a Host',
      raw('GET /api/v1/dmarc HTTP/1.1\r\nConnection: close\r\n\r\n'),
      { status: 400, code: 'invalid_request_body' },
    ],
    [
      'with bytes in its target that are no ASCII',
      raw(Buffer.from('GET /api/v1/\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 'latin1')),
      { method: 'GET', operation: null },
    ],
    [
      'with the absolute form of its target',
      bare('http://x/api/v1/domains'),
      { status: 401, path: '/api/v1/domains', operation: 'listDomains' },
    ],
    [
      'with names of the prototype',
      bare('/api/v1/domains?__proto__=1&constructor=2', ['__proto__', 'x'], ['constructor', 'y']),
      { query: '__proto__=1&constructor=2', request: { headers: { constructor: 'y' } } },
    ],
    [
      'with as many headers as there can be',
      bare('/api/v1/domains', ...Array.from({ length: 900 }, (_, index): [string, string] => [`x-${index}`, 'y'])),
      { status: 401, request: { headers: { 'x-899': 'y' } } },
    ],
  ])('%s', async (_, send, expected) => {
    const service = await startObserved({ fixture: ACCOUNT })
    await send(service)
    expect(await service.latest()).toMatchObject(expected)
  })

  it('whose client left before its request was whole', async () => {
    const service = await startObserved()
    const connection = await Connection.open(service)
    const headers = [AUTHORIZED, JSON_BODY, ['Content-Length', '99']] as const
    await connection.write(requestBytes({ method: 'POST', target: '/api/v1/domains', headers, body: '{' }))
    // Only what has been admitted is waited for.
    await expect
      .poll(async () => (await service.ask('GET', '/accounts/default/quotas')).text)
      .toContain('"remaining":29')
    await connection.destroy()
    await expect.poll(() => service.requests()).toMatchObject([{ status: null, code: null, operation: 'addDomains' }])
    expect((await service.explain()).summary).toBe(
      'The client left before its request was complete, so no response was sent.',
    )
  })

  it.each<[connection: string, status: number | null, effect: RegExp]>([
    ['reset', null, /reset/],
    ['empty', null, /closed/],
    ['truncate', 200, /^Half of the body/],
  ])('whose answer a fault lost: %s', async (connection, status, effect) => {
    const service = await startObserved()
    await addFault(service, { connection, phase: connection === 'truncate' ? 'after' : 'before' })
    await service.get('/domains').catch(() => {})
    expect(await service.latest()).toMatchObject({
      status,
      injected: true,
      fault: { source: 'rule', id: 'fault_1', effect: expect.stringMatching(effect) },
    })
  })

  it('that a fault rule acted on, by the id of the rule, also when only the clock went on or the rule is removed', async () => {
    const service = await startObserved()
    await addFault(service, { match: { operation: 'addDomains' }, delay_ms: 1 })
    await addFault(service, { event: 'window-end', times: 1 })
    await service.get('/domains')
    await service.get('/domains')
    await service.send('POST', '/domains', { domains: ['a.example'] })
    const pathsOf = async (query: string) => {
      const { body } = await service.ask('GET', `/accounts/default/requests?${query}`)
      return body.data.requests.map(({ method, path }: { method: string; path: string }) => `${method} ${path}`)
    }
    expect(await pathsOf('fault=fault_1')).toEqual(['POST /api/v1/domains'])
    expect(await pathsOf('fault=fault_2')).toEqual(['GET /api/v1/domains'])
    await service.ask('DELETE', '/accounts/default/faults')
    expect(await pathsOf('fault=fault_2')).toEqual(['GET /api/v1/domains'])
    expect(await pathsOf('fault=fault_1&method=POST')).toHaveLength(1)
    const { status, error } = await service.ask('GET', '/accounts/default/requests?fault=fault_9')
    expect(status).toBe(400)
    expect(error.message).toBe(
      '`fault` must be one of those that there are, and there are none, so "fault_9" is none of them.',
    )
  })

  it('as injected when a preference answered, and as genuine when it was only delayed', async () => {
    const service = await startObserved()
    await get('/domains', { prefer: 'code=rate_limited' })(service)
    await get('/domains', { prefer: 'delay=1' })(service)
    expect(await service.requests()).toMatchObject([
      { injected: true, code: 'rate_limited', fault: { source: 'prefer' } },
      { injected: false, status: 200, fault: { source: 'prefer' } },
    ])
  })
})

describe('the journal', () => {
  it.each([
    [3, ['n=3', 'n=4', 'n=5']],
    [0, []],
  ])('keeps the newest %d of each account, in their order', async (journal, kept) => {
    const service = await startObserved({ journal })
    for (const number of [1, 2, 3, 4, 5]) await service.get(`/domains?n=${number}`)
    expect((await service.requests()).map(({ query }) => query)).toEqual(kept)
    expect((await service.ask('GET', '/accounts/default/coverage')).data.summary.operations.seen).toBe(1)
  })

  it('lists and counts those of no account', async () => {
    const service = await startObserved()
    await service.get('/domains')
    for (const key of ['no-such-key', 'another-one']) await get('/domains', withKey(key))(service)
    await service.sendRaw('\0\x01\x02\r\n\r\n')
    const { data } = (await service.ask('GET', '/requests?account=none&limit=1')).body
    expect(data).toMatchObject({ requests: [{ account: null, status: 400 }], count: 3, next: 4 })
    const rest = await service.ask('GET', '/requests?account=none&before=4&status=401')
    expect(rest.body.data).toMatchObject({ requests: [{ ordinal: 2 }, { ordinal: 3 }], count: 2, next: null })
  })

  it('refuses another account than none there, because each account has a list of its own', async () => {
    const service = await startObserved()
    for (const path of ['/requests?account=default', '/accounts/default/requests?account=none']) {
      const { status, body } = await service.ask('GET', path)
      expect([status, body.error.problems[0].field]).toEqual([400, 'account'])
    }
  })

  it('forgets what it is told to, of this account alone', async () => {
    const service = await startObserved()
    await service.get('/domains')
    await get('/domains', withKey('sandbox_other'))(service)
    expect((await service.ask('DELETE', '/accounts/default/requests')).status).toBe(200)
    const { body } = await service.ask('GET', '/requests')
    expect(body.data.requests).toMatchObject([{ account: 'sandbox_other' }])
  })

  it('keeps the beginning of a long body, and its size', async () => {
    const service = await startObserved()
    const text = `{"domains": [${' '.repeat(20_000)}"a.example"]}`
    await service.send('POST', '/domains', text)
    const [entry] = await service.requests()
    expect(entry?.request).toMatchObject({ body: text.slice(0, 10_240), body_size: text.length, truncated: true })
  })

  it('keeps a hundred problems of a request that has more, and what stood in a long body in short', async () => {
    const service = await startObserved()
    await service.send('POST', '/domains', { domains: Array.from({ length: 20_000 }, () => 'no host') })
    const [entry] = await service.requests()
    expect(entry?.problems).toHaveLength(100)
    expect(entry?.problems[0]?.received).not.toContain('no host, no host')
    expect(JSON.stringify(entry).length).toBeLessThan(50_000)
  })

  it.each([
    '['.repeat(100_000),
    `{"domains": ${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
    `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  ])('lists bodies that are nested deeply: %.20s', async (body) => {
    const service = await startObserved()
    await service.send('POST', '/domains', body)
    expect(await service.requests()).toHaveLength(1)
    const match = { method: 'POST', body: {} }
    expect((await service.ask('POST', '/accounts/default/requests/verify', { match })).status).toBe(200)
    expect((await service.explain()).correction).not.toBeNull()
  })
})

describe('a filter', () => {
  const OF_ACCOUNT = '/accounts/default/requests'
  it.each<[list: string, query: string, listed: string[]]>([
    [OF_ACCOUNT, 'operation=addDomains', ['POST 200', 'POST 400', 'POST 429']],
    ['/requests', 'method=GET', ['GET 200', 'GET 404']],
    [OF_ACCOUNT, 'path=/domains', ['GET 200', 'POST 200', 'POST 400', 'POST 429']],
    ['/requests', 'path=/nothing', ['GET 404']],
    [OF_ACCOUNT, 'status=429', ['POST 429']],
    [OF_ACCOUNT, 'code=invalid_domain', ['POST 400']],
    [OF_ACCOUNT, 'violation=true', ['POST 400', 'GET 404']],
    ['/requests', 'violation=false&method=POST', ['POST 200', 'POST 429']],
    [OF_ACCOUNT, 'injected=true', ['POST 429']],
    [OF_ACCOUNT, 'refused=true', ['POST 400', 'POST 429', 'GET 404']],
    [OF_ACCOUNT, 'refused=false', ['GET 200', 'POST 200']],
    [OF_ACCOUNT, 'refused=true&injected=false', ['POST 400', 'GET 404']],
    [OF_ACCOUNT, 'injected=false&operation=addDomains', ['POST 200', 'POST 400']],
    ['/requests', 'limit=2', ['POST 429', 'GET 404']],
  ])('%s?%s', async (list, query, listed) => {
    const service = await startObserved()
    await service.get('/domains')
    await add(['a.example'])(service)
    await add(['no host'])(service)
    await add(['b.example'], { prefer: 'code=rate_limited' })(service)
    await service.get('/nothing')
    const { data } = await service.ask('GET', `${list}?${query}`)
    const seen = data.requests.map(({ method, status }: { method: string; status: number }) => `${method} ${status}`)
    expect(seen).toEqual(listed)
  })

  it('lets through what is marked as a violation, which is what the verdict counts', async () => {
    const service = await startObserved({ fixture: ACCOUNT })
    await service.get('/domains')
    await add(['one.example'])(service)
    await add(['no host'])(service)
    await add(['no host'], { prefer: 'code=rate_limited' })(service)
    await service.get('/nothing')
    await get('/domains', NO_KEY)(service)
    await service.sendRaw('\0\x01\x02\r\n\r\n')
    const list = async (query: string): Promise<{ ordinal: number; violates_contract: boolean }[]> =>
      (await service.ask('GET', `/requests${query}`)).body.data.requests
    const ordinalsOf = (entries: { ordinal: number }[]) => entries.map(({ ordinal }) => ordinal)
    const marked = (await list('')).filter((entry) => entry.violates_contract)
    expect(ordinalsOf(marked)).toEqual(ordinalsOf(await list('?violation=true')))
    const verdict = await service.ask('GET', '/verdict')
    expect(verdict.body.data.violations.count).toBe(marked.length)
    expect(marked.length).toBeGreaterThan(2)
  })
})

describe('no secret is shown', () => {
  it.each<[where: string, secret: string, send: Send]>([
    ['in Authorization', API_KEY, get('/domains')],
    ['after another scheme', API_KEY, get('/domains', { authorization: `bearer  ${API_KEY}` })],
    ['without a scheme', API_KEY, get('/domains', { authorization: API_KEY })],
    ['of Basic', 'dXNlcjpwYXNzd29yZA==', get('/domains', { authorization: 'Basic dXNlcjpwYXNzd29yZA==' })],
    ['of a few letters', 'abc', get('/domains', withKey('abc'))],
    ['of another header', 'hunter2hunter2', get('/domains', { 'x-api-key': 'hunter2hunter2' })],
    ['of a cookie', 'hunter2hunter2', get('/domains', { cookie: 'sid=hunter2hunter2' })],
    ['in the query', API_KEY, get(`/domains?x=${API_KEY}`, NO_KEY)],
    ['in a parameter for keys', 'whatever12', get('/domains?api_key=whatever12', NO_KEY)],
    ['in the path', API_KEY, get(`/${API_KEY}`, NO_KEY)],
    ['in the body', API_KEY, createGroup(`my ${API_KEY}`, withKey('sandbox_b'))],
    ['in a message', API_KEY, add([API_KEY], withKey('sandbox_b'))],
    ['of a sandbox, in the body', 'sandbox_checkout', createGroup('sandbox_checkout')],
    [
      'at the end of a body that was cut off',
      CUSTOM_KEY.slice(0, 12),
      sends('POST', '/domaingroups', `{"name": "${' '.repeat(10_240 - 10 - 12)}${CUSTOM_KEY}"}`),
    ],
    ['at the end of a message that was cut off', CUSTOM_KEY.slice(0, 12), add([`${'x'.repeat(80)} ${CUSTOM_KEY}`])],
  ])('%s', async (_, secret, send) => {
    const service = await startObserved({ fixture: { keys: [{ key: CUSTOM_KEY }] } })
    await send(service).catch(() => {})
    const { request_id } = await service.latest()
    const listed = await service.ask('GET', '/requests')
    const explained = await service.ask('GET', `/explain/${request_id}`)
    // Bodies of refusals quote what was sent back to the client; here they must not.
    const word = new RegExp(`(?<![\\w])${secret.replaceAll(/[+/.]/g, '\\$&')}${secret.length < 8 ? '(?!\\w)' : ''}`)
    expect(listed.text).not.toMatch(word)
    expect(explained.text).not.toMatch(word)
  })

  it('and ordinary words that are somebody’s key stay within longer ones', async () => {
    const service = await startObserved({ apiKey: 'test' })
    await service.send('POST', '/domains', { domains: ['test.example'] }, withKey('test'))
    expect((await service.latest()).request.body).toContain('test.example')
  })
})
