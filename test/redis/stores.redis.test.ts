import { describe, expect, it, onTestFinished } from 'vitest'
import { accept } from '../../src/domain/errors.ts'
import type { Clock } from '../../src/ground/timers.ts'
import { encodeAccount } from '../../src/store/record.ts'
import type { Store } from '../../src/store/store.ts'
import { countersOf, enter, look, nextRequest, plannedCharge } from '../store/counting.ts'
import {
  applyUpdate,
  change,
  domainsOf,
  exampleAccount,
  holdKeys,
  hosts,
  watch,
  withDomains,
} from '../store/example-account.ts'
import { atOnce, range } from '../support/at-once.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { openStoreAt } from '../support/redis-store.ts'

/** So many stores on the same accounts, each with its clock if there are any, and what names their keys. */
async function open(
  count: number,
  clocks: readonly Clock[] = [],
): Promise<{ stores: Store[]; keysOf(pattern: string): Promise<string[]> }> {
  const { port, command } = await sharedRedis()
  const prefix = freshPrefix()
  const stores = await atOnce(count, async (index) => {
    const store = await openStoreAt(port, prefix, clocks[index])
    onTestFinished(() => store.close())
    return store
  })
  return { stores, keysOf: async (pattern) => (await command('KEYS', prefix + pattern)) as string[] }
}

