import { describe, expect, it } from 'vitest'
import { Accounts } from '../../src/store/accounts.ts'
import type { HeapProbe } from '../../src/store/heap-guard.ts'
import { askControl, type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { asks } from '../support/rows.ts'
import { START, startService } from '../support/service.ts'

const HOUR = 3_600_000

const NO_ROOM =
  /^There is no room for another account: there are \d+, and no sandbox can be deleted for it\. Delete accounts, or start the server with a larger --max-accounts\.$/

async function idsOf({ get }: ControlPlane): Promise<string[]> {
  return (await get('/accounts')).data.accounts.map(({ id }: { id: string }) => id).toSorted()
}

// That all stores do the same, whatever changes an account, when many are made at once, and when they are opened again, is in
// test/store/conformance.ts.
describe('when there are as many accounts as there may be', () => {
  it('a sandbox that nobody has changed makes room at once, the one first that was used longest ago', async () => {
    const plane = await startControlPlane({ maxAccounts: 4 })
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

  it('an evicted sandbox leaves nothing behind', async () => {
    const { ask, post, get, advance, understudy } = await startControlPlane({ maxAccounts: 2 })
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

  it('floods are refused with one line in the log, and everybody else is served', async () => {
    const log = recordingLog()
    const { ask, post, create, understudy } = await startControlPlane({ maxAccounts: 3, apiKey: 'the-key', log })
    for (const id of ['a', 'b']) await create({ id })
    for (let index = 0; index < 10; index++) {
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
  })
})

describe('when the heap is almost full', () => {
  async function fill(log = recordingLog()) {
    let measure: Parameters<HeapProbe>[0] = () => {}
    const probe: HeapProbe = (listener) => {
      measure = listener
      return () => {}
    }
    const store = new Accounts({ clock: () => START, probe, warn: (message) => log.warn({ reason: message }) })
    const service = await startService({ store, enforceQuotas: false, log })
    expect((await service.send('POST', '/domains', { domains: ['kept.example'] })).status).toBe(200)
    return { service, log, measure: (share: number) => measure(share * 1e9, 1e9) }
  }

  it('the control plane answers 507, and the service 500, also to a new sandbox, with one line in the log', async () => {
    const { service, log, measure } = await fill()
    measure(0.9)
    for (const refused of [
      asks('PUT', '/accounts/default/state', { domains: ['a.example', 'b.example'] }),
      asks('POST', '/accounts/default/reset', { fixture: { domains: ['a.example', 'b.example'] } }),
      asks('POST', '/accounts'),
      asks('POST', '/accounts/default/snapshots', { name: 's' }),
    ]) {
      const refusal = await refused(service)
      expect([refusal.status, refusal.error.code]).toEqual([507, 'insufficient_storage'])
      expect(refusal.error.message).toMatch(/^The memory is almost full \(858 of 954 MiB\), so no account may grow: /)
    }
    const sandbox = { authorization: 'Bearer sandbox_new' }
    for (const [method, headers] of [['POST'], ['GET', sandbox]] as const) {
      const body = method === 'POST' ? { domains: ['new.example'] } : undefined
      const { status, body: answered } = await service.send(method, '/domains', body, headers)
      expect([status, answered.error.code]).toEqual([500, 'internal_error'])
    }
    expect((await service.get('/domains')).body.data.domains).toEqual(['kept.example'])
    expect(log.warnings).toHaveLength(1)
    expect(log.errors).toEqual([])
    measure(0.8)
    expect((await service.send('GET', '/domains', undefined, sandbox)).status).toBe(200)
  })

  it('sandboxes end, and requests are no longer known with what they found, except for the newest fifty', async () => {
    const { service, measure } = await fill()
    const ids: string[] = []
    for (let request = 0; request < 51; request++) {
      ids.push((await service.get('/domains')).headers['x-request-id'] as string)
    }
    for (const name of ['x', 'y']) {
      await service.send('GET', '/domains', undefined, { authorization: `Bearer sandbox_${name}` })
    }
    measure(0.8)
    expect((await askControl(service, 'GET', '/accounts/sandbox_x')).status).toBe(404)
    const stateBefore = (id = '') => askControl(service, 'GET', `/accounts/default/state?before=${id}`)
    expect([(await stateBefore(ids[0])).status, (await stateBefore(ids[1])).status]).toEqual([404, 200])
  })
})

it('A request that would make an account too large is refused, and the account is as before', async () => {
  const log = recordingLog()
  const service = await startService({ fixture: 'empty', enforceQuotas: false, log })
  const domains = Array.from({ length: 50_000 }, (_, index) => `d${index}.example`)
  const put = (names: string[]) => askControl(service, 'PUT', '/accounts/default/state', { domains: names })
  expect((await put(domains)).status).toBe(200)
  const refusal = await put([...domains, 'more.example'])
  expect([refusal.status, refusal.error]).toEqual([
    507,
    expect.objectContaining({
      code: 'insufficient_storage',
      message: 'An account may have 50000 domains, and this one would have 50001.',
    }),
  ])
  const add = () => service.send('POST', '/domains', { domains: ['more.example'] })
  const { status, body } = await add()
  expect([status, body.error.code]).toEqual([500, 'internal_error'])
  expect(log.errors).toEqual([expect.objectContaining({ err: expect.objectContaining({ problem: 'too-large' }) })])
  await service.send('DELETE', '/domains', { domains: ['d0.example'] })
  expect((await add()).status).toBe(200)
})
