import { describe, expect, it } from 'vitest'
import { REMEMBERED } from '../../src/redis/database.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { atOnce } from '../support/at-once.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'

const PATH = '/accounts/default'
const KEY = 'a-key-of-both'

/** Two servers on one store. */
async function startTwo(options: ServerOptions = {}): Promise<[ControlPlane, ControlPlane]> {
  const { url } = await sharedRedis()
  const common = { store: url, storePrefix: freshPrefix(), apiKey: KEY, frozen: true, clock: undefined, ...options }
  return [await startControlPlane(common), await startControlPlane(common)]
}

/** All that the control plane shows of what an account is. */
async function seenOf({ get }: ControlPlane): Promise<unknown[]> {
  const parts = ['/state', '/keys', '/quotas', '/faults', '/clock'].map(async (part) => (await get(PATH + part)).data)
  return Promise.all(parts)
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

describe.skipIf(!HAS_REDIS)('Of two servers on one store,', () => {
  it('each rewinds to what the other was asked, and shows the state before it', async () => {
    const [one, other] = await startTwo({ fixture: { domains: ['a.example', 'b.example'] } })
    await one.ask(KEY, 'POST', '/domaingroups', { name: 'G', domains: ['a.example'] })
    await one.post(`${PATH}/faults`, { respond: { error: 'internal_error' }, match: { path: '/dmarc' }, times: 3 })
    await other.ask(KEY, 'GET', '/dmarc')
    const before = await seenOf(one)
    const request = idOf(await one.ask(KEY, 'DELETE', '/domains', { domains: ['a.example'] }))
    await other.post(`${PATH}/keys`, {})
    await other.ask(KEY, 'GET', '/dmarc')
    await other.patch(`${PATH}/clock`, { advance: 'P30D' })
    await other.put(`${PATH}/state`, { domains: ['c.example'], plan: 'above-stone' })
    expect((await other.get(`${PATH}/state?before=${request}`)).data).toEqual(before[0])
    expect((await other.post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await seenOf(one)).toEqual(before)
  })

  it('each rewinds over more requests than the account remembers, because the journal has what undoes their counts', async () => {
    const [one, other] = await startTwo({ enforceQuotas: false })
    const before = await seenOf(one)
    const request = idOf(await one.ask(KEY, 'GET', '/domains'))
    await atOnce(REMEMBERED + 20, () => one.ask(KEY, 'GET', '/domains'))
    expect((await other.post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await seenOf(one)).toEqual(before)
  })

  it('each forgets with the account, and with its journal, the way back', async () => {
    const [one, other] = await startTwo()
    const { id, key } = await one.create({ id: 'mine' })
    const request = idOf(await one.ask(key, 'GET', '/domains'))
    await one.post(`/accounts/${id}/snapshots`, { name: 's' })
    await one.delete(`/accounts/${id}`)
    expect((await other.post(`/accounts/${id}/rewind`, { request_id: request })).status).toBe(404)
    await other.create({ id })
    expect((await one.get(`/accounts/${id}/snapshots`)).data.count).toBe(0)
    expect((await one.post(`/accounts/${id}/rewind`, { request_id: request })).status).toBe(404)
    const next = idOf(await one.ask(KEY, 'GET', '/domains'))
    expect((await other.get(`${PATH}/state?before=${next}`)).status).toBe(200)
    await one.post(`${PATH}/reset`, {})
    expect((await other.get(`${PATH}/state?before=${next}`)).status).toBe(404)
  })

  it('none shows a secret of a key that the other has brought back', async () => {
    const [one, other] = await startTwo()
    const secret = 'a-secret-of-mine'
    const { key } = (await one.post(`${PATH}/keys`, { key: secret })).data
    const request = idOf(await one.ask(secret, 'GET', '/domains'))
    await one.post(`${PATH}/snapshots`, { name: 's' })
    for (const bringBack of [
      () => other.post(`${PATH}/rewind`, { request_id: request }),
      () => other.post(`${PATH}/snapshots/s/restore`),
    ]) {
      await one.delete(`${PATH}/keys/${key.id}`)
      expect((await other.ask(secret, 'GET', '/domains')).status).toBe(401)
      expect((await bringBack()).status).toBe(200)
      expect((await one.ask(secret, 'POST', '/domaingroups', { name: secret })).status).toBeLessThan(300)
      for (const plane of [one, other]) expect((await plane.get(`${PATH}/requests`)).text).not.toContain(secret)
    }
  })
})