// What several stores answer at the same time is in linearizability.redis.test.ts.
describe.skipIf(!HAS_REDIS)('Several stores on one Redis', () => {
  it('let a change through in the end although others are always faster', async () => {
    const [slow, fast] = (await open(2)).stores as [Store, Store]
    await slow.create(exampleAccount('acme'))
    await fast.read('acme')
    const others: Promise<unknown>[] = []
    // Whenever it is decided, the other store changes the account before it arrives.
    await applyUpdate(slow, 'acme', (state) => {
      if (others.length < 200) others.push(applyUpdate(fast, 'acme', watch(`fast-${others.length}.example`)))
      return accept({ ...state, plan: 'bronze' }, undefined)
    })
    for (const other of await Promise.all(others)) expect(other).toMatchObject({ ok: true })
    const { plan, domains } = (await fast.read('acme')).state
    expect([plan, domains.size]).toEqual(['bronze', others.length])
  })

  it('let each other through where all of them count without a pause', async () => {
    const { stores } = await open(4)
    await (stores as [Store])[0].create(exampleAccount('acme', ['k1']))
    await Promise.all(
      stores.map(async (store) => {
        for (const _ of range(1, 200)) await nextRequest(store, 'acme')
      }),
    )
    expect((await countersOf((stores as [Store])[0], 'acme')).requests).toBe(800)
  })

  it('ask the server once for what reads a known account, and once for what changes it', async () => {
    const redis = await startRedis()
    const store = await openStoreAt(redis.port, 'p')
    onTestFinished(() => store.close())
    await store.create(exampleAccount('acme', ['k1']))
    await store.read('acme')
    const asked = async (act: () => Promise<unknown>) => {
      await redis.command('CONFIG', 'RESETSTAT')
      await act()
      const { cmdstat_evalsha: scripts = '' } = await redis.info('commandstats')
      return /^calls=(\d+),/.exec(scripts)?.[1]
    }
    // The first of its kind sends the script.
    await enter(store, 'k1')
    expect(await asked(() => enter(store, 'k1'))).toBe('1')
    expect(await asked(() => store.read('acme'))).toBe('1')
    expect(await asked(() => applyUpdate(store, 'acme', watch('a.example')))).toBe('1')
  })

  it('know who has a key that all of them give to an account, or take away, at the same time', async () => {
    const { stores } = await open(3)
    const [store] = stores as [Store]
    for (const id of ['acme', 'other']) await store.create(exampleAccount(id, [`key of ${id}`]))
    for (let round = 0; round < 5; round++) {
      const hash = `k ${round}`
      for (const hashes of [['k0', hash], ['k0']]) {
        // Another change makes some of them decide again.
        await Promise.all([
          ...stores.map((each) => applyUpdate(each, 'acme', holdKeys(...hashes))),
          applyUpdate(store, 'acme', watch(`${hashes.length}-${round}.example`)),
        ])
        expect(await store.find('key', hash)).toBe(hashes.length === 2 ? 'acme' : undefined)
      }
      await applyUpdate(store, 'other', holdKeys(hash))
      expect(await store.find('key', hash)).toBe('other')
    }
  })

  it('plan a request by what the account is when it is counted', async () => {
    const [one, other] = (await open(2)).stores as [Store, Store]
    await one.create(exampleAccount('acme', ['k1', 'k2']))
    await look(other, 'k1')
    await applyUpdate(one, 'acme', holdKeys('k2'))
    expect(await look(other, 'k1')).toBeUndefined()
    await change(one, () => ({ plan: 'diamond' }))
    const plans: string[] = []
    const ordinal = await other.enter('k2', ({ state, counters }) => {
      plans.push(state.plan)
      const requests = counters.requests + 1
      return { counters: { ...counters, requests }, value: requests }
    })
    expect([ordinal, plans.at(-1)]).toEqual([1, 'diamond'])
  })

  it('read an account right that others have changed a thousand times, or by thousands of domains', async () => {
    const [one, other] = (await open(2)).stores as [Store, Store]
    await one.create(exampleAccount('acme'))
    await other.read('acme')
    await Promise.all(hosts(1_010).map((name) => applyUpdate(one, 'acme', watch(name))))
    expect(await domainsOf(other)).toHaveLength(1_010)
    await change(one, (state) =>
      withDomains(
        state,
        hosts(5_000).map((name) => `m${name}`),
      ),
    )
    await applyUpdate(one, 'acme', watch('last.example'))
    expect((await domainsOf(other)).length).toBe(1_010 + 5_000 + 1)
  })

  it('read a large account as it is at one moment, while it is changed', async () => {
    const { stores } = await open(3)
    const [one, ...others] = stores as [Store, ...Store[]]
    await one.create(withDomains(exampleAccount('acme'), hosts(6_000)))
    const reads = others.map((store) => store.read('acme'))
    const changes = atOnce(20, (index) =>
      change(one, ({ domains }) => ({
        domains: domains
          .delete(`d${index}.example`)
          .set(`new-${index}`, { name: `new-${index}`, addedAt: 0, features: [] }),
      })),
    )
    for (const { state } of await Promise.all(reads)) expect(state.domains.size).toBe(6_000)
    await changes
    const present = encodeAccount((await one.read('acme')).state)
    for (const store of others) expect(encodeAccount((await store.read('acme')).state)).toEqual(present)
  })

  // A window that the clock of another machine has opened a millisecond ahead is no new one.
  it('never let the time of an account go back, although the clock of another server does', async () => {
    const ahead = 1_768_467_600_000
    const { stores } = await open(2, [() => ahead, () => ahead - 1])
    const [one, other] = stores as [Store, Store]
    await one.create(exampleAccount('acme', ['k1']))
    const used = async (store: Store) =>
      (await enter(store, 'k1', { charge: plannedCharge({ start: 'aligned' }) })).hits
    expect(await used(one)).toEqual({ startedAt: ahead, used: 1 })
    expect(await used(other)).toEqual({ startedAt: ahead, used: 2 })
    expect((await one.read('acme')).counters.quotas.size).toBe(1)
  })

  it('know nothing more of what the server has lost', async () => {
    const redis = await startRedis()
    const openHere = async () => {
      const store = await openStoreAt(redis.port, 'p')
      onTestFinished(() => store.close())
      return store
    }
    const one = await openHere()
    await one.create(exampleAccount('acme'))
    await redis.command('SAVE')
    await applyUpdate(one, 'acme', watch('lost.example'))
    await redis.restart()
    // As many changes as were lost, so that the version is the same.
    await applyUpdate(await openHere(), 'acme', watch('new.example'))
    expect(await domainsOf(one)).toEqual(['new.example'])
  })

  it('leave nothing of an account behind that was deleted or evicted', async () => {
    const { stores, keysOf } = await open(1)
    const [store] = stores as [Store]
    const { command } = await sharedRedis()
    /** The names of the keys that do not end by themselves, and what they hold under a name. */
    async function lasting(): Promise<string> {
      const texts: string[] = []
      for (const name of await keysOf(':*')) {
        if ((await command('PTTL', name)) !== -1) continue
        const fields = (await command('TYPE', name)) === 'hash' ? await command('HKEYS', name) : []
        texts.push(`${name} ${JSON.stringify(fields)}`)
      }
      return texts.toSorted().join('\n')
    }
    const fill = async (id: string) => {
      await store.create(exampleAccount(id, [`key of ${id}`]), { limit: 1, evictable: true })
      await enter(store, `key of ${id}`, { charge: plannedCharge() })
      await store.snapshots.take(id, { name: 's', real: 0, replace: false, limit: 1 })
    }
    await fill('a')
    await store.delete('a')
    const empty = await lasting()
    await fill('b')
    expect(await lasting()).toContain('key of b')
    await applyUpdate(store, 'b', watch('b.example'))
    await store.create(exampleAccount('c', ['key of c']), { limit: 1, evictable: true })
    await store.delete('c')
    expect(await lasting()).toBe(empty)
  })
})
