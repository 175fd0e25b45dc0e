import { describe, expect, it } from 'vitest'
import { ACCOUNT_EVENTS } from '../../src/faults/kinds.ts'
import { askControl } from '../support/control-plane.ts'
import { startService, type TestService } from '../support/service.ts'

const CLOCK = '/accounts/default/clock'

async function createKey(service: TestService, created_at?: string): Promise<string> {
  const { data } = await askControl(service, 'POST', '/accounts/default/keys', { ...(created_at && { created_at }) })
  return data.api_key
}

async function move(service: TestService, body: object) {
  return askControl(service, 'PATCH', CLOCK, body)
}

describe('a clock that is moved to an ending', () => {
  it.each([
    ['window-end', '2026-01-15T10:00:00Z'],
    ['refresh', '2026-01-16T00:00:00Z'],
    ['grace-end', '2026-01-22T09:30:00Z'],
  ])('`%s` shows %s, at which it is over', async (to, instant) => {
    const service = await startService()
    const key = await createKey(service)
    await service.send('GET', '/domains', undefined, { authorization: `Bearer ${key}` })
    const { data } = await move(service, { to, frozen: true })
    expect(data).toEqual({ now: instant, frozen: true })
  })

  it('takes the names of the events of fault rules', async () => {
    const service = await startService()
    const { error } = await move(service, { to: 'quota-used-up' })
    expect(error).toMatchObject({ code: 'invalid_value' })
    for (const name of ACCOUNT_EVENTS.filter((each) => each !== 'quota-used-up')) expect(error.message).toContain(name)
  })

  it('moves to the first of several ends, and then to the next one', async () => {
    const service = await startService()
    await createKey(service, '2026-01-13T00:00:00Z')
    await createKey(service, '2026-01-10T00:00:00Z')
    const seen: unknown[] = []
    for (let move_ = 0; move_ < 3; move_++) {
      const { data, error } = await move(service, { to: 'grace-end' })
      seen.push(data?.now ?? error.message)
    }
    expect(seen).toEqual([
      '2026-01-17T00:00:00Z',
      '2026-01-20T00:00:00Z',
      '`to` cannot be "grace-end": no key is in its grace period at 2026-01-20T00:00:00Z.',
    ])
  })

  it('lets a client that used up its quota send again', async () => {
    const service = await startService()
    await askControl(service, 'PATCH', '/accounts/default/quotas', { bucket: 'dmarc', remaining: 0 })
    expect((await service.get('/dmarc')).status).toBe(429)
    await move(service, { to: 'window-end' })
    expect((await service.get('/dmarc')).status).toBe(200)
  })

  it('goes to a refresh from the very instant of another one', async () => {
    const service = await startService({ now: '2026-01-15T00:00:00Z', frozen: true })
    expect((await move(service, { to: 'refresh' })).data.now).toBe('2026-01-16T00:00:00Z')
    expect((await move(service, { to: 'refresh' })).data.now).toBe('2026-01-17T00:00:00Z')
  })

  it.each([
    [
      'window-end',
      '`to` cannot be "window-end": no request was charged to a quota in a window that is still open at 2026-01-15T09:30:00Z.',
    ],
    ['grace-end', '`to` cannot be "grace-end": no key is in its grace period at 2026-01-15T09:30:00Z.'],
  ])('is refused where no `%s` is to come', async (to, message) => {
    const service = await startService()
    expect(await move(service, { to })).toMatchObject({ status: 400, error: { code: 'invalid_value', message } })
  })

  it('is refused for a window that is over', async () => {
    const service = await startService()
    await service.get('/domains')
    expect((await move(service, { to: 'window-end' })).status).toBe(200)
    expect((await move(service, { to: 'window-end' })).status).toBe(400)
  })

  it.each([{ now: '2026-02-01T00:00:00Z' }, { advance: 'PT1H' }])('is refused together with %j', async (other) => {
    const service = await startService()
    expect(await move(service, { to: 'refresh', ...other })).toMatchObject({
      status: 400,
      error: {
        code: 'conflicting_fields',
        message: expect.stringContaining('to says by itself where the clock moves'),
      },
    })
  })

  it('is refused after the last day that it can show', async () => {
    const service = await startService()
    await move(service, { now: '9999-12-30T12:00:00Z' })
    expect((await move(service, { to: 'refresh' })).status).toBe(200)
    expect(await move(service, { to: 'refresh' })).toMatchObject({
      status: 400,
      error: { message: '`to` must be before the year 10000.' },
    })
  })
})
