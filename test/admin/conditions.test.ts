import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { budget } from '../support/budget.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PATH = '/accounts/default'
const SEED = 20260115

function overlayOf(setting: string, value: string): string {
  const file = join(temporaryFolder(), 'overlay.yaml')
  writeFileSync(
    file,
    `overlay: 1.0.0\ninfo: { title: t, version: '1' }\nactions:\n  - { target: $.x-settings.${setting}, update: { value: ${value} } }\n`,
  )
  return file
}

async function startWithDomain(options = {}) {
  const plane = await startControlPlane({ fixture: { domains: ['a.example', 'xn--bcher-kva.example'] }, ...options })
  const key = plane.understudy.apiKey ?? ''
  return { ...plane, key, record: async () => (await plane.ask(key, 'GET', '/dmarc')).body.data[0] }
}

describe('features of a domain', () => {
  it('keep it from being removed until there are none', async () => {
    const { put, ask, key } = await startWithDomain()
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

  it.each<[body: object, code: string]>([
    [{}, 'missing_field'],
    [{ features: 'mta-sts' }, 'invalid_field_type'],
    [{ features: [1] }, 'invalid_field_type'],
    [{ features: [''] }, 'invalid_value'],
    [{ features: ['a', 'a'] }, 'invalid_value'],
    [{ features: ['x'.repeat(101)] }, 'invalid_value'],
    [{ features: Array.from({ length: 51 }, (_, index) => `f${index}`) }, 'invalid_value'],
    [{ features: [], more: 1 }, 'unknown_field'],
  ])('cannot be %j', async (body, code) => {
    const { put } = await startWithDomain()
    expect(await put(`${PATH}/domains/a.example/features`, body)).toMatchObject({ status: 400, error: { code } })
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
  ])('%s is %s', async (spelt, domain) => {
    const { put, delete: remove } = await startWithDomain()
    for (const answer of [
      await put(`${PATH}/domains/${spelt}/features`, { features: [] }),
      await put(`${PATH}/domains/${spelt}/dmarc`, { p: 'none' }),
      await remove(`${PATH}/domains/${spelt}/dmarc`),
    ]) {
      expect(answer).toMatchObject({ status: 200, data: { domain } })
    }
  })

  it.each(['b.example', 'localhost', '%20', 'a.example%00', '__proto__', 'a.example%2Fb'])(
    '%s is none',
    async (spelt) => {
      const { put, delete: remove } = await startWithDomain()
      for (const answer of [
        await put(`${PATH}/domains/${spelt}/features`, { features: [] }),
        await put(`${PATH}/domains/${spelt}/dmarc`, { p: 'none' }),
        await remove(`${PATH}/domains/${spelt}/dmarc`),
      ]) {
        expect(answer).toMatchObject({ status: 404, error: { code: 'not_found' } })
      }
    },
  )
})

describe('a pinned record', () => {
  it('has the fixed fields at once and on every day, and follows its figures again after them', async () => {
    const { put, delete: remove, patch, record } = await startWithDomain()
    const path = `${PATH}/domains/a.example/dmarc`
    const before = await record()
    const pin = { p: 'quarantine', pct: 25, testing: 'y', dmarc: 80.5, dkim: 70, spf: 60, count: 1234 }
    const { data } = await put(path, pin)
    expect(data.record).toEqual({ domain: 'a.example', sp: 'quarantine', np: 'quarantine', ...pin })
    expect(await record()).toEqual(data.record)
    await patch(`${PATH}/clock`, { advance: 'P3D' })
    expect(await record()).toEqual(data.record)
    await remove(path)
    await patch(`${PATH}/clock`, { advance: 'P1D' })
    const after = await record()
    expect(after.count).not.toBe(1234)
    expect([after.p, after.pct]).toEqual([before.p, before.pct])
  })

  it('leaves what is not fixed as it is, and another pin takes its place', async () => {
    const { put, record } = await startWithDomain({
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
    const { put, record } = await startWithDomain()
    const { data } = await put(`${PATH}/domains/a.example/dmarc`, { profile, pct: 33 })
    expect(await record()).toEqual(data.record)
    expect(data.record.pct).toBe(33)
  })

  it('of a domain that has no figures yet is shown', async () => {
    const { put, ask, key } = await startWithDomain()
    await ask(key, 'POST', '/domains', { domains: ['fresh.example'] })
    const { data } = await put(`${PATH}/domains/fresh.example/dmarc`, { dmarc: 99.9 })
    expect(data.record).toMatchObject({ dmarc: 99.9 })
    expect((await ask(key, 'GET', '/dmarc')).body.data.at(-1)).toEqual(data.record)
  })

  it.each<[body: object, code: string, message: RegExp]>([
    [{}, 'missing_field', /at least one field/],
    [{ p: 'maybe' }, 'invalid_value', /`p` must be one of none, quarantine, reject/],
    [{ profile: 'x' }, 'invalid_value', /`profile` must be one of enforced, .*, new, not "x"\.$/],
    [{ pct: 101 }, 'invalid_value', /`pct` must be at most 100/],
    [{ pct: 0.5 }, 'invalid_field_type', /`pct`/],
    [{ dmarc: -1 }, 'invalid_value', /`dmarc` must be at least 0/],
    [{ count: -1 }, 'invalid_value', /`count`/],
    [{ testing: true }, 'invalid_field_type', /`testing`/],
    [{ domain: 'b.example' }, 'unknown_field', /`domain`/],
    [
      { dmarc: 10, dkim: 20 },
      'invalid_value',
      /The record has less dmarc than dkim or spf, of which either suffices\./,
    ],
    [{ dmarc: 100, dkim: 20, spf: 20 }, 'invalid_value', /more dmarc than dkim and spf together/],
    [{ count: 0, spf: 1 }, 'invalid_value', /shares of no mail/],
  ])('cannot be %j', async (body, code, message) => {
    const { put, record } = await startWithDomain()
    const before = await record()
    const refusal = await put(`${PATH}/domains/a.example/dmarc`, body)
    expect(refusal).toMatchObject({ status: 400, error: { code } })
    expect(refusal.error.message).toMatch(message)
    expect(await record()).toEqual(before)
  })

  it(`is lawful whatever is fixed (seed ${SEED})`, async () => {
    const plane = await startControlPlane({ fixture: { domains: ['a.example'] }, enforceQuotas: false })
    const share = fc.double({ min: 0, max: 100, noNaN: true })
    const policy = fc.constantFrom('none', 'quarantine', 'reject')
    const pins = fc.record(
      {
        profile: fc.constantFrom(...PROFILE_NAMES),
        p: policy,
        sp: policy,
        np: policy,
        dmarc: share,
        dkim: share,
        spf: share,
        count: fc.nat(1000),
        pct: fc.nat(100),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(pins, async (pin) => {
        const { status, data } = await plane.put(`${PATH}/domains/a.example/dmarc`, pin)
        const { body } = await plane.ask(plane.understudy.apiKey ?? '', 'GET', '/dmarc')
        const [{ dmarc, dkim, spf, count }] = body.data
        expect(Math.max(dkim, spf)).toBeLessThanOrEqual(dmarc)
        expect(dmarc).toBeLessThanOrEqual(Math.min(100, dkim + spf + 1e-9))
        if (count === 0) expect([dmarc, dkim, spf]).toEqual([0, 0, 0])
        if (status !== 200) return
        expect(data.record).toEqual(body.data[0])
        for (const name of ['p', 'sp', 'np', 'pct', 'count'] as const) {
          if (pin[name] !== undefined) expect(data.record[name]).toBe(pin[name])
        }
        for (const name of ['dmarc', 'dkim', 'spf'] as const) {
          if (pin[name] !== undefined) expect(Math.abs(data.record[name] - pin[name])).toBeLessThanOrEqual(0.1001)
        }
      }),
      { seed: SEED, numRuns: budget({ quick: 100, full: 300 }) },
    )
  })
})

describe('a clock', () => {
  it.each<[body: object, clock: object]>([
    [{ advance: 'PT1H' }, { now: '2026-01-15T10:30:00Z', frozen: false }],
    [{ advance: 'P1DT2H3M4S' }, { now: '2026-01-16T11:33:04Z', frozen: false }],
    [{ advance: 'P2W' }, { now: '2026-01-29T09:30:00Z', frozen: false }],
    [{ advance: 'PT0S' }, { now: '2026-01-15T09:30:00Z', frozen: false }],
    [{ now: '2026-01-15T09:30:00Z' }, { now: '2026-01-15T09:30:00Z', frozen: false }],
    [{ now: '2026-01-15T12:30:00.25+01:00' }, { now: '2026-01-15T11:30:00.250Z', frozen: false }],
    [
      { now: '2030-01-01T00:00:00Z', advance: 'P1D', frozen: true },
      { now: '2030-01-02T00:00:00Z', frozen: true },
    ],
    [{ frozen: true }, { now: '2026-01-15T09:30:00Z', frozen: true }],
    [{ now: '9999-12-31T00:00:00Z' }, { now: '9999-12-31T00:00:00Z', frozen: false }],
  ])('is moved by %j', async (body, clock) => {
    const { patch, get, ask, understudy } = await startControlPlane()
    expect((await patch(`${PATH}/clock`, body)).data).toEqual(clock)
    expect((await get(`${PATH}/clock`)).data).toEqual(clock)
    const { headers } = await ask(understudy.apiKey ?? '', 'GET', '/domains')
    expect(Date.parse(headers['date'] ?? '')).toBe(Math.floor(Date.parse((clock as { now: string }).now) / 1000) * 1000)
  })

  it('stands still when frozen, and goes on from there', async () => {
    const { patch, get, advance } = await startControlPlane()
    await patch(`${PATH}/clock`, { frozen: true })
    advance(60_000)
    expect((await get(`${PATH}/clock`)).data.now).toBe('2026-01-15T09:30:00Z')
    await patch(`${PATH}/clock`, { advance: 'PT1M' })
    expect((await get(`${PATH}/clock`)).data).toEqual({ now: '2026-01-15T09:31:00Z', frozen: true })
    await patch(`${PATH}/clock`, { frozen: false })
    advance(60_000)
    expect((await get(`${PATH}/clock`)).data).toEqual({ now: '2026-01-15T09:32:00Z', frozen: false })
  })

  it.each<[body: object, code: string]>([
    [{}, 'missing_field'],
    [{ now: '2026-01-15T09:29:59Z' }, 'invalid_value'],
    [{ now: '1970-01-01T00:00:00Z' }, 'invalid_value'],
    [{ now: '1969-12-31T23:59:59Z' }, 'invalid_value'],
    [{ now: '2026-13-01T00:00:00Z' }, 'invalid_value'],
    [{ now: '2026-02-29T00:00:00Z' }, 'invalid_value'],
    [{ now: 'tomorrow' }, 'invalid_value'],
    [{ now: '9999-12-31T00:00:01Z' }, 'invalid_value'],
    [{ now: 1_768_469_400 }, 'invalid_field_type'],
    [{ advance: 'PT' }, 'invalid_value'],
    [{ advance: 'P' }, 'invalid_value'],
    [{ advance: 'P1M' }, 'invalid_value'],
    [{ advance: 'P1Y' }, 'invalid_value'],
    [{ advance: '-PT1H' }, 'invalid_value'],
    [{ advance: 'PT1.5H' }, 'invalid_value'],
    [{ advance: '1h' }, 'invalid_value'],
    [{ advance: 3600 }, 'invalid_field_type'],
    [{ advance: 'P3000000D' }, 'invalid_value'],
    [{ advance: 'P99999999999999999999999999D' }, 'invalid_value'],
    [{ advance: `PT${'9'.repeat(400)}S` }, 'invalid_value'],
    [{ frozen: 'yes' }, 'invalid_field_type'],
    [{ rate: 2 }, 'unknown_field'],
  ])('cannot be moved by %j', async (body, code) => {
    const { patch, get } = await startControlPlane()
    expect(await patch(`${PATH}/clock`, body)).toMatchObject({ status: 400, error: { code } })
    expect((await get(`${PATH}/clock`)).data).toEqual({ now: '2026-01-15T09:30:00Z', frozen: false })
  })

  it('that runs beyond the year 9999 is shown as its end, and everything still answers', async () => {
    const { patch, get, ask, understudy, advance } = await startControlPlane({ fixture: 'demo' })
    await patch(`${PATH}/clock`, { now: '9999-12-31T00:00:00Z' })
    advance(3 * 86_400_000)
    expect((await get(`${PATH}/clock`)).data.now).toBe('9999-12-31T23:59:59.999Z')
    for (const path of ['', '/keys', '/quotas', '/state', '/requests'])
      expect((await get(PATH + path)).status).toBe(200)
    for (const path of ['/domains', '/dmarc'])
      expect((await ask(understudy.apiKey ?? '', 'GET', path)).status).toBe(200)
  })
})

describe('a quota', () => {
  const quotasOf = (rows: { key: string | null; bucket: string; remaining: number }[]) =>
    rows.map(({ key, bucket, remaining }) => [key === null ? null : 'key', bucket, remaining])

  it('is said not to be enforced where requests beyond it are not refused', async () => {
    const { get, patch, ask, key } = await startWithDomain({ enforceQuotas: false })
    const { data } = await patch(`${PATH}/quotas`, { bucket: 'dmarc', remaining: 0 })
    expect(data.enforced).toBe(false)
    expect((await ask(key, 'GET', '/dmarc')).status).toBe(200)
    expect((await get(`${PATH}/quotas`)).data.enforced).toBe(false)
  })

  it('is shown for each key and bucket, and runs out where it is set to', async () => {
    const { get, patch, ask, key } = await startWithDomain()
    await ask(key, 'GET', '/dmarc')
    const { data } = await get(`${PATH}/quotas`)
    const [first] = data.quotas
    expect(data.enforced).toBe(true)
    expect(data.quotas).toHaveLength(3)
    for (const { resets_at } of data.quotas) expect(resets_at).toBe('2026-01-15T10:00:00Z')
    expect(first.key).toBe((await get(`${PATH}/keys`)).data.keys[0].id)
    const dmarc = data.quotas.find(({ bucket }: { bucket: string }) => bucket === 'dmarc')
    expect(dmarc.remaining).toBe(dmarc.limit - 1)

    const set = await patch(`${PATH}/quotas`, { bucket: 'dmarc', remaining: 1 })
    expect(set.data.quotas.find(({ bucket }: { bucket: string }) => bucket === 'dmarc').remaining).toBe(1)
    const last = await ask(key, 'GET', '/dmarc')
    expect([last.status, last.headers['x-ratelimit-remaining']]).toEqual([200, '0'])
    expect((await ask(key, 'GET', '/dmarc')).body.error.code).toBe('rate_limited')
    expect((await ask(key, 'GET', '/domains')).status).toBe(200)
    await patch(`${PATH}/clock`, { advance: 'PT30M' })
    expect((await ask(key, 'GET', '/dmarc')).headers['x-ratelimit-remaining']).toBe(String(dmarc.limit - 1))
  })

  it('is set for one key, or for all of an account', async () => {
    const { get, patch, post, ask, key } = await startWithDomain()
    const { data } = await post(`${PATH}/keys`, { key: 'second', created_at: '2025-01-01T00:00:00Z' })
    await patch(`${PATH}/quotas`, { key: data.key.id, bucket: 'domains', remaining: 0 })
    expect((await ask('second', 'GET', '/domains')).status).toBe(429)
    expect((await ask(key, 'GET', '/domains')).status).toBe(200)
    await patch(`${PATH}/quotas`, { bucket: 'domains', remaining: 0 })
    expect((await ask(key, 'GET', '/domains')).status).toBe(429)
    await patch(`${PATH}/quotas`, { bucket: 'domains', remaining: 3 })
    const rows = quotasOf((await get(`${PATH}/quotas`)).data.quotas).filter(([, bucket]) => bucket === 'domains')
    expect(rows).toEqual([
      ['key', 'domains', 3],
      ['key', 'domains', 3],
    ])
  })

  it('of a key in grace goes beyond the limit of the others, which holds where all are set', async () => {
    const { get, patch, post } = await startWithDomain()
    const { data } = await post(`${PATH}/keys`)
    const limits = (await get(`${PATH}/quotas`)).data.quotas.filter(
      ({ bucket }: { bucket: string }) => bucket === 'domains',
    )
    const [ordinary, graceful] = limits.map(({ limit }: { limit: number }) => limit)
    expect(graceful).toBe(10 * ordinary)
    expect((await patch(`${PATH}/quotas`, { key: data.key.id, bucket: 'domains', remaining: graceful })).status).toBe(
      200,
    )
    const refusal = await patch(`${PATH}/quotas`, { bucket: 'domains', remaining: graceful })
    expect(refusal).toMatchObject({ status: 400, error: { code: 'invalid_value' } })
    expect(refusal.error.message).toContain(`at most ${ordinary}`)
  })

  it.each<[body: object, status: number, code: string]>([
    [{}, 400, 'missing_field'],
    [{ bucket: 'dmarc' }, 400, 'missing_field'],
    [{ bucket: '/dmarc', remaining: 1 }, 400, 'invalid_value'],
    [{ bucket: 'others', remaining: 1 }, 400, 'invalid_value'],
    [{ bucket: 'dmarc', remaining: -1 }, 400, 'invalid_value'],
    [{ bucket: 'dmarc', remaining: 1.5 }, 400, 'invalid_field_type'],
    [{ bucket: 'dmarc', remaining: 1e9 }, 400, 'invalid_value'],
    [{ bucket: 'dmarc', remaining: 1, key: 'key_nobody' }, 404, 'not_found'],
    [{ bucket: 'dmarc', remaining: 1, limit: 5 }, 400, 'unknown_field'],
  ])('cannot be set to %j', async (body, status, code) => {
    const { patch, get } = await startWithDomain()
    const before = (await get(`${PATH}/quotas`)).data
    expect(await patch(`${PATH}/quotas`, body)).toMatchObject({ status, error: { code } })
    expect((await get(`${PATH}/quotas`)).data).toEqual(before)
  })

  it('that the keys of an account share is one, whichever key is named', async () => {
    const { get, patch, post, ask, key } = await startWithDomain({ overlays: [overlayOf('quota-scope', 'account')] })
    const { data } = await post(`${PATH}/keys`, { key: 'second', created_at: '2025-01-01T00:00:00Z' })
    expect(quotasOf((await get(`${PATH}/quotas`)).data.quotas).map(([shown]) => shown)).toEqual([null, null, null])
    await patch(`${PATH}/quotas`, { key: data.key.id, bucket: 'domains', remaining: 1 })
    expect((await ask('second', 'GET', '/domains')).status).toBe(200)
    expect((await ask(key, 'GET', '/domains')).status).toBe(429)
  })

  it('whose window begins with a request resets an hour after it', async () => {
    const { get, patch, ask, key, advance } = await startWithDomain({
      overlays: [overlayOf('quota-window', 'first-request')],
    })
    await ask(key, 'GET', '/domains')
    advance(600_000)
    const { data } = await patch(`${PATH}/quotas`, { bucket: 'domains', remaining: 0 })
    const domains = data.quotas.find(({ bucket }: { bucket: string }) => bucket === 'domains')
    expect(domains).toMatchObject({ remaining: 0, resets_at: '2026-01-15T10:30:00Z' })
    expect((await ask(key, 'GET', '/domains')).status).toBe(429)
    advance(3_000_000)
    expect((await ask(key, 'GET', '/domains')).status).toBe(200)
    const renewed = (await get(`${PATH}/quotas`)).data.quotas.find(
      ({ bucket }: { bucket: string }) => bucket === 'domains',
    )
    expect(renewed.resets_at).toBe('2026-01-15T11:30:00Z')
  })
})
