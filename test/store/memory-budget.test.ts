import fc from 'fast-check'
import { Low } from 'lowdb'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { loadFixture } from '../../src/accounts/fixture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import type { AccountState } from '../../src/domain/account.ts'
import { accept } from '../../src/domain/errors.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { PersistentMap } from '../../src/domain/persistent-map.ts'
import { Accounts } from '../../src/store/accounts.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { MemoryBudget } from '../../src/store/memory-budget.ts'
import { StoreError } from '../../src/store/store-error.ts'
import type { AccountData } from '../../src/store/stored-account.ts'
import { weighAccount, weighChange } from '../../src/store/weight.ts'
import { budget as budgetOf } from '../support/budget.ts'
import { change as changeAccount, exampleAccount, NOTHING, withDomains } from './example-account.ts'

const contract = await loadContract({ overlays: [] })
const MIB = 2 ** 20

const DOMAINS = Array.from({ length: 8 }, (_, index) => `host${index}.example`)
const someDomains = fc.subarray(DOMAINS)

type Edit = (state: AccountState) => Partial<AccountState>

/** Ways to change an account, each of which weighs something. */
const change = fc
  .oneof<fc.Arbitrary<Edit>[]>(
    someDomains.map((names) => ({ domains }) => ({
      domains: domains.with(names.map((name) => [name, { name, addedAt: 0, features: names }])),
    })),
    someDomains.map((names) => ({ domains }) => ({ domains: domains.without(names) })),
    someDomains.map((domains) => ({ groups }) => {
      const id = `g${domains.length}`
      return { groups: groups.set(id, { id, name: 'G', domains }) }
    }),
    fc.nat(8).map((size) => ({ groups }) => ({ groups: groups.delete(`g${size}`) })),
    someDomains.map((names) => () => ({
      formerDomains: PersistentMap.of(names.map((name) => [name, { volume: 1 }] as const)),
    })),
    fc.nat(3).map((count) => ({ id: account }) => ({
      keys: names(count).map((id) => ({ id, hash: `${account} ${id}`, createdAt: 0, disabled: false })),
    })),
    fc.nat(3).map((count) => () => ({
      faults: names(count).map((id) => ({ id, createdAt: 0, rule: { description: id.repeat(count) } })),
    })),
    someDomains.map((domains) => ({ origin }) => ({
      origin: { ...origin, fixture: { domains, groups: [{ name: 'G', domains }] } },
    })),
  )
  .map(
    (edit) =>
      (state: AccountState): AccountState => ({ ...state, ...edit(state) }),
  )

/** Names of domains that are as long as usual. */
const owned = (count: number) => names(count).map((name) => `${name}.some-owner.example`)

describe('The weight of an account', () => {
  it.each<[title: string, fixture: Fixture]>([
    ['many domains', { domains: owned(25_000) }],
    ['many domains with features', { domains: owned(20_000).map((name) => ({ name, features: ['mta-sts'] })) }],
    ['many groups', { domains: ['a.example'], groups: names(20_000).map((name) => ({ name })) }],
    ['many members', { domains: owned(1_000), groups: names(500).map((name) => ({ name, domains: owned(1_000) })) }],
    ['many former domains', { former_domains: owned(20_000).map((name) => ({ name, volume: 7 })) }],
  ])(
    'of %s is not less than what it takes of the heap, and not four times as much',
    // What other tests have left may be freed just meanwhile. Then it is measured again.
    { retry: 2 },
    async (_, document) => {
      const { heapInUse } = await import('../load/memory.ts')
      const before = heapInUse()
      const fixture = await loadFixture(JSON.parse(JSON.stringify(document)))
      const account = createAccount(fixture, { id: 'account', real: 0 }, contract)
      const grown = heapInUse() - before
      const weight = weighAccount(account) / MIB
      expect(weight).toBeGreaterThan(grown)
      expect(weight).toBeLessThan(4 * grown + 1)
    },
  )

  it('changes by what a change adds and removes (seed 11)', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        let state = exampleAccount('acme')
        let weight = weighAccount(state)
        for (const apply of changes) {
          const next = apply(state)
          weight += weighChange(state, next).growth
          expect(weight).toBe(weighAccount(next))
          state = next
        }
      }),
      { seed: 11, numRuns: budgetOf({ quick: 30, whole: 100, full: 1_000 }) },
    )
  })
})

