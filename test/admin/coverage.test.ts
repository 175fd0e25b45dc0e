import { describe, expect, it } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { sendPlanned } from '../support/planned-requests.ts'

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

  it('of an account counts its requests alone, also to a wrong path; that of all counts those without a key, too', async () => {
    const service = await startObserved()
    await service.send('GET', '/domains', undefined, { authorization: null })
    await service.send('GET', '/nothing', undefined, { authorization: null })
    const untouched = await coverage(service)
    expect([untouched.summary.operations.seen, untouched.outside]).toEqual([0, []])
    await service.get('/nothing')
    const notFound = { status: 404, code: 'not_found', injected: 0, documented: false }
    expect((await coverage(service)).outside).toEqual([{ ...notFound, genuine: 1 }])
    const report = await coverage(service, '/coverage')
    expect(responseOf(report, 'listDomains', 401, 'unauthorized')).toMatchObject({ genuine: 1 })
    expect(report.outside).toEqual([{ ...notFound, genuine: 2 }])
  })

  it('gives for a refused key a command with the key in another form, so that it counts for this account', async () => {
    const service = await startObserved()
    const { rules } = await coverage(service)
    const gap = rules.find(({ id }) => id.endsWith('key-required'))
    expect(gap?.curl?.at(-1)).toContain('"Authorization: Bearer  $API_KEY"')
    await sendPlanned(service, gap?.request ?? [])
    expect((await coverage(service)).rules.find(({ id }) => id === gap?.id)?.seen).toBe(true)
  })
})
