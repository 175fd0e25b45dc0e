import { describe, expect, it } from 'vitest'
import type { VerdictReport } from '../../src/admin/reports.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { withKey } from '../support/account.ts'
import { addFault, askControl, journalOf, type Served } from '../support/control-plane.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { API_KEY } from '../support/service.ts'

async function verdictOf(service: Served): Promise<VerdictReport> {
  const { status, text, data } = await askControl(service, 'GET', '/verdict')
  expect(status, text).toBe(200)
  return data
}

/** A service whose client has kept the contract once and violated it once. */
async function startViolated(options: ServerOptions = {}): Promise<ObservedService> {
  const service = await startObserved(options)
  await service.get('/domains')
  await service.send('POST', '/domains', { domain: ['a.example'] })
  return service
}

const VIOLATED = { passed: false, violations: { count: 1, by_code: { unknown_field: 1 } } }

describe('the verdict', () => {
  it('does not pass where no request came', async () => {
    const service = await startObserved()
    expect(await verdictOf(service)).toEqual({
      passed: false,
      message: 'No request has come, so nothing was checked.',
      requests: 0,
      judged: 0,
      injected: 0,
      violations: { count: 0, by_code: {}, first: [] },
      politeness: [],
    })
  })

  it('passes where every request keeps the contract', async () => {
    const service = await startObserved()
    await service.get('/domains')
    await service.send('POST', '/domains', { domains: ['a.example'] })
    expect(await verdictOf(service)).toMatchObject({
      passed: true,
      message: 'No request violates the contract, of 2 that were held to it.',
      requests: 2,
      judged: 2,
    })
  })

  it('names each violation with a request that would be accepted', async () => {
    const service = await startViolated()
    const { message, violations } = await verdictOf(service)
    const [first] = violations.first
    expect(message).toBe(
      '1 request violates the contract, of 2. The first is POST /api/v1/domains: The field `domain` is not supported.',
    )
    expect(first).toMatchObject({
      request_id: (await journalOf(service)).at(-1)?.request_id,
      account: 'default',
      operation: 'addDomains',
      method: 'POST',
      path: '/api/v1/domains',
      status: 400,
      code: 'unknown_field',
    })
    expect(first?.correction).toContain(`'{"domains":["a.example"]}'`)
  })

  it.each<[what: string, method: string, path: string, body: unknown, code: string]>([
    ['an unknown path', 'GET', '/domain', undefined, 'not_found'],
    ['a wrong method', 'PUT', '/domains', { domains: [] }, 'not_found'],
    ['a missing parameter', 'DELETE', '/domaingroups', undefined, 'missing_id'],
    ['a body that is no JSON', 'POST', '/domains', '{', 'invalid_json'],
    ['a wrong type', 'POST', '/domains', { domains: 'a.example' }, 'invalid_field_type'],
    ['a bad name', 'POST', '/domains', { domains: ['no host'] }, 'invalid_domain'],
    ['too many domains', 'POST', '/domains', { domains: Array(51).fill('a.example') }, 'request_too_large'],
  ])('counts %s as a violation', async (_, method, path, body, code) => {
    const service = await startObserved()
    await service.send(method, path, body)
    expect(await verdictOf(service)).toMatchObject({ passed: false, violations: { count: 1, by_code: { [code]: 1 } } })
  })

  it.each<[what: string, method: string, path: string, body: unknown, status: number]>([
    ['a group that is unknown', 'GET', '/domaingroups?id=00000000', undefined, 404],
    ['a domain that is not monitored', 'POST', '/domaingroups', { name: 'x', domains: ['b.example'] }, 400],
    ['a domain that cannot be removed', 'DELETE', '/domains', { domains: ['b.example'] }, 409],
  ])(
    'counts %s as no violation, because another account could accept the request',
    async (...[, method, path, body, status]) => {
      const service = await startObserved()
      expect((await service.send(method, path, body)).status).toBe(status)
      expect(await verdictOf(service)).toMatchObject({ passed: true, violations: { count: 0 } })
    },
  )

  it('counts bytes that are not HTTP as a violation', async () => {
    const service = await startObserved()
    await service.sendRaw(Buffer.from('NO\r\n\r\n'))
    expect(await verdictOf(service)).toMatchObject({ passed: false, requests: 1, violations: { count: 1 } })
  })

  it.each<[status: number, request: (service: ObservedService) => Promise<unknown>]>([
    [401, (service) => service.send('POST', '/domains', { domain: 1 }, withKey('wrong'))],
    [
      429,
      async (service) => {
        await service.ask('PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
        await service.send('POST', '/domains', { domain: 1 })
      },
    ],
    [
      503,
      async (service) => {
        await addFault(service, { respond: { status: 503 } })
        await service.get('/domains').catch(() => {})
      },
    ],
  ])('does not pass where all requests got %d before anybody read them', async (_, request) => {
    const service = await startObserved()
    await request(service)
    const { passed, message, requests, judged, violations } = await verdictOf(service)
    expect({ passed, requests, judged, count: violations.count }).toEqual({
      passed: false,
      requests: 1,
      judged: 0,
      count: 0,
    })
    expect(message).toBe('Nothing was checked: no request of 1 came past its key, plan and quota and the faults.')
  })

  it('counts a violation whose response a fault has replaced', async () => {
    const service = await startObserved()
    await addFault(service, { phase: 'after', respond: { status: 503 } })
    await service.send('POST', '/domains', { domain: ['a.example'] }).catch(() => {})
    const { injected, violations } = await verdictOf(service)
    expect({ injected, count: violations.count, by: violations.by_code }).toEqual({
      injected: 1,
      count: 1,
      by: { unknown_field: 1 },
    })
    expect(violations.first[0]).toMatchObject({ message: 'The field `domain` is not supported.' })
    expect(violations.first[0]?.correction).toContain('"domains"')
  })

  it.each<[what: string, deed: (service: ObservedService) => Promise<unknown>]>([
    ['the reset of the account', (service) => service.ask('POST', '/accounts/default/reset', {})],
    ['a journal that is cleared', (service) => service.ask('DELETE', '/accounts/default/requests')],
    [
      'a journal that is full of other requests',
      async (service) => {
        for (let count = 0; count < 4; count++) await service.send('GET', '/domaingroups')
      },
    ],
  ])('survives %s', async (_, deed) => {
    const service = await startViolated({ journal: 2 })
    await deed(service)
    expect(await verdictOf(service)).toMatchObject(VIOLATED)
  })

  it('survives the deletion of the account, and still explains the violation', async () => {
    const service = await startObserved()
    await service.send('POST', '/domains', { domain: ['a.example'] }, withKey('sandbox_gone'))
    await service.ask('DELETE', '/accounts/sandbox_gone')
    const { violations } = await verdictOf(service)
    expect(violations.first[0]).toMatchObject({ account: 'sandbox_gone', code: 'unknown_field' })
    const { status, data } = await service.ask('GET', `/explain/${violations.first[0]?.request_id}`)
    expect(status).toBe(200)
    expect(data.summary).toMatch(/^Refused with unknown_field: The field `domain` is not supported\./)
  })

  it('keeps the first violations whole when thousands of requests follow, others come and go, and all is cleared', async () => {
    const service = await startViolated({ maxAccounts: 20 })
    const before = await verdictOf(service)
    const headers = withKey(API_KEY)
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 100 }, () => service.send('GET', '/domaingroups', undefined, headers)))
      await service.send('GET', '/domains', undefined, withKey(`sandbox_${round}`))
    }
    await service.ask('POST', '/accounts/default/reset', { fixture: 'demo', seed: 7 })
    await service.ask('DELETE', '/accounts/default/requests')
    const { requests, violations } = await verdictOf(service)
    expect(violations).toEqual(before.violations)
    expect(requests).toBe(2 + 20 * 101)
    // The journal has lost it, the account has another state, and everything about it can still be read.
    const { status, data } = await service.ask('GET', `/explain/${violations.first[0]?.request_id}`)
    expect(status).toBe(200)
    expect(data.correction.curl).toBe(violations.first[0]?.correction)
    expect(data.exchange.request.body).toBe('{"domain":["a.example"]}')
  })

  it('has a correction for each kind of violation', async () => {
    const service = await startObserved({ fixture: 'demo' })
    await service.get('/domain')
    await service.send('DELETE', '/domaingroups')
    await service.send('POST', '/domains', '{"domains": ["x.example",]}')
    await service.send('POST', '/domaingroups', { name: '' })
    await service.send('PUT', '/domains', { domains: ['y.example'] })
    const { first } = (await verdictOf(service)).violations
    expect(first.length).toBe(5)
    for (const { correction, message, method, path } of first) {
      expect(correction, `${method} ${path}`).toMatch(/^curl -sS /)
      expect(message).toMatch(/[.?]$/)
    }
  })

  it('does not need a journal', async () => {
    const service = await startViolated({ journal: 0 })
    expect(await verdictOf(service)).toMatchObject(VIOLATED)
  })

  it('keeps the first ten violations and counts all', async () => {
    const service = await startObserved()
    for (let count = 0; count < 12; count++) await service.get(`/nothing-${count}`)
    const { violations } = await verdictOf(service)
    expect(violations.count).toBe(12)
    expect(violations.first.map(({ path }) => path)).toEqual(
      Array.from({ length: 10 }, (_, count) => `/api/v1/nothing-${count}`),
    )
  })

  it('starts again when it is cleared', async () => {
    const service = await startViolated()
    expect((await service.ask('DELETE', '/verdict')).status).toBe(200)
    expect(await verdictOf(service)).toMatchObject({ passed: false, requests: 0, violations: { count: 0, first: [] } })
    await service.get('/domains')
    expect(await verdictOf(service)).toMatchObject({ passed: true, requests: 1 })
  })

  it('shows no secret of a violation', async () => {
    const service = await startObserved()
    await service.send('POST', `/domains?key=${API_KEY}`, { [API_KEY]: 1 })
    expect(JSON.stringify(await verdictOf(service))).not.toContain(API_KEY)
  })

  it('is in the metrics', async () => {
    const service = await startViolated()
    await service.send('GET', '/domains', undefined, { prefer: 'code=internal_error' })
    await service.send('GET', '/domains', undefined, { prefer: 'code=internal_error' })
    const metrics = async () => {
      const { text } = await service.ask('GET', '/metrics')
      return text.split('\n').filter((line) => line.startsWith('dmarc_understudy_verdict'))
    }
    expect(await metrics()).toEqual([
      'dmarc_understudy_verdict_violations{code="unknown_field"} 1',
      'dmarc_understudy_verdict_requests 4',
      'dmarc_understudy_verdict_judged 2',
      'dmarc_understudy_verdict_injected 2',
      'dmarc_understudy_verdict_impolite{kind="immediate-retry"} 1',
      'dmarc_understudy_verdict_passed 0',
    ])
    await service.ask('DELETE', '/verdict')
    expect(await metrics()).toEqual([
      'dmarc_understudy_verdict_requests 0',
      'dmarc_understudy_verdict_judged 0',
      'dmarc_understudy_verdict_injected 0',
      'dmarc_understudy_verdict_passed 0',
    ])
  })
})

