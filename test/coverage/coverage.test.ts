import { describe, expect, it } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { type ObservedService, startObserved } from '../support/observed-service.ts'
import { ONE_SENTENCE } from '../support/own-document.ts'

// What one request shows is in the corpus.
const reportOf = async (service: ObservedService): Promise<CoverageReport> =>
  (await service.ask('GET', '/accounts/default/coverage')).data

const shownIn = ({ rules, edges }: CoverageReport) =>
  [...rules, ...edges].filter(({ seen }) => seen).map(({ id }) => id)

/** The answers of GET /dmarc that were counted. */
function answersIn({ operations }: CoverageReport): unknown[] {
  const responses = operations.find(({ operation }) => operation === 'listDmarc')?.responses ?? []
  return responses
    .filter(({ genuine, injected }) => genuine + injected > 0)
    .map(({ status, code, genuine, injected, documented }) => ({ status, code, genuine, injected, documented }))
}

/** Answers of every kind: two of the service, two that a fault has made, and one to a request that is no operation. */
async function startShown(): Promise<ObservedService> {
  const service = await startObserved()
  await service.get('/dmarc')
  await service.get('/dmarc')
  await service.ask('POST', '/accounts/default/faults', { respond: { error: 'rate_limited' }, times: 1 })
  await service.get('/dmarc')
  await service.ask('POST', '/accounts/default/faults', { respond: { status: 503 }, times: 1 })
  await service.get('/dmarc').catch(() => undefined)
  await service.get('/nothing')
  return service
}

describe('a coverage report', () => {
  it('counts genuine and injected answers apart, and marks those that are not documented', async () => {
    const report = await reportOf(await startShown())
    expect(answersIn(report)).toEqual([
      { status: 200, code: undefined, genuine: 2, injected: 0, documented: true },
      { status: 429, code: 'rate_limited', genuine: 0, injected: 1, documented: true },
      { status: 503, code: undefined, genuine: 0, injected: 1, documented: false },
    ])
    expect(report.outside).toEqual([{ status: 404, code: 'not_found', genuine: 1, injected: 0, documented: false }])
    expect(shownIn(report).sort()).toEqual(['daily-refresh', 'one-record-per-domain'])
  })

  it('lists for each operation what the contract documents, but for what nobody can bring about', async () => {
    const service = await startObserved()
    const { operations, apart, rules } = await reportOf(service)
    for (const { operation, responses } of operations) {
      const documented = [...(service.contract.operations.find(({ id }) => id === operation)?.responses.values() ?? [])]
      const expected = documented.flatMap(({ status, codes }) =>
        codes.size === 0 ? [`${status}`] : [...codes].map((code) => `${status} ${code}`),
      )
      expect(responses.map(({ status, code }) => [status, code].filter(Boolean).join(' '))).toEqual(
        expected.filter((response) => response !== '500 internal_error'),
      )
    }
    expect(apart.filter(({ kind }) => kind === 'response')).toHaveLength(operations.length)
    expect(apart.filter(({ kind }) => kind === 'rule')).toMatchObject([{ id: 'key-shown-once' }])
    for (const { why } of apart) expect(why).toMatch(ONE_SENTENCE)
    expect(rules.map(({ id }) => id)).not.toContain('key-shown-once')
  })

  it('sums up what was seen of each kind, and of all accounts together', async () => {
    const service = await startShown()
    await service.send('GET', '/domains', undefined, { authorization: 'Bearer sandbox_other' })
    const { summary, rules, edges } = await reportOf(service)
    expect(summary.operations).toEqual({ seen: 1, total: 8, percent: 12.5 })
    expect(summary.rules).toMatchObject({ seen: 2, total: rules.length })
    expect(summary.edges).toEqual({ seen: 0, total: edges.length, percent: 0 })
    const all: CoverageReport = (await service.ask('GET', '/coverage')).data
    expect(all.summary.operations).toMatchObject({ seen: 2 })
    expect(answersIn(all)).toEqual(answersIn(await reportOf(service)))
  })

  it('rounds no share up, and is as at the beginning after a reset', async () => {
    const service = await startObserved()
    const before = await reportOf(service)
    for (const path of ['/dmarc', '/domains', '/domaingroups', '/domaingroups?id=x']) await service.get(path)
    const { summary } = await reportOf(service)
    const exact = (1000 * summary.responses.seen) / summary.responses.total
    expect(Math.round(exact), 'or this shows nothing').toBeGreaterThan(exact)
    expect(summary.responses.percent).toBe(Math.floor(exact) / 10)
    await service.ask('POST', '/accounts/default/reset')
    expect(await reportOf(service)).toEqual(before)
  })

  it.each<[rule: string, how: string, requests: [request: string, body?: object][], isShown: boolean]>([
    ['daily-refresh', 'by one read', [['GET /dmarc']], false],
    ['daily-refresh', 'by a second read on the same day', [['GET /dmarc'], ['GET /dmarc']], true],
    ['daily-refresh', 'by reads of two days', [['GET /dmarc'], ['advance 86400000'], ['GET /dmarc']], false],
    [
      'daily-refresh',
      'for good, whatever follows',
      [['GET /dmarc'], ['GET /dmarc'], ['advance 86400000'], ['GET /domains']],
      true,
    ],
  ])('has %s %s: %j', async (rule, _, requests, isShown) => {
    const service = await startObserved()
    for (const [request, body] of requests) {
      const [method = '', path = ''] = request.split(' ')
      if (method === 'advance') service.advance(Number(path))
      else await service.send(method, path, body)
    }
    expect(shownIn(await reportOf(service)).includes(rule)).toBe(isShown)
  })

  it.each<[edge: string, how: string, body: object]>([
    ['addDomains domains maxItems 50 at', 'by fewer', { domains: hosts(49) }],
    ['addDomains domains maxItems 50 at', 'with an unknown field', { domains: hosts(50), more: 1 }],
    ['addDomains domains maxItems 50 beyond', 'by many more', { domains: hosts(60) }],
    ['/domains x-quota 30 at', 'by a request that is refused', { domains: hosts(1) }],
  ])('does not have the limit %s %s', async (edge, how, body) => {
    const service = await startObserved()
    const isRefused = how === 'by a request that is refused'
    if (isRefused) await service.ask('PATCH', '/accounts/default/quotas', { bucket: 'domains', remaining: 0 })
    await service.send('POST', '/domains', body)
    const shown = shownIn(await reportOf(service))
    expect(shown).not.toContain(edge)
    if (isRefused) expect(shown).toContain('/domains x-quota 30 beyond')
  })
})

function hosts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `host-${index}.example`)
}
