import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/store.ts'
import { change, exampleAccount, hosts, withDomains } from '../store/example-account.ts'
import { isCall, next, startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { openReplica, openReplicas } from './open-replicas.ts'

function take(store: Store, name: string, { id = 'acme', replace = false } = {}) {
  return store.snapshots.take(id, { real: 0, limit: 100, name, replace })
}

/** A replica, whose connection goes through a proxy, and the keys of its accounts. */
async function open() {
  const { port, command } = await sharedRedis()
  const prefix = freshPrefix()
  const proxy = await startCuttingProxy(port)
  const replica = await openReplica({ prefix, port: proxy.port })
  await replica.store.create(exampleAccount('acme', ['k1']))
  /** Not those of what all accounts share. */
  async function keys(): Promise<string[]> {
    const all = (await command('KEYS', `${prefix}:*`)) as string[]
    return all.filter((key) => !key.includes('{all}') && !key.endsWith(':ended')).toSorted()
  }
  return { ...replica, prefix, proxy, keys }
}

/** How many bytes the server has received and sent so far. */
async function bytesOf(): Promise<number> {
  const stats = await (await sharedRedis()).info('stats')
  return Number(stats['total_net_input_bytes']) + Number(stats['total_net_output_bytes'])
}

describe.skipIf(!HAS_REDIS)('Snapshots on Redis', () => {
  it('are taken without sending the account, however large it is', async () => {
    const { store } = await openReplica()
    await store.create(exampleAccount('acme'))
    await change(store, (state) => withDomains(state, hosts(10_000)))
    const before = await bytesOf()
    expect(await take(store, 's')).toMatchObject({ snapshot: { domains: 10_000 } })
    await take(store, 's', { replace: true })
    await store.snapshots.list('acme')
    await store.snapshots.keyHashes('acme')
    await store.snapshots.delete('acme', 's')
    // The text of the functions, if the server does not know them yet, is most of it.
    expect((await bytesOf()) - before).toBeLessThan(80_000)
  })

  it('are not taken of an account whose parts are lost, and the reason is told', async () => {
    const { store, keys } = await open()
    const [parts = ''] = (await keys()).filter((key) => key.endsWith(':parts'))
    await (await sharedRedis()).command('DEL', parts)
    const message = expect.stringContaining(`lacks the key ${parts} of an account`)
    await expect(take(store, 's')).rejects.toMatchObject({ problem: 'damaged', message })
  })

  it('leave nothing behind when they are replaced, deleted, or end with their account', async () => {
    const { store, keys } = await open()
    const bare = await keys()
    for (const replace of [false, true, true]) await take(store, 's', { replace })
    expect(await keys()).toHaveLength(bare.length + 2)
    await store.snapshots.delete('acme', 's')
    expect(await keys()).toEqual(bare)
    for (const name of ['a', 'b', 'c']) await take(store, name)
    await store.delete('acme')
    expect(await keys()).toEqual([])
    await store.create(exampleAccount('evicted'), { evictable: true, limit: 1 })
    await take(store, 's', { id: 'evicted' })
    await store.create(exampleAccount('last'), { limit: 1, idle: 0 })
    expect(await keys()).toHaveLength(bare.length)
  })

  it('are taken and deleted once when the reply is lost and the command is sent again', async () => {
    const { store, proxy, keys } = await open()
    const bare = await keys()
    proxy.loseReplies(next(1, isCall))
    expect(await take(store, 's')).toMatchObject({ ok: true })
    expect(await keys()).toHaveLength(bare.length + 2)
    proxy.loseReplies(next(1, isCall))
    expect(await take(store, 's')).toEqual({ ok: false, reason: 'taken' })
    proxy.loseReplies(next(1, isCall))
    expect(await take(store, 's', { replace: true })).toMatchObject({ ok: true })
    proxy.loseReplies(next(1, isCall))
    expect(await store.snapshots.delete('acme', 's')).toBe(true)
    expect(await store.snapshots.delete('acme', 's')).toBe(false)
    expect(proxy.lost).toBe(4)
    expect(await keys()).toEqual(bare)
  })

  it('are refused when the server has no memory left, and can be read and deleted then', async () => {
    const server = await startRedis()
    const { store } = await openReplica({ port: server.port })
    await store.create(exampleAccount('acme', ['k1']))
    await take(store, 's')
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    await expect(take(store, 't')).rejects.toMatchObject({ problem: 'full' })
    expect(await store.snapshots.list('acme')).toHaveLength(1)
    expect((await store.snapshots.read('acme', 's'))?.state.id).toBe('acme')
    expect(await store.snapshots.delete('acme', 's')).toBe(true)
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await take(store, 't')).toMatchObject({ ok: true })
  })

  it('of an account that this replica has not seen are taken without reading it, also of one that may be evicted', async () => {
    const [one, other] = await openReplicas(2)
    await one.store.create(exampleAccount('evictable', ['k1']), { evictable: true, limit: 1 })
    expect(await take(other.store, 's', { id: 'evictable' })).toMatchObject({ ok: true })
    expect(other.store.copies.use.used).toBe(0)
    // It counts as changed, so it does not make room.
    await expect(one.store.create(exampleAccount('next'), { limit: 1 })).rejects.toMatchObject({ problem: 'full' })
  })
})
