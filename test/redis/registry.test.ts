import { describe, expect, it } from 'vitest'
import { readLibrary } from '../../src/redis/library.ts'
import { Membership, type ServerTerms } from '../../src/redis/membership.ts'
import { applyUpdate, exampleAccount, hosts, watch, withDomains } from '../store/example-account.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { openReplica } from './open-replicas.ts'

const START = 1_768_467_600_000

async function open() {
  const clock = { now: START }
  const prefix = freshPrefix()
  const replica = await openReplica({ prefix, clock: () => clock.now })
  const registry = `${prefix}:{all}`
  const command = (...words: string[]) => replica.connection.send(words)
  return { ...replica, clock, prefix, registry, command }
}

describe.skipIf(!HAS_REDIS)('the list of accounts', () => {
  it.each([
    [999, 'full'],
    [1_000, undefined],
    [-999, 'full'],
    [-1_000, undefined],
  ])('lets a changed sandbox make room that was used %s ms ago: %s', async (later, problem) => {
    const { store, clock } = await open()
    const limit = { limit: 1, evictable: true, idle: 1_000 }
    await store.create(exampleAccount('a', ['k1']), limit)
    await applyUpdate(store, 'a', watch('a.example'))
    clock.now += later
    expect(await store.hasRoom(limit)).toBe(problem === undefined)
    const created = store.create(exampleAccount('b'), limit)
    if (problem === undefined) expect(await created).toBe('a')
    else await expect(created).rejects.toMatchObject({ problem })
  })

  it('waits for the turn of another replica until it is over, and no longer', async () => {
    const { store, clock, prefix, command } = await open()
    await store.create(exampleAccount('a'))
    const [head = ''] = (await command('KEYS', `${prefix}:*:head`)) as string[]
    await command('HSET', head, '#turn', `another ${(START + 1_000) * 1_000}`)
    clock.now = START + 999
    let isDone = false
    const updated = applyUpdate(store, 'a', watch('a.example')).then(() => {
      isDone = true
    })
    await store.read('a')
    expect(isDone).toBe(false)
    clock.now++
    await updated
  })

  it('forgets the parts of a large account whose creator has ended before it was complete', async () => {
    const { prefix, command } = await open()
    const proxy = await startCuttingProxy((await sharedRedis()).port)
    const dying = await openReplica({ prefix, port: proxy.port })
    // The server knows the functions from now on, so that each is one command.
    await dying.store.create(exampleAccount('before'))
    const keysOfAccounts = async () =>
      ((await command('KEYS', `${prefix}:{*`)) as string[]).filter((key) => !key.includes('{all}'))
    const before = await keysOfAccounts()
    const create = readLibrary().nameOf('create')
    proxy.loseCommands(([name, called]) => name === 'FCALL' && called === create)
    dying.setPatience(0.25)
    await expect(dying.store.create(withDomains(exampleAccount('a'), hosts(5_000)))).rejects.toThrow()
    const keys = (await keysOfAccounts()).filter((key) => !before.includes(key))
    expect(keys.map((key) => key.replace(/.*:/, ''))).toEqual(['parts'])
    for (const key of keys) expect(await command('PTTL', key)).toBeGreaterThan(0)
    expect(await dying.store.list().catch(() => [])).not.toContain('a')
  })
})

describe.skipIf(!HAS_REDIS)('a server that takes part', () => {
  const terms: ServerTerms = { contract: 'c', overlays: [], options: {} }

  it('counts until its lease is over, unless it leaves', async () => {
    const { connection, prefix } = await open()
    const member = (instance: string) =>
      new Membership(connection, { prefix, instance, terms, drawId: () => `id of ${instance}` })
    const [one, other] = [member('one'), member('other')]
    expect(await one.join()).toMatchObject({ isJoined: true, others: 0 })
    expect(await other.join()).toMatchObject({ isJoined: true, others: 1 })
    await other.leave()
    expect(await one.join()).toMatchObject({ others: 0 })
    const leases = `${prefix}:{all}:replicas`
    await other.join()
    const [seconds] = (await connection.send(['TIME'])) as string[]
    expect(Number(await connection.send(['ZSCORE', leases, '1 other']))).toBeGreaterThan(Number(seconds) * 1_000)
    // The lease ends now.
    await connection.send(['ZADD', leases, `${Number(seconds) * 1_000}`, '1 other'])
    expect(await one.join()).toMatchObject({ others: 0 })
  })

  it('cannot replace the contract of others, but that of nobody', async () => {
    const { connection, prefix } = await open()
    const join = (instance: string, contract: string, replaceable?: string) => {
      const own = { prefix, instance, terms: { ...terms, contract }, drawId: () => instance }
      return new Membership(connection, own).join(replaceable)
    }
    await join('one', 'c')
    expect(await join('other', 'd', 'c')).toMatchObject({ isJoined: false, others: 1, terms: { contract: 'c' } })
    await connection.send(['ZREM', `${prefix}:{all}:replicas`, '0 one'])
    expect(await join('other', 'd')).toMatchObject({ isJoined: false, others: 0 })
    expect(await join('other', 'd', 'x')).toMatchObject({ isJoined: false })
    expect(await join('other', 'd', 'c')).toMatchObject({ isJoined: true, terms: { contract: 'd' } })
  })
})
