import { describe, expect } from 'vitest'
import { readPreference } from '../../src/faults/sources.ts'
import { stateOf, withKey } from '../support/account.ts'
import { addFault, askControl, faultsOf, journalOf } from '../support/control-plane.ts'
import { ask, it } from '../support/example-service.ts'
import { startService, type TestService } from '../support/service.ts'
import { AUTHORIZED, exchangeAsIs, headerOf } from '../support/wire.ts'
import { errors, operationOf, sendAccepted } from './accepted.ts'

const DOMAINS = '/api/v1/domains'

describe('The header Prefer', () => {
  it.each([
    ['code=rate_limited', { code: 'rate_limited' }],
    ['code="rate_limited"', { code: 'rate_limited' }],
    ['code=429; delay="100"', { code: '429', delay: 100 }],
    ['respond-async, wait=100, delay=0', { delay: 0 }],
    ['delay=600000', { delay: 600_000 }],
    ['delay=600001', {}],
    ['delay', {}],
    [',;, code=500', { code: '500' }],
    ['code=, code=429', {}],
    ['foo="a, code=500; delay=5"', {}],
    ['foo="a\\", code=500", code=429', { code: '429' }],
    ['encoding=500', {}],
    ['__proto__=1, code=constructor', { code: 'constructor' }],
  ])('%j prefers %j', (header, expected) => {
    expect(readPreference(header)).toEqual(expected)
  })

  it('is read also where it could be read in countless ways', () => {
    // What tries all ways to read them would not end.
    expect(readPreference(`${'"'.repeat(8000)}${' '.repeat(8000)}=${','.repeat(100)}`)).toEqual({})
    expect(readPreference('a="\\'.repeat(4000))).toEqual({})
  })
})

describe('A preferred error', () => {
  it.for(errors())('of %s, `%s` or its status %i, is answered lawfully', async ([id, code, status], { service }) => {
    const before = await stateOf(service)
    const byCode = await sendAccepted(service, id, { prefer: `code=${code}` })
    expect([byCode.body.error.code, byCode.headers['preference-applied']]).toEqual([code, `code=${code}`])
    const byStatus = await sendAccepted(service, id, { prefer: `code=${status}, delay=1` })
    expect([byStatus.status, byStatus.headers['preference-applied']]).toEqual([status, `code=${status}, delay=1`])
    expect(operationOf(id).responses.get(status)?.codes).toContain(byStatus.body.error.code)
    expect((await stateOf(service)).domains).toEqual(before.domains)
    expect(await journalOf(service)).toMatchObject([
      { injected: true, fault: { source: 'prefer', id: null } },
      { injected: true, fault: { source: 'prefer', id: null } },
    ])
  })

  it.for([503, 404, 418])('comes bare with %i, which GET /domains never has', async (status, { empty }) => {
    const response = await exchangeAsIs(empty, { target: DOMAINS, headers: [AUTHORIZED, ['Prefer', `code=${status}`]] })
    expect([response.status, response.text]).toEqual([status, ''])
    expect(headerOf(response, 'preference-applied')).toBe(`code=${status}`)
    expect(headerOf(response, 'content-type')).toBeUndefined()
  })

  it('comes before the rules of the account, which do not count the request', async ({ empty }) => {
    await addFault(empty, { respond: { error: 'internal_error' } })
    expect((await prefer(empty, 'code=429')).status).toBe(429)
    expect(await faultsOf(empty)).toMatchObject([{ matched: 0, hits: 0 }])
    expect((await empty.get('/domains')).status).toBe(500)
  })
})

describe('A preference is not applied', () => {
  it.for([
    ...['code=duplicate_name', 'code=nonsense', 'code=299', 'code=302', 'code=600', 'code=99', 'code=__proto__'],
    ...['code=toString', 'respond-async', 'delay=abc', 'return=minimal'],
  ])('%s, which GET /domains cannot honour', async (header, { empty }) => {
    const response = await prefer(empty, header)
    expect(response.status).toBe(200)
    expect(response.headers['preference-applied']).toBeUndefined()
    expect((await journalOf(empty))[0]?.fault).toBeNull()
  })

  it('by a request that is refused at the gate', async ({ service }) => {
    const read = (path: string, more = {}) =>
      ask(service, `GET ${path}`, undefined, { prefer: 'code=500, delay=1', ...more })
    const refused = [await read('/domains', { authorization: null }), await read('/domains', withKey('nobody'))]
    refused.push(await read('/nowhere'))
    await askControl(service, 'PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    refused.push(await read('/domains'))
    await askControl(service, 'PATCH', '/accounts/default', { plan: 'below-stone' })
    refused.push(await read('/dmarc'))
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
  it('is said to be applied when it comes, and keeps the rules of the account away', async ({ empty }) => {
    await addFault(empty, { respond: { error: 'internal_error' } })
    const response = await prefer(empty, 'code=200')
    expect([response.status, response.headers['preference-applied']]).toEqual([200, 'code=200'])
    expect((await journalOf(empty))[0]).toMatchObject({ injected: false, fault: { source: 'prefer' } })
  })

  it('is never forced', async ({ empty }) => {
    const response = await empty.send('POST', '/domains', { domains: ['no hostname'] }, { prefer: 'code=200, delay=1' })
    expect([response.status, response.headers['preference-applied']]).toEqual([400, 'delay=1'])
  })
})

function prefer(service: TestService, header: string) {
  return service.send('GET', '/domains', undefined, { prefer: header })
}
