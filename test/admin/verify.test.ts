import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { RequestMatch } from '../../src/journal/match.ts'
import { addFault, askControl, type Served } from '../support/control-plane.ts'
import { openService, type TestService } from '../support/service.ts'

const VERIFY = '/accounts/default/requests/verify'

/** A service to which requests of several kinds were sent. */
async function openWithRequests(): Promise<TestService> {
  const service = await openService()
  await service.send('POST', '/domains', { domains: ['a.example', 'b.example'] }, { 'x-client': 'one' })
  await service.send('POST', '/domains', { domains: ['no host'] })
  await service.send('POST', '/domaingroups', { name: 'Sales', domains: ['a.example'] }, { 'x-client': 'two' })
  await service.send('GET', '/domaingroups?id=00000000')
  await service.send('GET', '/domains', undefined, { prefer: 'code=rate_limited' })
  return service
}

/** A server for tests that only read it. */
const shared = await openWithRequests()
afterAll(shared.stop)

async function verify(service: Served, body: object) {
  const { status, text, data } = await askControl(service, 'POST', VERIFY, body)
  expect(status, text).toBe(200)
  return data
}

describe('a request whose body was not read, or not kept as a whole', () => {
  const body = { name: 'Sales' }
  const match = { operation: 'createDomainGroup', body }
  let service: TestService
  beforeAll(async () => {
    service = await openService()
    await service.send('POST', '/domaingroups', body)
    const { operation } = match
    await addFault(service, { match: { operation }, times: 1, respond: { error: 'internal_error' } })
    await service.send('POST', '/domaingroups', body)
    // The journal keeps its beginning, which is valid JSON.
    await service.send('POST', '/domaingroups', `${JSON.stringify({ ...body, domains: [] })}${' '.repeat(20_000)}`)
    await service.get('/domaingroups')
    return service.stop
  })
  const more = (count: number) =>
    count === 1
      ? ' 1 more request may match: its body was not read, or not kept as a whole, so nobody can tell.'
      : ` ${count} more requests may match: their bodies were not read, or not kept as a whole, so nobody can tell.`

  it.each<[demand: object, passed: boolean, unknown: number]>([
    [{ match, count: 1 }, true, 2],
    [{ match, at_most: 3 }, true, 0],
    [{ match: { ...match, query: { id: 'x' } }, count: 0 }, true, 0],
  ])('decides nothing, and the message says so: %j', async (demand, passed, unknown) => {
    const outcome = await verify(service, demand)
    expect(outcome.passed).toBe(passed)
    expect(outcome.message.endsWith(unknown === 0 ? '.' : more(unknown)), outcome.message).toBe(true)
    expect(outcome.message.includes('may match')).toBe(unknown > 0)
  })
})

describe('a request matches', () => {
  it.each<[match: RequestMatch, matched: number]>([
    [{}, 5],
    [{ query: { id: '00000000' } }, 1],
    [{ headers: { 'X-Client': 'two' } }, 1],
    [{ body: { domains: ['a.example'] } }, 1],
    [{ body: {} }, 3],
    [{ operation: 'addDomains', status: 200, body: { domains: ['a.example', 'b.example'] } }, 1],
  ])('%j, %d times', async (match, matched) => {
    expect(await verify(shared, { match })).toMatchObject({ matched, passed: matched > 0 })
  })
})

describe('a verification', () => {
  const ADDED = { operation: 'addDomains' }
  const NONE = 'No request matches, but at least 1 was expected.'
  const NEAREST = 'The nearest is GET /api/v1/domains: its operation is "listDomains", not "addDomains".'
  it.each<[body: object, passed: boolean, message: string]>([
    [{ match: ADDED, count: 2 }, true, '2 requests match, as expected.'],
    [{ match: ADDED, count: 1 }, false, '2 requests match, but exactly 1 was expected.'],
    [{ match: ADDED, at_least: 3, at_most: 4 }, false, `2 requests match, but 3 to 4 were expected. ${NEAREST}`],
    [{ match: ADDED, at_least: 3 }, false, `2 requests match, but at least 3 were expected. ${NEAREST}`],
    [{ match: ADDED, at_most: 1 }, false, '2 requests match, but at most 1 was expected.'],
    [{ match: { operation: 'deleteDomains' }, count: 0 }, true, 'No request matches, as expected.'],
    [
      { match: { operation: 'createDomainGroup', body: { name: 'Marketing' } } },
      false,
      `${NONE} The nearest is POST /api/v1/domaingroups: its body is {"name":"Sales","domains":["a.example"]}, not {"name":"Marketing"}.`,
    ],
  ])('of %j says whether it passed, and why: %j', async (body, passed, message) => {
    expect(await verify(shared, body)).toMatchObject({ passed, message })
  })
})

describe('near misses', () => {
  it('are few, the nearest first and of these the newest, with what is different', async () => {
    const service = await openWithRequests()
    onTestFinished(service.stop)
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
})

/** A condition of a list or of a verification, and the message that refuses it. */
const MISTAKES: [condition: Record<string, unknown>, message: RegExp][] = [
  [{ operation: 'addDomain' }, /must be one of listDmarc, .*, not "addDomain"\. Did you mean addDomains\?$/],
  [{ status: 299 }, /must be one of 200, 400, .*, not "?299"?\./],
  [{ method: 'post' }, /Did you mean POST\?$/],
  [{ path: '/domain' }, /Did you mean \/domains\?$/],
]

describe('a condition that no request can meet is refused', () => {
  it.each(MISTAKES)('%j in the lists, and in a verification, which would pass with a count of 0', async (...row) => {
    const [match, message] = row
    const refused = [400, 'invalid_value', expect.stringMatching(message)]
    const query = new URLSearchParams(
      Object.entries(match).map(([name, value]): [string, string] => [name, String(value)]),
    )
    for (const path of ['/requests', '/accounts/default/requests']) {
      const { status, error } = await askControl(shared, 'GET', `${path}?${query}`)
      expect([status, error?.code, error?.message], path).toEqual(refused)
    }
    const { status, error } = await askControl(shared, 'POST', VERIFY, { match, count: 0 })
    expect([status, error?.code, error?.message]).toEqual(refused)
    expect(error.problems[0].field).toMatch(/^\/match\//)
  })
})

describe('a condition that a request can meet is accepted', () => {
  it.each([
    ['a method that the service does not have', { method: 'PUT' }],
    ['a status outside of every operation', { status: 405 }],
  ])('%s', async (_, match) => {
    expect((await verify(shared, { match, count: 0 })).passed).toBe(true)
  })
})
