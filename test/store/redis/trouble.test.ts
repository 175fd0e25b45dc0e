import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { accept } from '../../../src/domain/errors.ts'
import type { ConnectionState } from '../../../src/store/redis/connection.ts'
import { accountKeys } from '../../../src/store/redis/keys.ts'
import { readScript } from '../../../src/store/script.ts'
import { type Choice, next, startCuttingProxy } from '../../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../../support/redis-server.ts'
import { enter, look } from '../counting.ts'
import { applyUpdate, exampleAccount, holdKeys, watch } from '../example-account.ts'
import { openReplica, type Replica } from './open-replicas.ts'

const CHARGE = {
  ...{ bucket: '/dmarc', limit: 30, graceLimit: 30, graceEnds: 0, window: 3600, enforced: true },
  start: 'first-request' as const,
}

function script(name: string) {
  return readScript(`store/redis/scripts/${name}.lua`)
}

/** The runs of a script. */
function runsOf(name: string): Choice {
  const { digest, text } = script(name)
  return ([command, program]) =>
    (command === 'EVALSHA' && program === digest) || (command === 'EVAL' && program === text)
}

/** A replica whose connection goes through a proxy, and one whose connection is sound. Both know all scripts. */
async function openTroubled() {
  const { port } = await sharedRedis()
  const prefix = freshPrefix()
  const proxy = await startCuttingProxy(port)
  const sound = await openReplica({ prefix })
  const troubled = await openReplica({ prefix, port: proxy.port })
  await sound.store.create(exampleAccount('acme', ['k1']))
  await look(troubled.store, 'k1')
  return { proxy, sound, troubled, prefix }
}

