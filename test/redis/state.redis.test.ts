import { describe, expect, it } from 'vitest'
import { ascending, atOnce, range } from '../support/at-once.ts'
import type { ControlPlane } from '../support/control-plane.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { KEY, startTwo } from './two-servers.ts'

const PATH = '/accounts/default'

/** All that the control plane shows of what an account is. */
async function seenOf({ get }: ControlPlane): Promise<unknown[]> {
  const parts = ['/state', '/keys', '/quotas', '/faults', '/clock']
  return Promise.all(parts.map(async (part) => (await get(PATH + part)).data))
}

function idOf({ headers }: { headers: Record<string, string | undefined> }): string {
  return headers['x-request-id'] ?? ''
}

describe.skipIf(!HAS_REDIS)('Two servers on one Redis', () => {
  it('see at once what was done through the other: accounts, keys, domains, clock, faults, and their end', async () => {
    const [one, other] = await startTwo()
    const { key } = await one.create({ id: 'acme' })
    expect((await other.ask(key, 'POST', '/domains', { domains: ['a.example'] })).status).toBe(200)
    expect((await one.ask(key, 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
    await one.patch('/accounts/acme/clock', { frozen: true, now: '2030-01-01T00:00:00Z' })
    expect((await other.get('/accounts/acme/clock')).data).toMatchObject({
      frozen: true,
      now: '2030-01-01T00:00:00Z',
    })
    await other.post('/accounts/acme/faults', { respond: { error: 'internal_error' } })
    expect((await one.ask(key, 'GET', '/domains')).status).toBe(500)
    const added = (await one.post('/accounts/acme/keys', {})).data
    await other.delete(`/accounts/acme/keys/${added.key.id}`)
    expect((await one.ask(added.api_key, 'GET', '/domains')).status).toBe(401)
    await one.delete('/accounts/acme')
    expect((await other.ask(key, 'GET', '/domains')).status).toBe(401)
    expect((await other.get('/accounts/acme')).status).toBe(404)
  })

  it('agree on which names of groups are free, whichever of them has renamed one', async () => {
    const [one, other] = await startTwo()
    const create = (server: ControlPlane, name: string) => server.ask(KEY, 'POST', '/domaingroups', { name })
    const { id } = (await create(one, 'Sales')).body.data.group
    expect((await create(other, 'sales')).status).toBe(409)
    expect((await one.ask(KEY, 'PATCH', `/domaingroups?id=${id}`, { name: 'Support' })).status).toBe(200)
    expect((await create(other, 'Sales')).status).toBe(200)
    expect((await create(other, 'SUPPORT')).status).toBe(409)
  })

  it('share each quota and each fault rule exactly, however the requests are spread', async () => {
    const servers = await startTwo({ frozen: true })
    await servers[0].post(`${PATH}/faults`, {
      respond: { error: 'internal_error' },
      match: { path: '/domaingroups' },
      times: 3,
    })
    const spread = (count: number, path: string) =>
      atOnce(count, (index) => (servers[index % 2] as ControlPlane).ask(KEY, 'GET', path))
    const asked = await spread(130, '/domains')
    const limit = Number(asked[0]?.headers['x-ratelimit-limit'])
    expect(limit).toBeLessThan(130)
    const left = asked
      .filter(({ status }) => status === 200)
      .map((each) => Number(each.headers['x-ratelimit-remaining']))
    expect(left.toSorted(ascending)).toEqual(range(0, limit - 1))
    expect(asked.filter(({ status }) => status === 429)).toHaveLength(130 - limit)
    const faulty = await spread(10, '/domaingroups')
    expect(faulty.filter(({ status }) => status === 500)).toHaveLength(3)
  })

  it('open one account for a sandbox key that nobody has used before', async () => {
    const servers = await startTwo()
    const added = await atOnce(10, (index) =>
      (servers[index % 2] as ControlPlane).ask('sandbox_new', 'POST', '/domains', { domains: [`d${index}.example`] }),
    )
    expect(added.map(({ status }) => status)).toEqual(range(1, 10).map(() => 200))
    for (const each of servers) {
      expect((await each.ask('sandbox_new', 'GET', '/domains')).body.data.domains).toHaveLength(10)
    }
  })

  it('bring back what the other has kept: a snapshot, the state before a request, the beginning', async () => {
    const fixture = { domains: ['a.example', 'b.example'] }
    const [one, other] = await startTwo({ now: '2026-01-15T09:30:00Z', frozen: true, fixture })
    const begun = await seenOf(other)
    await one.ask(KEY, 'POST', '/domaingroups', { name: 'G', domains: ['a.example'] })
    await one.post(`${PATH}/faults`, { respond: { error: 'internal_error' }, match: { path: '/dmarc' }, times: 3 })
    await other.ask(KEY, 'GET', '/dmarc')
    await other.post(`${PATH}/snapshots`, { name: 's' })
    const before = await seenOf(one)
    const request = idOf(await one.ask(KEY, 'DELETE', '/domains', { domains: ['a.example'] }))
    async function changeAll(): Promise<void> {
      await other.post(`${PATH}/keys`, {})
      await other.ask(KEY, 'GET', '/dmarc')
      await other.patch(`${PATH}/clock`, { advance: 'P30D' })
      await one.put(`${PATH}/state`, { domains: ['c.example'], plan: 'above-stone' })
    }
    await changeAll()
    expect((await other.get(`${PATH}/state?before=${request}`)).data).toEqual(before[0])
    expect((await other.post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await seenOf(one)).toEqual(before)
    await changeAll()
    expect((await one.post(`${PATH}/snapshots/s/restore`)).status).toBe(200)
    expect(await seenOf(other)).toEqual(before)
    await changeAll()
    expect((await other.post(`${PATH}/reset`, {})).status).toBe(200)
    expect(await seenOf(one)).toEqual(begun)
  })

  it('rewind over hundreds of requests of both', async () => {
    const servers = await startTwo({ enforceQuotas: false, frozen: true })
    const [one, other] = servers
    const before = await seenOf(one)
    const request = idOf(await one.ask(KEY, 'POST', '/domains', { domains: ['a.example'] }))
    await atOnce(300, (index) => (servers[index % 2] as ControlPlane).ask(KEY, 'GET', '/domains'))
    expect((await other.post(`${PATH}/rewind`, { request_id: request })).status).toBe(200)
    expect(await seenOf(one)).toEqual(before)
  })

  it('forget with the account, and with its journal, the way back', async () => {
    const [one, other] = await startTwo()
    const { key } = await one.create({ id: 'mine' })
    const request = idOf(await one.ask(key, 'GET', '/domains'))
    await one.post('/accounts/mine/snapshots', { name: 's' })
    await one.delete('/accounts/mine')
    expect((await other.post('/accounts/mine/rewind', { request_id: request })).status).toBe(404)
    await other.create({ id: 'mine' })
    expect((await one.get('/accounts/mine/snapshots')).data.count).toBe(0)
    expect((await one.post('/accounts/mine/rewind', { request_id: request })).status).toBe(404)
    const next = idOf(await one.ask(KEY, 'GET', '/domains'))
    expect((await other.get(`${PATH}/state?before=${next}`)).status).toBe(200)
    await one.post(`${PATH}/reset`, {})
    expect((await other.get(`${PATH}/state?before=${next}`)).status).toBe(404)
  })

  it('show no secret of a key that the other has brought back', async () => {
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
      for (const { get } of [one, other]) expect((await get(`${PATH}/requests`)).text).not.toContain(secret)
    }
  })
})
