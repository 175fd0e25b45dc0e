import { describe, expect } from 'vitest'
import { FOREIGN_CHANGES } from '../../src/faults/foreign-change.ts'
import { type Json, valueAt } from '../../src/ground/json.ts'
import { HOUR, instant } from '../support/account.ts'
import { addFault, askControl, controlApi, faultsOf } from '../support/control-plane.ts'
import { ask, it } from '../support/example-service.ts'
import { quotaOf } from '../support/quota-headers.ts'
import { startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, exchangeAsIs, JSON_BODY, requestBytes } from '../support/wire.ts'

describe('A kind of fault', () => {
  const schema = valueAt(controlApi.document.source, '/components/schemas/FaultRule/properties') as Json
  const kinds = ['connection', 'corrupt', 'event'].flatMap((field) =>
    (valueAt(schema, `/${field}/enum`) as string[]).map((kind) => [field, kind] as const),
  )
  const BEFORE_ONLY: readonly string[] = ['quota-used-up', ...FOREIGN_CHANGES]
  const EITHER = ['reset', 'hang', 'empty']

  it.for(kinds)('has the phases in which it can act: %s %s', async ([field, kind], { empty }) => {
    const statusOf = async (phase: string) =>
      (await askControl(empty, 'POST', '/accounts/default/faults', { [field]: kind, phase })).status
    const isBefore = EITHER.includes(kind) || BEFORE_ONLY.includes(kind)
    const isAfter = !BEFORE_ONLY.includes(kind)
    expect([await statusOf('before'), await statusOf('after')]).toEqual([isBefore ? 201 : 400, isAfter ? 201 : 400])
  })

  it.for([{}, { connection: 'explode' }, { event: 'refresh', connection: 'reset' }])(
    'is not what %j asks for',
    async (rule, { empty }) => {
      expect((await askControl(empty, 'POST', '/accounts/default/faults', rule)).status).toBe(400)
    },
  )
})

