import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/server/options.ts'
import { range } from '../support/at-once.ts'
import { askControl } from '../support/control-plane.ts'
import { type CuttingProxy, isCall, next, startCuttingProxy } from '../support/cutting-proxy.ts'
import { createRandom } from '../support/random.ts'
import {
  freshPrefix,
  HAS_REDIS,
  type RedisOptions,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { KEY } from './two-servers.ts'

/** By what the times are multiplied that a step of the store may take: long while it answers, short while it is away. */
const [LONG, SHORT] = [25, 0.25]
let patience = LONG
beforeEach(() => {
  patience = LONG
})

type Server = Awaited<ReturnType<typeof start>>

async function start(options: ServerOptions) {
  /** What was logged of the store. */
  const said: string[] = []
  const note = (_: object, words: string) => void (/store/i.test(words) && said.push(words))
  const log = { info: note, warn: note, error: note }
  const service = await startPatient(
    { fixture: 'empty', apiKey: KEY, enforceQuotas: false, log, ...options },
    { patience: () => patience },
  )
  onTestFinished(() => {
    // The store may be away for good.
    patience = SHORT
    return service.stop()
  })
  async function send(method: string, path: string, body?: unknown): Promise<Received> {
    const received = await sendRequest(method, service.baseUrl + path, body, { authorization: `Bearer ${KEY}` })
    expectLawful(service.contract, method, path, received)
    return received
  }
  return {
    said,
    stop: service.stop,
    send,
    domains: async (): Promise<string[]> => (await send('GET', '/domains')).body.data?.domains,
    add: async (domain: string) => (await send('POST', '/domains', { domains: [domain] })).status,
    ask: (method: string, path: string, body?: unknown) => askControl(service, method, path, body),
  }
}

interface Trouble {
  options?: RedisOptions
  begin(redis: RedisServer): unknown
  end(redis: RedisServer): unknown
  /** Why the servers are not ready; without it, they are, and refuse changes alone. */
  reason?: RegExp
  /** The domains after the recovery. */
  domains?: string[]
}

const TROUBLES: Readonly<Record<string, Trouble>> = {
  'is killed, and is there again with its data': {
    options: { appendonly: 'yes', appendfsync: 'always' },
    begin: (redis) => redis.kill(),
    reason: /^The (connection to the store was lost|store cannot be reached: .*ECONN)/,
    end: (redis) => redis.restart(),
  },
  'is killed, and is there again without its data': {
    begin: (redis) => redis.kill(),
    reason: /^The (connection to the store was lost|store cannot be reached: .*ECONN)/,
    end: (redis) => redis.restart(),
    domains: [],
  },
  'is stopped, and continues': {
    begin: (redis) => redis.pause(),
    reason: /not answered within \d+ ms/,
    end: (redis) => redis.resume(),
  },
  'becomes a read-only replica': {
    begin: (redis) => redis.command('REPLICAOF', '127.0.0.1', '1'),
    reason: /read-only replica/,
    end: (redis) => redis.command('REPLICAOF', 'NO', 'ONE'),
  },
  'has no memory left': {
    begin: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '1mb'),
    end: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
  },
}

/** Waits until a server is ready; until then, it gives no other answer than that it is not, or the right one. */
async function untilBack(server: Server, domains: readonly string[]): Promise<void> {
  for (;;) {
    const { status, body } = await server.send('GET', '/domains')
    if (status !== 500) expect([status, body.data?.domains]).toEqual([200, domains])
    const ready = await server.ask('GET', '/ready')
    if (status === 200 && ready.status === 200) return
  }
}

describe.skipIf(!HAS_REDIS)('servers whose Redis', () => {
  it.each(Object.entries(TROUBLES))('%s say so, give no other answers, and go on by themselves', async (_, trouble) => {
    const redis = await startRedis(trouble.options)
    const servers = [await start({ store: redis.url }), await start({ store: redis.url })] as const
    const { reason, domains = ['one.example'] } = trouble
    expect(await servers[0].add('one.example')).toBe(200)
    expect(await servers[1].domains()).toEqual(['one.example'])
    // A server that notices its loss while it is patient lets requests wait for long.
    if (reason !== undefined) patience = SHORT
    await trouble.begin(redis)
    for (const { add, send, ask } of servers) {
      expect(await add('lost.example')).toBe(500)
      expect((await send('GET', '/domains')).status).toBe(reason ? 500 : 200)
      expect((await ask('GET', '/accounts')).status).toBe(reason ? 503 : 200)
      expect((await ask('POST', '/accounts', { id: 'another' })).status).toBe(reason ? 503 : 507)
      expect((await ask('GET', '/health')).status).toBe(200)
      const ready = () => ask('GET', '/ready')
      if (reason === undefined) expect((await ready()).status).toBe(200)
      else {
        await expect.poll(async () => (await ready()).error?.message).toMatch(reason)
        expect(await ready()).toMatchObject({ status: 503, error: { code: 'unavailable' } })
      }
    }
    patience = LONG
    await trouble.end(redis)
    for (const server of servers) await untilBack(server, domains)
    expect(await servers[0].add('two.example')).toBe(200)
    expect(await servers[1].domains()).toEqual([...domains, 'two.example'])
    if (reason === undefined) return
    for (const { said } of servers) {
      // One line at each change of state, and none for a request.
      const changes = said.filter((line) => /^The store is (away|back)/.test(line))
      expect(changes.map((line) => line.slice(0, 17))).toEqual(['The store is away', 'The store is back'])
    }
  })

  it('is emptied under them have the default account again for the next request, and a new journal', async () => {
    const redis = await startRedis()
    const servers = [await start({ store: redis.url }), await start({ store: redis.url })] as const
    for (const server of servers) await server.add('a.example')
    await redis.command('FLUSHALL')
    for (const server of servers) expect(await server.domains()).toEqual([])
    for (const { ask, said } of servers) {
      const listed = async () => (await ask('GET', '/requests')).data.requests.length
      await expect.poll(listed).toBe(2)
      await expect.poll(() => said.filter((line) => line.startsWith('The store was emptied'))).toHaveLength(1)
    }
  })

  it('is away at the end stop all the same', async () => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await server.add('one.example')
    patience = SHORT
    redis.pause()
    expect(await server.add('two.example')).toBe(500)
    await server.stop()
    redis.resume()
  })
})

