import { describe, expect, it } from 'vitest'
import type { RequestMatch } from '../../src/journal/match.ts'
import { addFault } from '../support/control-plane.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'

const VERIFY = '/accounts/default/requests/verify'

async function startWithRequests(): Promise<ObservedService> {
  const service = await startObserved()
  await service.send('POST', '/domains', { domains: ['a.example', 'b.example'] }, { 'x-client': 'one' })
  await service.send('POST', '/domains', { domains: ['no host'] })
  await service.send('POST', '/domaingroups', { name: 'Sales', domains: ['a.example'] }, { 'x-client': 'two' })
  await service.send('GET', '/domaingroups?id=00000000')
  await service.send('GET', '/domains', undefined, { prefer: 'code=rate_limited' })
  return service
}

async function verify(service: ObservedService, body: object) {
  const answer = await service.ask('POST', VERIFY, body)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

describe('a request whose body was not read, or not kept as a whole', () => {
  const body = { name: 'Sales' }
  const match = { operation: 'createDomainGroup', body }
  const more = (count: number) =>
    count === 1
      ? ' 1 more request may match: its body was not read, or not kept as a whole, so nobody can tell.'
      : ` ${count} more requests may match: their bodies were not read, or not kept as a whole, so nobody can tell.`

  it.each<[demand: object, passed: boolean, unknown: number]>([
    [{ match, count: 1 }, true, 2],
    [{ match, at_most: 2 }, true, 2],
    [{ match, at_most: 3 }, true, 0],
    [{ match, at_least: 1 }, true, 0],
    [{ match, at_least: 2 }, false, 2],
    [{ match, count: 0 }, false, 0],
    [{ match: { ...match, query: { id: 'x' } }, count: 0 }, true, 0],
    [{ match: { operation: 'listDomainGroups', body }, count: 0 }, true, 0],
    [{ match: { ...match, status: 500 }, count: 0 }, true, 1],
  ])('decides nothing, and the message says so: %j', async (demand, passed, unknown) => {
    const service = await startObserved()
    await service.send('POST', '/domaingroups', body)
    await addFault(service, {
      match: { operation: 'createDomainGroup' },
      times: 1,
      respond: { error: 'internal_error' },
    })
    await service.send('POST', '/domaingroups', body)
    // The journal keeps its beginning, which is valid JSON.
    await service.send('POST', '/domaingroups', `${JSON.stringify({ ...body, domains: [] })}${' '.repeat(20_000)}`)
    await service.get('/domaingroups')
    const outcome = await verify(service, demand)
    expect(outcome.passed).toBe(passed)
    expect(outcome.message.endsWith(unknown === 0 ? '.' : more(unknown)), outcome.message).toBe(true)
    expect(outcome.message.includes('may match')).toBe(unknown > 0)
  })
})

describe('a request matches', () => {
  it.each<[match: RequestMatch, matched: number]>([
    [{}, 5],
    [{ operation: 'addDomains' }, 2],
    [{ method: 'POST' }, 3],
    [{ path: '/domaingroups' }, 2],
    [{ key: 'key_TestKey1' }, 5],
    [{ status: 200 }, 2],
    [{ code: 'not_found' }, 1],
    [{ injected: true }, 1],
    [{ injected: false }, 4],
    [{ violation: true }, 1],
    [{ query: { id: '00000000' } }, 1],
    [{ query: { id: '1' } }, 0],
    [{ headers: { 'X-Client': 'two' } }, 1],
    [{ headers: { 'x-client': 'two', accept: '*/*' } }, 1],
    [{ body: { name: 'Sales' } }, 1],
    [{ body: { domains: ['a.example', 'b.example'] } }, 1],
    [{ body: { domains: ['a.example'] } }, 1],
    [{ body: {} }, 3],
    [{ body: null }, 0],
    [{ body: { name: 'Sales', size: 1 } }, 0],
    [{ body: { toString: {} } }, 0],
    [{ operation: 'addDomains', status: 200, body: { domains: ['a.example', 'b.example'] } }, 1],
    [{ operation: 'addDomains', code: 'missing_field' }, 0],
  ])('%j, %d times', async (match, matched) => {
    const service = await startWithRequests()
    expect(await verify(service, { match })).toMatchObject({ matched, passed: matched > 0 })
  })

  it('by a text, where its body is none of JSON', async () => {
    const service = await startObserved()
    await service.send('POST', '/domains', 'hello')
    expect(await verify(service, { match: { body: 'hello' } })).toMatchObject({ passed: true })
  })
})

describe('a verification', () => {
  const ADDED = { operation: 'addDomains' }
  const NONE = 'No request matches, but at least 1 was expected.'
  it.each<[body: object, passed: boolean, message: string]>([
    [{ match: ADDED, count: 2 }, true, '2 requests match, as expected.'],
    [{ match: ADDED, count: 1 }, false, '2 requests match, but exactly 1 was expected.'],
    [{ match: ADDED, count: 0 }, false, '2 requests match, but exactly 0 were expected.'],
    [{ match: ADDED, at_least: 2 }, true, '2 requests match, as expected.'],
    [
      { match: ADDED, at_least: 3 },
      false,
      '2 requests match, but at least 3 were expected. The nearest is GET /api/v1/domains: its operation is "listDomains", not "addDomains".',
    ],
    [{ match: ADDED, at_most: 2 }, true, '2 requests match, as expected.'],
    [{ match: ADDED, at_most: 1 }, false, '2 requests match, but at most 1 was expected.'],
    [{ match: ADDED, at_least: 1, at_most: 3 }, true, '2 requests match, as expected.'],
    [{ match: ADDED, at_least: 0, at_most: 0 }, false, '2 requests match, but exactly 0 were expected.'],
    [{ match: { operation: 'deleteDomains' }, count: 0 }, true, 'No request matches, as expected.'],
    [{ match: { operation: 'deleteDomains' }, at_most: 3 }, true, 'No request matches, as expected.'],
    [{ match: { operation: 'deleteDomains', query: { id: 'x' } } }, false, NONE],
    [
      { match: { operation: 'createDomainGroup', body: { name: 'Marketing' } } },
      false,
      `${NONE} The nearest is POST /api/v1/domaingroups: its body is {"name":"Sales","domains":["a.example"]}, not {"name":"Marketing"}.`,
    ],
  ])('of %j says whether it passed, and why: %j', async (body, passed, message) => {
    expect(await verify(await startWithRequests(), body)).toMatchObject({ passed, message })
  })
})

describe('near misses', () => {
  it('are few, the nearest first and of these the newest, with what is different', async () => {
    const service = await startWithRequests()
    await service.send('POST', '/domaingroups', { name: 'sales', domains: ['a.example'] })
    const match = { operation: 'createDomainGroup', status: 200, body: { name: 'Marketing' } }
    const { passed, near_misses } = await verify(service, { match })
    expect(passed).toBe(false)
    expect(near_misses).toMatchObject([
      {
        path: '/api/v1/domaingroups',
        differences: [{ field: 'body', expected: { name: 'Marketing' }, received: { name: 'Sales' } }],
      },
      { differences: [{ field: 'status', expected: 200, received: 409 }, { field: 'body' }] },
      { method: 'POST', path: '/api/v1/domains', differences: [{ field: 'operation' }, { field: 'body' }] },
    ])
  })

  it('fit in something', async () => {
    const service = await startWithRequests()
    const match = { operation: 'deleteDomains', method: 'DELETE', status: 409 }
    expect(await verify(service, { match })).toMatchObject({ passed: false, matched: 0, near_misses: [] })
  })

  it.each([{ count: 2 }, { at_most: 1 }])('are of no use where %j passes, or too many match', async (demand) => {
    const service = await startWithRequests()
    expect((await verify(service, { match: { operation: 'addDomains' }, ...demand })).near_misses).toEqual([])
  })

  it('of a header and a query name it', async () => {
    const service = await startWithRequests()
    const match = { method: 'GET', path: '/domaingroups', query: { id: 'x' }, headers: { 'x-client': 'one' } }
    const [nearest] = (await verify(service, { match })).near_misses
    expect(nearest.differences).toEqual([
      { field: 'query.id', expected: 'x', received: '00000000' },
      { field: 'headers.x-client', expected: 'one', received: null },
    ])
  })
})

/** A condition of a list or of a verification, and the message that refuses it. */
const MISTAKES: [condition: Record<string, unknown>, message: RegExp][] = [
  [{ operation: 'addDomain' }, /must be one of listDmarc, .*, not "addDomain"\. Did you mean addDomains\?$/],
  [{ operation: 'add_domains' }, /Did you mean addDomains\?$/],
  [{ operation: '__proto__' }, /must be one of listDmarc, /],
  [{ operation: 'nope' }, /must be one of listDmarc, listDomains, .*, not "nope"\.$/],
  [{ code: 'ratelimited' }, /Did you mean rate_limited\?$/],
  [{ code: 'teapot' }, /must be one of unauthorized, .*, not "teapot"\.$/],
  [{ status: 999 }, /status/],
  [{ status: 299 }, /must be one of 200, 400, .*, not "?299"?\./],
  [{ method: 'post' }, /Did you mean POST\?$/],
  [{ method: 'GTE' }, /Did you mean GET\?$/],
  [{ path: '/domain' }, /Did you mean \/domains\?$/],
  [{ path: '/api/v1/domains' }, /must be one of \/dmarc, \/domains, \/domaingroups/],
  [{ operation: 'listDomains', code: 'duplicate_name' }, /cannot be "duplicate_name": listDomains has unauthorized, /],
  [{ operation: 'listDomains', status: 409 }, /cannot be 409: listDomains has 200, 401, /],
  [{ operation: 'listDomains', method: 'POST' }, /cannot be "POST": listDomains has GET, HEAD\.$/],
  [{ operation: 'listDomains', path: '/dmarc' }, /cannot be "\/dmarc": listDomains has \/domains\.$/],
]

describe('a condition that no request can meet is refused', () => {
  it.each(MISTAKES)(
    '%j in the lists of requests, and in a verification, which would pass with a count of 0',
    async (...row) => {
      const [match, message] = row
      const refused = [400, 'invalid_value', expect.stringMatching(message)]
      const query = new URLSearchParams(
        Object.entries(match).map(([name, value]): [string, string] => [name, String(value)]),
      )
      const service = await startObserved()
      for (const path of ['/requests', '/accounts/default/requests']) {
        const { status, error } = await service.ask('GET', `${path}?${query}`)
        expect([status, error?.code, error?.message], path).toEqual(refused)
      }
      const { status, error } = await service.ask('POST', VERIFY, { match, count: 0 })
      expect([status, error?.code, error?.message]).toEqual(refused)
      expect(error.problems[0].field).toMatch(/^\/match\//)
    },
  )

  it('such as a key that the account never had', async () => {
    const service = await startObserved()
    const match = { key: 'key_TestKey' }
    const { error } = await service.ask('POST', VERIFY, { match, count: 0 })
    expect(error.message).toMatch(/Did you mean key_TestKey1\?$/)
  })
})

describe('a condition that a request can meet is accepted', () => {
  it.each<[what: string, condition: object]>([
    ['a method that the service does not have', { method: 'PUT' }],
    ['a status outside of every operation', { status: 405 }],
    ['a refusal of an operation', { operation: 'addDomains', code: 'request_too_large', status: 413 }],
    ['a HEAD', { operation: 'listDomains', method: 'HEAD' }],
  ])('%s', async (_, match) => {
    const service = await startObserved()
    const { status, data } = await service.ask('POST', VERIFY, { match, count: 0 })
    expect({ status, passed: data.passed }).toEqual({ status: 200, passed: true })
  })

  it('the status of a fault rule, and one that was received from a rule that is gone', async () => {
    const service = await startObserved()
    const verify = () => service.ask('POST', VERIFY, { match: { status: 299 } })
    const { id } = await addFault(service, { respond: { status: 299 } })
    expect((await verify()).data.passed).toBe(false)
    await service.get('/domains').catch(() => {})
    await service.ask('DELETE', `/accounts/default/faults/${id}`)
    expect((await verify()).data).toMatchObject({ passed: true, matched: 1 })
  })

  it('a path that somebody has asked for, though the service has none', async () => {
    const service = await startObserved()
    await service.get('/domain')
    expect((await service.ask('GET', '/requests?path=/domain')).data.count).toBe(1)
  })
})
