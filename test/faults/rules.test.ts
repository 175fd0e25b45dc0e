import { describe, expect, it } from 'vitest'
import { ACCOUNT, HOUR, instant } from '../support/account.ts'
import { addFault, askControl, faultsOf } from '../support/control-plane.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { AUTHORIZED, CLOSE, exchangeAsIs, JSON_BODY, requestBytes } from '../support/wire.ts'

describe('The phase of a rule', () => {
  const ADD = ['POST', '/domains', { domains: ['new.example'] }] as const

  it('`before` changes nothing, yet charges the quota', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'internal_error' }, times: 1 })
    expect((await service.send(...ADD)).status).toBe(500)
    const after = await service.get('/domains')
    expect(after.body.data.domains).toEqual([])
    expect(quotaOf(after.headers).remaining).toBe(28)
  })

  it('`after` has made the change when its answer is another', async () => {
    const service = await startService()
    await addFault(service, { phase: 'after', respond: { error: 'internal_error' }, times: 1 })
    expect((await service.send(...ADD)).status).toBe(500)
    expect((await service.get('/domains')).body.data.domains).toEqual(['new.example'])
    expect((await service.send(...ADD)).body.error.code).toBe('invalid_domain')
  })

  it('`before` reads no body, so that an unlawful request gets the injected answer', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'rate_limited' } })
    expect((await service.send('POST', '/domains', '{broken')).status).toBe(429)
  })

  it.each(['before', 'after'] as const)('`%s` leaves alone what was refused at the gate', async (phase) => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { phase, respond: { status: 599 } })
    expect((await service.send('GET', '/domains', undefined, { authorization: null })).status).toBe(401)
    expect((await service.get('/nowhere')).status).toBe(404)
    await askControl(service, 'PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    expect((await service.get('/domains')).status).toBe(429)
    await askControl(service, 'PATCH', '/accounts/default', { plan: 'below-stone' })
    expect((await service.get('/dmarc')).status).toBe(403)
    expect(await faultsOf(service)).toMatchObject([{ matched: 0, hits: 0 }])
  })
})

describe('A match', () => {
  const REQUESTS = ['GET /domains', 'HEAD /domains', 'POST /domains', 'GET /dmarc', 'GET /domaingroups']

  it.each([
    [{}, REQUESTS],
    [{ operation: 'listDomains' }, ['GET /domains', 'HEAD /domains']],
    [{ method: 'GET' }, ['GET /domains', 'GET /dmarc', 'GET /domaingroups']],
    [{ method: 'HEAD' }, ['HEAD /domains']],
    [{ path: '/domains' }, ['GET /domains', 'HEAD /domains', 'POST /domains']],
    [{ path: '/domains', method: 'POST' }, ['POST /domains']],
    [{ key: 'key_TestKey1' }, REQUESTS],
    [{ key: 'key_TestKey2' }, []],
  ])('of %j matches %j', async (match, matched) => {
    const service = await startService({ fixture: ACCOUNT })
    await addFault(service, { match, respond: { status: 599 } })
    const answers: string[] = []
    for (const request of REQUESTS) {
      const [method = '', path = ''] = request.split(' ')
      const body = method === 'POST' ? { body: '{}', headers: [AUTHORIZED, JSON_BODY] } : {}
      const { status } = await exchangeAsIs(service, { method, target: `/api/v1${path}`, ...body })
      if (status === 599) answers.push(request)
    }
    expect(answers).toEqual(matched)
    expect(await faultsOf(service)).toMatchObject([{ matched: matched.length, hits: matched.length }])
  })

  it('may name a key that comes later', async () => {
    const service = await startService()
    await addFault(service, { match: { key: 'key_Later001' }, respond: { error: 'rate_limited' } })
    const { data } = await askControl(service, 'POST', '/accounts/default/keys', {
      key: `key_Later001.${'0'.repeat(48)}`,
    })
    expect((await service.get('/domains')).status).toBe(200)
    const headers = { authorization: `Bearer ${data.api_key}` }
    expect((await service.send('GET', '/domains', undefined, headers)).status).toBe(429)
  })
})