describe.skipIf(!HAS_REDIS)('a server whose connection to Redis', () => {
  /** A server whose connection goes through a proxy, and another one that shows what there is. */
  async function open(): Promise<{ proxy: CuttingProxy; server: Server; other: Server }> {
    const { port, url } = await sharedRedis()
    const proxy = await startCuttingProxy(port)
    const storePrefix = freshPrefix()
    const server = await start({ store: proxy.url, storePrefix })
    const other = await start({ store: url, storePrefix })
    // All that is sent once for each server has been sent.
    await server.send('GET', '/domains')
    return { proxy, server, other }
  }

  it('is cut between two requests goes on, also if it comes back a moment later', async () => {
    const { proxy, server } = await open()
    proxy.cut()
    expect(await server.add('a.example')).toBe(200)
    proxy.refuse()
    const added = server.add('b.example')
    await expect.poll(async () => (await server.ask('GET', '/ready')).status).toBe(503)
    proxy.restore()
    expect(await added).toBe(200)
    expect(await server.domains()).toEqual(['a.example', 'b.example'])
  })

  it.each<[what: string, lose: (proxy: CuttingProxy) => void]>([
    ['before a command arrives', (proxy) => proxy.loseCommands(next(1, isCall))],
    ['before a reply comes', (proxy) => proxy.loseReplies(next(1, isCall))],
  ])('is cut %s does each change once or says that it does not know', async (_, lose) => {
    const { proxy, server, other } = await open()
    for (const round of range(1, 6)) {
      const before = await other.domains()
      lose(proxy)
      const status = await server.add(`d${round}.example`)
      expect(proxy.lost).toBe(round)
      const after = await other.domains()
      const changed = [...before, `d${round}.example`]
      // A change that is refused is refused because of another one, and this one is the first of its name.
      expect([200, 500]).toContain(status)
      if (status === 200) expect(after).toEqual(changed)
      else expect([before, changed]).toContainEqual(after)
      await expect.poll(async () => (await server.ask('GET', '/ready')).status).toBe(200)
    }
    const { headers } = await other.send('GET', '/domains')
    const used = Number(headers['x-ratelimit-limit']) - Number(headers['x-ratelimit-remaining'])
    // The first request, three in each round, and this one; whether those were counted that failed, nobody knows.
    expect(used).toBeLessThanOrEqual(20)
    expect(used).toBeGreaterThanOrEqual(14)
  })

  it('loses every reply answers 500 to a change, which is done or not, and tells the truth afterwards', async () => {
    const { proxy, server, other } = await open()
    patience = SHORT
    proxy.loseReplies(isCall)
    expect(await server.add('a.example')).toBe(500)
    proxy.restore()
    patience = LONG
    await expect.poll(async () => (await server.ask('GET', '/ready')).status).toBe(200)
    const domains = await other.domains()
    expect([[], ['a.example']]).toContainEqual(domains)
    expect(await server.domains()).toEqual(domains)
    expect(await server.add('a.example')).toBe(domains.length === 0 ? 200 : 400)
  })

  it('lets nothing through answers 500 within its patience, and goes on', async () => {
    const { proxy, server } = await open()
    patience = SHORT
    proxy.blackhole()
    expect(await server.add('a.example')).toBe(500)
    await expect.poll(async () => (await server.ask('GET', '/ready')).status).toBe(503)
    patience = LONG
    proxy.restore()
    await expect.poll(async () => (await server.ask('GET', '/ready')).status).toBe(200)
    expect(await server.add('b.example')).toBe(200)
  })

  it('loses replies again and again counts each request once, and has it in the journal once', async () => {
    const { proxy, server, other } = await open()
    const random = createRandom(5)
    proxy.loseReplies((words) => isCall(words) && random() < 0.2)
    for (const number of range(1, 40)) await server.send('GET', `/domains?n=${number}`)
    expect(proxy.lost).toBeGreaterThan(5)
    proxy.restore()
    await expect.poll(async () => (await server.ask('GET', '/ready')).status).toBe(200)
    const listed = async () => (await other.ask('GET', '/requests')).data.requests as { query: string }[]
    await expect.poll(async () => (await listed()).length).toBe(41)
    const queries = (await listed()).map(({ query }) => query)
    expect(queries.toSorted()).toEqual(['', ...range(1, 40).map((number) => `n=${number}`)].toSorted())
    expect((await other.ask('GET', '/verdict')).data.requests).toBe(41)
  })
})
