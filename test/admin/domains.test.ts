import { describe, expect, it } from 'vitest'
import type { MonitoredDomainReport } from '../../src/admin/reports.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { CAUSES } from '../../src/figures/causes.ts'
import { valueAt } from '../../src/ground/json.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { DAY } from '../support/account.ts'
import { askControl, controlApi, startControlPlane } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const PATH = '/accounts/default'
const NOW = '2026-01-15T09:00:00Z'

async function startWithDomains(options: ServerOptions = {}) {
  const plane = await startControlPlane({ fixture: { domains: ['a.example', 'xn--bcher-kva.example'] }, ...options })
  return { ...plane, record: async () => (await plane.ask(plane.key, 'GET', '/dmarc')).body.data[0] }
}

async function listDomains(service: TestService, query = ''): Promise<MonitoredDomainReport[]> {
  return (await askControl(service, 'GET', `${PATH}/domains${query}`)).data.domains
}

describe('the list of domains', () => {
  it('says what the figures of a domain are made from', async () => {
    const domains = [
      { name: 'a.example', profile: 'spoofed', since: 'P6D', volume: 3000, policy: { p: 'reject', sp: 'none' } },
      { name: 'b.a.example', profile: 'no-record', added_at: 'P2D', record: { count: 7 } },
    ] as const
    const service = await startService({ now: NOW, fixture: { domains } })
    const [above, below] = await listDomains(service)
    expect(above).toMatchObject({
      ...{ domain: 'a.example', added_at: '2024-12-11T09:00:00Z', features: [], profile: 'spoofed', volume: 3000 },
      ...{ inherits_from: null, pinned: {} },
      ...{ policy: { p: 'reject', sp: 'none' }, record: { p: 'reject', sp: 'none' } },
    })
    expect(above?.events).toContainEqual({
      kind: 'attack',
      state: 'present',
      from: '2026-01-09',
      until: expect.stringMatching(/^2026-0[23]-\d\d$/),
      description: expect.stringMatching(/^Others forge mail in its name, about [\d,]+ messages a day\.$/),
    })
    const record = { p: 'none', count: 7 }
    expect(below).toMatchObject({ policy: null, inherits_from: 'a.example', pinned: { count: 7 }, record })
    const events = below?.events.map(({ kind, from, until }) => `${kind} from ${from} until ${until}`)
    expect(events).toContain('inheritance from null until null')
    expect(events).toContain('addition from 2026-01-14 until 2026-02-13')
  })

  it('names the policy of a domain before GET /dmarc shows it', async () => {
    const fresh = { name: 'a.example', added_at: 'PT1M', policy: { p: 'reject' } } as const
    const service = await startService({ now: NOW, fixture: { domains: [fresh] } })
    const [report] = await listDomains(service)
    expect(report).toMatchObject({ policy: { p: 'reject' }, record: { p: 'none', count: 0 } })
  })

  it('names the addition where the record of a new domain changes, also of one without mail', async () => {
    const former_domains = [{ name: 'parked.example', profile: 'parked' }] as const
    const service = await startService({ now: NOW, fixture: { former_domains } })
    await service.send('POST', '/domains', { domains: ['parked.example'] })
    const [report] = await listDomains(service)
    const description = 'It was added, so from now on the policy of its DNS shows.'
    expect(report?.events).toEqual([
      { kind: 'addition', state: 'planned', from: '2026-01-16', until: '2026-02-15', description },
    ])
  })

  it('has the kinds of events that its document lists', () => {
    const kind = '/components/schemas/MonitoredDomain/properties/events/items/properties/kind'
    expect(valueAt(controlApi.document.resolved, kind)).toMatchObject({ enum: [...CAUSES] })
  })
})

describe('features of a domain', () => {
  it('keep it from being removed until there are none', async () => {
    const { put, ask, key } = await startWithDomains()
    const path = `${PATH}/domains/a.example/features`
    const { data } = await put(path, { features: ['mta-sts', 'bimi'] })
    expect(data).toMatchObject({ domain: 'a.example', features: ['mta-sts', 'bimi'] })
    const refusal = await ask(key, 'DELETE', '/domains', { domains: ['a.example'] })
    expect(refusal.body.error).toMatchObject({ code: 'domain_delete_failed' })
    expect(refusal.body.error.message).toContain('mta-sts, bimi')
    expect((await put(path, { features: [] })).data.features).toEqual([])
    expect((await ask(key, 'DELETE', '/domains', { domains: ['a.example'] })).status).toBe(200)
    expect(await put(path, { features: [] })).toMatchObject({ status: 404, error: { code: 'not_found' } })
  })
})

