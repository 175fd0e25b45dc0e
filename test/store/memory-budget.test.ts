import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { accept } from '../../src/domain/errors.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { MemoryBudget } from '../../src/store/memory-budget.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { weighAccount, weighChange } from '../../src/store/weight.ts'
import { heapInUse } from '../load/memory.ts'
import { budget as budgetOf } from '../support/budget.ts'

const contract = await loadContract({ overlays: [] })
const MIB = 2 ** 20

describe('The weight of an account', () => {
  const domainsOf = (count: number) => Array.from({ length: count }, (_, index) => `host${index}.some-owner.example`)

  const fixtures: [title: string, fixture: Fixture][] = [
    ['many domains', { domains: domainsOf(50_000) }],
    ['many domains with features', { domains: domainsOf(20_000).map((name) => ({ name, features: ['mta-sts'] })) }],
    ['many groups', { domains: ['a.example'], groups: names(20_000).map((name) => ({ name })) }],
    [
      'many members',
      { domains: domainsOf(1_000), groups: names(1_000).map((name) => ({ name, domains: domainsOf(1_000) })) },
    ],
    ['many former domains', { former_domains: domainsOf(20_000).map((name) => ({ name, volume: 7 })) }],
  ]
  it.each(fixtures.slice(0, budgetOf({ quick: 2, full: fixtures.length })))(
    'of %s is not less than what it takes of the heap, and not four times as much',
    // What other tests have left may be freed just meanwhile. Then it is measured again.
    { retry: 2 },
    async (_, document) => {
      const before = heapInUse()
      const account = await accountOf(JSON.parse(JSON.stringify(document)))
      const grown = heapInUse() - before
      const weight = weighAccount(account) / MIB
      expect(weight).toBeGreaterThan(grown)
      expect(weight).toBeLessThan(4 * grown + 1)
    },
  )

  it('changes by what a change adds and removes (seed 11)', async () => {
    const start = await accountOf({ domains: domainsOf(20) })
    const domain = fc.integer({ min: 0, max: 40 }).map((index) => `host${index}.some-owner.example`)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.boolean(), fc.array(domain, { maxLength: 5 })), { maxLength: 30 }),
        (changes) => {
          let state: AccountState = { ...start, domains: start.domains.copy(), groups: start.groups.copy() }
          let weight = weighAccount(state)
          for (const [adds, domains] of changes) {
            const id = `group-${domains.length}`
            const next: AccountState = adds
              ? {
                  ...state,
                  domains: state.domains.with(domains.map((name) => [name, { name, addedAt: 0, features: [] }])),
                  groups: state.groups.set(id, { id, name: id, domains }),
                }
              : { ...state, domains: state.domains.without(domains), groups: state.groups.delete(id) }
            weight += weighChange(state, next).growth
            expect(weight).toBe(weighAccount(next))
            state = next
          }
        },
      ),
      { seed: 11 },
    )
  })
})

