import { describe, expect, it } from 'vitest'
import { readPreference } from '../../src/faults/preference.ts'
import { ACCEPTED, contract, operationOf, send } from '../service/refusals.ts'
import { ACCOUNT, stateOf, withKey } from '../support/account.ts'
import { addFault, askControl, faultsOf, journalOf } from '../support/control-plane.ts'
import { processorTime } from '../support/processor-time.ts'
import { NO_QUOTA, quotaOf } from '../support/quota-headers.ts'
import { startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, CLOSE, type Header, headerOf, JSON_BODY, readResponses, requestBytes } from '../support/wire.ts'

describe('The header Prefer', () => {
  it.each([
    ['code=429', { code: '429' }],
    ['code=rate_limited', { code: 'rate_limited' }],
    ['code="rate_limited"', { code: 'rate_limited' }],
    ['CODE = Rate_Limited', { code: 'rate_limited' }],
    ['code=429, delay=100', { code: '429', delay: 100 }],
    ['code=429; delay="100"', { code: '429', delay: 100 }],
    ['respond-async, wait=100, delay=0', { delay: 0 }],
    ['delay=600000', { delay: 600_000 }],
    ['delay=600001', {}],
    ['delay=-1', {}],
    ['delay=1.5', {}],
    ['delay=1s', {}],
    ['delay', {}],
    ['code', {}],
    ['code=', {}],
    ['code=""', {}],
    ['', {}],
    [',;, code=500', { code: '500' }],
    ['code=500, code=429', { code: '500' }],
    ['code=, code=429', {}],
    ['foo="a, code=500; delay=5"', {}],
    ['foo="a\\", code=500", code=429', { code: '429' }],
    ['foo="a, code=500', { code: '500' }],
    ['encoding=500', {}],
    ['x.code=500', {}],
    ['__proto__=1, code=constructor', { code: 'constructor' }],
  ])('%j prefers %j', (header, expected) => {
    expect(readPreference(header)).toEqual(expected)
  })

  it('is read in time that grows with its length alone', () => {
    const began = processorTime()
    readPreference(`${'"'.repeat(8000)}${' '.repeat(8000)}=${','.repeat(100)}`)
    readPreference('a="\\'.repeat(4000))
    expect(processorTime() - began).toBeLessThan(500)
  })
})

describe('A preferred error', () => {
  const ERRORS = contract.operations.flatMap(({ id, responses }) =>
    [...responses.values()].flatMap(({ status, codes }) => [...codes].map((code) => [id, code, status] as const)),
  )

  it.each(ERRORS)(
    'of %s, `%s` or its status %i, is answered lawfully and said to be applied',
    async (id, code, status) => {
      const service = await startService({ fixture: ACCOUNT })
      const before = await stateOf(service)
      const sent = ACCEPTED[id] ?? {}
      const byCode = await send(service, id, { ...sent, headers: { prefer: `code=${code}` } })
      expect([byCode.body.error.code, byCode.headers['preference-applied']]).toEqual([code, `code=${code}`])
      const byStatus = await send(service, id, { ...sent, headers: { prefer: `code=${status}, delay=1` } })
      expect([byStatus.status, byStatus.headers['preference-applied']]).toEqual([status, `code=${status}, delay=1`])
      expect(operationOf(id).responses.get(status)?.codes).toContain(byStatus.body.error.code)
      expect((await stateOf(service)).domains).toEqual(before.domains)
      expect(await journalOf(service)).toMatchObject([
        { injected: true, fault: { source: 'prefer', id: null } },
        { injected: true, fault: { source: 'prefer', id: null } },
      ])
    },
  )

  it('has the quota headers of one that nobody asked for', async () => {
    const service = await startService()
    const limited = await prefer(service, 'code=rate_limited')
    expect(quotaOf(limited.headers)).toMatchObject({ limit: 30, remaining: 0 })
    expect(quotaOf((await prefer(service, 'code=401')).headers)).toEqual(NO_QUOTA)
  })

  it.each([503, 404, 418])('comes bare with %i, which GET /domains never has', async (status) => {
    const service = await startService()
    const bytes = requestBytes({
      target: '/api/v1/domains',
      headers: [AUTHORIZED, CLOSE, ['Prefer', `code=${status}`]],
    })
    const [response] = readResponses(await service.sendRaw(bytes))
    expect([response?.status, response?.text]).toEqual([status, ''])
    expect(response && headerOf(response, 'preference-applied')).toBe(`code=${status}`)
    expect(response && headerOf(response, 'content-type')).toBeUndefined()
  })

  it('comes before the rules of the account, which do not count the request', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'internal_error' } })
    expect((await prefer(service, 'code=429')).status).toBe(429)
    expect(await faultsOf(service)).toMatchObject([{ matched: 0, hits: 0 }])
    expect((await service.get('/domains')).status).toBe(500)
  })

  it('may be spread over several header fields', async () => {
    const service = await startService()
    const fields: Header[] = [
      ['Prefer', 'respond-async'],
      ['prefer', 'delay=1'],
      ['PREFER', 'code="429"'],
    ]
    const bytes = requestBytes({ target: '/api/v1/domains', headers: [AUTHORIZED, CLOSE, ...fields] })
    const [response] = readResponses(await service.sendRaw(bytes))
    expect(response?.status).toBe(429)
    expect(response && headerOf(response, 'preference-applied')).toBe('code=429, delay=1')
  })
})