describe('Of the requests that a rule matches', () => {
  it.each([
    [{ skip: 2 }, '..xxxx', { matched: 6, hits: 4, state: 'active' }],
    [{ times: 2 }, 'xx....', { matched: 2, hits: 2, state: 'spent' }],
    [{ skip: 1, times: 3 }, '.xxx..', { matched: 4, hits: 3, state: 'spent' }],
    [{ probability: 0 }, '......', { matched: 6, hits: 0, state: 'active' }],
    [{ probability: 1 }, 'xxxxxx', { matched: 6, hits: 6, state: 'active' }],
    [{ probability: 0, times: 1 }, '......', { matched: 6, hits: 0, state: 'active' }],
  ])('%j acts on %s', async (chosen, affected, tally) => {
    const service = await startService()
    await addFault(service, { ...chosen, respond: { error: 'rate_limited' } })
    expect(await limited(service, 6)).toBe(affected)
    expect(await faultsOf(service)).toMatchObject([tally])
  })

  it('the first rule in order of creation that acts is the only one', async () => {
    const service = await startService()
    await addFault(service, { times: 1, respond: { error: 'rate_limited' } })
    await addFault(service, { skip: 1, times: 1, respond: { error: 'internal_error' } })
    await addFault(service, { respond: { error: 'unauthorized' } })
    const statuses: number[] = []
    for (let request = 0; request < 4; request++) statuses.push((await service.get('/domains')).status)
    // The second rule is not asked about the first request, lets one pass, and acts on the next.
    expect(statuses).toEqual([429, 401, 500, 401])
    expect(await faultsOf(service)).toMatchObject([
      { matched: 1, hits: 1, state: 'spent' },
      { matched: 2, hits: 1, state: 'spent' },
      { matched: 2, hits: 2, state: 'active' },
    ])
  })

  it('none is affected once the rule has expired by the clock of the account, to the millisecond', async () => {
    const service = await startService()
    await addFault(service, { expires_after: 'PT10M', respond: { error: 'rate_limited' } })
    expect((await faultsOf(service))[0]?.created_at).toBe(instant(0).replace('.000Z', 'Z'))
    service.advance(600_000 - 1)
    expect((await service.get('/domains')).status).toBe(429)
    service.advance(1)
    expect((await service.get('/domains')).status).toBe(200)
    expect(await faultsOf(service)).toMatchObject([{ matched: 1, hits: 1, state: 'expired' }])
  })

  it('none is affected any more when the rule is removed, and the others stay', async () => {
    const service = await startService()
    const first = await addFault(service, { respond: { error: 'rate_limited' } })
    await addFault(service, { respond: { error: 'internal_error' } })
    expect((await service.get('/domains')).status).toBe(429)
    await askControl(service, 'DELETE', `/accounts/default/faults/${first.id}`)
    expect((await service.get('/domains')).status).toBe(500)
    expect((await askControl(service, 'DELETE', `/accounts/default/faults/${first.id}`)).error.message).toBe(
      'There is no fault "fault_1".',
    )
    await askControl(service, 'DELETE', '/accounts/default/faults')
    expect((await service.get('/domains')).status).toBe(200)
    expect((await addFault(service, { delay_ms: 0 })).id).toBe('fault_3')
  })
})

describe('Chance', () => {
  const RULE = { probability: 0.5, respond: { error: 'rate_limited' } }

  it('chooses the same requests of every server that is started alike', async () => {
    const patterns = []
    for (let run = 0; run < 2; run++) {
      const service = await startService({ enforceQuotas: false })
      await addFault(service, RULE)
      patterns.push(await limited(service, 60))
    }
    expect(patterns[0]).toBe(patterns[1])
    expect(patterns[0]).toMatch(/x.*\..*x/)
  })

  it('depends on the seed, the account, the rule and the ordinal, and not on the time or other requests', async () => {
    const draw = async (
      { seed = 42, account = 'one', before = 0 },
      disturb: (service: TestService) => unknown = () => {},
    ) => {
      const service = await startService({ seed, enforceQuotas: false })
      const { data } = await askControl(service, 'POST', '/accounts', { id: account })
      for (let rule = 0; rule < before; rule++) await addFault(service, { delay_ms: 0, probability: 0 }, account)
      await addFault(service, { ...RULE, match: { path: '/domains' } }, account)
      let pattern = ''
      for (let request = 0; request < 40; request++) {
        await disturb(service)
        const headers = { authorization: `Bearer ${data.api_key}` }
        pattern += (await service.send('GET', '/domains', undefined, headers)).status === 429 ? 'x' : '.'
      }
      return pattern
    }
    const usual = await draw({})
    expect(await draw({}, (service) => service.advance(HOUR))).toBe(usual)
    expect(await draw({}, (service) => service.get('/dmarc'))).toBe(usual)
    expect(await draw({ seed: 43 })).not.toBe(usual)
    expect(await draw({ account: 'two' })).not.toBe(usual)
    expect(await draw({ before: 1 })).not.toBe(usual)
  })

  it('chooses about as many requests as it should', async () => {
    const service = await startService({ enforceQuotas: false })
    await addFault(service, { ...RULE, probability: 0.2 })
    const affected = (await limited(service, 500)).replaceAll('.', '').length
    // With the seed of these tests; five standard deviations to each side.
    expect(affected).toBeGreaterThan(55)
    expect(affected).toBeLessThan(145)
  })
})

