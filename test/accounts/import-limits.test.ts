import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { KEYS_PER_ACCOUNT, loadFixture } from '../../src/accounts/fixture.ts'
import { readLimits } from '../../src/admin/document.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { budget } from '../support/budget.ts'
import { askControl, controlApi } from '../support/control-plane.ts'
import { processorTime } from '../support/processor-time.ts'
import { startService, type TestService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PUT_STATE = ['PUT', '/accounts/default/state', (fixture: Fixture) => fixture] as const
const WAYS = [
  PUT_STATE,
  ['POST', '/accounts', (fixture: Fixture) => ({ id: 'new', fixture })],
  ['POST', '/accounts/default/reset', (fixture: Fixture) => ({ fixture })],
] as const

function withKeys(count: number): Fixture {
  return { keys: Array.from({ length: count }, (_, index) => ({ key: `secret-${index}` })) }
}

/** The least that some tries cost, in milliseconds. */
async function fastest(work: () => unknown): Promise<number> {
  const times: number[] = []
  for (let tries = 0; tries < 9; tries++) {
    const start = processorTime()
    await work()
    times.push(processorTime() - start)
  }
  return Math.min(...times)
}

async function accountsOf(service: TestService): Promise<unknown> {
  return (await askControl(service, 'GET', '/accounts')).data.accounts
}

describe('The keys of a fixture', () => {
  it('are limited as those of an account are', () => {
    expect(KEYS_PER_ACCOUNT).toBe(readLimits(controlApi).keysPerAccount)
  })

  it.each(WAYS)('are counted before the work by %s %s, which changes nothing', async (method, path, wrap) => {
    const service = await startService()
    const before = await accountsOf(service)
    const keys = withKeys(KEYS_PER_ACCOUNT).keys ?? []
    const expected = (count: number) =>
      `fixture#/keys: There are ${count} keys, and an account may have 1000, its own included.`
    for (const fixture of [{ keys }, { keys: [...keys, ...keys] }]) {
      // The limit comes first: an entry that is none is not looked at.
      const sent = fixture.keys.length > KEYS_PER_ACCOUNT ? { keys: [...fixture.keys.slice(1), 7] } : fixture
      const refusal = await askControl(service, method, path, wrap(sent as Fixture))
      expect([refusal.status, refusal.error.code]).toEqual([409, 'too_many'])
      expect(refusal.error.message).toBe(expected(Math.max(KEYS_PER_ACCOUNT + 1, fixture.keys.length)))
    }
    expect(await accountsOf(service)).toEqual(before)
    const most = await askControl(service, method, path, wrap({ keys: keys.slice(1) }))
    expect([200, 201]).toContain(most.status)
    expect(most.data.account.keys).toBe(KEYS_PER_ACCOUNT)
  })

  it('are counted before a start too', async () => {
    const path = join(temporaryFolder(), 'many.json')
    writeFileSync(path, JSON.stringify(withKeys(16_000)))
    await expect(startService({ fixture: path })).rejects.toThrow(
      `${path}#/keys: There are 16000 keys, and an account may have 1000, its own included.`,
    )
  })

  it('cost as much as there are, however many there are', async () => {
    const service = await startService()
    const [method, path] = PUT_STATE
    const cost = (body: string, status: number) =>
      fastest(async () => expect((await askControl(service, method, path, body)).status).toBe(status))
    const few = await cost(JSON.stringify(withKeys(99)), 200)
    const many = await cost(JSON.stringify(withKeys(990)), 200)
    expect(many / few).toBeLessThan(40)
    const refused = await cost(JSON.stringify(withKeys(1_600)), 409)
    const farRefused = await cost(JSON.stringify(withKeys(16_000)), 409)
    expect(farRefused / refused).toBeLessThan(40)
  })
})

describe('The groups of a fixture', () => {
  it.each(['allowed', 'refused', 'moved'].slice(0, budget({ quick: 1, full: 3 })))(
    'cost as much as there are, where shared domains are %s',
    async (value) => {
      const actions = [{ target: "$['x-settings']['shared-domains']", update: { value } }]
      const overlay = asOverlay({ overlay: '1.0.0', info: { title: 'Shared', version: '1' }, actions }, 'shared')
      const contract = await loadContract({ overlays: [overlay] })
      const create = async (count: number) => {
        const domains = Array.from({ length: count }, (_, index) => `d${index}.example`)
        const groups = domains.map((domain, index) => ({ name: `Group ${index}`, domains: [domain] }))
        return createAccount(await loadFixture({ domains, groups }), { id: 'a', real: 0 }, contract)
      }
      expect((await create(10)).groups.size).toBe(10)
      const few = await fastest(() => create(600))
      const many = await fastest(() => create(6_000))
      expect(many / few).toBeLessThan(40)
    },
  )
})