describe('A preference is not applied', () => {
  it.each([
    'code=duplicate_name',
    'code=nonsense',
    'code=299',
    'code=302',
    'code=600',
    'code=99',
    'code=__proto__',
    'code=toString',
    'respond-async',
    'delay=abc',
    'return=minimal',
  ])('%s, which GET /domains cannot honour', async (header) => {
    const service = await startService()
    const response = await prefer(service, header)
    expect(response.status).toBe(200)
    expect(response.headers['preference-applied']).toBeUndefined()
    expect((await journalOf(service))[0]?.fault).toBeNull()
  })

  it('by a request that is refused at the gate', async () => {
    const service = await startService({ fixture: ACCOUNT })
    const headers = { prefer: 'code=500, delay=1' }
    const ask = (more: Record<string, string | null> = {}, path = '/domains') =>
      service.send('GET', path, undefined, { ...headers, ...more })
    const refused = [await ask({ authorization: null }), await ask(withKey('nobody')), await ask({}, '/nowhere')]
    await askControl(service, 'PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    refused.push(await ask())
    await askControl(service, 'PATCH', '/accounts/default', { plan: 'below-stone' })
    refused.push(await ask({}, '/dmarc'))
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 404, 429, 403])
    for (const response of refused) expect(response.headers['preference-applied']).toBeUndefined()
  })

  it('when the server is told not to', async () => {
    const service = await startService({ prefer: false })
    const response = await prefer(service, 'code=500, delay=600000')
    expect(response.status).toBe(200)
    expect(response.headers['preference-applied']).toBeUndefined()
  })
})

describe('A preferred success', () => {
  it('is said to be applied when it comes, and keeps the rules of the account away', async () => {
    const service = await startService()
    await addFault(service, { respond: { error: 'internal_error' } })
    const response = await prefer(service, 'code=200')
    expect([response.status, response.headers['preference-applied']]).toEqual([200, 'code=200'])
    expect((await journalOf(service))[0]).toMatchObject({ injected: false, fault: { source: 'prefer' } })
  })

  it('is never forced', async () => {
    const service = await startService()
    const response = await service.send(
      'POST',
      '/domains',
      { domains: ['no hostname'] },
      { prefer: 'code=200, delay=1' },
    )
    expect([response.status, response.headers['preference-applied']]).toEqual([400, 'delay=1'])
  })
})

describe('A preferred delay', () => {
  it('comes before the genuine answer, and other connections go on', async () => {
    const service = await startService()
    const slow = prefer(service, 'delay=600000')
    while ((await service.store.counters('default')).quotas.size === 0) await new Promise(setImmediate)
    expect((await service.get('/domains')).status).toBe(200)
    expect(await journalOf(service)).toHaveLength(1)
    await service.stop()
    const response = await slow
    expect([response.status, response.headers['preference-applied']]).toEqual([200, 'delay=600000'])
  })

  it('lets a write succeed', async () => {
    const service = await startService()
    const bytes = requestBytes({
      method: 'POST',
      target: '/api/v1/domains',
      headers: [AUTHORIZED, JSON_BODY, CLOSE, ['Prefer', 'delay=5']],
      body: '{"domains":["new.example"]}',
    })
    const [response] = readResponses(await service.sendRaw(bytes))
    expect(response?.status).toBe(200)
    expect((await service.get('/domains')).body.data.domains).toEqual(['new.example'])
  })
})

function prefer(service: TestService, header: string) {
  return service.send('GET', '/domains', undefined, { prefer: header })
}