describe.skipIf(!HAS_REDIS)('a replica whose connection is cut after the server has done what it asked', () => {
  it('changes the account once', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    for (let round = 0; round < 3; round++) {
      proxy.loseReplies(next(1, runsOf('change')))
      expect(await applyUpdate(troubled.store, 'acme', watch(`d${round}.example`))).toMatchObject({ ok: true })
      expect(proxy.lost).toBe(round + 1)
    }
    expect([...(await sound.store.read('acme')).domains.keys()]).toEqual(['d0.example', 'd1.example', 'd2.example'])
    expect(troubled.connection.figures.retries).toBeGreaterThanOrEqual(3)
  })

  it('changes it once also where others have changed it before the second attempt', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    const added: unknown[] = []
    proxy.loseReplies((words) => {
      if (added.length > 0 || !runsOf('change')(words)) return false
      added.push(applyUpdate(sound.store, 'acme', watch('other.example')))
      return true
    })
    expect(await applyUpdate(troubled.store, 'acme', watch('own.example'))).toMatchObject({ ok: true })
    expect(await Promise.all(added)).toMatchObject([{ ok: true }])
    const domains = [...(await troubled.store.read('acme')).domains.keys()]
    expect(domains.toSorted()).toEqual(['other.example', 'own.example'])
    expect([...(await sound.store.read('acme')).domains.keys()]).toEqual(domains)
  })

  it('counts a request once, and tells what it has counted', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    const rules = [{ id: 'fault_1', skip: 0, times: 9, probability: 0.5, ends: Number.POSITIVE_INFINITY }]
    for (let round = 1; round <= 4; round++) {
      proxy.loseReplies(next(1, runsOf('enter')))
      const counted = await enter(troubled.store, 'k1', { charge: CHARGE, rules }, () => 0)
      expect(counted).toMatchObject({
        ordinal: round,
        hits: { used: round },
        tallies: [['fault_1', { matched: round }]],
      })
      expect(proxy.lost).toBe(round)
    }
    expect([...(await sound.store.counters('acme')).quotas.values()]).toMatchObject([{ used: 4 }])
    expect((await sound.store.counters('acme')).tallies.get('fault_1')?.matched).toBe(4)
  })

  it('recounts, refunds, creates and deletes once', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    const { store } = troubled
    const { hits } = await enter(store, 'k1', { charge: CHARGE }, () => 0)
    await enter(store, 'k1', { charge: CHARGE }, () => 0)
    await enter(store, 'k1', { charge: CHARGE }, () => 0)
    const { incarnation } = (await look(store, 'k1')) ?? { incarnation: 0 }
    proxy.loseReplies(next(1, runsOf('refund')))
    expect(await store.refund({ id: 'acme', incarnation }, '/dmarc', hits?.startedAt ?? 0)).toMatchObject({ used: 2 })
    expect((await sound.store.counters('acme')).quotas.get('/dmarc')?.used).toBe(2)
    proxy.loseReplies(next(1, runsOf('recount')))
    const count = () =>
      store.count('acme', (_, counting) => {
        counting.requests += 10
        return counting.requests
      })
    expect(await count()).toBe(13)
    expect((await enter(sound.store, 'k1', {}, () => 0)).ordinal).toBe(14)
    for (const script of ['create', 'register', 'settle']) {
      proxy.loseReplies(next(1, runsOf(script)))
      expect(await store.create(exampleAccount(`of ${script}`), { limit: 99, evictable: true })).toBeUndefined()
    }
    proxy.loseReplies(next(1, runsOf('register')))
    expect(await store.create(exampleAccount('last', ['k2']), { limit: 4, evictable: true })).toBe('of create')
    expect(await sound.store.list()).toEqual(['acme', 'of register', 'of settle', 'last'])
    for (const script of ['kill', 'release']) {
      proxy.loseReplies(next(1, runsOf(script)))
      await store.delete(script === 'kill' ? 'of register' : 'of settle')
    }
    expect(await sound.store.list()).toEqual(['acme', 'last'])
    expect(proxy.lost).toBe(8)
  })

  it('keeps the keys of an account right', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    for (const script of ['claim', 'change', 'unclaim']) {
      proxy.loseReplies(next(1, runsOf(script)))
      await applyUpdate(troubled.store, 'acme', holdKeys('k1', `key of ${script}`))
    }
    expect(proxy.lost).toBe(3)
    const holders = await Promise.all(
      ['k1', 'key of claim', 'key of change', 'key of unclaim'].map((hash) => sound.store.accountOf(hash)),
    )
    expect(holders).toEqual(['acme', undefined, undefined, 'acme'])
  })

  it('counts a request once although what it was planned by has changed before the second attempt', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    const changed: unknown[] = []
    proxy.loseReplies((words) => {
      if (changed.length > 0 || !runsOf('enter')(words)) return false
      changed.push(applyUpdate(sound.store, 'acme', (state) => accept({ ...state, plan: 'diamond' }, undefined)))
      return true
    })
    const counted = await enter(troubled.store, 'k1', { charge: CHARGE }, () => 0)
    await Promise.all(changed)
    expect(counted).toMatchObject({ ordinal: 1, hits: { used: 1 } })
    expect([...(await sound.store.counters('acme')).quotas.values()]).toMatchObject([{ used: 1 }])
  })

  it('does nothing when the first attempt arrives after the second', async () => {
    const { sound, prefix } = await openTroubled()
    const { incarnation = 0 } = (await look(sound.store, 'k1')) ?? {}
    const keys = accountKeys(prefix, `${incarnation}`)
    const token = `${await sound.connection.send(['HGET', keys[0] ?? '', 'token'])}`
    const bucket = ['/dmarc', '1', '30', '30', '0', '3600000', '0', '1']
    const enterAs = (attempt: string) =>
      sound.connection.run(script('enter'), keys, [
        ...['operation', attempt, '1', token, token, token, '', '0', '0', '1', '3600000'],
        ...bucket,
      ])
    expect(await enterAs('2')).toMatchObject({ 0: 'ok', 5: '0' })
    expect(await enterAs('1')).toEqual(['late'])
    expect(await enterAs('3')).toMatchObject({ 0: 'ok', 5: '0' })
    expect((await sound.store.counters('acme')).quotas.get('/dmarc')?.used).toBe(1)
    const recountAs = (attempt: string, sequence: string) =>
      sound.connection.run(script('recount'), keys, ['other', attempt, token, sequence, '7', ''])
    expect(await recountAs('2', '1')).toMatchObject({ 0: 'ok' })
    expect(await recountAs('1', '2')).toEqual(['late'])
    expect(await recountAs('3', '2')).toMatchObject({ 0: 'ok' })
  })

  it('says that it does not know what became of a change when every reply is lost, and is right about what comes after', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    proxy.loseReplies(runsOf('change'))
    const began = performance.now()
    await expect(applyUpdate(troubled.store, 'acme', watch('a.example'))).rejects.toMatchObject({
      problem: 'unknown',
      reported: true,
    })
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(troubled.connection.figures.unknowns).toBe(1)
    proxy.restore()
    expect((await sound.store.read('acme')).domains.has('a.example')).toBe(true)
    expect(await applyUpdate(troubled.store, 'acme', watch('a.example'))).toMatchObject({ ok: false })
  })

  it('does nothing where the command itself was lost, and tries again', async () => {
    const { proxy, sound, troubled } = await openTroubled()
    proxy.loseCommands(next(1, runsOf('change')))
    expect(await applyUpdate(troubled.store, 'acme', watch('a.example'))).toMatchObject({ ok: true })
    proxy.loseCommands(next(1, runsOf('enter')))
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
    return { server, replica, states }
  }

  /** How the calls fail, and how long the slowest takes. */
  async function failures({ store }: Replica): Promise<{ problems: string[]; longest: number }> {
    const began = performance.now()
    let longest = 0
    const calls = [
      look(store, 'k1'),
      store.read('acme'),
      applyUpdate(store, 'acme', watch('a.example')),
      store.list(),
      store.create(exampleAccount('other')),
      store.count('acme', () => 0),
    ]
    const problems = calls.map((call) =>
      call.then(
        () => 'none',
        (error) => {
          longest = Math.max(longest, performance.now() - began)
          return error.problem
        },
      ),
    )
    return { problems: await Promise.all(problems), longest }
  }

  it('answers within a second that it is stopped, and goes on when it does', async () => {
    const { server, replica, states } = await open()
    server.pause()
    const first = await failures(replica)
    const second = await failures(replica)
    server.resume()
    expect(first.longest).toBeLessThan(1_000)
    expect(second.longest).toBeLessThan(1_000)
    expect(new Set(second.problems)).toEqual(new Set(['unavailable']))
    await expect.poll(() => replica.connection.state.isReady, { timeout: 3_000 }).toBe(true)
    expect(states.map(({ isReady }) => isReady)).toEqual([true, false, true])
    expect(states[1]).toMatchObject({ reason: 'The store has not answered within 800 ms' })
    await applyUpdate(replica.store, 'acme', watch('later.example'))
    expect((await look(replica.store, 'k1'))?.id).toBe('acme')
  })

  it('answers at once that it is dead, and goes on when it was started again with its data', async () => {
    const { server, replica, states } = await open({ appendonly: 'yes', appendfsync: 'always' })
    await applyUpdate(replica.store, 'acme', watch('kept.example'))
    await server.kill()
    // What is sent before the end of the connection is noticed is perhaps done.
    expect((await failures(replica)).longest).toBeLessThan(1_000)
    const { problems, longest } = await failures(replica)
    expect(new Set(problems)).toEqual(new Set(['unavailable']))
    expect(longest).toBeLessThan(1_000)
    await server.restart()
    await expect.poll(() => replica.connection.state.isReady, { timeout: 3_000 }).toBe(true)
    expect([...(await replica.store.read('acme')).domains.keys()]).toEqual(['kept.example'])
    expect(await applyUpdate(replica.store, 'acme', watch('new.example'))).toMatchObject({ ok: true })
    expect(states.map(({ isReady }) => isReady)).toEqual([true, false, true])
  })

  it('waits for a connection that comes back in time', async () => {
    const { proxy, troubled } = await openTroubled()
    proxy.cut()
    expect(await applyUpdate(troubled.store, 'acme', watch('a.example'))).toMatchObject({ ok: true })
    proxy.refuse()
    const update = applyUpdate(troubled.store, 'acme', watch('b.example'))
    await pause(200)
    proxy.restore()
    expect(await update).toMatchObject({ ok: true })
  })

  it('knows no account any more when the server was emptied', async () => {
    const { server, replica } = await open()
    await server.command('FLUSHALL')
    expect(await look(replica.store, 'k1')).toBeUndefined()
    await expect(replica.store.read('acme')).rejects.toMatchObject({ problem: 'unknown-account' })
    await expect(applyUpdate(replica.store, 'acme', watch('a.example'))).rejects.toMatchObject({
      problem: 'unknown-account',
    })
    await replica.store.create(exampleAccount('acme', ['k1']))
    expect((await replica.store.read('acme')).domains.size).toBe(0)
    expect((await enter(replica.store, 'k1', {}, () => 0)).ordinal).toBe(1)
  })

  it('takes no state for present that the server has lost', async () => {
    const { server, replica } = await open({ save: '' })
    await server.command('SAVE')
    await applyUpdate(replica.store, 'acme', watch('lost.example'))
    await server.restart()
    await expect.poll(() => replica.connection.state.isReady, { timeout: 3_000 }).toBe(true)
    expect([...(await replica.store.read('acme')).domains.keys()]).toEqual([])
    // The same number of a version, and another account.
    await applyUpdate(replica.store, 'acme', watch('a.example'))
    expect([...(await replica.store.read('acme')).domains.keys()]).toEqual(['a.example'])
  })

  it('teaches the server the scripts again that it has forgotten', async () => {
    const { server, replica } = await open()
    await server.command('SCRIPT', 'FLUSH')
    expect((await look(replica.store, 'k1'))?.id).toBe('acme')
    await server.command('SCRIPT', 'FLUSH')
    expect(await applyUpdate(replica.store, 'acme', watch('a.example'))).toMatchObject({ ok: true })
  })

  it('refuses changes, and answers requests, when the server has no memory left', async () => {
    const { server, replica } = await open()
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    const update = applyUpdate(replica.store, 'acme', watch('a.example'))
    await expect(update).rejects.toMatchObject({
      problem: 'full',
      message: expect.stringContaining('maxmemory'),
      reported: true,
    })
    await expect(replica.store.create(exampleAccount('other'))).rejects.toMatchObject({ problem: 'full' })
    expect((await enter(replica.store, 'k1', { charge: CHARGE }, () => 0)).hits?.used).toBe(1)
    expect((await replica.store.read('acme')).domains.size).toBe(0)
    await replica.store.delete('acme')
    expect(await replica.store.list()).toEqual([])
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    await replica.store.create(exampleAccount('acme'))
  })

  it('says why the server refuses changes', async () => {
    const { server, replica } = await open()
    await server.command('REPLICAOF', '127.0.0.1', '1')
    await expect(applyUpdate(replica.store, 'acme', watch('a.example'))).rejects.toMatchObject({
      problem: 'unavailable',
      message: expect.stringContaining('read-only replica'),
    })
    await server.command('REPLICAOF', 'NO', 'ONE')
    await expect.poll(() => replica.connection.state.isReady, { timeout: 3_000 }).toBe(true)
    expect(await applyUpdate(replica.store, 'acme', watch('a.example'))).toMatchObject({ ok: true })
  })
})
