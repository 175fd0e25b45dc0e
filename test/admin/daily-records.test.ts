import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DailyRecords } from '../../src/admin/reports.ts'
import { DAY } from '../support/account.ts'
import { BUDGET, budget } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { drawnDomains } from '../support/drawn-domains.ts'
import { startService, type TestService } from '../support/service.ts'

const NOW = '2026-01-15T09:00:00Z'

async function askDays(service: TestService, from: string, to: string, account = 'default') {
  return askControl(service, 'GET', `/accounts/${account}/dmarc?from=${from}&to=${to}`)
}

/** The texts of the records of each day, as they were sent. */
function textsOf(text: string): Map<string, string> {
  const days = text.slice('{"success":true,"data":{"days":['.length, -']}}'.length)
  const parts = days.split(/\{"date":"(\d{4}-\d\d-\d\d)","records":/).slice(1)
  return new Map(
    Array.from({ length: parts.length / 2 }, (_, index) => {
      return [parts[2 * index] ?? '', (parts[2 * index + 1] ?? '').replace(/\}?,?$/, '')] as const
    }),
  )
}

describe('the records of some days', () => {
  it('are byte for byte what GET /dmarc serves on each of them (seed 7)', async () => {
    const service = await startService({ now: NOW, enforceQuotas: false })
    await fc.assert(
      fc.asyncProperty(drawnDomains(), fc.nat(1000), async (domains, seed) => {
        await askControl(service, 'POST', '/accounts/default/reset', { fixture: { domains }, seed, now: NOW })
        const announced = textsOf((await askDays(service, '2026-01-15', '2026-02-20')).text)
        expect(announced.size).toBe(37)
        const dates = [...announced.keys()]
        for (const [index, date] of dates.entries()) {
          if (index > 0) await askControl(service, 'PATCH', '/accounts/default/clock', { now: `${date}T05:00:00Z` })
          const { text } = await service.get('/dmarc')
          expect(announced.get(date), date).toBe(text.slice('{"success":true,"data":'.length, -1))
        }
        // Looking back, the records are still those that were served.
        const recalled = textsOf((await askDays(service, '2026-01-15', '2026-02-20')).text)
        expect(recalled).toEqual(announced)
      }),
      { seed: 7, numRuns: budget({ quick: 2, whole: 8, full: 40 }) },
    )
  })

  it('are whole however many there are of one day, and are sent in chunks', async () => {
    const domains = Array.from({ length: 1_501 }, (_, index) => `d${index}.example`)
    const service = await startService({ now: NOW, fixture: { domains } })
    const answer = await askDays(service, '2026-01-15', '2026-01-15')
    const { text } = await service.get('/dmarc')
    expect(textsOf(answer.text).get('2026-01-15')).toBe(text.slice('{"success":true,"data":'.length, -1))
    expect(answer.headers['transfer-encoding']).toBe('chunked')
  })

  it('begin at the first refresh after the addition of a domain', async () => {
    const service = await startService({ now: NOW, fixture: { domains: ['a.example'] } })
    await service.send('POST', '/domains', { domains: ['b.example'] })
    service.advance(3 * DAY)
    const { data } = await askDays(service, '2026-01-14', '2026-01-19')
    const seen = data.days.map(({ date, records }: DailyRecords) => {
      return `${date} ${records.map(({ domain }) => domain)}`
    })
    expect(seen).toEqual([
      ...['2026-01-14 a.example', '2026-01-15 a.example'],
      ...['2026-01-16', '2026-01-17', '2026-01-18', '2026-01-19'].map((date) => `${date} a.example,b.example`),
    ])
  })

  it('are, where domains are named, those of these domains in their order, whatever their spelling', async () => {
    const domains = ['a.example', 'b.example', 'münchen.example']
    const service = await startService({ now: NOW, fixture: { domains } })
    const list = async (domain: string) => {
      const query = new URLSearchParams({ from: '2026-01-15', to: '2026-01-16', domain })
      return (await askControl(service, 'GET', `/accounts/default/dmarc?${query}`)).data.days
    }
    const all = (await askDays(service, '2026-01-15', '2026-01-16')).data.days
    const pick = (...places: number[]) =>
      all.map(({ date, records }: DailyRecords) => ({ date, records: places.map((place) => records[place]) }))
    expect(await list('b.example')).toEqual(pick(1))
    expect(await list('B.Example.,a.example,b.example')).toEqual(pick(1, 0))
    expect(await list('xn--mnchen-3ya.example')).toEqual(pick(2))
    // Another client may have removed a domain that this one has just seen.
    expect(await list('gone.example,a.example')).toEqual(pick(0))
    expect(await list('gone.example')).toEqual(pick())
  })

  it('are limited in number only by the domains that are named', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `d${index}.example`)
    const service = await startService({ now: NOW, fixture: { domains: names } })
    const list = (count: number, to: string) => askDays(service, '2026-01-01', `${to}&domain=${names.slice(0, count)}`)
    expect((await list(2, '2027-01-01')).data.days).toHaveLength(366)
    expect((await list(100, '2026-01-02')).data.days[1].records).toHaveLength(100)
    const { status, error } = await list(101, '2026-01-02')
    expect([status, error.message]).toEqual([400, '`domain` must name at most 100 domains, not 101.'])
  })

  it('are refused where they are too many, with how many days there can be', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `d${index}.example`)
    const service = await startService({ now: NOW, fixture: { domains: names } })
    const { status, error } = await askDays(service, '2026-01-01', '2026-05-01')
    expect(status).toBe(400)
    expect(error.message).toBe(
      'The period must have at most 120000 records, not 121000; with 1000 domains, it can have 120 days.',
    )
    // As many as there may be take a while.
    const [last, days] = BUDGET === 'quick' ? ['2026-01-10', 10] : ['2026-04-30', 120]
    expect((await askDays(service, '2026-01-01', last)).data.days).toHaveLength(days)
  })
})
