import { describe, expect, it } from 'vitest'
import type { ApiKey } from '../../src/domain/keys.ts'
import { accountKey, baseOf } from '../../src/redis/keys.ts'
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
    // The clock was set back.
    await command('HSET', head, '#turn', `another ${(START + 3_600_000) * 1_000}`)
    await applyUpdate(store, 'a', watch('b.example'))
  })

  it('is read page by page, and misses no account if others are deleted meanwhile', async () => {
    const { store, connection, prefix } = await open()
    for (const id of ['a', 'b', 'c', 'd']) await store.create(exampleAccount(id))
    const read = (from: string) => connection.call('list', baseOf(prefix), [from, '2']) as Promise<[string, string[]]>
    const [place, first] = await read('0')
    await store.delete('a')
    expect([first, ...(await read(place))]).toEqual([['a', 'b'], expect.any(String), ['c', 'd']])
  })

  it('is as it was if parts of a new account have expired before its creation', async () => {
    const { store, connection, prefix, command } = await open()
    await store.create(exampleAccount('a'), { evictable: true })
    const keys = async () => new Set((await command('KEYS', `${prefix}:*`)) as string[])
    const before = await keys()
    const args = ['77', 'operation', 'b', '3', '1', '0', '', '', '0', '.id', '"b"']
    expect(await connection.call('create', baseOf(prefix), args)).toEqual(['late'])
    expect(await keys()).toEqual(before)
    expect(await store.list()).toEqual(['a'])
  })

  it('has the room of an account that was lost', async () => {
    const { store, prefix, command } = await open()
    const limit = { limit: 1, evictable: true }
    await store.create(exampleAccount('a'), limit)
    const incarnation = await command('HGET', `${prefix}:{all}:accounts`, 'a')
    await command('DEL', accountKey(prefix, incarnation as string, 'head'))
    expect(await store.create(exampleAccount('b'), limit)).toBe('a')
    expect(await store.list()).toEqual(['b'])
    expect(await command('HEXISTS', `${prefix}:{all}:accounts`, 'a')).toBe(0)
  })

  it('does not name an account any more that was deleted, also if it was lost before', async () => {
    const { store, prefix, command } = await open()
    await store.create(exampleAccount('a', ['k1']))
    const incarnation = await command('HGET', `${prefix}:{all}:accounts`, 'a')
    await command('DEL', accountKey(prefix, incarnation as string, 'head'))
    await store.delete('a')
    // The entry without a name stays.
    for (const name of ['accounts', 'keys']) expect(await command('HKEYS', `${prefix}:{all}:${name}`)).toEqual([''])
    await expect(store.delete('a')).rejects.toMatchObject({ problem: 'unknown-account' })
  })

  it('leaves nothing of an account of which all was lost but its journal, when its key is used', async () => {
    const { store, prefix, command } = await open()
    await store.create(exampleAccount('a', ['k1']))
    const incarnation = `${await command('HGET', `${prefix}:{all}:accounts`, 'a')}`
    const keyOf = (name: string) => accountKey(prefix, incarnation, name)
    await command('XADD', keyOf('journal'), '1-0', 'e', '')
    await command('HSET', keyOf('coverage'), 'rule', '1')
    await command('DEL', keyOf('head'), keyOf('parts'))
    expect(await store.find('key', 'k1')).toBeUndefined()
    expect(await command('KEYS', `${prefix}:{${incarnation}}:*`)).toEqual([keyOf('ended')])
  })

  it('frees the keys of a lost account, whatever their labels are, and says each time that it was lost', async () => {
    const { store, connection, prefix, command } = await open()
    const [key] = exampleAccount('a', ['k1']).keys
    const label = 'half \ud83d, "hash":"k2"'
    await store.create({ ...exampleAccount('a'), keys: [{ ...(key as ApiKey), label }] })
    await store.create(exampleAccount('b', ['k2']))
    const incarnation = (await command('HGET', `${prefix}:{all}:accounts`, 'a')) as string
    await command('DEL', accountKey(prefix, incarnation, 'head'))
    const finish = () => connection.call('finish', baseOf(prefix), [incarnation, 'operation', 'a', ''])
    expect([await finish(), await finish()]).toEqual([2, 2])
    expect([await store.find('key', 'k1'), await store.find('id', 'a')]).toEqual([undefined, undefined])
    expect(await store.find('key', 'k2')).toBe('b')
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

  it('gets another number if another one has got its own, because its lease was over', async () => {
    const { connection, prefix } = await open()
    const member = (instance: string) =>
      new Membership(connection, { prefix, instance, terms, drawId: () => `id of ${instance}` })
    const [one, other] = [member('one'), member('other')]
    await one.join()
    const first = one.place
    await connection.send(['DEL', `${prefix}:{all}:replicas`])
    await other.join()
    expect(other.place).toMatchObject({ number: first.number })
    expect(Number(other.place.since)).toBeGreaterThan(Number(first.since))
    one.watch({ away() {}, back() {}, full() {}, async emptied() {}, async lost() {} })
    await expect.poll(() => one.place.number).toBe(1)
    expect(Number(one.place.since)).toBeGreaterThan(Number(other.place.since))
    await one.leave()
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
