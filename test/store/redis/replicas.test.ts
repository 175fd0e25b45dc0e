import { describe, expect, it } from 'vitest'
import { accept, refuse } from '../../../src/domain/errors.ts'
import { encodeAccount } from '../../../src/store/record.ts'
import { readScript } from '../../../src/store/script.ts'
import { freshPrefix, HAS_REDIS, startRedis } from '../../support/redis-server.ts'
import { enter, look } from '../counting.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from '../example-account.ts'
import { openReplica, openReplicas, type Replica } from './open-replicas.ts'

const CHARGE = { bucket: '/dmarc', limit: 30, graceLimit: 30, graceEnds: 0, window: 3600, enforced: true }
const START = { start: 'first-request' } as const

async function openTwo(): Promise<[Replica, Replica]> {
  const [one, other] = await openReplicas(2)
  if (one === undefined || other === undefined) throw new Error('There are two.')
  return [one, other]
}

describe.skipIf(!HAS_REDIS)('two replicas on one server', () => {
  it('see what the other has changed at once, also in copies that they have', async () => {
    const [{ store: one }, { store: other }] = await openTwo()
    await one.create(exampleAccount('acme', ['k1']))
    for (let round = 0; round < 5; round++) {
      await applyUpdate(one, 'acme', watch(`one-${round}.example`))
      expect((await other.read('acme')).domains.has(`one-${round}.example`)).toBe(true)
      await applyUpdate(other, 'acme', watch(`other-${round}.example`))
      const seen = await one.enter('k1', {
        clock: () => 0,
        longestWindow: 1,
        plan: () => ({ isCounted: true, charge: undefined, told: undefined, rules: [] }),
        conclude: ({ account }) => ({ domains: [...account.domains.keys()] }),
      })
      expect(seen?.domains).toContain(`other-${round}.example`)
    }
    expect(encodeAccount(await one.read('acme'))).toEqual(encodeAccount(await other.read('acme')))
  })

  it('refuse nothing because of a copy that is too old', async () => {
    const [{ store: one }, { store: other }] = await openTwo()
    await one.create(exampleAccount('acme'))
    await applyUpdate(one, 'acme', watch('a.example'))
    await other.read('acme')
    await applyUpdate(one, 'acme', (state) =>
      accept({ ...state, domains: state.domains.delete('a.example') }, undefined),
    )
    expect(await applyUpdate(other, 'acme', watch('a.example'))).toMatchObject({ ok: true })
    expect(await applyUpdate(one, 'acme', watch('a.example'))).toMatchObject({ ok: false })
  })

  it('wait for a change that the other has lost often, and make theirs after it', async () => {
    const [{ store: slow }, { store: fast }] = await openTwo()
    await slow.create(exampleAccount('acme'))
    await fast.read('acme')
    const others: Promise<unknown>[] = []
    // Whenever it is decided, the other replica changes the account before it arrives.
    await applyUpdate(slow, 'acme', (state) => {
      others.push(applyUpdate(fast, 'acme', watch(`fast-${others.length}.example`)))
      return accept({ ...state, plan: 'bronze' }, undefined)
    })
    expect(others.length).toBeLessThan(10)
    for (const other of await Promise.all(others)) expect(other).toMatchObject({ ok: true })
    const { plan, domains } = await fast.read('acme')
    expect([plan, domains.size]).toEqual(['bronze', others.length])
    // The turn is over.
    expect(await applyUpdate(fast, 'acme', watch('later.example'))).toMatchObject({ ok: true })
  })

  it('decide again where the other was faster, and lose nothing', async () => {
    const replicas = await openReplicas(3)
    const [first] = replicas as [Replica]
    await first.store.create(exampleAccount('acme'))
    const names = Array.from({ length: 60 }, (_, index) => `d${index}.example`)
    await Promise.all(
      names.map((name, index) => applyUpdate((replicas[index % 3] as Replica).store, 'acme', watch(name))),
    )
    for (const { store } of replicas) {
      expect([...(await store.read('acme')).domains.keys()].toSorted()).toEqual(names.toSorted())
    }
    expect(replicas.reduce((sum, { connection }) => sum + connection.figures.conflicts, 0)).toBeGreaterThan(0)
  })

  it('accept one of several changes that exclude each other', async () => {
    const replicas = await openReplicas(3)
    await (replicas[0] as Replica).store.create(exampleAccount('acme'))
    const decisions = await Promise.all(
      Array.from({ length: 21 }, (_, index) =>
        applyUpdate((replicas[index % 3] as Replica).store, 'acme', watch('same.example')),
      ),
    )
    expect(decisions.filter(({ ok }) => ok)).toHaveLength(1)
  })

  it('let exactly as many requests pass as the quota says', async () => {
    const replicas = await openReplicas(3)
    await (replicas[0] as Replica).store.create(exampleAccount('acme', ['k1']))
    const counts = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        enter((replicas[index % 3] as Replica).store, 'k1', { charge: { ...CHARGE, ...START } }, () => 0),
      ),
    )
    expect(counts.filter(({ allowance }) => allowance?.allowed)).toHaveLength(30)
    expect(counts.map(({ ordinal }) => ordinal).toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 1),
    )
  })

  it('plan a request again when the other has changed what it was planned by', async () => {
    const [{ store: one }, { store: other }] = await openTwo()
    await one.create(exampleAccount('acme', ['k1', 'k2']))
    await look(other, 'k1')
    await applyUpdate(one, 'acme', holdKeys('k2'))
    expect(await look(other, 'k1')).toBeUndefined()
    expect((await look(other, 'k2'))?.id).toBe('acme')
    const plans: string[] = []
    await applyUpdate(one, 'acme', (state) => accept({ ...state, plan: 'diamond' }, undefined))
    await other.enter('k2', {
      clock: () => 0,
      longestWindow: 1,
      plan({ plan }) {
        plans.push(plan)
        return { isCounted: true, charge: undefined, told: undefined, rules: [] }
      },
      conclude: ({ counted }) => counted,
    })
    expect(plans).toEqual(['stone', 'diamond'])
    expect((await enter(one, 'k2', {}, () => 0)).ordinal).toBe(2)
  })

  it('open one account for the same key at the same time, and take the deleted one for gone', async () => {
    const [{ store: one }, { store: other }] = await openTwo()
    const outcomes = await Promise.allSettled(
      [one, other, one, other].map((store) => store.create(exampleAccount('sandbox', ['k1']), { evictable: true })),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await look(one, 'k1')).toEqual(await look(other, 'k1'))
    await one.delete('sandbox')
    expect(await look(other, 'k1')).toBeUndefined()
    await expect(other.read('sandbox')).rejects.toMatchObject({ problem: 'unknown-account' })
    const before = await one.create(exampleAccount('sandbox', ['k1'])).then(() => look(one, 'k1'))
    expect(await look(other, 'k1')).toEqual(before)
  })

  it('evict the sandbox that was used longest ago by either of them', async () => {
    const [{ store: one }, { store: other }] = await openTwo()
    const limit = { limit: 3, evictable: true }
    for (const id of ['a', 'b', 'c']) await one.create(exampleAccount(id, [`key of ${id}`]), limit)
    for (const id of ['a', 'b']) await look(other, `key of ${id}`)
    await other.close()
    expect(await one.create(exampleAccount('d'), limit)).toBe('c')
  })

  it('do not lose the keys of an account that both change', async () => {
    const replicas = await openReplicas(3)
    await (replicas[0] as Replica).store.create(exampleAccount('acme', ['k0']))
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        applyUpdate((replicas[index % 3] as Replica).store, 'acme', (state) => {
          const [key] = exampleAccount('x', [`k${index + 1}`]).keys
          return key === undefined ? refuse({ code: 'not_found' }) : accept({ ...state, keys: [...state.keys, key] }, 0)
        }),
      ),
    )
    for (let index = 0; index <= 12; index++) {
      expect(await (replicas[index % 3] as Replica).store.accountOf(`k${index}`)).toBe('acme')
      expect((await look((replicas[index % 3] as Replica).store, `k${index}`))?.id).toBe('acme')
    }
  })

  it('know who has a key that all of them give to the account, or take away, at the same time', async () => {
    const replicas = await openReplicas(3)
    const [{ store }] = replicas as [Replica]
    await store.create(exampleAccount('acme', ['k0']))
    await store.create(exampleAccount('other'))
    for (let round = 0; round < 10; round++) {
      const hash = `k ${round}`
      for (const hashes of [['k0', hash], ['k0']]) {
        // Another change makes some of them decide again.
        await Promise.all([
          ...replicas.map((replica) => applyUpdate(replica.store, 'acme', holdKeys(...hashes))),
          applyUpdate(store, 'acme', watch(`${hashes.length}-${round}.example`)),
        ])
        expect(await store.accountOf(hash)).toBe(hashes.length === 2 ? 'acme' : undefined)
      }
      await applyUpdate(store, 'other', holdKeys(hash))
      expect(await store.accountOf(hash)).toBe('other')
    }
  })

  it('read an account anew when the log does not tell all changes any more', async () => {
    const [{ store: one }, { store: other }] = await openTwo()
    await one.create(exampleAccount('acme'))
    await other.read('acme')
    const names = Array.from({ length: 1_010 }, (_, index) => `d${index}.example`)
    await Promise.all(names.map((name) => applyUpdate(one, 'acme', watch(name))))
    expect((await other.read('acme')).domains.size).toBe(names.length)
    // A change of more than fits in the log, and then a small one.
    const many = Array.from({ length: 5_000 }, (_, index) => `m${index}.example`)
    await applyUpdate(one, 'acme', (state) =>
      accept(
        { ...state, domains: state.domains.with(many.map((name) => [name, { name, addedAt: 0, features: [] }])) },
        0,
      ),
    )
    await applyUpdate(one, 'acme', watch('last.example'))
    expect((await other.read('acme')).domains.size).toBe(names.length + many.length + 1)
    expect([...(await other.read('acme')).domains.keys()].at(-1)).toBe('last.example')
  })

  it('read a large account in several steps, as it is at the last of them', async () => {
    const prefix = freshPrefix()
    const { store: one } = await openReplica({ prefix })
    const names = Array.from({ length: 15_000 }, (_, index) => `d${index}.example`)
    const state = exampleAccount('acme')
    await one.create({
      ...state,
      domains: state.domains.with(names.map((name) => [name, { name, addedAt: 0, features: [] }])),
    })
    const others = await openReplicas(3, { prefix })
    const reads = others.map(({ store }) => store.read('acme'))
    const changes = Array.from({ length: 40 }, (_, index) =>
      applyUpdate(one, 'acme', (present) => {
        const domains = present.domains.delete(`d${index}.example`)
        return accept({ ...present, domains: domains.set(`new-${index}`, { name: 'x', addedAt: 0, features: [] }) }, 0)
      }),
    )
    for (const read of await Promise.all(reads)) expect(read.domains.size).toBe(names.length)
    await Promise.all(changes)
    const present = encodeAccount(await one.read('acme'))
    for (const { store } of others) expect(encodeAccount(await store.read('acme'))).toEqual(present)
    const latest = await openReplica({ prefix })
    expect(encodeAccount(await latest.store.read('acme'))).toEqual(present)
  })

  it('keep the log of changes below 1,000 records and a mebibyte', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    await store.create(exampleAccount('acme'))
    const label = 'x'.repeat(50_000)
    for (let index = 0; index < 60; index++) {
      await applyUpdate(store, 'acme', (state) =>
        accept({ ...state, domains: state.domains.set('a', { name: 'a', addedAt: index, features: [label] }) }, 0),
      )
    }
    const [name] = (await connection.send(['KEYS', `${prefix}:*:log`])) as [string]
    expect(await connection.send(['MEMORY', 'USAGE', name, 'SAMPLES', '0'])).toBeLessThan(1.3 * 2 ** 20)
    expect(await connection.send(['XLEN', name])).toBeGreaterThan(5)
  })

  it('keep no more copies of accounts than fit in their memory', async () => {
    const { store } = await openReplica({ copiesLimit: 100_000 })
    for (let index = 0; index < 30; index++) {
      await store.create(exampleAccount(`a${index}`, [`k${index}`]))
      await look(store, `k${index}`)
    }
    expect(store.copies.used).toBeLessThanOrEqual(100_000)
    expect(store.copies.used).toBeGreaterThan(50_000)
    for (let index = 0; index < 30; index++) expect((await look(store, `k${index}`))?.id).toBe(`a${index}`)
  })
})

