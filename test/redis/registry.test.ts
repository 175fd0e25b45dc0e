import { describe, expect, it } from 'vitest'
import { Membership, type ServerTerms } from '../../src/redis/membership.ts'
import { Registry } from '../../src/redis/registry.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from '../store/example-account.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { openReplica } from './open-replicas.ts'

const START = 1_768_467_600_000
const HOUR = 3_600_000

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

  it('gives a key to another account an hour after a change that was to give it, and not before', async () => {
    const { store, clock, registry, command } = await open()
    await store.create(exampleAccount('a', ['k1']))
    await store.create(exampleAccount('b'))
    const incarnation = `${await command('HGET', `${registry}:accounts`, 'a')}`
    // As it is where the replica was killed that made the change.
    await command('HSET', `${registry}:holders`, 'k2', `${incarnation} 0 0 operation@${START}`)
    clock.now = START + HOUR - 1
    await expect(applyUpdate(store, 'b', holdKeys('k2'))).rejects.toMatchObject({ problem: 'taken' })
    clock.now++
    expect(await applyUpdate(store, 'b', holdKeys('k2'))).toMatchObject({ ok: true })
    expect(await store.find('key', 'k2')).toBe('b')
  })

  it('waits for the turn of another replica until it is over, and no longer', async () => {
    const { store, clock, prefix, command } = await open()
    await store.create(exampleAccount('a'))
    const [meta = ''] = (await command('KEYS', `${prefix}:*:meta`)) as string[]
    await command('HSET', meta, 'turn', `another ${START + 1_000}`)
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

  it('forgets the data of an account whose creator has ended before it was in the list', {
    tags: ['slow'],
  }, async () => {
    const { prefix, command } = await open()
    const proxy = await startCuttingProxy((await sharedRedis()).port)
    const dying = await openReplica({ prefix, port: proxy.port })
    // The server knows the scripts from now on, so that each is one command.
    await dying.store.create(exampleAccount('before'))
    const keysOfAccounts = async () =>
      ((await command('KEYS', `${prefix}:{*`)) as string[]).filter((key) => !key.includes('{all}'))
    const before = await keysOfAccounts()
    let scripts = 0
    proxy.loseCommands(([name = '']) => name.startsWith('EVAL') && ++scripts > 1)
    dying.setPatience(0.25)
    await expect(dying.store.create(exampleAccount('a'))).rejects.toThrow()
    const keys = (await keysOfAccounts()).filter((key) => !before.includes(key))
    expect(keys.map((key) => key.replace(/.*:/, '')).toSorted()).toEqual(['log', 'meta', 'parts'])
    for (const key of keys) expect(await command('PTTL', key)).toBeGreaterThan(0)
  })
})

describe('an account whose id or key one that is being deleted still has', () => {
  /** A list of all accounts that answers so, one reply after the other, and the last one for ever. */
  function registryWith(...replies: unknown[][]) {
    const run = async () => (replies.length > 1 ? replies.shift() : replies[0])
    const database = { run, prefix: 'p', now: '' } as unknown as ConstructorParameters<typeof Registry>[0]
    return new Registry(database)
  }
  const finished: string[] = []
  const finish = async (doomed: string) => finished.push(doomed)

  it('is registered once that one is deleted', async () => {
    const registered = registryWith(['dying', '7'], ['ok', null, null, []]).register(
      exampleAccount('a'),
      '8',
      {},
      finish,
    )
    expect(await registered).toEqual({ evicted: undefined, doomed: [] })
    expect(finished).toEqual(['7'])
  })

  it('is refused where that never ends', async () => {
    finished.length = 0
    const registered = registryWith(['dying', '7']).register(exampleAccount('a'), '8', {}, finish)
    await expect(registered).rejects.toMatchObject({ problem: 'unavailable' })
    expect(finished).toHaveLength(100)
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
    expect(Number(await connection.send(['ZSCORE', leases, 'other']))).toBeGreaterThan(Number(seconds) * 1_000)
    // The lease ends now.
    await connection.send(['ZADD', leases, `${Number(seconds) * 1_000}`, 'other'])
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
    await connection.send(['ZREM', `${prefix}:{all}:replicas`, 'one'])
    expect(await join('other', 'd')).toMatchObject({ isJoined: false, others: 0 })
    expect(await join('other', 'd', 'x')).toMatchObject({ isJoined: false })
    expect(await join('other', 'd', 'c')).toMatchObject({ isJoined: true, terms: { contract: 'd' } })
  })
})
