import { describe, expect, it } from 'vitest'
import type { QuotaReport } from '../../src/admin/reports.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { HOUR } from '../support/account.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const QUOTAS = '/accounts/default/quotas'
/** A key that has left its grace period. */
const SECOND = { key: 'second', created_at: '2025-01-01T00:00:00Z' }

async function start(options: ServerOptions = {}, settings: Record<string, string> = {}) {
  const actions = Object.entries(settings).map(([name, value]) => ({
    target: `$.x-settings.${name}`,
    update: { value },
  }))
  const overlays = actions.length === 0 ? [] : [writeOverlay(temporaryFolder(), actions)]
  const plane = await startControlPlane({ ...options, overlays })
  return { ...plane, statusOf: async (path: string, key = plane.key) => (await plane.ask(key, 'GET', path)).status }
}

/** The quotas of each key for the bucket. */
async function quotasFor({ get }: ControlPlane, bucket: string): Promise<QuotaReport[]> {
  return (await get(QUOTAS)).data.quotas.filter((quota: QuotaReport) => quota.bucket === bucket)
}

describe('a quota', () => {
  it('is shown for each key and bucket, and runs out where it is set to', async () => {
    const plane = await start()
    const { get, patch, ask, key, statusOf } = plane
    await statusOf('/dmarc')
    const { quotas, enforced } = (await get(QUOTAS)).data
    const [{ id }] = (await get('/accounts/default/keys')).data.keys
    const common = { key: id, resets_at: '2026-01-15T10:00:00Z' }
    expect([enforced, quotas]).toMatchObject([true, [common, common, common]])
    const [dmarc] = await quotasFor(plane, 'dmarc')
    expect(dmarc).toMatchObject({ limit: 10, remaining: 9 })

    await patch(QUOTAS, { bucket: 'dmarc', remaining: 1 })
    expect(await quotasFor(plane, 'dmarc')).toEqual([{ ...dmarc, remaining: 1 }])
    const last = await ask(key, 'GET', '/dmarc')
    expect([last.status, last.headers['x-ratelimit-remaining']]).toEqual([200, '0'])
    expect((await ask(key, 'GET', '/dmarc')).body.error.code).toBe('rate_limited')
    expect(await statusOf('/domains')).toBe(200)
    await patch('/accounts/default/clock', { advance: 'PT30M' })
    expect((await ask(key, 'GET', '/dmarc')).headers['x-ratelimit-remaining']).toBe('9')
  })

  it('of a key in grace goes beyond the limit of the others, which holds where all are set', async () => {
    const plane = await start()
    const { data } = await plane.post('/accounts/default/keys')
    const [ordinary, graceful] = (await quotasFor(plane, 'domains')).map(({ limit }) => limit)
    expect([ordinary, graceful]).toEqual([30, 300])
    const set = (key?: string) => plane.patch(QUOTAS, { key, bucket: 'domains', remaining: graceful })
    expect((await set(data.key.id)).status).toBe(200)
    const refusal = await set()
    expect(refusal).toMatchObject({ status: 400, error: { code: 'invalid_value' } })
    expect(refusal.error.message).toContain(`at most ${ordinary}`)
  })

  it('that the keys of an account share is one, whichever key is named', async () => {
    const { get, patch, post, statusOf } = await start({}, { 'quota-scope': 'account' })
    const { data } = await post('/accounts/default/keys', SECOND)
    expect((await get(QUOTAS)).data.quotas.map(({ key }: QuotaReport) => key)).toEqual([null, null, null])
    await patch(QUOTAS, { key: data.key.id, bucket: 'domains', remaining: 1 })
    expect([await statusOf('/domains', 'second'), await statusOf('/domains')]).toEqual([200, 429])
  })

  it('whose window begins with a request resets an hour after it', async () => {
    const plane = await start({}, { 'quota-window': 'first-request' })
    const { patch, advance, statusOf } = plane
    await statusOf('/domains')
    advance(HOUR / 6)
    await patch(QUOTAS, { bucket: 'domains', remaining: 0 })
    expect(await quotasFor(plane, 'domains')).toMatchObject([{ remaining: 0, resets_at: '2026-01-15T10:30:00Z' }])
    expect(await statusOf('/domains')).toBe(429)
    advance((HOUR * 5) / 6)
    expect(await statusOf('/domains')).toBe(200)
    expect(await quotasFor(plane, 'domains')).toMatchObject([{ resets_at: '2026-01-15T11:30:00Z' }])
  })
})
