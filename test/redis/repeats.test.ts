import { describe, expect, it } from 'vitest'
import { accept } from '../../src/domain/errors.ts'
import type { ServerPlace } from '../../src/redis/database.ts'
import { readLibrary } from '../../src/redis/library.ts'
import type { Store } from '../../src/store/store.ts'
import { enter, plannedCharge } from '../store/counting.ts'
import { applyUpdate, domainsOf, exampleAccount, holdKeys, hosts, withDomains } from '../store/example-account.ts'
import { next, startCuttingProxy } from '../support/cutting-proxy.ts'
import { freshPrefix, HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { openReplica } from './open-replicas.ts'

const CHARGE = plannedCharge({ limit: 1_000 })

/** A replica on a server of its own, which can be away between the first and the second attempt of a function. */
async function open(place: ServerPlace = { number: 0, since: '0' }) {
  const server = await startRedis()
  const prefix = freshPrefix()
  const proxy = await startCuttingProxy(server.port)
  const replica = await openReplica({ prefix, port: proxy.port, place: () => place })
  await replica.store.create(exampleAccount('acme', ['k1']))
  const [head = ''] = (await server.command('KEYS', `${prefix}:*:head`)) as string[]

  /** Acts. Once the server has done `name`, whose reply is lost, something happens before the next attempt. */
  async function repeat<Value>(name: string, act: () => Promise<Value>, meanwhile: () => Promise<unknown>) {
    let isSent = false
    proxy.loseReplies(([, called]) => {
      if (isSent || called !== readLibrary().nameOf(name)) return false
      isSent = true
      setImmediate(() => proxy.refuse())
      return true
    })
    const before = await server.command('HGETALL', head)
    const acted = act().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    await expect.poll(() => server.command('HGETALL', head)).not.toEqual(before)
    await meanwhile()
    proxy.restore()
    return acted
  }
  return { ...replica, server, prefix, proxy, head, repeat }
}

/** Monitors one more domain than before. */
function grow(store: Parameters<typeof applyUpdate>[0]) {
  return applyUpdate(store, 'acme', (state) => {
    const name = `d${state.domains.size}.example`
    return accept(withDomains(state, [name]), name)
  })
}

describe.skipIf(!HAS_REDIS)('What the server has done, but not answered,', () => {
  it('is done once, also if the server has lost its functions meanwhile', async () => {
    const { store, server, repeat } = await open()
    await repeat(
      'change',
      () => grow(store),
      () => server.command('FUNCTION', 'FLUSH'),
    )
    expect(await domainsOf(store)).toEqual(['d0.example'])
  })

  it('is not reported as not done if the server refuses the next attempt', async () => {
    const { store, server, repeat } = await open()
    const acted = await repeat(
      'change',
      () => grow(store),
      () => server.command('CONFIG', 'SET', 'maxmemory', '1'),
    )
    expect(acted).toMatchObject({ error: { problem: 'unknown' } })
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await domainsOf(store)).toEqual(['d0.example'])
  })

  it('counts once, also if a large change has removed the records before it', async () => {
    const { store, server, prefix, repeat } = await open()
    const other = await openReplica({ prefix, port: server.port })
    await repeat(
      'recount',
      () => store.count('acme', (_, counting) => void counting.requests++),
      () => applyUpdate(other.store, 'acme', (state) => accept(withDomains(state, hosts(2_000)), undefined)),
    )
    expect(await store.count('acme', (_, { requests }) => requests)).toBe(1)
  })

  it('is decided again if it depends on a change that was refused', async () => {
    const { store, proxy } = await open()
    await store.create(exampleAccount('other', ['k2']))
    const change = readLibrary().nameOf('change')
    let sent = 0
    // The first one is refused. The others are sent again before they are answered.
    proxy.loseReplies(([, called]) => called === change && ++sent === 2)
    const [refused, ...grown] = await Promise.allSettled([
      applyUpdate(store, 'acme', holdKeys('k1', 'k2')),
      ...[1, 2, 3].map(() => grow(store)),
    ])
    expect(refused).toMatchObject({ reason: { problem: 'taken' } })
    expect(grown.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(await domainsOf(store)).toHaveLength(3)
  })

  it('is of unknown outcome if nothing tells any more whether it was done', async () => {
    const { store, server, prefix, head, repeat } = await open()
    const other = await openReplica({ prefix, port: server.port })
    const acted = await repeat(
      'change',
      () => grow(store),
      async () => {
        await grow(other.store)
        await server.command('XTRIM', head.replace(/head$/, 'log'), 'MAXLEN', 1)
      },
    )
    expect(acted).toMatchObject({ error: { problem: 'unknown' } })
    expect(await domainsOf(store)).toHaveLength(2)
  })

  it.each([
    ['later', '2', { hits: { used: 2 } }],
    ['earlier', '0', undefined],
  ])(
    'is told apart from the work of another server with the same number, where it was sent by the %s one',
    async (_, since, counted) => {
      const { store: other, server, prefix } = await open({ number: 0, since: '1' })
      const count = (store: Store) => enter(store, 'k1', { charge: CHARGE }, () => 0)
      await count(other)
      const proxy = await startCuttingProxy(server.port)
      const { store } = await openReplica({ prefix, port: proxy.port, place: () => ({ number: 0, since }) })
      proxy.loseCommands(next(1, ([, called]) => called === readLibrary().nameOf('enter')))
      if (counted === undefined) await expect(count(store)).rejects.toMatchObject({ problem: 'unknown' })
      else expect(await count(store)).toMatchObject(counted)
    },
  )
})