describe('An account with a budget', () => {
  it('may hold half of the memory when it is alone, and always leaves as much as it holds', async () => {
    const { fill, budget } = await openWith(20)
    expect(await fill('first')).toBeCloseTo(10, 0)
    expect(await fill('second')).toBeCloseTo(5, 0)
    expect(await fill('third')).toBeCloseTo(2.5, 0)
    expect(budget.use.used).toBeLessThan(budget.use.limit)
  })

  it('is not hindered by sandboxes, which share a half', async () => {
    const { fill, budget } = await openWith(20)
    for (let index = 0; index < 10; index++) await fill(`sandbox_${index}`, { evictable: true }).catch(() => {})
    expect(budget.use.used / MIB).toBeLessThan(10)
    expect(await fill('mine')).toBeGreaterThan(4)
  })

  it('loses nothing when it is refused, may become smaller, and grow again', async () => {
    const { store, fill, budget } = await openWith(10)
    await fill('first')
    const before = await store.read('first')
    const { used } = budget.use
    const refusal = await failureOf(grow(store, 'first', 10_000))
    expect(refusal).toMatchObject({ problem: 'full', reported: true })
    expect(refusal.message).toMatch(
      /^The account "first" would need 5\.7 MiB more: it holds [45](\.\d)? MiB, and [56](\.\d)? of 10 MiB are free\. An account/,
    )
    expect(await store.read('first')).toBe(before)
    expect(budget.use.used).toBe(used)
    const names = [...before.domains.keys()]
    await store.update('first', (state) => accept({ ...state, domains: state.domains.without(names) }, undefined))
    expect(budget.use.used).toBeLessThan(used / 10)
    await grow(store, 'first', 1_000)
  })

  it('is told of once for each time that it fills up', async () => {
    const told: string[] = []
    const { store, fill } = await openWith(10, (message) => told.push(message))
    await fill('first')
    for (let index = 0; index < 10; index++) await failureOf(grow(store, 'first', 10_000))
    expect(told).toHaveLength(1)
    const [name = ''] = (await store.read('first')).domains.keys()
    await store.update('first', (state) => accept({ ...state, domains: state.domains.delete(name) }, undefined))
    await failureOf(grow(store, 'first', 10_000))
    expect(told).toHaveLength(2)
  })

  it('frees what it holds when it is deleted, however it was filled', async () => {
    const { store, fill, budget } = await openWith(10)
    for (let round = 0; round < 5; round++) {
      await fill('first')
      budget.shareOf('first')?.addSnapshot('one')
      await store.replace('first', await accountOf({}, 'first'), { quotas: new Map(), tallies: new Map() })
      await store.delete('first')
      expect(budget.use.used).toBe(0)
    }
  })

  it('holds what its snapshots keep: what has changed since, and never more than they are', async () => {
    const { store, fill, budget } = await openWith(40)
    await fill('first', { most: 4 })
    const share = budget.shareOf('first')
    for (let index = 0; index < 16; index++) share?.addSnapshot(`${index}`)
    expect(budget.use.used / MIB).toBeLessThan(4.5)
    await store.update('first', (state) =>
      accept({ ...state, domains: state.domains.without([...state.domains.keys()]) }, 0),
    )
    const kept = budget.use.used / MIB
    expect(kept).toBeGreaterThan(3)
    for (let index = 0; index < 15; index++) share?.deleteSnapshot(`${index}`)
    expect(budget.use.used / MIB).toBeLessThan(5)
    share?.deleteSnapshot('15')
    expect(budget.use.used / MIB).toBeLessThan(0.1)
  })

  it('that cannot be created for lack of memory leaves nothing behind', async () => {
    const { store, fill, budget } = await openWith(10)
    await fill('first')
    const { used } = budget.use
    const large = await accountOf({ domains: names(20_000).map((name) => `${name}.example`) }, 'large')
    await failureOf(store.create(large))
    expect(await store.has('large')).toBe(false)
    expect(budget.use.used).toBe(used)
  })
})

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name-${index}`)
}

async function accountOf(fixture: Fixture, id = 'account'): Promise<AccountState> {
  return createAccount(await loadFixture(fixture), { id, real: 0 }, contract)
}

async function openWith(mebibytes: number, onRefused?: (message: string) => void) {
  const budget = new MemoryBudget(mebibytes * MIB, onRefused)
  const store = openMemoryStore({ budget })
  return { store, budget, fill }

  /** Adds domains to a new account until it may hold no more, or `most` MiB. Returns how many MiB it holds. */
  async function fill(id: string, { evictable = false, most = Number.POSITIVE_INFINITY } = {}): Promise<number> {
    await store.create(await accountOf({}, id), { evictable })
    const held = () => (budget.shareOf(id)?.weight ?? 0) / MIB
    for (let round = 0; held() < most; round++) {
      if ((await grow(store, id, 100, round).catch(() => 'refused')) === 'refused') break
    }
    return held()
  }
}

async function grow(store: ReturnType<typeof openMemoryStore>, id: string, count: number, round = Number.NaN) {
  const domains = names(count).map((name) => `${name}.round-${round}.example`)
  return store.update(id, (state) =>
    accept(
      { ...state, domains: state.domains.with(domains.map((name) => [name, { name, addedAt: 0, features: [] }])) },
      undefined,
    ),
  )
}

async function failureOf(attempt: unknown): Promise<StoreError> {
  try {
    await attempt
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
  throw new Error('It was permitted.')
}
