import { describe, expect, it } from 'vitest'
import { accept } from '../../../src/domain/errors.ts'
import { isScript, next, startCuttingProxy } from '../../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../../support/redis-server.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from '../example-account.ts'
import { openReplica, openReplicas } from './open-replicas.ts'

const REQUEST = { real: 0, replace: false, limit: 100 }

/** The keys of accounts that are on the server under the prefix, and not of what all accounts share. */
async function keysOf(prefix: string): Promise<string[]> {
  const keys = (await (await sharedRedis()).command('KEYS', `${prefix}:*`)) as string[]
  return keys.filter((key) => !key.includes('{all}') && !key.endsWith(':fences')).toSorted()
}

/** How many bytes the server has received and sent so far. */
async function bytesOf(): Promise<number> {
  const stats = await (await sharedRedis()).info('stats')
  return Number(stats['total_net_input_bytes']) + Number(stats['total_net_output_bytes'])
}

describe.skipIf(!HAS_REDIS)('Snapshots on Redis', () => {
  it('are shown by the other replicas at once, and restored there', async () => {
    const [one, other] = (await openReplicas(2)).map(({ store }) => store)
    if (one === undefined || other === undefined) throw new Error('There are two.')
    await one.create(exampleAccount('acme', ['k1']))
    await applyUpdate(one, 'acme', watch('a.example'))
    await other.read('acme')
    for (let round = 0; round < 3; round++) {
      await one.takeSnapshot('acme', { ...REQUEST, name: 's', replace: true })
      expect(await other.snapshots('acme')).toMatchObject([{ name: 's', domains: 1 + round }])
      await applyUpdate(one, 'acme', holdKeys('k1', `later-${round}`))
      const snapshot = await other.readSnapshot('acme', 's')
      if (snapshot === undefined) throw new Error('It is kept.')
      await other.replace('acme', snapshot.state, { ...snapshot.counters, snapshot: 's' })
      expect((await one.read('acme')).keys.map(({ hash }) => hash)).toEqual(['k1'])
      expect(await other.accountOf(`later-${round}`)).toBeUndefined()
      await applyUpdate(other, 'acme', watch(`${round}.example`))
    }
  })

  it('are taken without sending the account, however large it is', async () => {
    const prefix = freshPrefix()
    const { store } = await openReplica({ prefix })
    await store.create(exampleAccount('acme'))
    const names = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`)
    await applyUpdate(store, 'acme', (state) =>
      accept(
        { ...state, domains: state.domains.with(names.map((name) => [name, { name, addedAt: 0, features: [] }])) },
        0,
      ),
    )
    const before = await bytesOf()
    expect(await store.takeSnapshot('acme', { ...REQUEST, name: 's' })).toMatchObject({ snapshot: { domains: 10_000 } })
    await store.takeSnapshot('acme', { ...REQUEST, name: 's', replace: true })
    await store.snapshots('acme')
    await store.snapshotKeys('acme')
    await store.deleteSnapshot('acme', 's')
    // The texts of the scripts, where the server does not know them yet, are most of it.
    expect((await bytesOf()) - before).toBeLessThan(60_000)
  })

  it('leave nothing behind when they are replaced, deleted, or end with their account', async () => {
    const prefix = freshPrefix()
    const { store } = await openReplica({ prefix })
    await store.create(exampleAccount('acme', ['k1']))
    const bare = await keysOf(prefix)
    for (const replace of [false, true, true]) await store.takeSnapshot('acme', { ...REQUEST, name: 's', replace })
    expect(await keysOf(prefix)).toHaveLength(bare.length + 2)
    await store.deleteSnapshot('acme', 's')
    expect(await keysOf(prefix)).toEqual(bare)
    for (const name of ['a', 'b', 'c']) await store.takeSnapshot('acme', { ...REQUEST, name })
    await store.delete('acme')
    expect(await keysOf(prefix)).toEqual([])
    await store.create(exampleAccount('evicted'), { evictable: true, limit: 1 })
    await store.takeSnapshot('evicted', { ...REQUEST, name: 's' })
    await store.create(exampleAccount('last'), { limit: 1, idle: 0 })
    expect(await keysOf(prefix)).toHaveLength(bare.length)
  })

  it('are taken and deleted once when the reply is lost and the command is sent again', async () => {
    const prefix = freshPrefix()
    const { port } = await sharedRedis()
    const proxy = await startCuttingProxy(port)
    const { store } = await openReplica({ prefix, port: proxy.port })
    await store.create(exampleAccount('acme', ['k1']))
    const bare = await keysOf(prefix)
    proxy.loseReplies(next(1, isScript))
    expect(await store.takeSnapshot('acme', { ...REQUEST, name: 's' })).toMatchObject({ ok: true })
    expect(await keysOf(prefix)).toHaveLength(bare.length + 2)
    proxy.loseReplies(next(1, isScript))
    expect(await store.takeSnapshot('acme', { ...REQUEST, name: 's' })).toEqual({ ok: false, reason: 'taken' })
    // The first script says which copy the name stands for, the second one replaces or deletes it.
    const second = () => {
      let scripts = 0
      return next(1, (words) => isScript(words) && ++scripts === 2)
    }
    proxy.loseReplies(second())
    expect(await store.takeSnapshot('acme', { ...REQUEST, name: 's', replace: true })).toMatchObject({ ok: true })
    proxy.loseReplies(second())
    expect(await store.deleteSnapshot('acme', 's')).toBe(true)
    expect(await store.deleteSnapshot('acme', 's')).toBe(false)
    expect(proxy.lost).toBe(4)
    expect(await keysOf(prefix)).toEqual(bare)
  })

  it('of an account whose deletion was interrupted are deleted by whoever comes next', async () => {
    const prefix = freshPrefix()
    const { port } = await sharedRedis()
    const proxy = await startCuttingProxy(port)
    const interrupted = await openReplica({ prefix, port: proxy.port })
    await interrupted.store.create(exampleAccount('acme', ['k1']))
    await interrupted.store.takeSnapshot('acme', { ...REQUEST, name: 's' })
    // The data is deleted, and the replica ends before the rest.
    proxy.loseCommands(([name]) => name === 'UNLINK')
    await expect(interrupted.store.delete('acme')).rejects.toMatchObject({ problem: 'unknown' })
    const { store } = await openReplica({ prefix })
    await expect(store.read('acme')).rejects.toMatchObject({ problem: 'unknown-account' })
    expect(await keysOf(prefix)).toEqual([])
    await store.create(exampleAccount('acme', ['k1']))
    expect(await store.snapshots('acme')).toEqual([])
  })

  it('are refused when the server has no memory left, and can be read and deleted then', async () => {
    const server = await startRedis()
    const { store } = await openReplica({ port: server.port })
    await store.create(exampleAccount('acme', ['k1']))
    await store.takeSnapshot('acme', { ...REQUEST, name: 's' })
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    await expect(store.takeSnapshot('acme', { ...REQUEST, name: 't' })).rejects.toMatchObject({ problem: 'full' })
    expect(await store.snapshots('acme')).toHaveLength(1)
    expect((await store.readSnapshot('acme', 's'))?.state.id).toBe('acme')
    expect(await store.deleteSnapshot('acme', 's')).toBe(true)
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await store.takeSnapshot('acme', { ...REQUEST, name: 't' })).toMatchObject({ ok: true })
  })

  it('of an account that this replica has not seen are taken without reading it, also of one that may be evicted', async () => {
    const [one, other] = await openReplicas(2)
    if (one === undefined || other === undefined) throw new Error('There are two.')
    await one.store.create(exampleAccount('evictable', ['k1']), { evictable: true, limit: 1 })
    expect(await other.store.takeSnapshot('evictable', { ...REQUEST, name: 's' })).toMatchObject({ ok: true })
    expect(other.store.copies.used).toBe(0)
    // It counts as changed, so it does not make room.
    await expect(one.store.create(exampleAccount('next'), { limit: 1 })).rejects.toMatchObject({ problem: 'full' })
  })
})
