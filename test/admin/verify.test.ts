import { describe, expect, it } from 'vitest'
import type { RequestMatch } from '../../src/journal/match.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'

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
  const answer = await service.ask('POST', '/accounts/default/requests/verify', body)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}

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
  it.each<[demand: object, passed: boolean]>([
    [{ count: 2 }, true],
    [{ count: 1 }, false],
    [{ count: 0 }, false],
    [{ at_least: 2 }, true],
    [{ at_least: 3 }, false],
    [{ at_most: 2 }, true],
    [{ at_most: 1 }, false],
    [{ at_least: 1, at_most: 3 }, true],
    [{ at_least: 0, at_most: 0 }, false],
  ])('of two that match with %j: %j', async (demand, passed) => {
    const service = await startWithRequests()
    expect(await verify(service, { match: { operation: 'addDomains' }, ...demand })).toMatchObject({
      passed,
      matched: 2,
    })
  })

  it('that none is there passes with a count of 0, and with at_most alone', async () => {
    const service = await startObserved()
    expect(await verify(service, { match: {}, count: 0 })).toMatchObject({ passed: true, matched: 0 })
    expect(await verify(service, { match: {}, at_most: 3 })).toMatchObject({ passed: true })
  })

  it.each([
    { match: {}, count: 1, at_least: 1 },
    { match: {}, count: 1, at_most: 1 },
    { match: {}, count: -1 },
    { match: {}, count: 1.5 },
    { match: { colour: 'red' } },
    { count: 1 },
  ])('is refused as %j', async (body) => {
    const service = await startObserved()
    expect((await service.ask('POST', '/accounts/default/requests/verify', body)).status).toBe(400)
  })

  it('is the same for those who import it', async () => {
    await using service = await startUnderstudy({ fixture: 'empty' })
    const { account, baseUrl } = service
    await fetch(`${baseUrl}/domains`, { headers: account.headers })
    expect(await account.requests.verify({ operation: 'listDomains', violation: false }, { count: 1 })).toEqual({
      passed: true,
      message: '1 request matches, as expected.',
      matched: 1,
      near_misses: [],
    })
    await expect(account.requests.verify({}, { count: -1 })).rejects.toThrow(/count/)
  })
})

describe('the message says why', () => {
  it.each<[body: object, message: string]>([
    [{ match: { operation: 'addDomains' }, count: 2 }, '2 requests match, as expected.'],
    [{ match: { operation: 'addDomains' }, count: 1 }, '2 requests match, but exactly 1 was expected.'],
    [{ match: { operation: 'addDomains' }, at_most: 1 }, '2 requests match, but at most 1 was expected.'],
    [
      { match: { operation: 'addDomains', method: 'POST' }, at_least: 0, at_most: 0 },
      '2 requests match, but exactly 0 were expected.',
    ],
    [{ match: { operation: 'deleteDomains', query: { id: 'x' } } }, 'No request matches, but at least 1 was expected.'],
    [
      { match: { operation: 'createDomainGroup', body: { name: 'Marketing' } } },
      'No request matches, but at least 1 was expected. The nearest is POST /api/v1/domaingroups: its body is ' +
        '{"name":"Sales","domains":["a.example"]}, not {"name":"Marketing"}.',
    ],
  ])('%j', async (body, message) => {
    const service = await startWithRequests()
    expect((await verify(service, body)).message).toBe(message)
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
