import { describe, expect, it } from 'vitest'
import { loadFixture } from '../../src/accounts/fixture.ts'
import type { Scene, SceneCall } from '../../src/domain/fixture.ts'
import { askControl, controlApi } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

/** Starts at which the stories are told: an ordinary one, and a leap day just before a refresh. */
const TIMES = [
  { now: '2026-01-15T09:00:00Z', seed: undefined },
  { now: '2028-02-29T23:30:00Z', seed: 123_456_789 },
]

const DAY = 86_400_000

interface Row {
  domain: string
  p: string
  dmarc: number
  dkim: number
  count: number
}

type Rows = ReadonlyMap<string, Row>

interface Told {
  service: TestService
  scenes: readonly Scene[]
}

async function tell(fixture: string, time: { now: string; seed: number | undefined }): Promise<Told> {
  const { now, seed } = time
  const service = await startService({ fixture, now, ...(seed !== undefined && { seed }), enforceQuotas: false })
  const { scenes } = (await askControl(service, 'GET', '/accounts/default/scenes')).data
  return { service, scenes }
}

function rowsOf(records: readonly Row[]): Rows {
  return new Map(records.map((record) => [record.domain, record]))
}

/** The figures of so many days ago; below 0, of days to come. */
async function figures({ service }: Told, daysAgo = 0): Promise<Rows> {
  const { now } = (await askControl(service, 'GET', '/accounts/default/clock')).data
  // Early in the day, the refresh of the day before is the last one.
  const [last] = (await service.get('/dmarc')).body.data as Row[]
  expect(last).toBeDefined()
  const day = new Date(Date.parse(now) - daysAgo * DAY).toISOString().slice(0, 10)
  const { days } = (await askControl(service, 'GET', `/accounts/default/dmarc?from=${day}&to=${day}`)).data
  return rowsOf(days[0].records)
}

/** Sends a call of a scene as the page does; resolves to the code of the refusal, if it was refused. */
async function send(service: TestService, call: SceneCall): Promise<string | undefined> {
  const { operation, parameters = {}, query = {}, body } = call
  const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''
  const own = service.contract.operations.find(({ id }) => id === operation)
  if (own !== undefined) return (await service.send(own.method, own.path + search, body)).body.error?.code
  const control = controlApi.operations.find(({ id }) => id === operation)
  const path = control?.path.replace(/\{([^}]+)\}/g, (_, name: string) => parameters[name] ?? 'default')
  return (await askControl(service, control?.method ?? '', path + search, body)).error?.code
}

/** What the text of a scene claims. */
type Claim = (rows: Rows, told: Told) => unknown

const row = (rows: Rows, name: string): Row => rows.get(name) ?? expect.fail(`There is no ${name}.`)

