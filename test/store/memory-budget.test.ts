import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { MemoryBudget } from '../../src/store/memory-budget.ts'
import { change as changeAccount, withDomains } from './example-account.ts'

const contract = await loadContract({ overlays: [] })
const MIB = 2 ** 20

describe('An account with a budget', () => {
  it('is not hindered by sandboxes, which share a half', async () => {
    const { fill, budget } = await openWith(10)
    for (let index = 0; index < 5; index++) await fill(`sandbox_${index}`, { evictable: true }).catch(() => {})
    expect(budget.use.used / MIB).toBeLessThan(5)
    expect(await fill('mine')).toBeGreaterThan(2)
  })

  it('loses nothing when it is refused, may become smaller, and grow again', async () => {
    const { store, fill, budget } = await openWith(10)
    await fill('first')
    const before = await store.read('first')
    const { used } = budget.use
    await expect(grow(store, 'first', 10_000)).rejects.toMatchObject({
      problem: 'full',
      message: expect.stringMatching(
        /^The account "first" would need 5\.7 MiB more: it holds [^,]+, and .+ are free\. An/,
      ),
    })
    expect(await store.read('first')).toBe(before)
    expect(budget.use.used).toBe(used)
    const names = [...before.domains.keys()]
    await changeAccount(store, ({ domains }) => ({ domains: domains.without(names) }), 'first')
    expect(budget.use.used).toBeLessThan(used / 10)
    await grow(store, 'first', 1_000)
  })

  it('is told of once for each time that it fills up', async () => {
    const told: string[] = []
    const { store, fill } = await openWith(10, (message) => told.push(message))
    await fill('first')
    for (let index = 0; index < 10; index++) await expect(grow(store, 'first', 10_000)).rejects.toThrow()
    expect(told).toHaveLength(1)
    const [name = ''] = (await store.read('first')).domains.keys()
    await changeAccount(store, ({ domains }) => ({ domains: domains.delete(name) }), 'first')
    await expect(grow(store, 'first', 10_000)).rejects.toThrow()
    expect(told).toHaveLength(2)
  })
})

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name-${index}`)
}

/** An account with so many domains. */
async function accountOf(domains: number, id: string): Promise<AccountState> {
  const fixture = await loadFixture({ domains: names(domains).map((name) => `${name}.example`) })
  return createAccount(fixture, { id, real: 0 }, contract)
}

async function openWith(mebibytes: number, onRefused?: (message: string) => void) {
  const budget = new MemoryBudget(mebibytes * MIB, onRefused)
  const store = openMemoryStore({ budget })
  return { store, budget, fill }

  /** Adds domains to a new account until it may hold no more, or `most` MiB. Returns how many MiB it holds. */
  async function fill(id: string, { evictable = false, most = Number.POSITIVE_INFINITY } = {}): Promise<number> {
    await store.create(await accountOf(0, id), { evictable })
    const held = () => (budget.shareOf(id)?.weight ?? 0) / MIB
    for (let round = 0; held() < most; round++) {
      if ((await grow(store, id, 100, round).catch(() => 'refused')) === 'refused') break
    }
    return held()
  }
}

async function grow(store: ReturnType<typeof openMemoryStore>, id: string, count: number, round = Number.NaN) {
  const domains = names(count).map((name) => `${name}.round-${round}.example`)
  return changeAccount(store, (state) => withDomains(state, domains), id)
}