describe('The memory in use', () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('update' as const), id, change, fails: fc.boolean() }) },
    fc.record({ kind: fc.constantFrom('create' as const, 'replace' as const), id, change, fails: fc.boolean() }),
    fc.record({ kind: fc.constant('delete' as const), id }),
  )

  /** Bytes: as much as all need, or so little that some changes are refused. */
  const limits = fc.constantFrom(1_000 * MIB, 12_000, 8_000)

  it('is the weight of all accounts as they are, after any changes, also of those that were refused or could not be kept (seed 12)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), limits, async (steps, limit) => {
        let failing = false
        const budget = new MemoryBudget(limit)
        const write = async () => {
          if (failing) throw new Error('disk full')
        }
        const open = (_: string, data: AccountData) => new Low({ read: async () => null, write }, data)
        const accounts = new Accounts({ open }, { budget })
        for (const each of steps) {
          failing = each.kind !== 'delete' && each.fails
          await act(accounts, each).catch(() => {})
          const states = await Promise.all((await accounts.list()).map((id) => accounts.read(id)))
          const weights = states.map(weighAccount)
          expect(budget.use.used).toBe(weights.reduce((sum, weight) => sum + weight, 0))
          expect(states.map((state) => budget.shareOf(state.id)?.weight)).toEqual(weights)
        }
      }),
      { seed: 12, numRuns: budgetOf({ quick: 30, whole: 100, full: 1_000 }) },
    )
  })

  type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

  async function act(accounts: Accounts, given: Step): Promise<unknown> {
    if (given.kind === 'delete') return accounts.delete(given.id)
    const { kind, id, change: apply } = given
    if (kind === 'create') return accounts.create(apply(exampleAccount(id)))
    if (kind === 'update') return accounts.update(id, (state) => accept(apply(state), undefined))
    return accounts.replace(id, apply(exampleAccount(id)), NOTHING)
  }
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
    await changeAccount(store, ({ domains }) => ({ domains: domains.without(names) }), 'first')
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
    await changeAccount(store, ({ domains }) => ({ domains: domains.delete(name) }), 'first')
    await failureOf(grow(store, 'first', 10_000))
    expect(told).toHaveLength(2)
  })

  it('holds what its snapshots keep: what has changed since, and never more than they are', async () => {
    const { store, fill, budget } = await openWith(40)
    await fill('first', { most: 4 })
    const share = budget.shareOf('first')
    for (let index = 0; index < 16; index++) share?.addSnapshot(`${index}`)
    expect(budget.use.used / MIB).toBeLessThan(4.5)
    await changeAccount(store, ({ domains }) => ({ domains: domains.without([...domains.keys()]) }), 'first')
    const kept = budget.use.used / MIB
    expect(kept).toBeGreaterThan(3)
    for (let index = 0; index < 15; index++) share?.deleteSnapshot(`${index}`)
    expect(budget.use.used / MIB).toBeLessThan(5)
    share?.deleteSnapshot('15')
    expect(budget.use.used / MIB).toBeLessThan(0.1)
    share?.addSnapshot('last')
    await store.delete('first')
    expect(budget.use.used).toBe(0)
  })

  it.each([0.6, 0.9])('takes the place of another sandbox where memory is scarce: %d of what is free', async (part) => {
    const { store, fill, budget } = await openWith(20)
    await fill('sandbox_a', { evictable: true, most: 6 })
    const free = 10 * MIB - budget.use.used
    const sandboxOf = (domains: number) => accountOf(domains, 'sandbox_b')
    const weightOf = async (count: number) => weighAccount(await sandboxOf(count))
    const [none, thousand] = [await weightOf(0), await weightOf(1_000)]
    const count = Math.round(((part * free - none) / (thousand - none)) * 1_000)
    expect(await store.create(await sandboxOf(count), { evictable: true, idle: 0 })).toBe('sandbox_a')
    expect(budget.use.used).toBe(await weightOf(count))
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

async function failureOf(attempt: Promise<unknown>): Promise<StoreError> {
  const error = await attempt.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  return error as StoreError
}
