import { describe, expect, it } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { withKey } from '../support/account.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'

async function coverage(service: ObservedService, path = '/accounts/default/coverage'): Promise<CoverageReport> {
  const { status, body, text } = await service.ask('GET', path)
  expect(status, text).toBe(200)
  return body.data
}

function responseOf({ operations }: CoverageReport, operation: string, status: number, code?: string) {
  const { responses = [] } = operations.find((each) => each.operation === operation) ?? {}
  return responses.find((each) => each.status === status && each.code === code)
}

describe('coverage', () => {
  it('of nothing has a request and a command for everything', async () => {
    const service = await startObserved()
    const { summary, operations, rules, edges } = await coverage(service)
    expect(Object.values(summary).map(({ seen }) => seen)).toEqual([0, 0, 0, 0])
    const gaps = [...operations.flatMap(({ responses }) => responses), ...rules, ...edges]
    expect(gaps.filter(({ request, curl }) => request === undefined || request.length !== curl?.length)).toEqual([])
  })

  it('counts what the service answered, and takes its request away', async () => {
    const service = await startObserved()
    await service.get('/domains')
    await service.get('/domains')
    const report = await coverage(service)
    expect(responseOf(report, 'listDomains', 200)).toEqual({ status: 200, genuine: 2, injected: 0, documented: true })
    expect(report.summary.operations).toEqual({ seen: 1, total: 8, percent: 12.5 })
    expect(report.rules.find(({ id }) => id === 'all-domains-listed')).not.toHaveProperty('request')
  })

  it('counts apart what was injected, and takes it for no evidence', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, { prefer: 'code=rate_limited' })
    await service.send('POST', '/domains', { domains: ['fail-invalid-domain.understudy.test'] })
    const report = await coverage(service)
    expect(responseOf(report, 'listDomains', 429, 'rate_limited')).toMatchObject({ genuine: 0, injected: 1 })
    expect(responseOf(report, 'listDomains', 429, 'rate_limited')).toHaveProperty('request')
    expect(responseOf(report, 'addDomains', 400, 'invalid_domain')).toMatchObject({ genuine: 0, injected: 1 })
    expect(Object.values(report.summary).map(({ seen }) => seen)).toEqual([0, 0, 0, 0])
  })

  it('sees the edges of limits in requests that were refused', async () => {
    const service = await startObserved()
    await service.send('POST', '/domaingroups', { name: 'x'.repeat(101) })
    await service.send('POST', '/domains', `{"domains": []${' '.repeat(1_048_577 - 15)}}`)
    const seen = (await coverage(service)).edges.filter((edge) => edge.seen).map(({ id }) => id)
    expect(seen).toEqual(
      expect.arrayContaining(['createDomainGroup name maxLength 100 beyond', 'addDomains body-limit 1048576 beyond']),
    )
  })

  it('takes account of requests without a key, and names what belongs to no operation', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, { authorization: null })
    await service.get('/nothing')
    const report = await coverage(service)
    expect(responseOf(report, 'listDomains', 401, 'unauthorized')).toMatchObject({ genuine: 1 })
    expect(report.outside).toEqual([{ status: 404, code: 'not_found', genuine: 1, injected: 0, documented: false }])
  })

  it('of all accounts adds up theirs, without requests', async () => {
    const service = await startObserved()
    await service.get('/domains')
    await service.send('GET', '/domains', undefined, withKey('sandbox_other'))
    const report = await coverage(service, '/coverage')
    expect(responseOf(report, 'listDomains', 200)).toMatchObject({ genuine: 2 })
    expect(report.rules.filter(({ request, hint }) => request ?? hint)).toEqual([])
    expect(responseOf(await coverage(service), 'listDomains', 200)).toMatchObject({ genuine: 1 })
  })

  it('begins anew with its account, and stays when the journal is cleared', async () => {
    const service = await startObserved()
    await service.get('/domains')
    await service.ask('DELETE', '/accounts/default/requests')
    expect((await coverage(service)).summary.operations.seen).toBe(1)
    await service.ask('POST', '/accounts/default/reset')
    expect((await coverage(service)).summary.operations.seen).toBe(0)
  })
})
