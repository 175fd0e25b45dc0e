import { describe, expect, it, onTestFinished } from 'vitest'
import type { ConnectionState } from '../../src/redis/connection.ts'
import { accountKey, baseOf } from '../../src/redis/keys.ts'
import { readLibrary } from '../../src/redis/library.ts'
import { countersOf, enter, look, plannedCharge } from '../store/counting.ts'
import { applyUpdate, change, domainsOf, exampleAccount, holdKeys, watch } from '../store/example-account.ts'
import { type Choice, next, startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { openReplica, type Replica } from './open-replicas.ts'

const CHARGE = plannedCharge()

/** By what the times are multiplied while the server answers, and while it does not. */
const [LONG, SHORT] = [25, 0.25]

/** The calls of a function. */
function callsOf(name: string): Choice {
  return ([command, called]) => command === 'FCALL' && called === readLibrary().nameOf(name)
}

/** A replica whose connection goes through a proxy, and one whose connection is sound. The server knows all functions. */
async function openTroubled() {
  const { port } = await sharedRedis()
  const prefix = freshPrefix()
  const proxy = await startCuttingProxy(port)
  const sound = await openReplica({ prefix })
  const troubled = await openReplica({ prefix, port: proxy.port })
  await sound.store.create(exampleAccount('acme', ['k1']))
  await look(troubled.store, 'k1')
  /** Loses the reply to the next call of a function. */
  const loseReplyTo = (name: string) => proxy.loseReplies(next(1, callsOf(name)))
  /** The same, and does something else before the command comes again; resolves to what that came to. */
  function actMeanwhile(name: string, act: () => Promise<unknown>): Promise<unknown>[] {
    const acts: Promise<unknown>[] = []
    proxy.loseReplies((...command) => {
      if (acts.length > 0 || !callsOf(name)(...command)) return false
      acts.push(act())
      return true
    })
    return acts
  }
  const add = (name: string) => applyUpdate(troubled.store, 'acme', watch(name))
  return { proxy, sound, troubled, prefix, loseReplyTo, actMeanwhile, add }
}

describe.skipIf(!HAS_REDIS)('a replica whose connection is cut after the server has done what it asked', () => {
  it('changes the account once', async () => {
    const { proxy, sound, loseReplyTo, add } = await openTroubled()
    for (let round = 0; round < 3; round++) {
      loseReplyTo('change')
      expect(await add(`d${round}.example`)).toMatchObject({ ok: true })
      expect(proxy.lost).toBe(round + 1)
    }
    expect(await domainsOf(sound.store)).toEqual(['d0.example', 'd1.example', 'd2.example'])
  })

  it('changes it once also where others have changed it before the second attempt', async () => {
    const { sound, troubled, actMeanwhile, add } = await openTroubled()
    const others = actMeanwhile('change', () => applyUpdate(sound.store, 'acme', watch('other.example')))
    expect(await add('own.example')).toMatchObject({ ok: true })
    expect(await Promise.all(others)).toMatchObject([{ ok: true }])
    const domains = await domainsOf(troubled.store)
    expect(domains.toSorted()).toEqual(['other.example', 'own.example'])
    expect(await domainsOf(sound.store)).toEqual(domains)
  })

  it('changes it once also where the functions are removed before the second attempt', async () => {
    const { sound, actMeanwhile, add } = await openTroubled()
    const flushes = actMeanwhile('change', () => sound.connection.send(['FUNCTION', 'FLUSH']))
    expect(await add('own.example')).toMatchObject({ ok: true })
    expect(await Promise.all(flushes)).toEqual(['OK'])
    expect(await domainsOf(sound.store)).toEqual(['own.example'])
  })

  it('counts a request once, and tells what it has counted', async () => {
    const { proxy, sound, troubled, loseReplyTo } = await openTroubled()
    const rules = [{ id: 'fault_1', skip: 0, times: 9, probability: 0.5, ends: Number.POSITIVE_INFINITY }]
    for (let round = 1; round <= 4; round++) {
      loseReplyTo('enter')
      const counted = await enter(troubled.store, 'k1', { charge: CHARGE, rules }, () => 0)
      expect(counted).toMatchObject({
        ordinal: round,
        hits: { used: round },
        tallies: [['fault_1', { matched: round }]],
      })
      expect(proxy.lost).toBe(round)
    }
    expect([...(await countersOf(sound.store, 'acme')).quotas.values()]).toMatchObject([{ used: 4 }])
    expect((await countersOf(sound.store, 'acme')).tallies.get('fault_1')?.matched).toBe(4)
  })

  it('recounts, refunds, creates and deletes once', async () => {
    const { proxy, sound, troubled, loseReplyTo } = await openTroubled()
    const { store } = troubled
    const { hits } = await enter(store, 'k1', { charge: CHARGE }, () => 0)
    for (const _ of [2, 3]) await enter(store, 'k1', { charge: CHARGE }, () => 0)
    const { incarnation } = (await look(store, 'k1')) ?? { incarnation: 0 }
    loseReplyTo('refund')
    expect(await store.refund({ id: 'acme', incarnation }, '/dmarc', hits?.startedAt ?? 0)).toMatchObject({ used: 2 })
    expect((await countersOf(sound.store, 'acme')).quotas.get('/dmarc')?.used).toBe(2)
    loseReplyTo('recount')
    expect(await store.count('acme', (_, counting) => (counting.requests += 10))).toBe(13)
    expect((await enter(sound.store, 'k1', {}, () => 0)).ordinal).toBe(14)
    for (const id of ['first', 'second']) {
      loseReplyTo('create')
      expect(await store.create(exampleAccount(id), { limit: 99, evictable: true })).toBeUndefined()
    }
    loseReplyTo('create')
    expect(await store.create(exampleAccount('last', ['k2']), { limit: 3, evictable: true })).toBe('first')
    expect(await sound.store.list()).toEqual(['acme', 'second', 'last'])
    loseReplyTo('finish')
    await expect(store.delete('second')).resolves.toBeUndefined()
    expect(await sound.store.list()).toEqual(['acme', 'last'])
    expect(proxy.lost).toBe(6)
  })

  it('keeps the keys of an account right', async () => {
    const { proxy, sound, troubled, loseReplyTo } = await openTroubled()
    for (const hash of ['k2', 'k3']) {
      loseReplyTo('change')
      await applyUpdate(troubled.store, 'acme', holdKeys('k1', hash))
    }
    expect(proxy.lost).toBe(2)
    const holders = await Promise.all(['k1', 'k2', 'k3'].map((hash) => sound.store.find('key', hash)))
    expect(holders).toEqual(['acme', undefined, 'acme'])
  })

  it('counts a request once although what it was planned by has changed before the second attempt', async () => {
    const { sound, troubled, actMeanwhile } = await openTroubled()
    const changes = actMeanwhile('enter', () => change(sound.store, () => ({ plan: 'diamond' })))
    const counted = await enter(troubled.store, 'k1', { charge: CHARGE }, () => 0)
    expect(await Promise.all(changes)).toMatchObject([{ ok: true }])
    expect(counted).toMatchObject({ ordinal: 1, hits: { used: 1 } })
    expect([...(await countersOf(sound.store, 'acme')).quotas.values()]).toMatchObject([{ used: 1 }])
  })

  it('does nothing when the first attempt arrives after the second', async () => {
    const { sound, prefix } = await openTroubled()
    const { incarnation = 0 } = (await look(sound.store, 'k1')) ?? {}
    const head = accountKey(prefix, `${incarnation}`, 'head')
    const token = `${await sound.connection.send(['HGET', head, '#t'])}`
    const call = (name: string, ...args: string[]) =>
      sound.connection.call(name, baseOf(prefix), [`${incarnation}`, ...args])
    const bucket = ['/dmarc', '1', '30', '30', '0', '3600000', '0', '1']
    const enterAs = (number: string, attempt: string) =>
      call(
        'enter',
        '@9.1',
        '1.other',
        number,
        attempt,
        '1',
        token,
        token,
        token,
        '',
        '0',
        '0',
        '1',
        '3600000',
        ...bucket,
      )
    const told = await enterAs('5', '2')
    expect(told).toMatch(/^\d+ 0 0 1 n\n0\nq\/dmarc\n$/)
    expect(await enterAs('5', '1')).toBe(told)
    expect(await enterAs('5', '3')).toBe(told)
    expect((await sound.store.count('acme', (_, { quotas }) => quotas.get('/dmarc')))?.used).toBe(1)
    // A later operation has taken the slot.
    expect(await enterAs('133', '1')).toMatch(/^\d+ 1 1 2 n/)
    expect(await enterAs('5', '1')).toEqual(['late'])
    const recountAs = (attempt: string) => call('recount', '@9.2', '1.other', '6', attempt, token, '2', '7', '')
    for (const attempt of ['2', '1', '3']) expect(await recountAs(attempt)).toEqual(['ok'])
    expect(await sound.store.count('acme', (_, { requests }) => requests)).toBe(7)
    expect(await sound.connection.send(['HGET', head, '#s'])).toBe('3')
  })

  it('says that it does not know what became of a change when every reply is lost, and is right about what comes after', async () => {
    const { proxy, sound, troubled, add } = await openTroubled()
    proxy.loseReplies(callsOf('change'))
    troubled.setPatience(SHORT)
    await expect(add('a.example')).rejects.toMatchObject({ problem: 'unknown', reported: true })
    proxy.restore()
    troubled.setPatience(LONG)
    expect(await domainsOf(sound.store)).toEqual(['a.example'])
    expect(await add('a.example')).toMatchObject({ ok: false })
  })

  it('does nothing where the command itself was lost, and tries again', async () => {
    const { proxy, sound, troubled, add } = await openTroubled()
    proxy.loseCommands(next(1, callsOf('change')))
    expect(await add('a.example')).toMatchObject({ ok: true })
    proxy.loseCommands(next(1, callsOf('enter')))
    expect((await enter(troubled.store, 'k1', {}, () => 0)).ordinal).toBe(1)
    expect((await sound.store.read('acme')).domains.size).toBe(1)
  })
})

describe.skipIf(!HAS_REDIS)('a replica whose server is away', () => {
  /** A replica on a server of its own, with one account. */
  async function open(options: Parameters<typeof startRedis>[0] = {}) {
    const server = await startRedis(options)
    const replica = await openReplica({ port: server.port })
    await replica.store.create(exampleAccount('acme', ['k1']))
    await look(replica.store, 'k1')
    const states: ConnectionState[] = []
    onTestFinished(replica.connection.listen((state) => states.push(state)))
    const add = (name: string) => applyUpdate(replica.store, 'acme', watch(name))
    return { server, replica, states, add }
  }

  /** How the calls fail. */
  function failures({ store }: Replica): Promise<string[]> {
    const calls = [
      look(store, 'k1'),
      store.read('acme'),
      applyUpdate(store, 'acme', watch('a.example')),
      store.list(),
      store.create(exampleAccount('other')),
      store.count('acme', () => 0),
    ]
    return Promise.all(calls.map((call) => call.then(() => 'none').catch((error) => error.problem)))
  }

  async function untilReady(replica: Replica): Promise<void> {
    replica.setPatience(LONG)
    await expect.poll(() => replica.connection.state.isReady).toBe(true)
  }

  it('says that it is stopped, and goes on when it does', async () => {
    const { server, replica, states, add } = await open()
    server.pause()
    replica.setPatience(SHORT)
    await failures(replica)
    expect(new Set(await failures(replica))).toEqual(new Set(['unavailable']))
    server.resume()
    await untilReady(replica)
    expect(states.map(({ isReady }) => isReady)).toEqual([true, false, true])
    expect(states[1]).toMatchObject({ reason: 'The store has not answered within 200 ms' })
    await add('later.example')
    expect((await look(replica.store, 'k1'))?.id).toBe('acme')
  })

  it('waits for a connection that comes back in time', async () => {
    const { proxy, troubled, add } = await openTroubled()
    proxy.cut()
    expect(await add('a.example')).toMatchObject({ ok: true })
    proxy.refuse()
    const update = add('b.example')
    await expect.poll(() => troubled.connection.state.isReady).toBe(false)
    proxy.restore()
    expect(await update).toMatchObject({ ok: true })
  })

  it('takes no state for present that the server has lost', async () => {
    const { server, replica, add } = await open({ save: '' })
    await server.command('SAVE')
    await add('lost.example')
    await server.restart()
    await untilReady(replica)
    expect(await domainsOf(replica.store)).toEqual([])
    // The same number of a version, and another account.
    await add('a.example')
    expect(await domainsOf(replica.store)).toEqual(['a.example'])
  })

  it('refuses changes, and answers requests, when the server has no memory left', async () => {
    const { server, replica, add } = await open()
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    const refused = { problem: 'full', message: expect.stringContaining('maxmemory'), reported: true }
    await expect(add('a.example')).rejects.toMatchObject(refused)
    await expect(replica.store.create(exampleAccount('other'))).rejects.toMatchObject({ problem: 'full' })
    expect((await enter(replica.store, 'k1', { charge: CHARGE }, () => 0)).hits?.used).toBe(1)
    expect((await replica.store.read('acme')).domains.size).toBe(0)
    await replica.store.delete('acme')
    expect(await replica.store.list()).toEqual([])
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    await replica.store.create(exampleAccount('acme'))
  })

  it('asks no server that has become a replica, also where it only reads, and says why', async () => {
    const { server, replica, states, add } = await open()
    await server.command('REPLICAOF', '127.0.0.1', '1')
    const message = expect.stringContaining('read-only replica')
    await expect(replica.store.read('acme')).rejects.toMatchObject({ problem: 'unavailable', message })
    replica.setPatience(SHORT)
    for (const name of ['a.example', 'b.example']) {
      await expect(add(name)).rejects.toMatchObject({ problem: 'unavailable', message })
    }
    expect(states.at(-1)).toMatchObject({ isReady: false, reason: message })
    // Not even for a moment.
    expect(states).toHaveLength(2)
    await server.command('REPLICAOF', 'NO', 'ONE')
    await untilReady(replica)
    expect(await add('a.example')).toMatchObject({ ok: true })
  })
})