describe('The phase of a rule', () => {
  const ADD = ['POST', '/domains', { domains: ['new.example'] }] as const

  it('`before` changes nothing, yet charges the quota', async ({ empty }) => {
    await addFault(empty, { respond: { error: 'internal_error' }, times: 1 })
    expect((await empty.send(...ADD)).status).toBe(500)
    const after = await empty.get('/domains')
    expect(after.body.data.domains).toEqual([])
    expect(quotaOf(after.headers).remaining).toBe(28)
  })

  it('`after` has made the change when its answer is another', async ({ empty }) => {
    await addFault(empty, { phase: 'after', respond: { error: 'internal_error' }, times: 1 })
    expect((await empty.send(...ADD)).status).toBe(500)
    expect((await empty.get('/domains')).body.data.domains).toEqual(['new.example'])
    expect((await empty.send(...ADD)).body.error.code).toBe('invalid_domain')
  })

  it.for(['before', 'after'] as const)('`%s` leaves alone what was refused at the gate', async (phase, { empty }) => {
    await addFault(empty, { phase, respond: { status: 599 } })
    const statusOf = async (request: string, headers = {}) => (await ask(empty, request, undefined, headers)).status
    expect([await statusOf('GET /domains', { authorization: null }), await statusOf('GET /nowhere')]).toEqual([
      401, 404,
    ])
    await askControl(empty, 'PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    expect(await statusOf('GET /domains')).toBe(429)
    await askControl(empty, 'PATCH', '/accounts/default', { plan: 'below-stone' })
    expect(await statusOf('GET /dmarc')).toBe(403)
    expect(await faultsOf(empty)).toMatchObject([{ matched: 0, hits: 0 }])
  })
})

describe('A match', () => {
  const REQUESTS = ['GET /domains', 'HEAD /domains', 'POST /domains', 'GET /dmarc', 'GET /domaingroups']

  it.for([
    [{}, REQUESTS],
    [{ method: 'GET' }, ['GET /domains', 'GET /dmarc', 'GET /domaingroups']],
    [{ method: 'HEAD' }, ['HEAD /domains']],
    [{ path: '/domains' }, ['GET /domains', 'HEAD /domains', 'POST /domains']],
    [{ key: 'key_TestKey2' }, []],
  ] as const)('of %j matches %j', async ([match, matched], { service }) => {
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
})

describe('Of the requests that a rule matches', () => {
  it.for([
    [{ skip: 2 }, '..xxxx', { matched: 6, hits: 4, state: 'active' }],
    [{ times: 2 }, 'xx....', { matched: 2, hits: 2, state: 'spent' }],
    [{ skip: 1, times: 3 }, '.xxx..', { matched: 4, hits: 3, state: 'spent' }],
    [{ probability: 0 }, '......', { matched: 6, hits: 0, state: 'active' }],
    [{ probability: 1 }, 'xxxxxx', { matched: 6, hits: 6, state: 'active' }],
  ] as const)('%j acts on %s', async ([chosen, affected, tally], { empty }) => {
    await addFault(empty, { ...chosen, respond: { error: 'rate_limited' } })
    expect(await limited(empty, 6)).toBe(affected)
    expect(await faultsOf(empty)).toMatchObject([tally])
  })

  it('the first rule in order of creation that acts is the only one', async ({ empty }) => {
    await addFault(empty, { times: 1, respond: { error: 'rate_limited' } })
    await addFault(empty, { skip: 1, times: 1, respond: { error: 'internal_error' } })
    await addFault(empty, { respond: { error: 'unauthorized' } })
    const statuses: number[] = []
    for (let request = 0; request < 4; request++) statuses.push((await empty.get('/domains')).status)
    // The second rule is not asked about the first request, lets one pass, and acts on the next.
    expect(statuses).toEqual([429, 401, 500, 401])
    expect(await faultsOf(empty)).toMatchObject([
      { matched: 1, hits: 1, state: 'spent' },
      { matched: 2, hits: 1, state: 'spent' },
      { matched: 2, hits: 2, state: 'active' },
    ])
  })

  it('none is affected once the rule has expired on the clock of the account, to the millisecond', async ({
    empty,
  }) => {
    await addFault(empty, { expires_after: 'PT10M', respond: { error: 'rate_limited' } })
    expect((await faultsOf(empty))[0]?.created_at).toBe(instant(0).replace('.000Z', 'Z'))
    empty.advance(600_000 - 1)
    expect((await empty.get('/domains')).status).toBe(429)
    empty.advance(1)
    expect((await empty.get('/domains')).status).toBe(200)
    expect(await faultsOf(empty)).toMatchObject([{ matched: 1, hits: 1, state: 'expired' }])
  })

  it('none is affected any more when the rule is removed, and the others stay', async ({ empty }) => {
    const first = await addFault(empty, { respond: { error: 'rate_limited' } })
    await addFault(empty, { respond: { error: 'internal_error' } })
    expect((await empty.get('/domains')).status).toBe(429)
    const remove = (path: string) => askControl(empty, 'DELETE', `/accounts/default/faults${path}`)
    await remove(`/${first.id}`)
    expect((await empty.get('/domains')).status).toBe(500)
    expect((await remove(`/${first.id}`)).error.message).toBe('There is no fault "fault_1".')
    await remove('')
    expect((await empty.get('/domains')).status).toBe(200)
    expect((await addFault(empty, { delay_ms: 0 })).id).toBe('fault_3')
  })
})

describe('Chance', () => {
  const RULE = { probability: 0.5, respond: { error: 'rate_limited' } }

  it('depends on the seed, the account, the rule and the ordinal, and not on the time or other requests', {}, async () => {
    const draw = async (
      { seed = 42, account = 'one', before = 0 },
      disturb: (service: TestService) => unknown = () => {},
    ) => {
      const service = await startService({ seed, enforceQuotas: false })
      const { data } = await askControl(service, 'POST', '/accounts', { id: account })
      for (let rule = 0; rule < before; rule++) await addFault(service, { delay_ms: 0, probability: 0 }, account)
      await addFault(service, { ...RULE, match: { path: '/domains' } }, account)
      let pattern = ''
      for (let request = 0; request < 24; request++) {
        await disturb(service)
        const headers = { authorization: `Bearer ${data.api_key}` }
        pattern += (await service.send('GET', '/domains', undefined, headers)).status === 429 ? 'x' : '.'
      }
      return pattern
    }
    const usual = await draw({})
    expect(usual).toMatch(/x.*\..*x/)
    expect(await draw({})).toBe(usual)
    expect(await draw({}, (service) => service.advance(HOUR))).toBe(usual)
    expect(await draw({}, (service) => service.get('/dmarc'))).toBe(usual)
    expect(await draw({ seed: 43 })).not.toBe(usual)
    expect(await draw({ account: 'two' })).not.toBe(usual)
    expect(await draw({ before: 1 })).not.toBe(usual)
  })
})

describe('The rules of an account', () => {
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
})

/** Which of so many requests were answered with 429. */
async function limited(service: TestService, count: number): Promise<string> {
  let pattern = ''
  for (let request = 0; request < count; request++) {
    pattern += (await service.get('/domains')).status === 429 ? 'x' : '.'
  }
  return pattern
}