describe('The rules of an account', () => {
  const RULES = [
    { description: 'once', times: 1, respond: { error: 'rate_limited' } },
    { skip: 3, phase: 'after', respond: { status: 503, headers: { 'x-a': 'b' }, body: { a: [1] } } },
  ] as const

  it('survive a restart with their tallies', async () => {
    const data = temporaryFolder()
    const first = await startService({ data, store: undefined })
    for (const rule of RULES) await addFault(first, rule)
    await first.get('/domains')
    await first.get('/domains')
    const before = await faultsOf(first)
    await first.stop()
    const second = await startService({ data, store: undefined })
    expect(await faultsOf(second)).toEqual(before)
    expect(before).toMatchObject([
      { hits: 1, state: 'spent' },
      { matched: 1, hits: 0 },
    ])
    expect((await addFault(second, { delay_ms: 0 })).id).toBe('fault_3')
  })

  it('go on drawing after a restart where they left off', async () => {
    const data = temporaryFolder()
    const whole = await startService({ enforceQuotas: false })
    await addFault(whole, { probability: 0.5, respond: { error: 'rate_limited' } })
    const expected = await limited(whole, 20)
    const options = { data, store: undefined, enforceQuotas: false }
    const first = await startService(options)
    await addFault(first, { probability: 0.5, respond: { error: 'rate_limited' } })
    const begun = await limited(first, 9)
    await first.stop()
    expect(begun + (await limited(await startService(options), 11))).toBe(expected)
  })

  it('are gone after a reset, but for those that the server gives to every account', async () => {
    const service = await startService({ faults: ['flaky'] })
    const given = await faultsOf(service)
    expect(given.map(({ set }) => set)).toEqual(['flaky', 'flaky', 'flaky'])
    await addFault(service, { times: 1, respond: { error: 'rate_limited' } })
    await askControl(service, 'DELETE', `/accounts/default/faults/${given[0]?.id}`)
    await service.sendRaw(requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE] }))
    await askControl(service, 'POST', '/accounts/default/reset')
    expect(await faultsOf(service)).toEqual(given)
  })

  it('come back with a snapshot as they were, tallies included', async () => {
    const service = await startService()
    await addFault(service, { times: 2, respond: { error: 'rate_limited' } })
    expect(await limited(service, 1)).toBe('x')
    const before = await faultsOf(service)
    await askControl(service, 'POST', '/accounts/default/snapshots', { name: 'one' })
    expect(await limited(service, 2)).toBe('x.')
    await askControl(service, 'DELETE', '/accounts/default/faults')
    await addFault(service, { respond: { error: 'internal_error' } })
    await askControl(service, 'POST', '/accounts/default/snapshots/one/restore')
    expect(await faultsOf(service)).toEqual(before)
    expect(await limited(service, 2)).toBe('x.')
  })

  it('are no other account’s', async () => {
    const service = await startService()
    const { data } = await askControl(service, 'POST', '/accounts', { id: 'other' })
    await addFault(service, { respond: { error: 'rate_limited' } }, 'other')
    expect((await service.get('/domains')).status).toBe(200)
    const headers = { authorization: `Bearer ${data.api_key}` }
    expect((await service.send('GET', '/domains', undefined, headers)).status).toBe(429)
    expect(await faultsOf(service)).toEqual([])
  })

  it('leave no tally behind when they are removed', async () => {
    const service = await startService()
    for (let round = 0; round < 5; round++) {
      const { id } = await addFault(service, { times: 1, respond: { error: 'rate_limited' } })
      await service.get('/domains')
      await askControl(service, 'DELETE', `/accounts/default/faults/${id}`)
    }
    await addFault(service, { delay_ms: 0 })
    await service.get('/domains')
    expect([...(await service.store.counters('default')).tallies.keys()]).toEqual(['fault_6'])
  })
})

/** Which of so many requests were answered with 429. */
async function limited(service: TestService, count: number): Promise<string> {
  let pattern = ''
  for (let request = 0; request < count; request++) {
    pattern += (await service.get('/domains')).status === 429 ? 'x' : '.'
  }
  return pattern
}
