import { describe, expect, it, onTestFinished } from 'vitest'
import type { ConnectionState } from '../../src/redis/connection.ts'
import { accountKeys } from '../../src/redis/keys.ts'
import { readScript } from '../../src/redis/script.ts'
import { countersOf, enter, look, plannedCharge } from '../store/counting.ts'
import { applyUpdate, change, domainsOf, exampleAccount, holdKeys, watch } from '../store/example-account.ts'
import { type Choice, next, startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { openReplica, type Replica } from './open-replicas.ts'

const CHARGE = plannedCharge()

/** By what the times are multiplied while the server answers, and while it does not. */
const [LONG, SHORT] = [25, 0.25]

function script(name: string) {
  return readScript(`redis/scripts/${name}.lua`)
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
  /** Loses the reply to the next run of a script. */
  const loseReplyTo = (name: string) => proxy.loseReplies(next(1, runsOf(name)))
  /** The same, and does something else before the command comes again; resolves to what that came to. */
  function actMeanwhile(name: string, act: () => Promise<unknown>): Promise<unknown>[] {
    const acts: Promise<unknown>[] = []
    proxy.loseReplies((words) => {
      if (acts.length > 0 || !runsOf(name)(words)) return false
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
    const { proxy, sound, troubled, loseReplyTo, add } = await openTroubled()
    for (let round = 0; round < 3; round++) {
      loseReplyTo('change')
      expect(await add(`d${round}.example`)).toMatchObject({ ok: true })
      expect(proxy.lost).toBe(round + 1)
    }
    expect(await domainsOf(sound.store)).toEqual(['d0.example', 'd1.example', 'd2.example'])
    expect(troubled.connection.figures.retries).toBeGreaterThanOrEqual(3)
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
    for (const script of ['create', 'register', 'settle']) {
      loseReplyTo(script)
      expect(await store.create(exampleAccount(`of ${script}`), { limit: 99, evictable: true })).toBeUndefined()
    }
    loseReplyTo('register')
    expect(await store.create(exampleAccount('last', ['k2']), { limit: 4, evictable: true })).toBe('of create')
    expect(await sound.store.list()).toEqual(['acme', 'of register', 'of settle', 'last'])
    for (const script of ['kill', 'release']) {
      loseReplyTo(script)
      await store.delete(script === 'kill' ? 'of register' : 'of settle')
    }
    expect(await sound.store.list()).toEqual(['acme', 'last'])
    expect(proxy.lost).toBe(8)
  })

  it('keeps the keys of an account right', async () => {
    const { proxy, sound, troubled, loseReplyTo } = await openTroubled()
    for (const script of ['claim', 'change', 'unclaim']) {
      loseReplyTo(script)
      await applyUpdate(troubled.store, 'acme', holdKeys('k1', `key of ${script}`))
    }
    expect(proxy.lost).toBe(3)
    const holders = await Promise.all(
      ['k1', 'key of claim', 'key of change', 'key of unclaim'].map((hash) => sound.store.find('key', hash)),
    )
    expect(holders).toEqual(['acme', undefined, undefined, 'acme'])
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
    const keys = accountKeys(prefix, `${incarnation}`)
    const token = `${await sound.connection.send(['HGET', keys[0] ?? '', 'token'])}`
    const bucket = ['/dmarc', '1', '30', '30', '0', '3600000', '0', '1']
    const enterAs = (attempt: string) =>
      sound.connection.run(script('enter'), keys, [
        ...['operation', attempt, '1', token, token, token, '', '0', '0', '1', '3600000'],
        ...bucket,
      ])
    expect(await enterAs('2')).toMatchObject({ 0: 'ok', 6: '0' })
    expect(await enterAs('1')).toEqual(['late'])
    expect(await enterAs('3')).toMatchObject({ 0: 'ok', 6: '0' })
    expect((await countersOf(sound.store, 'acme')).quotas.get('/dmarc')?.used).toBe(1)
    const recountAs = (attempt: string, sequence: string) =>
      sound.connection.run(script('recount'), keys, ['other', attempt, token, sequence, '7', ''])
    expect(await recountAs('2', '1')).toMatchObject({ 0: 'ok' })
    expect(await recountAs('1', '2')).toEqual(['late'])
    expect(await recountAs('3', '2')).toMatchObject({ 0: 'ok' })
    const late = ['another', '1', token, '1', '9', '']
    expect(await sound.connection.run(script('recount'), keys, late)).toEqual(['conflict'])
  })

  it('says that it does not know what became of a change when every reply is lost, and is right about what comes after', async () => {
    const { proxy, sound, troubled, add } = await openTroubled()
    proxy.loseReplies(runsOf('change'))
    troubled.setPatience(SHORT)
    await expect(add('a.example')).rejects.toMatchObject({ problem: 'unknown', reported: true })
    expect(troubled.connection.figures.unknowns).toBe(1)
    proxy.restore()
    troubled.setPatience(LONG)
    expect(await domainsOf(sound.store)).toEqual(['a.example'])
    expect(await add('a.example')).toMatchObject({ ok: false })
  })

  it('does nothing where the command itself was lost, and tries again', async () => {
    const { proxy, sound, troubled, add } = await openTroubled()
    proxy.loseCommands(next(1, runsOf('change')))
    expect(await add('a.example')).toMatchObject({ ok: true })
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

  it('says why the server refuses changes', async () => {
    const { server, replica, states, add } = await open()
    await server.command('REPLICAOF', '127.0.0.1', '1')
    const message = expect.stringContaining('read-only replica')
    await expect(add('a.example')).rejects.toMatchObject({ problem: 'unavailable', message })
    expect(states.at(-1)).toMatchObject({ isReady: false, reason: message })
    await server.command('REPLICAOF', 'NO', 'ONE')
    await untilReady(replica)
    expect(await add('a.example')).toMatchObject({ ok: true })
  })
})
