import { describe, expect, it } from 'vitest'
import type { VerdictReport } from '../../src/contract/control-plane.ts'
import type { ServerOptions } from '../../src/server/options.ts'
import { askControl, type Served } from '../support/control-plane.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { type SentHeaders, sendRequest } from '../support/request.ts'
import { asks, sends } from '../support/rows.ts'
import { API_KEY, expectLawful } from '../support/service.ts'

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

type Deed = (service: ObservedService) => Promise<unknown>

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

  it('names each violation with a request that would be accepted', async () => {
    const service = await startViolated()
    const { message, violations } = await verdictOf(service)
    const { request_id } = await service.latest()
    expect(message).toBe(
      '1 request violates the contract, of 2. The first is POST /api/v1/domains: The field `domain` is not supported.',
    )
    expect(violations.first).toMatchObject([
      {
        ...{ request_id, account: 'default', operation: 'addDomains', method: 'POST', path: '/api/v1/domains' },
        ...{ status: 400, code: 'unknown_field' },
        correction: expect.stringContaining(`'{"domains":["a.example"]}'`),
      },
    ])
  })

  it.each<[path: string, isViolation: boolean, sent?: SentHeaders, method?: string]>([
    ['/favicon.ico', false, {}, 'HEAD'],
    ['/.well-known/appspecific/com.chrome.devtools.json', false],
    // A client of the service has asked.
    ['/favicon.ico', true, { authorization: `Bearer ${API_KEY}` }],
    ['/api/v1/favicon.ico', true],
  ])(
    'knows what a browser asks for by itself: %s is a violation: %j',
    async (path, isViolation, sent, method = 'GET') => {
      const service = await startObserved()
      const received = await sendRequest(method, new URL(path, service.baseUrl).href, undefined, sent)
      expectLawful(service.contract, method, '/nothing', received)
      expect(received.status).toBe(404)
      const count = isViolation ? 1 : 0
      expect(await verdictOf(service)).toMatchObject({ requests: 1, judged: count, violations: { count } })
      const { data } = await service.ask('GET', '/requests')
      const [{ request_id, violates_contract }] = data.requests
      expect(violates_contract).toBe(isViolation)
      const { summary, correction } = (await service.ask('GET', `/explain/${request_id}`)).data
      expect(summary.startsWith('A browser asks for this file by itself.')).toBe(!isViolation)
      expect(correction === null).toBe(!isViolation)
    },
  )

  it('does not pass where the only request was refused for its quota, before anybody read it', async () => {
    const service = await startObserved()
    await service.ask('PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    await service.send('POST', '/domains', { domain: 1 })
    const message =
      'Nothing was checked: no request passed its Host, key, plan and quota, and the faults. Requests that came: 1.'
    const violations = { count: 0 }
    expect(await verdictOf(service)).toMatchObject({ passed: false, message, requests: 1, judged: 0, violations })
  })

  it.each<[what: string, deed: Deed, journal?: number]>([
    ['a request where there is no journal', sends('GET', '/domains'), 0],
    ['the reset of the account', asks('POST', '/accounts/default/reset', { fixture: 'demo', seed: 7 })],
  ])('survives %s', async (_, deed, journal = 2) => {
    const service = await startViolated({ journal })
    const { violations } = await verdictOf(service)
    expect(violations).toMatchObject({ count: 1, by_code: { unknown_field: 1 } })
    await deed(service)
    expect(await verdictOf(service)).toMatchObject({ passed: false, violations })
    // The journal may have lost it, the account has another state, and everything about it can still be read.
    const { status, data } = await service.ask('GET', `/explain/${violations.first[0]?.request_id}`)
    expect([status, data.correction.curl]).toEqual([200, violations.first[0]?.correction])
    expect(data.exchange.request.body).toBe('{"domain":["a.example"]}')
  })
})

it('A violation is corrected for the account that it met, whatever became of it', async () => {
  const service = await startViolated()
  await service.ask('PATCH', '/accounts/default', { plan: 'below-stone' })
  const { violations } = await verdictOf(service)
  expect(violations.first[0]?.correction).toMatch(/^curl -sS -X POST /)
})

it('The verdict passes where every request keeps the contract, and starts again when it is cleared', async () => {
  const service = await startObserved()
  await service.get('/domains')
  await service.get('/dmarc')
  await service.get('/dmarc')
  const message = 'No request violates the contract. Requests that were checked: 3.'
  const politeness = [{ kind: 'repeated-read' }]
  expect(await verdictOf(service)).toMatchObject({ passed: true, message, requests: 3, judged: 3, politeness })
  expect((await service.ask('DELETE', '/verdict')).status).toBe(200)
  expect(await verdictOf(service)).toMatchObject({ passed: false, requests: 0 })
})

it.each<[way: string, goBack: (service: ObservedService, requestId: unknown) => Promise<unknown>]>([
  ['a snapshot', (service) => askControl(service, 'POST', '/accounts/default/snapshots/clean/restore')],
  ['a rewind', (service, request_id) => askControl(service, 'POST', '/accounts/default/rewind', { request_id })],
])('the verdict calls no write impolite that is sent again after %s has undone it', async (_, goBack) => {
  const service = await startObserved()
  await askControl(service, 'POST', '/accounts/default/snapshots', { name: 'clean' })
  const write = () => service.send('POST', '/domaingroups', { name: 'New' })
  const { headers } = await write()
  await goBack(service, headers['x-request-id'])
  await write()
  expect(await verdictOf(service)).toMatchObject({ requests: 2, politeness: [] })
})
