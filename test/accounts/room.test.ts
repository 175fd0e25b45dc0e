import { describe, expect, it } from 'vitest'
import { OptionError, startUnderstudy } from '../../src/index.ts'
import { askControl, type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { recordingLog } from '../support/recording-log.ts'
import { asks } from '../support/rows.ts'
import { startService } from '../support/service.ts'

const HOUR = 3_600_000

const NO_ROOM =
  /^There is no room for another account: there are \d+, and no sandbox can be deleted for it\. Delete accounts, or start the server with a larger --max-accounts or a shorter --sandbox-idle\.$/

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

  it('a sandbox that was changed makes room after it was idle, and no sooner', async () => {
    const plane = await startControlPlane({ maxAccounts: 3, sandboxIdle: '30m' })
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

/** About 18 MiB, which is more than half of what accounts may have of 32 MiB. */
const LARGE = { domains: Array.from({ length: 30_000 }, (_, index) => `host-${index}.example`) }
/** Not the store of the test, which has no limit. */
const LIMITED = { maxMemory: 32 * 2 ** 20, store: undefined, fixture: 'empty', enforceQuotas: false }

it('Where the memory for accounts is used up, the control plane answers 507, says who holds what, and changes nothing', async () => {
  const service = await startService(LIMITED)
  for (const refused of [
    asks('PUT', '/accounts/default/state', LARGE),
    asks('POST', '/accounts/default/reset', { fixture: LARGE }),
  ]) {
    const refusal = await refused(service)
    expect([refusal.status, refusal.error.code]).toEqual([507, 'insufficient_storage'])
    expect(refusal.error.message).toMatch(
      /would need [\d.]+ MiB more: it holds [\d.]+ MiB, and [\d.]+ of 24 MiB are free\./,
    )
  }
  expect((await askControl(service, 'GET', '/accounts')).data.accounts).toMatchObject([{ id: 'default', domains: 0 }])
})

it('The option maxMemory is at most what the heap of Node.js permits', async () => {
  const refusal = await startUnderstudy({ maxMemory: 2 ** 40 }).catch((error) => error)
  expect(refusal).toBeInstanceOf(OptionError)
  expect(refusal.message).toMatch(
    /^maxMemory 1099511627776: must be at most [\d.]+[MG]iB, because the heap of Node\.js ends at .*gives it more\.$/,
  )
})
