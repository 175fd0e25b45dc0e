import { beforeEach, expect, it } from 'vitest'
import { type CountedRequest, setWindow } from '../../src/domain/quotas.ts'
import { ascending, atOnce, range } from '../support/at-once.ts'
import type { Tested } from './conformance.ts'
import { countersOf, enter, HOUR, hit, look, plannedCharge, target, trigger } from './counting.ts'
import { applyUpdate, change, exampleAccount, holdKeys } from './example-account.ts'

const RULE = { id: 'fault_1', skip: 0, times: Number.POSITIVE_INFINITY, probability: 1, ends: Number.POSITIVE_INFINITY }
const DMARC = plannedCharge({ bucket: 'k1 /dmarc', limit: 2, graceLimit: 4, start: 'aligned' })

/** How every store counts the requests of an account. */
export function describeCounting(tested: Tested): void {
  const planned = (request: Partial<CountedRequest>) => enter(tested.store, 'k1', request)
  const quotas = async () => [...(await countersOf(tested.store, 'acme')).quotas]

  beforeEach(async () => {
    const faults = ['fault_1', 'fault_2'].map((id) => ({ id, createdAt: 0, rule: { delay_ms: 1 } }))
    await tested.store.create({ ...exampleAccount('acme', ['k1', 'k2']), faults, faultsCreated: 2 })
  })

  it('each bucket of each account by itself', async () => {
    const { store } = tested
    await store.create(exampleAccount('other'))
    await hit(store, 'acme', 'dmarc')
    expect(await hit(store, 'acme', 'dmarc')).toMatchObject({ remaining: 18 })
    expect(await hit(store, 'acme', 'domains')).toMatchObject({ remaining: 19 })
    expect(await hit(store, 'acme', '__proto__')).toMatchObject({ remaining: 19 })
    expect(await hit(store, 'other', 'dmarc')).toMatchObject({ remaining: 19 })
  })

  it('and has counts that are to be stored before it answers', async () => {
    const hits = { startedAt: HOUR, used: 7 }
    await tested.store.transact('acme', ({ counters }) => ({
      counters: setWindow(counters, 'k1 /dmarc', hits),
      value: undefined,
    }))
    await tested.reopen()
    expect(await quotas()).toEqual([['k1 /dmarc', hits]])
  })

  it('in maps that stay as they are when they were given out', async () => {
    const given = await countersOf(tested.store, 'acme')
    await hit(tested.store, 'acme', 'dmarc')
    expect([...given.quotas]).toEqual([])
  })

  it('nothing for a key that is gone, and what it did for another', async () => {
    const { store } = tested
    const buckets = ['k1 /dmarc', 'k1 /domains', 'k2 /dmarc', '/domains']
    for (const bucket of buckets) await hit(store, 'acme', bucket)
    await applyUpdate(store, 'acme', holdKeys('k2'))
    for (const _ of ['at once', 'when it is opened again']) {
      expect((await quotas()).map(([bucket]) => bucket)).toEqual(['k2 /dmarc', '/domains'])
      await tested.reopen()
    }
  })

  it('nothing for a fault rule that is gone', async () => {
    const { store } = tested
    await trigger(store, 'acme', target, 0)
    expect((await countersOf(store, 'acme')).tallies.size).toBeGreaterThan(0)
    await change(store, () => ({ faults: [] }))
    expect((await countersOf(store, 'acme')).tallies.size).toBe(0)
  })

  it('what a request is charged', async () => {
    const [first, second] = [await planned({ charge: DMARC }), await planned({ charge: DMARC })]
    const startedAt = Math.floor(tested.time / HOUR) * HOUR
    expect(first).toMatchObject({ counters: { requests: 1 }, hits: { startedAt, used: 1 } })
    expect(second).toMatchObject({
      counters: { requests: 2 },
      hits: { startedAt, used: 2 },
      allowance: { allowed: true, limit: 2, remaining: 0, resetAt: startedAt / 1000 + 3600 },
    })
    expect(await quotas()).toEqual([['k1 /dmarc', { startedAt, used: 2 }]])
  })

  it('no request that only looks', async () => {
    await look(tested.store, 'k1')
    expect((await planned({})).counters.requests).toBe(1)
  })

  it('exactly, however many come at the same time', async () => {
    const plan = { charge: { ...DMARC, limit: 20 }, rules: [{ ...RULE, times: 5 }] }
    const all = await atOnce(50, () => planned(plan))
    expect(all.filter(({ allowance }) => allowance?.allowed)).toHaveLength(20)
    expect(all.filter(({ triggered }) => triggered !== undefined)).toHaveLength(5)
    expect(all.map(({ counters }) => counters.requests).toSorted(ascending)).toEqual(range(1, 50))
  })

  it('on the clock of the account', async () => {
    await change(tested.store, () => ({ clock: { frozenAt: HOUR } }))
    expect((await planned({ charge: DMARC })).hits).toEqual({ startedAt: HOUR, used: 1 })
  })
}