describe('a domain in a path', () => {
  it.each([
    ['a.example', 'a.example'],
    ['A.EXAMPLE', 'a.example'],
    ['a.example.', 'a.example'],
    ['%61.example', 'a.example'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['B%C3%9CCHER.example', 'xn--bcher-kva.example'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['XN--BCHER-KVA.EXAMPLE', 'xn--bcher-kva.example'],
    ...['b.example', 'localhost', '%20', 'a.example%00', '__proto__', 'a.example%2Fb'].map((spelt) => [spelt, 'none']),
  ])('%s is %s', async (spelt, domain) => {
    const { put, delete: remove } = await startWithDomains()
    const path = `${PATH}/domains/${spelt}`
    const expected =
      domain === 'none' ? { status: 404, error: { code: 'not_found' } } : { status: 200, data: { domain } }
    expect(await put(`${path}/features`, { features: [] })).toMatchObject(expected)
    expect(await put(`${path}/dmarc`, { p: 'none' })).toMatchObject(expected)
    expect(await remove(`${path}/dmarc`)).toMatchObject(expected)
  })
})

describe('a pinned record', () => {
  it('has the fixed fields at once and on every day, and follows its figures again after them', async () => {
    const { get, put, delete: remove, patch, record } = await startWithDomains()
    const profile = async () => (await get(`${PATH}/domains`)).data.domains[0].profile
    const path = `${PATH}/domains/a.example/dmarc`
    const [before, own] = [await record(), await profile()]
    const pin = { p: 'quarantine', pct: 25, testing: 'y', dmarc: 80.5, dkim: 70, spf: 60, count: 1234 }
    const { data } = await put(path, { ...pin, profile: 'spoofed' })
    expect(data.record).toEqual({ domain: 'a.example', sp: 'quarantine', np: 'quarantine', ...pin })
    expect(await profile()).toBe('spoofed')
    expect(await record()).toEqual(data.record)
    await patch(`${PATH}/clock`, { advance: 'P3D' })
    expect(await record()).toEqual(data.record)
    await remove(path)
    await patch(`${PATH}/clock`, { advance: 'P1D' })
    const after = await record()
    expect(after.count).not.toBe(1234)
    expect([after.p, after.pct, await profile()]).toEqual([before.p, before.pct, own])
  })

  it('leaves what is not fixed as it is, and another pin takes its place', async () => {
    const { put, record } = await startWithDomains({
      fixture: { domains: [{ name: 'a.example', profile: 'monitoring-only' }] },
    })
    const path = `${PATH}/domains/a.example/dmarc`
    const before = await record()
    await put(path, { pct: 10 })
    expect(await record()).toEqual({ ...before, pct: 10 })
    await put(path, { testing: 'y' })
    expect(await record()).toEqual({ ...before, testing: 'y' })
  })

  it.each(PROFILE_NAMES)('may have the profile %s, beside fixed fields', async (profile) => {
    const { put, record } = await startWithDomains()
    const { data } = await put(`${PATH}/domains/a.example/dmarc`, { profile, pct: 33 })
    expect(await record()).toEqual(data.record)
    expect(data.record.pct).toBe(33)
  })

  it('of a domain that has no figures yet is shown', async () => {
    const { put, ask, key } = await startWithDomains()
    await ask(key, 'POST', '/domains', { domains: ['fresh.example'] })
    const { data } = await put(`${PATH}/domains/fresh.example/dmarc`, { dmarc: 99.9 })
    expect(data.record).toMatchObject({ dmarc: 99.9 })
    expect((await ask(key, 'GET', '/dmarc')).body.data.at(-1)).toEqual(data.record)
  })
})

interface Row {
  domain: string
  p: string
  dmarc: number
  count: number
}

/** Figures that change more from one day to the next than weekdays and chance explain. */
function hasMoved(before: Row, after: Row): boolean {
  if (before.p !== after.p) return true
  const busy = Math.min(before.count, after.count) >= 300
  if (busy && Math.abs(before.dmarc - after.dmarc) >= 1.5) return true
  return Math.abs(before.count - after.count) > 100 + 0.12 * Math.max(before.count, after.count)
}

describe('the events of domains', () => {
  it.each(['demo', 'agency'])('name why each figure of %s moves, and something happens each week', async (fixture) => {
    const service = await startService({ now: NOW, fixture, enforceQuotas: false })
    const read = async () => (await service.get('/dmarc')).body.data as Row[]
    let before = await read()
    const moves: number[] = []
    for (let day = 1; day <= 75; day++) {
      service.advance(DAY)
      const [today = '', monthAgo = ''] = [day, day - 31].map((each) => {
        return new Date(Date.parse(NOW) + each * DAY).toISOString().slice(0, 10)
      })
      const after = await read()
      const moved = after.filter((row, index) => hasMoved(before[index] ?? row, row))
      if (moved.length > 0) moves.push(day)
      const reports = moved.length > 0 ? await listDomains(service, '?limit=1000') : []
      for (const row of moved) {
        const events = reports.find(({ domain }) => domain === row.domain)?.events
        const causes = events?.filter(({ from, until }) => (from ?? '') <= today && (until ?? today) >= monthAgo)
        expect(causes, `${row.domain} on ${today}`).not.toEqual([])
      }
      before = after
    }
    const weeks = new Set(moves.map((day) => Math.ceil(day / 7)))
    expect([...weeks].slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })
})
