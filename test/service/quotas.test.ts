import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { DAY, instant, SECOND_KEY, withKey } from '../support/account.ts'
import { contractWith } from '../support/alternatives.ts'
import { ask } from '../support/example-service.ts'
import { failingStore, LOST, overMemory } from '../support/failing-store.ts'
import { NO_QUOTA, quotaOf } from '../support/quota-headers.ts'
import { type ServiceOptions, START, startService, type TestService } from '../support/service.ts'

const RESET = Date.parse('2026-01-15T10:00:00Z') / 1000
const untouched = { limit: 30, remaining: 30, reset: RESET }
const used = { limit: 30, remaining: 29, reset: RESET }

async function startWith(alternatives: string, options: ServiceOptions = {}): Promise<TestService> {
  const names = alternatives === '' ? [] : alternatives.split(' ')
  return startService(options, OPERATIONS, { contract: await contractWith(...names) })
}

describe('The headers about the quota', () => {
  const failing = (method: 'enter' | 'update') => async (alternatives: string) => {
    const { store, fail } = failingStore(method)
    const service = await startWith(alternatives, { store })
    fail()
    return service.send('POST', '/domains', { domains: ['new.example'] })
  }

  it.each<[status: number, where: string, alternatives: string, quota: object, ask: ReturnType<typeof failing>]>([
    [500, 'a change cannot be stored', '', used, failing('update')],
    [500, 'a change cannot be stored', 'quota-headers-3', NO_QUOTA, failing('update')],
    [500, 'nobody knows whose key it is', '', NO_QUOTA, failing('enter')],
    [500, 'nobody knows whose key it is', 'quota-headers-2', untouched, failing('enter')],
  ])('on %d, where %s, with the alternatives %j', async (expected, _, alternatives, quota, ask) => {
    const { status, headers } = await ask(alternatives)
    expect([status, quotaOf(headers)]).toEqual([expected, quota])
  })

  it('tell the seconds that are left where the contract says so, also without a valid key', async () => {
    const service = await startWith('quota-headers-2 rate-limit-reset-1')
    // A second that has begun is left.
    service.advance(1)
    const { headers } = await service.send('GET', '/domains', undefined, { authorization: null })
    expect(quotaOf(headers)).toEqual({ ...untouched, reset: 1800 })
  })
})

describe('With charges for successes alone', () => {
  it('a refusal after the end of the window gives nothing back to the next one', async () => {
    const service = await startWith('charged-requests-1')
    await service.get('/domains')
    service.advance(3_600_000)
    const refused = await service.send('POST', '/domains', {})
    expect([refused.status, quotaOf(refused.headers).remaining]).toEqual([400, 30])
    expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(29)
  })

  it('what a fault refuses in place of the service is charged', async () => {
    const service = await startWith('charged-requests-1')
    const refused = await service.send('GET', '/domains', undefined, { prefer: 'code=rate_limited' })
    expect([refused.status, quotaOf(refused.headers).remaining]).toEqual([429, 0])
    expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(28)
  })
})

it('A refused request gives nothing back to another account that has got its key meanwhile', async () => {
  const store = overMemory((memory) => ({
    async update() {
      const { state } = await memory.read('default')
      await memory.delete('default')
      await memory.create(state)
      await service.get('/domains')
      throw LOST
    },
  }))
  const service = await startWith('charged-requests-1', { store })
  await service.send('POST', '/domains', { domains: ['new.example'] })
  expect(quotaOf((await service.get('/domains')).headers).remaining).toBe(28)
})

describe('The grace period of a new key', () => {
  it('[grace-of-new-keys] lasts until 7 days after its creation, for that key alone', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: instant(0) }] } })
    const limit = async (headers = withKey(SECOND_KEY)) =>
      quotaOf((await ask(service, 'GET /domains', undefined, headers)).headers).limit
    expect([await limit(), await limit({})]).toEqual([300, 30])
    service.advance(7 * DAY - 1)
    expect(await limit()).toBe(300)
    service.advance(1)
    expect(await limit()).toBe(30)
  })

  it('ends for the hour that has begun, too: what was used counts against the ordinary limit', async () => {
    const service = await startService({ fixture: { keys: [{ key: SECOND_KEY, created_at: instant(1 - 7 * DAY) }] } })
    const read = () => ask(service, 'GET /dmarc', undefined, withKey(SECOND_KEY))
    for (let request = 0; request < 20; request++) expect((await read()).status).toBe(200)
    service.advance(1)
    const refused = await read()
    expect([refused.status, quotaOf(refused.headers)]).toMatchObject([429, { limit: 10, remaining: 0 }])
  })
})

it('The header Date has the clock of the account, so that it goes with X-RateLimit-Reset', async () => {
  const service = await startService({ now: '2031-05-06T07:08:09Z' })
  expect((await service.get('/domains')).headers['date']).toBe('Tue, 06 May 2031 07:08:09 GMT')
  const stranger = await service.send('GET', '/domains', undefined, { authorization: null })
  expect(stranger.headers['date']).toBe(new Date(START).toUTCString())
})
