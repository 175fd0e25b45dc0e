import { afterAll, describe, expect, it } from 'vitest'
import type { QuotaReport } from '../../src/contract/control-plane.ts'
import { type ControlPlane, openControlPlane, startControlPlane } from '../support/control-plane.ts'

const PATH = '/accounts/default'
const CLOCK = `${PATH}/clock`
const QUOTAS = `${PATH}/quotas`

/** A server for tests that change only accounts of their own. */
const shared = await openControlPlane()
afterAll(shared.stop)

describe('a clock', () => {
  it.each<[body: object, now: string, frozen?: boolean]>([
    [{ advance: 'P1DT2H3M4S' }, '2026-01-16T11:33:04Z'],
    [{ now: '2026-01-15T12:30:00.25+01:00' }, '2026-01-15T11:30:00.250Z'],
    [{ now: '2030-01-01T00:00:00Z', advance: 'P1D', frozen: true }, '2030-01-02T00:00:00Z', true],
    [{ frozen: true }, '2026-01-15T09:30:00Z', true],
    [{ now: '9999-12-31T00:00:00Z' }, '9999-12-31T00:00:00Z'],
  ])('is moved by %j to %s', async (body, now, frozen = false) => {
    const { patch, get, ask, create } = shared
    const { id, key } = await create()
    expect((await patch(`/accounts/${id}/clock`, body)).data).toEqual({ now, frozen })
    expect((await get(`/accounts/${id}/clock`)).data).toEqual({ now, frozen })
    const { headers } = await ask(key, 'GET', '/domains')
    expect(Date.parse(headers['date'] ?? '')).toBe(Math.floor(Date.parse(now) / 1000) * 1000)
  })
})

describe('a clock that is moved to an ending', () => {
  const to = ({ patch }: ControlPlane, ending: string) => patch(CLOCK, { to: ending })

  it.each([
    ['window-end', '2026-01-15T10:00:00Z'],
    ['refresh', '2026-01-16T00:00:00Z'],
    ['grace-end', '2026-01-22T09:30:00Z'],
  ])('`%s` shows %s, at which it is over', async (ending, now) => {
    const { post, ask, patch } = await startControlPlane()
    const { api_key } = (await post(`${PATH}/keys`)).data
    await ask(api_key, 'GET', '/domains')
    expect((await patch(CLOCK, { to: ending, frozen: true })).data).toEqual({ now, frozen: true })
  })

  it('moves to the first of several ends, then to the next one, and not beyond the last day that it can show', async () => {
    const plane = await startControlPlane()
    await plane.post(`${PATH}/keys`, { created_at: '2026-01-13T00:00:00Z' })
    await plane.post(`${PATH}/keys`, { created_at: '2026-01-10T00:00:00Z' })
    expect((await to(plane, 'grace-end')).data.now).toBe('2026-01-17T00:00:00Z')
    expect((await to(plane, 'grace-end')).data.now).toBe('2026-01-20T00:00:00Z')
    expect((await to(plane, 'grace-end')).error.message).toBe(
      '`to` cannot be "grace-end": no key is in its grace period at 2026-01-20T00:00:00Z.',
    )
    await plane.patch(CLOCK, { now: '9999-12-30T12:00:00Z' })
    expect((await to(plane, 'refresh')).status).toBe(200)
    const message = '`to` must be before the last day of the year 9999.'
    expect(await to(plane, 'refresh')).toMatchObject({ status: 400, error: { message } })
  })
})

/** The quotas of each key for the bucket. */
async function quotasFor({ get }: ControlPlane, bucket: string): Promise<QuotaReport[]> {
  return (await get(QUOTAS)).data.quotas.filter((quota: QuotaReport) => quota.bucket === bucket)
}

describe('a quota', () => {
  it('is shown for each key and bucket, and runs out where it is set to', async () => {
    const plane = await startControlPlane()
    const { get, patch, ask, key } = plane
    await ask(key, 'GET', '/dmarc')
    const { quotas, enforced } = (await get(QUOTAS)).data
    const [{ id }] = (await get(`${PATH}/keys`)).data.keys
    const common = { key: id, resets_at: '2026-01-15T10:00:00Z' }
    expect([enforced, quotas]).toMatchObject([true, [common, common, common]])
    const [dmarc] = await quotasFor(plane, 'dmarc')
    expect(dmarc).toMatchObject({ limit: 10, remaining: 9 })

    await patch(QUOTAS, { bucket: 'dmarc', remaining: 1 })
    expect(await quotasFor(plane, 'dmarc')).toEqual([{ ...dmarc, remaining: 1 }])
    const last = await ask(key, 'GET', '/dmarc')
    expect([last.status, last.headers['x-ratelimit-remaining']]).toEqual([200, '0'])
    expect((await ask(key, 'GET', '/dmarc')).body.error.code).toBe('rate_limited')
    expect((await ask(key, 'GET', '/domains')).status).toBe(200)
    await patch(CLOCK, { advance: 'PT30M' })
    expect((await ask(key, 'GET', '/dmarc')).headers['x-ratelimit-remaining']).toBe('9')
  })
})
