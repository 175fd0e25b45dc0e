import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { API_KEY, START, startService } from '../support/service.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('the clock of an account', () => {
  it('drives X-RateLimit-Reset, and a new window begins exactly when it says', async () => {
    const service = await startService({ now: '2030-06-01T11:59:59.999Z' })
    const last = await service.get('/domains')
    expect(last.headers['x-ratelimit-reset']).toBe(String(Date.parse('2030-06-01T12:00:00Z') / 1000))
    expect((await service.get('/domains')).headers['x-ratelimit-remaining']).toBe('28')
    service.advance(1)
    const next = await service.get('/domains')
    expect(next.headers['x-ratelimit-remaining']).toBe('29')
    expect(next.headers['x-ratelimit-reset']).toBe(String(Date.parse('2030-06-01T13:00:00Z') / 1000))
  })

  it('refreshes the figures exactly at midnight UTC, and not a millisecond sooner', async () => {
    const service = await startService({ fixture: 'demo', now: '2026-01-15T23:59:59.999Z' })
    const before = await service.get('/dmarc')
    expect((await service.get('/dmarc')).text).toBe(before.text)
    service.advance(1)
    const after = await service.get('/dmarc')
    expect(after.text).not.toBe(before.text)
    service.advance(DAY - 1)
    expect((await service.get('/dmarc')).text).toBe(after.text)
  })

  it('ends the grace period of a key exactly after seven days', async () => {
    const created = new Date(START - 7 * DAY + 1).toISOString()
    const service = await startService({ fixture: { keys: [{ key: 'new-key', created_at: created }] } })
    const limit = async () =>
      (await service.send('GET', '/dmarc', undefined, { authorization: 'Bearer new-key' })).headers['x-ratelimit-limit']
    expect(await limit()).toBe('100')
    service.advance(1)
    expect(await limit()).toBe('10')
  })

  it('gives a new domain its figures at the first refresh after a minute of processing', async () => {
    // Large enough to have mail in a minute.
    const large = { profile: 'enforced', volume: 4_000_000, policy: { p: 'reject' } } as const
    const former_domains = ['in-time.example', 'too-late.example'].map((name) => ({ name, ...large }))
    const service = await startService({ now: '2026-01-15T23:58:59.000Z', fixture: { former_domains } })
    await service.send('POST', '/domains', { domains: ['in-time.example'] })
    service.advance(2000)
    await service.send('POST', '/domains', { domains: ['too-late.example'] })
    const rows = async () => (await service.get('/dmarc')).body.data
    const empty = { p: 'none', sp: 'none', np: 'none', pct: 100, testing: 'n', dmarc: 0, dkim: 0, spf: 0, count: 0 }
    expect(await rows()).toEqual([
      { domain: 'in-time.example', ...empty },
      { domain: 'too-late.example', ...empty },
    ])
    service.advance(MINUTE)
    const [inTime, tooLate] = await rows()
    expect(inTime.p).toBe('reject')
    expect(inTime.count).toBeGreaterThan(0)
    expect(inTime.count).toBeLessThan(1000)
    expect(tooLate).toEqual({ domain: 'too-late.example', ...empty })
    service.advance(DAY)
    const [{ count }, next] = await rows()
    expect(next.p).toBe('reject')
    expect(next.count).toBeGreaterThan(50_000)
    expect(count).toBeGreaterThan(50_000)
  })

  it('is what the header Date shows, so that it goes with X-RateLimit-Reset', async () => {
    const service = await startService({ now: '2031-05-06T07:08:09Z' })
    expect((await service.get('/domains')).headers['date']).toBe('Tue, 06 May 2031 07:08:09 GMT')
    const stranger = await service.send('GET', '/domains', undefined, { authorization: null })
    expect(stranger.headers['date']).toBe(new Date(START).toUTCString())
  })

  it('stands still when it is frozen, whatever the machine’s does', async () => {
    const service = await startService({ fixture: 'demo', now: '2026-01-15T09:00:00Z', frozen: true })
    const first = await service.get('/dmarc')
    service.advance(40 * DAY)
    const later = await service.get('/dmarc')
    expect(later.text).toBe(first.text)
    expect(later.headers['x-ratelimit-reset']).toBe(first.headers['x-ratelimit-reset'])
    expect(later.headers['x-ratelimit-remaining']).toBe('8')
  })

  it('is the fixture’s unless another is given', async () => {
    const fixture = { clock: { now: '2031-01-01T00:30:00Z', frozen: true } }
    const reset = async (options: object) =>
      (await (await startService({ fixture, ...options })).get('/domains')).headers['x-ratelimit-reset']
    expect(await reset({})).toBe(String(Date.parse('2031-01-01T01:00:00Z') / 1000))
    expect(await reset({ now: '2032-01-01T00:30:00Z' })).toBe(String(Date.parse('2032-01-01T01:00:00Z') / 1000))
  })

  it('is its own: two accounts of one server live at different times', async () => {
    const service = await startService({ fixture: 'demo', now: '2026-01-15T23:30:00Z' })
    const birth = { id: 'future', real: START, now: '2036-05-05T05:05:00Z', apiKey: 'future-key' }
    await service.store.create(createAccount(await loadFixture('demo'), birth, service.contract))
    const from = (key: string) => service.send('GET', '/dmarc', undefined, { authorization: `Bearer ${key}` })
    const [today, future] = [await from(API_KEY), await from('future-key')]
    expect(today.headers['x-ratelimit-reset']).toBe(String(Date.parse('2026-01-16T00:00:00Z') / 1000))
    expect(future.headers['x-ratelimit-reset']).toBe(String(Date.parse('2036-05-05T06:00:00Z') / 1000))
    service.advance(HOUR)
    expect((await from(API_KEY)).text).not.toBe(today.text)
    expect((await from('future-key')).text).toBe(future.text)
  })
})

describe('GET /dmarc', () => {
  it('returns the same bytes until the refresh unless domains change', async () => {
    const service = await startService({ fixture: 'demo', enforceQuotas: false })
    const first = await service.get('/dmarc')
    service.advance(5 * HOUR)
    await service.send('POST', '/domaingroups', { name: 'New' })
    expect((await service.get('/dmarc')).text).toBe(first.text)
    await service.send('POST', '/domains', { domains: ['another.example'] })
    const grown = await service.get('/dmarc')
    expect(grown.body.data.slice(0, -1)).toEqual(first.body.data)
    await service.send('DELETE', '/domains', { domains: ['another.example'] })
    expect((await service.get('/dmarc')).text).toBe(first.text)
  })

  it('writes every percentage with one decimal in the raw JSON', async () => {
    const service = await startService({ fixture: 'edge-cases' })
    const { text } = await service.get('/dmarc')
    expect(text).toContain('"dmarc":100.0,"dkim":100.0,"spf":0.0,"count":4096')
    const shares = [...text.matchAll(/"(?:dmarc|dkim|spf)":([^,}]+)/g)].map(([, share]) => share)
    expect(shares.length).toBe(90)
    for (const share of shares) expect(share).toMatch(/^\d{1,3}\.\d$/)
  })

  it('answers for 10,000 domains from kept bytes after the first read', async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`)
    const service = await startService({ fixture: { domains: names }, enforceQuotas: false })
    const first = await service.get('/dmarc')
    expect(first.body.data).toHaveLength(10_000)
    expect((await service.get('/dmarc')).text).toBe(first.text)
  })
})
