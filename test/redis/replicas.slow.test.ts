import { describe, expect, it } from 'vitest'
import { accept } from '../../src/domain/errors.ts'
import { encodeAccount } from '../../src/store/record.ts'
import { enter, look, plannedCharge } from '../store/counting.ts'
import {
  applyUpdate,
  change,
  domainsOf,
  exampleAccount,
  holdKeys,
  hosts,
  NOTHING,
  watch,
  withDomains,
} from '../store/example-account.ts'
import { atOnce } from '../support/at-once.ts'
import { freshPrefix, HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { openReplica, openReplicas, openTwoStores, type Replica } from './open-replicas.ts'

const PLAN = { isCounted: true, charge: undefined, toldBucket: undefined, rules: [] }

/** Three replicas, the first of which creates the account `acme`; and the store of each in turn. */
async function openThree(...hashes: string[]) {
  const replicas = await openReplicas(3)
  await replicas[0].store.create(exampleAccount('acme', hashes))
  return { replicas, storeOf: (turn: number) => (replicas[turn % 3] as Replica).store }
}

describe.skipIf(!HAS_REDIS)('two replicas on one server', () => {
  it('wait for a change that the other has lost often, and make theirs after it', async () => {
    const [slow, fast] = await openTwoStores()
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
    const { replicas, storeOf } = await openThree()
    await atOnce(60, (index) => applyUpdate(storeOf(index), 'acme', watch(`d${index}.example`)))
    for (const { store } of replicas) expect((await domainsOf(store)).toSorted()).toEqual(hosts(60).toSorted())
  })

  it('plan a request again when the other has changed what it was planned by', async () => {
    const [one, other] = await openTwoStores()
    await one.create(exampleAccount('acme', ['k1', 'k2']))
    await look(other, 'k1')
    await applyUpdate(one, 'acme', holdKeys('k2'))
    expect(await look(other, 'k1')).toBeUndefined()
    expect((await look(other, 'k2'))?.id).toBe('acme')
    const plans: string[] = []
    await change(one, () => ({ plan: 'diamond' }))
    await other.enter(
      'k2',
      {
        clock: () => 0,
        longestWindow: 1,
        plan(_, { plan }) {
          plans.push(plan)
          return PLAN
        },
        conclude: (_, { counted }) => counted,
      },
      undefined,
    )
    expect(plans).toEqual(['stone', 'diamond'])
    expect((await enter(one, 'k2', {}, () => 0)).ordinal).toBe(2)
  })

  it('evict the sandbox that was used longest ago by either of them', async () => {
    const [one, other] = await openTwoStores()
    const limit = { limit: 3, evictable: true }
    for (const id of ['a', 'b', 'c']) await one.create(exampleAccount(id, [`key of ${id}`]), limit)
    for (const id of ['a', 'b']) await look(other, `key of ${id}`)
    await other.close()
    expect(await one.create(exampleAccount('d'), limit)).toBe('c')
  })

  it('know who has a key that all of them give to the account, or take away, at the same time', async () => {
    const { replicas, storeOf } = await openThree('k0')
    const store = storeOf(0)
    await store.create(exampleAccount('other'))
    for (let round = 0; round < 10; round++) {
      const hash = `k ${round}`
      for (const hashes of [['k0', hash], ['k0']]) {
        // Another change makes some of them decide again.
        await Promise.all([
          ...replicas.map((replica) => applyUpdate(replica.store, 'acme', holdKeys(...hashes))),
          applyUpdate(store, 'acme', watch(`${hashes.length}-${round}.example`)),
        ])
        expect(await store.find('key', hash)).toBe(hashes.length === 2 ? 'acme' : undefined)
      }
      await applyUpdate(store, 'other', holdKeys(hash))
      expect(await store.find('key', hash)).toBe('other')
    }
  })

  it('read an account anew when the log does not tell all changes any more', async () => {
    const [one, other] = await openTwoStores()
    await one.create(exampleAccount('acme'))
    await other.read('acme')
    await Promise.all(hosts(1_010).map((name) => applyUpdate(one, 'acme', watch(name))))
    expect(await domainsOf(other)).toHaveLength(1_010)
    // A change of more than fits in the log, and then a small one.
    const many = hosts(5_000).map((name) => `m${name}`)
    await change(one, (state) => withDomains(state, many))
    await applyUpdate(one, 'acme', watch('last.example'))
    expect(await domainsOf(other)).toHaveLength(1_010 + 5_000 + 1)
    expect((await domainsOf(other)).at(-1)).toBe('last.example')
  })

  it('read a large account in several steps, as it is at the last of them', async () => {
    const prefix = freshPrefix()
    const { store: one } = await openReplica({ prefix })
    await one.create(withDomains(exampleAccount('acme'), hosts(15_000)))
    const others = await openReplicas(3, { prefix })
    const reads = others.map(({ store }) => store.read('acme'))
    const changes = atOnce(40, (index) =>
      change(one, ({ domains }) => ({
        domains: domains.delete(`d${index}.example`).set(`new-${index}`, { name: 'x', addedAt: 0, features: [] }),
      })),
    )
    for (const read of await Promise.all(reads)) expect(read.domains.size).toBe(15_000)
    await changes
    const present = encodeAccount(await one.read('acme'))
    const latest = await openReplica({ prefix })
    for (const { store } of [...others, latest]) expect(encodeAccount(await store.read('acme'))).toEqual(present)
  })

  it('keep the log of changes below 1,000 records and a mebibyte', async () => {
    const prefix = freshPrefix()
    const { store, connection } = await openReplica({ prefix })
    await store.create(exampleAccount('acme'))
    const features = ['x'.repeat(50_000)]
    for (let addedAt = 0; addedAt < 60; addedAt++) {
      await change(store, ({ domains }) => ({ domains: domains.set('a', { name: 'a', addedAt, features }) }))
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
    expect(store.copies.use.used).toBeLessThanOrEqual(100_000)
    expect(store.copies.use.used).toBeGreaterThan(50_000)
    for (let index = 0; index < 30; index++) expect((await look(store, `k${index}`))?.id).toBe(`a${index}`)
  })
})

describe.skipIf(!HAS_REDIS)('on a cluster of one node', () => {
  it('the store does all that it does elsewhere, with keys of several slots in one step', async () => {
    const server = await startRedis({ 'cluster-enabled': 'yes' })
    await server.command('CLUSTER', 'ADDSLOTSRANGE', 0, 16383)
    while ((await server.info('cluster'))['cluster_enabled'] !== '1') await server.command('PING')
    for (;;) if (`${await server.command('CLUSTER', 'INFO')}`.includes('cluster_state:ok')) break
    const [one, other] = await openTwoStores({ port: server.port })
    const limit = { limit: 2, evictable: true }
    for (const id of ['a', 'b', 'c']) await one.create(exampleAccount(id, [`key of ${id}`]), limit)
    await applyUpdate(one, 'b', holdKeys('k1', 'k2'))
    await applyUpdate(other, 'b', watch('a.example'))
    expect((await enter(other, 'k1', { charge: plannedCharge() }, () => 0)).hits?.used).toBe(1)
    await one.count('b', (_, counting) => {
      counting.requests = 7
    })
    await one.replace('b', exampleAccount('b', ['k1']), NOTHING)
    expect(await other.list()).toEqual(['b', 'c'])
    await other.delete('b')
    expect(await one.list()).toEqual(['c'])
    expect(await one.newId()).toBe('account-1')
  })
})

describe.skipIf(!HAS_REDIS)('a store', () => {
  /** A replica, and the names of the keys of one kind that its accounts have on the server. */
  async function open(options: { clock?: () => number } = {}) {
    const prefix = freshPrefix()
    const replica = await openReplica({ prefix, ...options })
    const send = (...words: string[]) => replica.connection.send(words)
    const keysOf = async (kind: string) => (await send('KEYS', `${prefix}:*${kind}`)) as [string, ...string[]]
    return { ...replica, prefix, send, keysOf }
  }

  it('takes an account from the list whose data is gone, as soon as somebody asks for it', async () => {
    const { store, send, keysOf } = await open()
    for (const id of ['a', 'b', 'c', 'd']) await store.create(exampleAccount(id, [`key of ${id}`]))
    await send('DEL', ...(await keysOf(':head')))
    expect(await look(store, 'key of a')).toBeUndefined()
    await expect(store.read('b')).rejects.toMatchObject({ problem: 'unknown-account' })
    expect(await store.find('id', 'c')).toBeUndefined()
    await expect(applyUpdate(store, 'd', watch('a.example'))).rejects.toMatchObject({ problem: 'unknown-account' })
    expect(await store.list()).toEqual([])
    await store.create(exampleAccount('a', ['key of b']))
    expect((await look(store, 'key of b'))?.id).toBe('a')
  })

  it('says of an account whose parts are gone what is wrong, and can delete it', async () => {
    const { store, prefix, send, keysOf } = await open()
    await store.create(exampleAccount('acme', ['k1']))
    const [name] = await keysOf(':parts')
    await send('DEL', name)
    const other = await openReplica({ prefix })
    await expect(other.store.read('acme')).rejects.toMatchObject({
      problem: 'damaged',
      message: expect.stringContaining(`lacks the key ${name} of an account`),
    })
    await other.store.delete('acme')
    expect(await other.store.list()).toEqual([])
  })

  it('knows again which account may make room, when the store has lost that', async () => {
    const { store, prefix, send } = await open()
    await store.repair()
    await store.create(exampleAccount('kept'))
    await store.create(exampleAccount('sandbox'), { evictable: true })
    const lost = `${prefix}:{all}:unchanged`
    await send('DEL', lost)
    expect(await store.repair()).toEqual([lost])
    expect(await store.create(exampleAccount('new'), { limit: 2 })).toBe('sandbox')
  })

  it('leaves nothing behind on a server when its accounts are deleted', async () => {
    const { store, prefix, send, keysOf } = await open()
    for (const id of ['a', 'b']) await store.create(exampleAccount(id, [`key of ${id}`]), { limit: 1, evictable: true })
    await applyUpdate(store, 'b', watch('a.example'))
    await enter(store, 'key of b', { charge: plannedCharge() }, () => 0)
    await store.delete('b')
    // What recognizes commands that come late ends by itself.
    const lasting = []
    for (const name of await keysOf('')) if ((await send('PTTL', name)) === -1) lasting.push(name)
    // What is about all accounts stays.
    expect(lasting.filter((name) => !name.startsWith(`${prefix}:{all}:`))).toEqual([])
    expect(await send('HKEYS', `${prefix}:{all}:accounts`)).toEqual([''])
  })
})
