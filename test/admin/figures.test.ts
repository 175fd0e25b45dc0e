import { describe, expect, it } from 'vitest'
import type { DailyRecords } from '../../src/contract/control-plane.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const NOW = '2026-01-15T09:00:00Z'
const AT = '/accounts/default'

function askDays(service: TestService, query: string) {
  return askControl(service, 'GET', `${AT}/dmarc?${query}`)
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

const named = (count: number) => Array.from({ length: count }, (_, index) => `d${index}.example`)

describe('the records of some days', () => {
  it('are byte for byte what GET /dmarc serves on each of them', async () => {
    const domains = [{ name: 'a.example', record: { dmarc: 100, count: 9 } }, 'b.example']
    const service = await startService({ now: NOW, fixture: { domains } })
    const announced = textsOf((await askDays(service, 'from=2026-01-15&to=2026-01-17')).text)
    expect([...announced.keys()]).toEqual(['2026-01-15', '2026-01-16', '2026-01-17'])
    for (const [date, records] of announced) {
      expect(records).toContain('"dmarc":100.0')
      await askControl(service, 'PATCH', `${AT}/clock`, { now: `${date}T09:00:00Z` })
      const { text } = await service.get('/dmarc')
      expect(records, date).toBe(text.slice('{"success":true,"data":'.length, -1))
    }
  })

  it('are, where domains are named, those of these domains in their order, whatever their spelling', async () => {
    const domains = ['a.example', 'b.example', 'münchen.example']
    const service = await startService({ now: NOW, fixture: { domains } })
    const list = async (domain?: string) => {
      const query = { from: '2026-01-15', to: '2026-01-16', ...(domain !== undefined && { domain }) }
      return (await askDays(service, `${new URLSearchParams(query)}`)).data.days
    }
    const all = await list()
    const pick = (...places: number[]) =>
      all.map(({ date, records }: DailyRecords) => ({ date, records: places.map((place) => records[place]) }))
    expect(await list('b.example')).toEqual(pick(1))
    expect(await list('B.Example.,a.example,b.example')).toEqual(pick(1, 0))
    // Another client may have removed a domain that this one has just seen.
    expect(await list('gone.example,xn--mnchen-3ya.example')).toEqual(pick(2))
  })

  it('are refused where they are too many, with how many days or domains there can be', async () => {
    const names = named(1000)
    const service = await startService({ now: NOW, fixture: { domains: names } })
    const list = (count: number, to: string) =>
      askDays(service, `from=2026-01-01&to=${to}&domain=${names.slice(0, count)}`)
    expect((await list(2, '2027-01-01')).data.days).toHaveLength(366)
    const { status, error } = await askDays(service, 'from=2026-01-01&to=2026-05-01')
    expect([status, error.message]).toEqual([
      400,
      'The period must have at most 120000 records, not 121000; with 1000 domains, it can have 120 days.',
    ])
  })
})
