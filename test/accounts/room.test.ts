import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HOUR = 3_600_000

const NO_ROOM =
  /^There is no room for another account: there are \d+, and no sandbox can be deleted for it\. Delete accounts, or start the server with a larger --max-accounts or a shorter --sandbox-idle\.$/

async function idsOf({ get }: ControlPlane): Promise<string[]> {
  return (await get('/accounts')).data.accounts.map(({ id }: { id: string }) => id).toSorted()
}

/** What somebody can do to a sandbox through the control plane. */
const CONTROL_CHANGES: [method: string, path: string, body?: object][] = [
  ['PATCH', '', { plan: 'above-stone' }],
  ['PUT', '/state', { domains: ['a.example'] }],
  ['POST', '/snapshots', { name: 'before' }],
  ['POST', '/keys', { label: 'CI' }],
  ['POST', '/faults', { delay_ms: 1 }],
  ['POST', '/fault-sets/flaky'],
  ['PATCH', '/clock', { advance: 'PT1H' }],
  ['PATCH', '/quotas', { bucket: 'domains', remaining: 0 }],
  ['POST', '/reset', {}],
]

describe.each<[where: string, options: () => ServerOptions]>([
  ['in memory', () => ({})],
  ['in a folder', () => ({ data: temporaryFolder() })],
])('when there are as many accounts %s as there may be', (_, options) => {
  const start = (more: ServerOptions) => startControlPlane({ ...options(), ...more })

  it('a sandbox that nobody has changed makes room at once, the one first that was used longest ago', async () => {
    const plane = await start({ maxAccounts: 4 })
    const { ask, create } = plane
    await create({ id: 'mine' })
    for (const name of ['a', 'b', 'a']) {
      expect((await ask(`sandbox_${name}`, 'GET', '/domains')).status).toBe(200)
      await ask(`sandbox_${name}`, 'POST', '/domains', { domains: ['not a domain'] })
    }
    expect((await ask('sandbox_c', 'GET', '/domains')).status).toBe(200)
    expect(await idsOf(plane)).toEqual(['default', 'mine', 'sandbox_a', 'sandbox_c'])
    await create({ id: 'another' })
    expect(await idsOf(plane)).toEqual(['another', 'default', 'mine', 'sandbox_c'])
  })

  it('a sandbox is opened again when its key is used just while it makes room', async () => {
    const { ask } = await start({ maxAccounts: 8, enforceQuotas: false })
    const statuses: number[] = []
    await Promise.all(
      Array.from({ length: 3 }, async (_, client) => {
        for (let step = 0; step < 60; step++) {
          statuses.push((await ask(`sandbox_${(client + step * 5) % 12}`, 'GET', '/domains')).status)
        }
      }),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  it('a sandbox that was changed makes room after it was idle, and no sooner', async () => {
    const plane = await start({ maxAccounts: 3, sandboxIdle: '30m' })
    const { ask, post, advance } = plane
    for (const name of ['a', 'b']) await ask(`sandbox_${name}`, 'POST', '/domains', { domains: ['a.example'] })
    advance(HOUR / 2 - 1)
    await ask('sandbox_b', 'GET', '/domains')
    expect((await post('/accounts')).status).toBe(507)
    expect((await ask('sandbox_c', 'GET', '/domains')).status).toBe(401)
    advance(1)
    expect((await ask('sandbox_c', 'GET', '/domains')).status).toBe(200)
    expect(await idsOf(plane)).toEqual(['default', 'sandbox_b', 'sandbox_c'])
    const { body } = await ask('sandbox_a', 'GET', '/domains')
    expect(body.data.domains).toEqual([])
  })

  it.each(CONTROL_CHANGES)('a sandbox is kept that %s …%s has changed', async (method, path, body) => {
    const plane = await start({ maxAccounts: 2 })
    expect((await plane.send(method, `/accounts/sandbox_x${path}`, body)).status).toBeLessThan(300)
    expect((await plane.post('/accounts')).status).toBe(507)
    plane.advance(HOUR)
    expect((await plane.post('/accounts')).status).toBe(201)
    expect((await plane.get('/accounts/sandbox_x')).status).toBe(404)
  })

  it('an idle hour of an account is none of the server', async () => {
    const { ask, post, patch } = await start({ maxAccounts: 2 })
    await ask('sandbox_x', 'POST', '/domains', { domains: ['a.example'] })
    await patch('/accounts/sandbox_x/clock', { advance: 'P30D' })
    expect((await post('/accounts')).status).toBe(507)
  })

  it('an account that somebody made never makes room, whatever its name', async () => {
    const { create, post, get, advance } = await start({ maxAccounts: 2 })
    await create({ id: 'sandbox_mine' })
    advance(1000 * HOUR)
    expect((await post('/accounts')).status).toBe(507)
    expect((await get('/accounts/sandbox_mine')).status).toBe(200)
  })

  it('all of this is known after a restart', async () => {
    const given = { maxAccounts: 5, ...options() }
    if (given.data === undefined) return
    const first = await startControlPlane(given)
    await first.create({ id: 'sandbox_made' })
    for (const name of ['a', 'b', 'c']) {
      await first.ask(`sandbox_${name}`, 'GET', '/domains')
      first.advance(1)
    }
    await first.ask('sandbox_a', 'GET', '/domains')
    await first.ask('sandbox_b', 'POST', '/domains', { domains: ['a.example'] })
    await first.stop()
    const again = await startControlPlane(given)
    await again.create({ id: 'x' })
    expect(await idsOf(again)).toEqual(['default', 'sandbox_a', 'sandbox_b', 'sandbox_made', 'x'])
    await again.create({ id: 'y' })
    expect(await idsOf(again)).toEqual(['default', 'sandbox_b', 'sandbox_made', 'x', 'y'])
    expect((await again.post('/accounts')).status).toBe(507)
    again.advance(HOUR)
    expect((await again.post('/accounts')).status).toBe(201)
    expect(readdirSync(given.data).filter((name) => name.includes('sandbox'))).toEqual(['account-sandbox_made.json'])
  })

  it('an evicted sandbox leaves nothing behind', async () => {
    const { ask, post, get, advance, understudy } = await start({ maxAccounts: 2 })
    await ask('sandbox_x', 'POST', '/domains', { domains: ['a.example'] })
    await post('/accounts/sandbox_x/keys', { key: 'another-key' })
    await post('/accounts/sandbox_x/snapshots', { name: 'before' })
    advance(HOUR)
    await understudy.createAccount({ id: 'mine' }).then((account) => account.delete())
    expect((await ask('another-key', 'GET', '/domains')).status).toBe(401)
    expect((await post('/accounts/sandbox_x/snapshots/before/restore')).status).toBe(404)
    const { data } = await get('/accounts/sandbox_x/requests')
    expect(data.requests.map(({ path }: { path: string }) => path)).not.toContain('/api/v1/domains')
  })

  it('one whose id or key is taken costs no sandbox its life', async () => {
    const { post, ask, get } = await start({ maxAccounts: 2, apiKey: 'the-key' })
    await ask('sandbox_a', 'GET', '/domains')
    expect((await post('/accounts', { id: 'default' })).status).toBe(409)
    expect((await post('/accounts', { api_key: 'the-key' })).status).toBe(409)
    expect((await get('/accounts/sandbox_a')).status).toBe(200)
    expect((await post('/accounts')).status).toBe(201)
    expect((await get('/accounts/sandbox_a')).status).toBe(404)
  })

  it('no more are made, however many are asked for at once', async () => {
    const { understudy, ask, get } = await start({ maxAccounts: 10 })
    const made = await Promise.allSettled(Array.from({ length: 30 }, () => understudy.createAccount()))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(9)
    expect((await get('/accounts')).data.count).toBe(10)
    await understudy.findAccount('account-1').then((account) => account.delete())
    await Promise.all(Array.from({ length: 20 }, (_, index) => ask(`sandbox_${index}`, 'GET', '/domains')))
    expect((await get('/accounts')).data.count).toBe(10)
  })

  it('floods are refused with one line in the log, everybody else is served, and so it is after a restart', async () => {
    const given = { ...options(), maxAccounts: 3, apiKey: 'the-key' }
    for (const round of [1, 2]) {
      const log = recordingLog()
      const { ask, post, create, stop, understudy } = await startControlPlane({ ...given, log })
      if (round === 1 || given.data === undefined) for (const id of ['a', 'b']) await create({ id })
      for (let index = 0; index < 50; index++) {
        const { status, body } = await ask(`sandbox_${index}`, 'GET', '/domains')
        expect([status, body.error.code]).toEqual([401, 'unauthorized'])
        const refusal = await post('/accounts')
        expect([refusal.status, refusal.error.code]).toEqual([507, 'insufficient_storage'])
        expect(refusal.error.message).toMatch(NO_ROOM)
        expect((await post(`/accounts/sandbox_${index}/faults`, { delay_ms: 1 })).error.message).toMatch(NO_ROOM)
      }
      await expect(understudy.createAccount()).rejects.toMatchObject({ code: 'insufficient_storage' })
      expect((await ask('the-key', 'GET', '/domaingroups')).status).toBe(200)
      expect([log.errors, log.warnings]).toEqual([[], [{ accounts: 3 }]])
      await stop()
    }
  })

  it('the log has a line for each time that there is no room, with a quiet minute between them', async () => {
    const log = recordingLog()
    const { ask, create, advance } = await start({ maxAccounts: 2, log })
    await create()
    for (let minute = 0; minute < 10; minute++) {
      await ask('sandbox_x', 'GET', '/domains')
      advance(59_999)
    }
    expect(log.warnings).toHaveLength(1)
    advance(60_000)
    await ask('sandbox_x', 'GET', '/domains')
    expect(log.warnings).toHaveLength(2)
  })
})

it('a refused account is not made first', async () => {
  let looks = 0
  const fixture = {
    get domains() {
      looks++
      return ['a.example']
    },
  }
  const { ask, create, post } = await startControlPlane({ maxAccounts: 2, fixture })
  await create()
  const before = looks
  for (let index = 0; index < 10; index++) {
    await ask(`sandbox_${index}`, 'GET', '/domains')
    await post('/accounts')
  }
  expect(looks).toBe(before)
})
