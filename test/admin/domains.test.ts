import { describe, expect, it } from 'vitest'
import type { MonitoredDomainReport } from '../../src/admin/reports.ts'
import { CAUSES } from '../../src/figures/causes.ts'
import { askControl, controlApi } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const NOW = '2026-01-15T09:00:00Z'
const DAY = 86_400_000

async function listDomains(service: TestService, query = ''): Promise<MonitoredDomainReport[]> {
  return (await askControl(service, 'GET', `/accounts/default/domains${query}`)).data.domains
}

interface Row {
  domain: string
  p: string
  dmarc: number
  count: number
}

describe('the list of domains', () => {
  it('says what the figures of a domain are made from', async () => {
    const service = await startService({
      now: NOW,
      fixture: {
        domains: [
          { name: 'a.example', profile: 'spoofed', since: 'P6D', volume: 3000, policy: { p: 'reject', sp: 'none' } },
          { name: 'b.a.example', profile: 'no-record', added_at: 'P2D', record: { count: 7 } },
        ],
      },
    })
    const [above, below] = await listDomains(service)
    expect(above).toMatchObject({
      domain: 'a.example',
      added_at: '2024-12-11T09:00:00Z',
      features: [],
      profile: 'spoofed',
      policy: { p: 'reject', sp: 'none' },
      inherits_from: null,
      volume: 3000,
      pinned: {},
      record: { p: 'reject', sp: 'none' },
    })
    expect(above?.events).toContainEqual({
      kind: 'attack',
      from: '2026-01-09',
      until: expect.stringMatching(/^2026-0[23]-\d\d$/),
      description: expect.stringMatching(/^Others forge mail in its name, about \d+ messages a day\.$/),
    })
    expect(below).toMatchObject({
      policy: null,
      inherits_from: 'a.example',
      pinned: { count: 7 },
      record: { p: 'none', count: 7 },
    })
    expect(below?.events.map(({ kind, from, until }) => [kind, from, until])).toEqual(
      expect.arrayContaining([
        ['inheritance', null, null],
        ['addition', '2026-01-14', '2026-02-13'],
      ]),
    )
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
    expect(report?.events).toEqual([
      {
        kind: 'addition',
        from: '2026-01-16',
        until: '2026-02-15',
        description: 'It was added, so from now on the policy of its DNS shows.',
      },
    ])
  })

  it('has the kinds of events that its document lists', () => {
    const { MonitoredDomain } = controlApi.document.resolved.components?.schemas ?? {}
    expect(MonitoredDomain).toMatchObject({
      properties: { events: { items: { properties: { kind: { enum: [...CAUSES] } } } } },
    })
  })
})

/** Figures that change more from one day to the next than weekdays and chance explain. */
function hasMoved(before: Row, after: Row): boolean {
  if (before.p !== after.p) return true
  const busy = Math.min(before.count, after.count) >= 300
  if (busy && Math.abs(before.dmarc - after.dmarc) >= 1.5) return true
  return Math.abs(before.count - after.count) > 100 + 0.12 * Math.max(before.count, after.count)
}

describe.each(['demo', 'agency'])('in the fixture %s', (fixture) => {
  it('no figure moves without an event that names why, and something happens in each week of 75 days', async () => {
    const service = await startService({ now: NOW, fixture, enforceQuotas: false })
    const read = async () => (await service.get('/dmarc')).body.data as Row[]
    let before = await read()
    const moves: number[] = []
    for (let day = 1; day <= 75; day++) {
      service.advance(DAY)
      const today = new Date(Date.parse(NOW) + day * DAY).toISOString().slice(0, 10)
      const monthAgo = new Date(Date.parse(NOW) + (day - 31) * DAY).toISOString().slice(0, 10)
      const after = await read()
      const moved = after.filter((row, index) => hasMoved(before[index] ?? row, row))
      if (moved.length > 0) moves.push(day)
      const reports = new Map<string, MonitoredDomainReport>()
      if (moved.length > 0) for (const each of await listDomains(service, '?limit=1000')) reports.set(each.domain, each)
      for (const row of moved) {
        const causes = reports
          .get(row.domain)
          ?.events.filter(
            ({ from, until }) => (from === null || from <= today) && (until === null || until >= monthAgo),
          )
        expect(causes, `${row.domain} on ${today}`).not.toEqual([])
      }
      before = after
    }
    for (let week = 0; week < 10; week++) {
      expect(
        moves.some((day) => day > week * 7 && day <= (week + 1) * 7),
        `week ${week}`,
      ).toBe(true)
    }
  }, 60_000)
})