describe('the scripts', () => {
  it('declare what they do, and are part of the package', () => {
    const { text, isReadOnly } = readScript('store/redis/scripts/look.lua')
    expect(isReadOnly).toBe(true)
    expect(text.startsWith('#!lua')).toBe(true)
    expect(text).not.toContain('--include')
  })
})

describe.skipIf(!HAS_REDIS)('on a cluster of one node', () => {
  it('the store does all that it does elsewhere, with the keys of each step in one slot', async () => {
    const server = await startRedis({ 'cluster-enabled': 'yes' })
    await server.command('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
    while ((await server.info('cluster'))['cluster_enabled'] !== '1') await server.command('PING')
    for (;;) if (`${await server.command('CLUSTER', 'INFO')}`.includes('cluster_state:ok')) break
    const [one, other] = (await openReplicas(2, { port: server.port })) as [Replica, Replica]
    const limit = { limit: 2, evictable: true }
    for (const id of ['a', 'b', 'c']) await one.store.create(exampleAccount(id, [`key of ${id}`]), limit)
    await applyUpdate(one.store, 'b', holdKeys('k1', 'k2'))
    await applyUpdate(other.store, 'b', watch('a.example'))
    expect((await enter(other.store, 'k1', { charge: { ...CHARGE, ...START } }, () => 0)).hits?.used).toBe(1)
    await one.store.recount('b', (_, counting) => {
      counting.requests = 7
    })
    await one.store.replace('b', exampleAccount('b', ['k1']), { quotas: new Map(), tallies: new Map() })
    expect(await other.store.list()).toEqual(['b', 'c'])
    await other.store.delete('b')
    expect(await one.store.list()).toEqual(['c'])
    expect(await one.store.newId()).toBe('account-1')
  })
})

describe.skipIf(!HAS_REDIS)('a store', () => {
  it('takes an account from the list whose data is gone, as soon as somebody asks for it', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    for (const id of ['a', 'b', 'c']) await store.create(exampleAccount(id, [`key of ${id}`]))
    for (const name of (await connection.send(['KEYS', `${prefix}:*:meta`])) as string[]) {
      await connection.send(['DEL', name])
    }
    expect(await look(store, 'key of a')).toBeUndefined()
    await expect(store.read('b')).rejects.toMatchObject({ problem: 'unknown-account' })
    expect(await store.has('c')).toBe(false)
    expect(await store.list()).toEqual([])
    await store.create(exampleAccount('a', ['key of b']))
    expect((await look(store, 'key of b'))?.id).toBe('a')
  })

  it('says of an account whose parts are gone what is wrong, and can delete it', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    await store.create(exampleAccount('acme', ['k1']))
    const [name] = (await connection.send(['KEYS', `${prefix}:*:parts`])) as [string]
    await connection.send(['DEL', name])
    const other = await openReplica({ prefix })
    await expect(other.store.read('acme')).rejects.toMatchObject({
      problem: 'damaged',
      message: expect.stringContaining('The store lacks the parts of the account'),
    })
    await other.store.delete('acme')
    expect(await other.store.list()).toEqual([])
  })

  it('ends the deletion of an evicted account that another process has begun', async () => {
    let time = 1_000_000
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix, clock: () => time })
    await store.create(exampleAccount('a', ['k1']), { limit: 1, evictable: true })
    const before = (await connection.send(['KEYS', `${prefix}:*:meta`])) as [string]
    const incarnation = /\{(\d+)\}/.exec(before[0])?.[1] ?? ''
    // As it is when the process has ended that has evicted the account for another one.
    const registry = `${prefix}:{all}`
    await connection.send(['HDEL', `${registry}:accounts`, 'a'])
    await connection.send(['HSET', `${registry}:dying`, 'a', incarnation])
    await connection.send(['HSET', `${registry}:doomed`, incarnation, `1 ${time}`])
    await store.sweep()
    expect(await connection.send(['EXISTS', before[0]])).toBe(1)
    time += 10_001
    await store.sweep()
    expect(await connection.send(['EXISTS', before[0]])).toBe(0)
    expect(await connection.send(['HLEN', `${registry}:doomed`])).toBe(0)
    await store.create(exampleAccount('a', ['k1']))
    expect((await look(store, 'k1'))?.id).toBe('a')
  })

  it('keeps a new account whose creator ended before it could say that it is complete', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    const other = await openReplica({ prefix })
    await store.create(exampleAccount('acme', ['k1']))
    const [meta] = (await connection.send(['KEYS', `${prefix}:*:meta`])) as [string]
    // As it is between the two steps of a creation.
    await connection.send(['HSET', meta, 'unborn', '1'])
    await connection.send(['PEXPIRE', meta, '60000'])
    expect((await look(other.store, 'k1'))?.id).toBe('acme')
    expect(await connection.send(['PTTL', meta])).toBe(-1)
  })

  it('leaves nothing behind on a server when its accounts are deleted', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    for (const id of ['a', 'b']) await store.create(exampleAccount(id, [`key of ${id}`]), { limit: 1, evictable: true })
    await applyUpdate(store, 'b', watch('a.example'))
    await enter(store, 'key of b', { charge: { ...CHARGE, ...START } }, () => 0)
    await store.delete('b')
    const left = (await connection.send(['KEYS', `${prefix}:*`])) as string[]
    // What recognizes commands that come late ends by itself.
    const lasting = []
    for (const name of left) if ((await connection.send(['PTTL', name])) === -1) lasting.push(name)
    expect(lasting).toEqual([`${prefix}:{all}:numbers`])
  })
})