describe('impolite requests are noted', () => {
  const kindsOf = async (service: Served) => (await verdictOf(service)).politeness.map(({ kind }) => kind)

  it('when a path is requested after its 429 and before the reset, and not after it', async () => {
    const service = await startObserved()
    await service.ask('PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    await service.get('/domains')
    expect(await kindsOf(service)).toEqual([])
    await service.ask('PATCH', '/accounts/default/clock', { advance: 'PT1H' })
    await service.get('/domains?later')
    expect(await kindsOf(service)).toEqual([])
    await service.ask('PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    await service.get('/domains?last')
    const { headers } = await service.get('/domains?again')
    expect(await verdictOf(service)).toMatchObject({
      passed: true,
      politeness: [{ kind: 'request-before-reset', request_ids: [headers['x-request-id']] }],
    })
  })

  it('when the same request follows a failure at once, injected or not', async () => {
    const service = await startObserved()
    await addFault(service, { respond: { error: 'internal_error' }, times: 1 })
    await service.send('POST', '/domains', { domains: ['a.example'] })
    await service.send('POST', '/domains', { domains: ['a.example'] })
    expect(await verdictOf(service)).toMatchObject({
      politeness: [
        {
          kind: 'immediate-retry',
          message: 'The same request was sent again once within a second after a 429 or a 5xx.',
        },
      ],
    })
  })

  it('when GET /dmarc is read twice between two refreshes and nothing has changed', async () => {
    const service = await startObserved({ fixture: 'demo' })
    await service.get('/dmarc')
    await service.send('POST', '/domains', { domains: ['new.example'] })
    await service.get('/dmarc')
    await service.ask('PATCH', '/accounts/default/clock', { advance: 'P1D' })
    await service.get('/dmarc')
    expect(await kindsOf(service)).toEqual([])
    await service.get('/dmarc')
    expect(await kindsOf(service)).toEqual(['repeated-read'])
  })

  it('when a write is sent again although it succeeded, and not after another write', async () => {
    const service = await startObserved()
    const add = () => service.send('POST', '/domains', { domains: ['a.example'] })
    await add()
    await service.send('DELETE', '/domains', { domains: ['a.example'] })
    await add()
    expect(await kindsOf(service)).toEqual([])
    await add()
    expect(await kindsOf(service)).toEqual(['repeated-write'])
  })

  it('for each key by itself', async () => {
    const service = await startObserved()
    for (const key of ['sandbox_one', 'sandbox_two']) {
      await service.send('POST', '/domains', { domains: ['a.example'] }, withKey(key))
    }
    expect(await kindsOf(service)).toEqual([])
  })
})
