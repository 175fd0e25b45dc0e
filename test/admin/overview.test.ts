import { describe, expect, it } from 'vitest'
import type { DailyRecords, OverviewReport } from '../../src/contract/control-plane.ts'
import type { DmarcRecord } from '../../src/domain/dmarc.ts'
import type { FixtureDomain } from '../../src/domain/fixture.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const NOW = '2026-01-15T09:00:00Z'

async function overviewOf(service: TestService, query = ''): Promise<OverviewReport> {
  const { status, data } = await askControl(service, 'GET', `/accounts/default/overview${query}`)
  expect(status).toBe(200)
  return data
}

/** What GET /dmarc says of all domains together. */
function sumsOf(records: readonly DmarcRecord[]) {
  const messages = records.reduce((sum, { count }) => sum + count, 0)
  const passing = records.reduce((sum, { count, dmarc }) => sum + count * Math.round(dmarc * 10), 0) / 1000
  const share = messages === 0 ? null : Math.round((passing / messages) * 1000) / 10
  return { messages, passing: Math.round(passing), share }
}

async function recordsOf(service: TestService): Promise<DmarcRecord[]> {
  return JSON.parse((await service.get('/dmarc')).text).data
}

describe('the overview of an account', () => {
  it('has the sums of GET /dmarc, at the newest refresh and at each before it', async () => {
    const service = await startService({ now: NOW, fixture: 'demo' })
    const { days, policies, testing, ...overview } = await overviewOf(service, '?days=20')
    const records = await recordsOf(service)
    expect(overview).toMatchObject({ ...sumsOf(records), domains: records.length, period_days: 30 })
    expect(testing).toBe(records.filter((record) => record.testing === 'y').length)
    const having = (policy: string) => records.filter(({ p }) => p === policy).length
    expect([policies.reject, policies.quarantine]).toEqual([having('reject'), having('quarantine')])
    expect(policies.none + policies.missing).toBe(having('none'))
    const query = `/accounts/default/dmarc?from=${days[0]?.date}&to=2026-01-15`
    const { data } = await askControl(service, 'GET', query)
    expect(days).toEqual(data.days.map(({ date, records }: DailyRecords) => ({ date, ...sumsOf(records) })))
  })

  it('names the domains of the story that need attention, the worst first, with the reason', async () => {
    const service = await startService({ now: NOW, fixture: 'demo' })
    const { attention, attention_count } = await overviewOf(service)
    const reasons = attention.map(({ domain, severity, reason }) => `${severity} ${domain}: ${reason}`)
    expect(attention_count).toBe(attention.length)
    expect([reasons[0], reasons.at(-1)]).toEqual([
      'high news.fjordlight.example: 22.3 % of its mail fails DMARC under the policy quarantine. A new sender adds 88 % to its mail and does not sign it.',
      'low fjordlight-old.test: No DMARC record: any sender can use its name, and receivers report nothing about it.',
    ])
  })

  it('names twenty of them, and counts them all', async () => {
    const domains = Array.from({ length: 21 }, (_, index) => ({
      name: `d${index}.example`,
      profile: 'no-record' as const,
    }))
    const { attention, attention_count } = await overviewOf(await startService({ now: NOW, fixture: { domains } }))
    expect([attention.length, attention_count]).toEqual([20, 21])
  })

  it('moves with the clock, and follows each change of the domains', async () => {
    const service = await startService({ now: NOW, fixture: { domains: ['a.example'] } })
    const [first, again] = [await overviewOf(service), await overviewOf(service)]
    expect(again).toMatchObject({ days: first.days, domains: 1 })
    await askControl(service, 'PATCH', '/accounts/default/clock', { advance: 'P1D' })
    const { days } = await overviewOf(service)
    expect([days.at(-2), days.length]).toEqual([first.days.at(-1), 90])
    await askControl(service, 'PUT', '/accounts/default/domains/a.example/dmarc', { count: 7, dmarc: 100 })
    expect(await overviewOf(service)).toMatchObject({ messages: 7, passing: 7 })
    expect((await overviewOf(service, '?days=2')).days).toHaveLength(2)
  })

  it.each<[what: string, messages: number | null, domains: FixtureDomain[]]>([
    ['of parked domains has no mail', 0, [{ name: 'a.example', profile: 'parked' }]],
    ['of an account without domains has no reports', null, []],
    ['of domains without a first report has no reports', null, [{ name: 'a.example', added_at: 'PT1M' }]],
  ])('%s', async (_, messages, domains) => {
    const overview = await overviewOf(await startService({ now: NOW, fixture: { domains } }), '?days=3')
    const none = { messages, passing: messages, share: null }
    expect(overview).toMatchObject(none)
    expect(overview.days).toEqual(['2026-01-13', '2026-01-14', '2026-01-15'].map((date) => ({ date, ...none })))
  })

  it.each([
    ['9999-12-30T23:59:00Z', 90, '9999-12-31T00:00:00Z'],
    ['9999-12-31T00:00:00Z', 90, null],
    ['1970-01-05T12:00:00Z', 5, '1970-01-06T00:00:00Z'],
  ])('works with a clock that shows %s', async (now, count, next) => {
    const service = await startService({ now, fixture: 'demo', frozen: true })
    const { days, days_omitted, next_refresh_at, ...overview } = await overviewOf(service)
    expect([days.length, days_omitted, next_refresh_at]).toEqual([count, 90 - count, next])
    expect(overview).toMatchObject(sumsOf(await recordsOf(service)))
  })
})
