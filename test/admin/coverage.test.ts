import { describe, expect, it } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'

async function coverage(service: ObservedService, path = '/accounts/default/coverage'): Promise<CoverageReport> {
  return (await service.ask('GET', path)).data
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

  it('counts what the service answered, takes its request away, and stays when the journal is cleared', async () => {
    const service = await startObserved()
    for (let count = 0; count < 2; count++) await service.get('/domains')
    const report = await coverage(service)
    expect(responseOf(report, 'listDomains', 200)).toEqual({ status: 200, genuine: 2, injected: 0, documented: true })
    expect(report.summary.operations).toEqual({ seen: 1, total: 8, percent: 12.5 })
    expect(report.rules.find(({ id }) => id === 'all-domains-listed')).not.toHaveProperty('request')
    await service.ask('DELETE', '/accounts/default/requests')
    expect(await coverage(service)).toEqual(report)
  })

  it('takes account of requests without a key, and names what belongs to no operation', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, { authorization: null })
    await service.get('/nothing')
    const report = await coverage(service)
    expect(responseOf(report, 'listDomains', 401, 'unauthorized')).toMatchObject({ genuine: 1 })
    expect(report.outside).toEqual([{ status: 404, code: 'not_found', genuine: 1, injected: 0, documented: false }])
  })
})
