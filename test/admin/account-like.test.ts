import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Fixture } from '../../src/domain/fixture.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { DAY, withKey } from '../support/account.ts'
import { budget, sample } from '../support/budget.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NOW = '2026-01-15T09:00:00Z'
const TWIN = { id: 'twin', plan: 'above-stone', now: '2025-12-20T00:00:00Z' }

interface Twin {
  account: { id: string }
  api_key: string
}

/** A date so many days after that of `NOW`. */
function dayAfter(days: number): string {
  return new Date(Date.parse(NOW) + days * DAY).toISOString().slice(0, 10)
}

async function createAccount(service: TestService, body: object): Promise<Twin> {
  const { data, error } = await askControl(service, 'POST', '/accounts', body)
  expect(error).toBeUndefined()
  return data
}

async function readRecords(service: TestService, { api_key }: Twin): Promise<unknown> {
  return (await service.send('GET', '/dmarc', undefined, withKey(api_key))).body.data
}

/** The records of an account at the refresh of each day, as the control plane says. */
async function readHistory(service: TestService, { account }: Twin, from: string, to: string) {
  const { data } = await askControl(service, 'GET', `/accounts/${account.id}/dmarc?from=${from}&to=${to}`)
  return data.days as { date: string; records: unknown }[]
}

async function setClock(service: TestService, { account }: Twin, body: object): Promise<void> {
  const { status } = await askControl(service, 'PATCH', `/accounts/${account.id}/clock`, body)
  expect(status).toBe(200)
}

/** Compares an account with one that is like it, from some days before its creation until some days after it. */
async function compareTwin(service: TestService, fixture: string | Fixture, seed: number, [before, after]: number[]) {
  const chosen = { fixture, seed, now: NOW, frozen: true }
  const old = await createAccount(service, chosen)
  const first = dayAfter(-(before ?? 0))
  const twin = await createAccount(service, { like: old.account.id, now: `${first}T00:00:00Z`, frozen: true })
  for (const { date, records } of await readHistory(service, old, first, dayAfter(0))) {
    expect(await readRecords(service, twin), date).toEqual(records)
    if (date !== dayAfter(0)) await setClock(service, twin, { to: 'refresh' })
  }
  await setClock(service, twin, { now: NOW })
  expect(await readRecords(service, twin)).toEqual(await readRecords(service, old))
  for (let day = 0; day < (after ?? 0); day++) {
    await setClock(service, twin, { to: 'refresh' })
    await setClock(service, old, { to: 'refresh' })
    expect(await readRecords(service, twin)).toEqual(await readRecords(service, old))
  }
  for (const { account } of [old, twin]) await askControl(service, 'DELETE', `/accounts/${account.id}`)
}

const moments = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map((days) => `P${days}D`),
  fc.integer({ min: 1, max: 60 }).map((hours) => `PT${hours}H`),
  fc.constantFrom('2025-12-31T00:00:00Z', '2026-01-14T23:59:30Z', '2026-01-16T12:00:00Z'),
)
const names = fc.constantFrom('a.example', 'b.a.example', 'c.example', 'news.c.example', 'd.example', 'x.d.example')
const profile = fc.constantFrom(...PROFILE_NAMES)
const record = fc.constant({ p: 'reject' as const })
const drawn = fc.record({ name: names, profile, since: moments, added_at: moments, record }, { requiredKeys: ['name'] })
const fixtures: fc.Arbitrary<Fixture> = fc
  .uniqueArray(drawn, { selector: ({ name }) => name, minLength: 1, maxLength: 6 })
  .map((domains) => ({ domains }))

describe('an account that is like another one', () => {
  it.each(sample(['demo', 'agency', 'edge-cases'], 1))(
    'shows the days before, at and after its creation: %s',
    async (fixture) => {
      const service = await startService({ enforceQuotas: false })
      await compareTwin(service, fixture, 42, [budget({ quick: 4, whole: 12, full: 60 }), 3])
    },
  )

  it('shows the same figures for any fixture (seed 3)', async () => {
    const service = await startService({ enforceQuotas: false })
    await fc.assert(
      fc.asyncProperty(fixtures, fc.nat(1000), fc.integer({ min: 1, max: 45 }), (fixture, seed, days) =>
        compareTwin(service, fixture, seed, [days, 2]),
      ),
      { seed: 3, numRuns: budget({ quick: 2, whole: 10, full: 100 }) },
    )
  })

  it('goes back to its own beginning in a reset, also after a restart and without the other account', async () => {
    const data = temporaryFolder()
    const body = { fixture: 'demo', now: NOW, frozen: true }
    const first = await startService({ data, store: undefined, enforceQuotas: false })
    const old = await createAccount(first, { id: 'old', ...body })
    const twin = await createAccount(first, { ...TWIN, like: 'old', frozen: true })
    const records = await readRecords(first, twin)
    const [announced] = await readHistory(first, old, '2025-12-20', '2025-12-20')
    expect(records).toEqual(announced?.records)
    await setClock(first, twin, { to: 'refresh' })
    await askControl(first, 'DELETE', '/accounts/old')
    await first.stop()
    const second = await startService({ data, store: undefined, enforceQuotas: false })
    const reset = await askControl(second, 'POST', '/accounts/twin/reset', {})
    expect(reset.error).toBeUndefined()
    expect(reset.data.account).toMatchObject({ ...TWIN, frozen: true })
    expect(await readRecords(second, twin)).toEqual(records)
  })
})
