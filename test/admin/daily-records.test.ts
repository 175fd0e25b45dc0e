import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const NOW = '2026-01-15T09:00:00Z'
const DAY = 86_400_000

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

const domains = fc.uniqueArray(
  fc.record(
    {
      name: fc.constantFrom('a.example', 'b.a.example', 'c.example', 'news.c.example', 'd.example', 'parked.example'),
      profile: fc.constantFrom(...PROFILE_NAMES),
      since: fc.nat(60).map((days) => `P${days}D`),
      added_at: fc.integer({ min: 1, max: 60 }).map((days) => `P${days}D`),
    },
    { requiredKeys: ['name'] },
  ),
  { selector: ({ name }) => name, minLength: 1, maxLength: 6 },
)

describe('the records of some days', () => {
  it('are byte for byte what GET /dmarc serves on each of them (seed 7)', async () => {
    const service = await startService({ now: NOW, enforceQuotas: false })
    await fc.assert(
      fc.asyncProperty(domains, fc.nat(1000), async (fixture, seed) => {
        await askControl(service, 'POST', '/accounts/default/reset', { fixture: { domains: fixture }, seed, now: NOW })
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
      { seed: 7, numRuns: 8 },
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
    const names = data.days.map(({ date, records }: { date: string; records: { domain: string }[] }) => {
      return [date, records.map(({ domain }) => domain)]
    })
    const both = ['a.example', 'b.example']
    expect(names).toEqual([
      ['2026-01-14', ['a.example']],
      ['2026-01-15', ['a.example']],
      ['2026-01-16', both],
      ['2026-01-17', both],
      ['2026-01-18', both],
      ['2026-01-19', both],
    ])
  })

  it('are those of the account alone', async () => {
    const service = await startService({ now: NOW, fixture: 'demo' })
    await askControl(service, 'POST', '/accounts', { id: 'bare', fixture: 'empty', now: NOW })
    const { data } = await askDays(service, '2026-01-15', '2026-01-16', 'bare')
    expect(data).toEqual({
      days: [
        { date: '2026-01-15', records: [] },
        { date: '2026-01-16', records: [] },
      ],
    })
    expect((await askDays(service, '2026-01-15', '2026-01-16', 'nobody')).status).toBe(404)
  })

  it('are, where domains are named, those of these domains in their order, whatever their spelling', async () => {
    const service = await startService({
      now: NOW,
      fixture: { domains: ['a.example', 'b.example', 'münchen.example'] },
    })
    const list = async (domain: string) => {
      const query = new URLSearchParams({ from: '2026-01-15', to: '2026-01-16', domain })
      return (await askControl(service, 'GET', `/accounts/default/dmarc?${query}`)).data.days
    }
    const all = (await askDays(service, '2026-01-15', '2026-01-16')).data.days
    const pick = (...places: number[]) =>
      all.map(({ date, records }: { date: string; records: unknown[] }) => {
        return { date, records: places.map((place) => records[place]) }
      })
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
    const list = (count: number, to: string) =>
      askControl(
        service,
        'GET',
        `/accounts/default/dmarc?from=2026-01-01&to=${to}&domain=${names.slice(0, count).join(',')}`,
      )
    expect((await list(2, '2027-01-01')).data.days).toHaveLength(366)
    expect((await list(100, '2026-01-02')).data.days[1].records).toHaveLength(100)
    const { status, error } = await list(101, '2026-01-02')
    expect([status, error.message]).toEqual([400, '`domain` must name at most 100 domains, not 101.'])
  })

  it.each([
    ['from=2026-01-15', 'missing_field', '`to` is required'],
    ['to=2026-01-15', 'missing_field', '`from` is required'],
    ['from=15.1.2026&to=2026-01-15', 'invalid_value', '`from` must be a day such as 2026-01-15, not "15.1.2026".'],
    [
      'from=2026-02-30&to=2026-03-01',
      'invalid_value',
      '`from` must be a day of the calendar, from 1970-01-01 to 9999-12-31, not "2026-02-30".',
    ],
    [
      'from=2026-01-15&to=1969-12-31',
      'invalid_value',
      '`to` must be a day of the calendar, from 1970-01-01 to 9999-12-31, not "1969-12-31".',
    ],
    ['from=2026-01-15&to=2026-01-14', 'invalid_value', '`to` must not be before from, which is 2026-01-15.'],
    [
      'from=2026-01-15&to=2027-01-16',
      'invalid_value',
      'The period must have at most 366 days, not 367; with this from, to can be 2027-01-15 at most.',
    ],
    [
      'from=2026-01-15&to=2026-01-15&domain=a.example,no%20name',
      'invalid_value',
      '`domain` must have hostnames with commas between them, and "no name" is none.',
    ],
    ['from=2026-01-15&to=2026-01-15&domain=a.example,', 'invalid_value', 'and "" is none.'],
    ['from=2026-01-15&to=2026-01-15&domain=', 'invalid_value', '`domain` must have at least 1 characters.'],
    [`from=2026-01-15&to=2026-01-15&domain=${'a'.repeat(254)}.example`, 'invalid_value', 'is none.'],
    ['from=2026-01-15&to=2026-01-15&domain=a.example&domain=b.example', 'invalid_value', 'is given more than once'],
    ['from=2026-01-15&to=2026-01-15&days=1', 'unknown_field', 'The query parameter `days` is unknown.'],
  ])('of ?%s are refused: %s', async (query, code, message) => {
    const service = await startService({ now: NOW })
    const { status, error } = await askControl(service, 'GET', `/accounts/default/dmarc?${query}`)
    expect([status, error.code]).toEqual([400, code])
    expect(error.message).toContain(message)
  })

  it('are refused where they are too many, with how many days there can be', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `d${index}.example`)
    const service = await startService({ now: NOW, fixture: { domains: names } })
    const { status, error } = await askDays(service, '2026-01-01', '2026-05-01')
    expect(status).toBe(400)
    expect(error.message).toBe(
      'The period must have at most 120000 records, not 121000; with 1000 domains, it can have 120 days.',
    )
    expect((await askDays(service, '2026-01-01', '2026-01-10')).data.days).toHaveLength(10)
  })
})