/** What each scene says, by its title; `rows` are what GET /dmarc shows after the calls of the scene. */
const CLAIMS: Readonly<Record<string, Readonly<Record<string, Claim>>>> = {
  demo: {
    'One company, twenty-five names': (rows) => expect(rows.size).toBe(25),
    'The core is protected': (rows) => {
      for (const name of ['', 'mail.', 'shop.', 'orders.']) {
        const { p, dmarc } = row(rows, `${name}fjordlight.example`)
        expect([name, p]).toEqual([name, 'reject'])
        expect(dmarc).toBeGreaterThan(94)
      }
      expect(row(rows, 'events.fjordlight.example').p).toBe('reject')
    },
    'A brand on its way': (rows) => {
      const [brand, mail] = ['', 'mail.'].map((name) => row(rows, `${name}northern-lamps.example`))
      expect(mail?.p).not.toBe('none')
      expect(brand?.dmarc).toBeLessThan(mail?.dmarc ?? 0)
      expect([...rows.keys()].filter((name) => name.includes('northern-lamps'))).toHaveLength(2)
    },
    'The newsletter that broke': async (rows, told) => {
      const name = 'news.fjordlight.example'
      const shares = await Promise.all([12, 7, 4, 1].map(async (days) => row(await figures(told, days), name).dmarc))
      shares.push(row(rows, name).dmarc)
      expect(shares).toEqual(shares.toSorted((one, other) => other - one))
      expect((shares[0] ?? 0) - (shares.at(-1) ?? 0)).toBeGreaterThan(5)
      expect(row(rows, name).p).toBe('quarantine')
    },
    'A forged winter sale': async (rows, told) => {
      for (const name of ['winter-sale.example', 'invoices.fjordlight-benelux.test']) {
        expect(row(rows, name)).toMatchObject({ p: 'none' })
        expect(row(rows, name).dmarc).toBeLessThan(70)
        expect(await eventsOf(told, name)).toContain('attack')
      }
    },
    'The help desk never set up DKIM': (rows) => {
      const { dmarc, dkim } = row(rows, 'support.fjordlight.example')
      expect(dkim).toBeLessThan(5)
      expect(dmarc).toBeGreaterThan(75)
    },
    'No removal by mistake': (rows) => expect(rows.has('fjordlight.example')).toBe(true),
    'The figures of tomorrow': async (rows, told) => {
      // The clock has been moved already.
      expect(rows).toEqual(await figures(told))
      expect(rows).not.toEqual(await figures(told, 1))
    },
    'A bad day on demand': async (rows, told) => {
      expect(row(rows, 'fjordlight.example')).toMatchObject({ p: 'none', dmarc: 12.5 })
      for (const days of [1, 30, 89]) {
        const { p, dmarc } = row(await figures(told, days), 'fjordlight.example')
        expect([days, p]).toEqual([days, 'reject'])
        expect(dmarc).toBeGreaterThan(94)
      }
    },
  },
  agency: {
    'Three hundred domains': (rows) => expect(rows.size).toBe(300),
    'A client under attack': async (rows, told) => {
      const name = 'duncan-architects.example'
      expect(await eventsOf(told, name)).toContain('attack')
      const [before, present] = [row(await figures(told, 14), name), row(rows, name)]
      expect(before.dmarc - present.dmarc).toBeGreaterThan(5)
      expect(present.count).toBeGreaterThan(before.count)
    },
    'A campaign with a new sender': async (rows, told) => {
      const name = 'offers.gibson-dental.example'
      expect(await eventsOf(told, name)).toContain('new-sender')
      const shares = await Promise.all([16, 8, 4, 1].map(async (days) => row(await figures(told, days), name).dmarc))
      shares.push(row(rows, name).dmarc)
      expect(shares).toEqual(shares.toSorted((one, other) => other - one))
    },
    'One client at a time': async (_, { service }) => {
      const { groups } = (await askControl(service, 'GET', '/accounts/default/groups?limit=1000')).data
      const { domains } = groups.find(({ name }: { name: string }) => name === 'Stone Capital')
      for (const kind of [/^(billing|invoices)\./, /^(shop|store)\./, /^(mailing|news|newsletter)\./]) {
        expect(domains.some((domain: string) => kind.test(domain))).toBe(true)
      }
      expect(domains.every((domain: string) => domain.includes('stone-capital'))).toBe(true)
    },
    'Too many requests': async (_, { service }) => {
      const { data } = await askControl(service, 'GET', '/accounts/default/requests?status=429')
      expect(data.requests[0].response.headers).toHaveProperty('x-ratelimit-reset')
    },
    'The answer that was lost': async (_, { service }) => {
      expect((await service.get('/domains')).body.data.domains).toContain('new-client.example')
    },
  },
}

async function eventsOf({ service }: Told, domain: string): Promise<string[]> {
  const { data } = await askControl(service, 'GET', '/accounts/default/domains?limit=1000')
  const found = data.domains.find((each: { domain: string }) => each.domain === domain)
  const { now } = (await askControl(service, 'GET', '/accounts/default/clock')).data
  return found.events
    .filter(({ from, until }: { from: string | null; until: string | null }) => {
      return (from ?? '') <= now && (until === null || until > now.slice(0, 10))
    })
    .map(({ kind }: { kind: string }) => kind)
}

describe.each(Object.keys(CLAIMS))('the story of the fixture %s', (name) => {
  it('has a claim for each scene', async () => {
    const { scenes = [] } = await loadFixture(name)
    expect(Object.keys(CLAIMS[name] ?? {})).toEqual(scenes.map(({ title }) => title))
  })

  it.each(TIMES)('is true, and each call is answered as expected, at $now with the seed $seed', async (time) => {
    const told = await tell(name, time)
    await askControl(told.service, 'POST', '/accounts/default/snapshots', { name: 'scene' })
    for (const { title, calls = [] } of told.scenes) {
      for (const call of calls)
        expect([title, call.operation, await send(told.service, call)]).toEqual([title, call.operation, call.expect])
      const rows = rowsOf((await told.service.get('/dmarc')).body.data)
      await CLAIMS[name]?.[title]?.(rows, told)
      await askControl(told.service, 'POST', '/accounts/default/snapshots/scene/restore')
    }
  })
})
