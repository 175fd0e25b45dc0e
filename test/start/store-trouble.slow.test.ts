import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { Understudy } from '../../src/start/server.ts'
import { atOnce, range } from '../support/at-once.ts'
import { askControl, type ControlResponse } from '../support/control-plane.ts'
import { freshPrefix, HAS_REDIS, type RedisServer, sharedRedis, startRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KEY = 'the-key-of-default'
/** By what the times are multiplied that a step of the store may take: long while it answers, short while it is away. */
const [LONG, SHORT] = [25, 0.25]
let patience = LONG
beforeEach(() => {
  patience = LONG
})

interface Server extends Understudy {
  /** What was logged as a warning, an error, or about the store. */
  said: string[]
  get(path?: string, key?: string): Promise<Received>
  domains(): Promise<string[]>
  add(domain: string, key?: string): Promise<Received>
  ask(path: string): Promise<ControlResponse>
  /** Waits until the server says that it is ready, or that it is not. */
  untilReady(status: 200 | 503): Promise<void>
}

async function start(options: ServerOptions): Promise<Server> {
  const said: string[] = []
  const note = (_: object, message: string) => void said.push(message)
  const log = {
    warn: note,
    error: note,
    info: (_: object, words: string) => void (/store/i.test(words) && said.push(words)),
  }
  const given = { fixture: 'empty', apiKey: KEY, log, ...options }
  const service = await startPatient(given, { patience: () => patience })
  onTestFinished(() => service.stop())
  async function send(method: string, path: string, body: unknown, key = KEY): Promise<Received> {
    const received = await sendRequest(method, service.baseUrl + path, body, { authorization: `Bearer ${key}` })
    expectLawful(service.contract, method, path, received)
    return received
  }
  const get = (path = '/domains', key = KEY) => send('GET', path, undefined, key)
  const ask = (path: string) => askControl(service, 'GET', path)
  return {
    ...service,
    said,
    get,
    domains: async () => (await get()).body.data.domains,
    add: (domain, key) => send('POST', '/domains', { domains: [domain] }, key),
    ask,
    untilReady: (status) => expect.poll(async () => (await ask('/ready')).status).toBe(status),
  }
}

const startOn = (redis: RedisServer) => start({ store: redis.url })

/** Kills a Redis. A server that notices it while it is patient lets requests wait for long. */
async function kill(redis: RedisServer): Promise<void> {
  patience = SHORT
  await redis.kill()
}

/** Expects a server whose store is away to say so everywhere. */
async function expectAway(server: Server, reason: RegExp, connected = 0): Promise<void> {
  patience = SHORT
  for (const received of [await server.get(), await server.add('lost.example')]) {
    expect([received.status, received.body.error.code]).toEqual([500, 'internal_error'])
  }
  const ready = await server.ask('/ready')
  expect([ready.status, ready.error.code]).toEqual([503, 'unavailable'])
  await expect.poll(async () => (await server.ask('/ready')).error?.message).toMatch(reason)
  expect((await server.ask('/health')).status).toBe(200)
  expect((await server.get('/nowhere')).status).toBe(404)
  const accounts = ['/accounts', '/accounts/default', '/accounts/default/domains']
  for (const path of [...accounts, '/verdict', '/requests', '/coverage']) {
    const { status, error } = await server.ask(path)
    expect({ path, status, code: error?.code }).toEqual({ path, status: 503, code: 'unavailable' })
  }
  const metrics = await server.ask('/metrics')
  expect(metrics.text).toMatch(/^dmarc_understudy_ready 0$/m)
  expect(metrics.text).toContain(`\ndmarc_understudy_store_connected ${connected}\n`)
}

async function expectBack(server: Server): Promise<void> {
  patience = LONG
  // Before, it knows nothing; no key is refused meanwhile.
  for (;;) {
    const { status } = await server.get()
    if (status === 200) break
    expect(status).toBe(500)
  }
  await server.untilReady(200)
  expect((await server.ask('/ready')).data).toMatchObject({ status: 'ready', store: 'redis', limitation: null })
}

describe.skipIf(!HAS_REDIS)('a server whose store', () => {
  it('is killed answers 500 at once, and goes on where it was when the store is there again', async () => {
    const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
    const servers = [await startOn(redis), await startOn(redis)] as const
    expect((await servers[0].add('one.example')).status).toBe(200)
    await kill(redis)
    for (const server of servers) await expectAway(server, /^The store cannot be reached: .*ECONNREFUSED/)
    patience = LONG
    await redis.restart()
    for (const server of servers) {
      await expectBack(server)
      expect(await server.domains()).toEqual(['one.example'])
      // One line at each change of state, and none for a request.
      expect(server.said).toEqual([
        'The store is shared.',
        'The store is away: until it is back, requests are answered with 500.',
        'The store is back.',
      ])
    }
  })

  it('comes back empty has the default account again, and nothing else', async () => {
    const redis = await startRedis()
    const servers = [await startOn(redis), await startOn(redis)] as const
    const shop = await servers[0].createAccount({ id: 'shop' })
    expect((await servers[1].get('/domains', shop.apiKey)).status).toBe(200)
    await servers[0].add('one.example')
    await kill(redis)
    await servers[0].untilReady(503)
    await redis.restart()
    // A request that waits for the store longer than it may could meet it before the account is there again.
    for (const server of servers) await server.untilReady(200)
    for (const server of servers) {
      await expectBack(server)
      expect(await server.domains()).toEqual([])
      expect((await server.get('/domains', shop.apiKey)).status).toBe(401)
      expect((await server.ask('/accounts')).data.accounts).toMatchObject([{ id: 'default' }])
      // Whoever comes second finds the account that the first has made again.
      expect(server.said.filter((line) => /^The store was (emptied or )?replaced/.test(line))).toHaveLength(1)
    }
    expect((await servers[1].add('two.example')).status).toBe(200)
    expect(await servers[0].domains()).toEqual(['two.example'])
  })

  it('is emptied while it runs notices it', async () => {
    const redis = await startRedis()
    const server = await startOn(redis)
    await server.add('one.example')
    await redis.command('FLUSHALL')
    await expect.poll(async () => (await server.get()).body.data?.domains).toEqual([])
    expect(server.said.at(-1)).toMatch(/^The store was emptied or replaced/)
    expect((await server.ask('/ready')).status).toBe(200)
  })

  it.each(['kill', 'pause'] as const)('is away at the end (%s) stops all the same', async (trouble) => {
    const redis = await startRedis()
    const server = await startOn(redis)
    await server.add('one.example')
    patience = SHORT
    await redis[trouble]()
    await server.get()
    await server.stop()
    if (trouble === 'pause') redis.resume()
  })

  it('has forgotten its scripts, and has no memory left, refuses changes, and goes on reading', async () => {
    const redis = await startRedis()
    const server = await startOn(redis)
    await redis.command('SCRIPT', 'FLUSH')
    await server.add('one.example')
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb')
    expect((await server.add('two.example')).status).toBe(500)
    // It is no refusal of the key.
    expect((await server.get('/domains', 'sandbox_new')).status).toBe(500)
    expect(await server.domains()).toEqual(['one.example'])
    const limitation = async () => (await server.ask('/ready')).data.limitation
    const FULL = 'Changes are refused, because the store has no memory left (its setting maxmemory).'
    await expect.poll(limitation).toBe(FULL)
    expect(await server.ask('/ready')).toMatchObject({ status: 200, data: { status: 'ready' } })
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    expect((await server.add('two.example')).status).toBe(200)
    await expect.poll(limitation).toBeNull()
    expect(server.said).toEqual([
      'The store is shared.',
      'The store has no memory left (its setting maxmemory): changes are refused.',
      'The store has memory again.',
    ])
  })
})

describe.skipIf(!HAS_REDIS)('a server whose place others have taken', () => {
  it('with another contract answers 500 until they have gone back', async () => {
    const { command, url } = await sharedRedis()
    const prefix = freshPrefix()
    const server = await start({ store: url, storePrefix: prefix })
    const marker = `${prefix}:{all}:marker`
    const contract = `${await command('HGET', marker, 'contract')}`
    await command('HSET', marker, 'contract', 'another')
    await server.untilReady(503)
    await expectAway(server, /^Servers with another contract have taken over/, 1)
    await command('HSET', marker, 'contract', contract)
    await expectBack(server)
  })
})

describe.skipIf(!HAS_REDIS)('servers that share a store', () => {
  async function startTwo(): Promise<[Server, Server]> {
    const where = { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
    return [await start(where), await start(where)]
  }

  it('open one account for a sandbox key that nobody has used before', async () => {
    const servers = await startTwo()
    const added = await atOnce(10, (index) => (servers[index % 2] as Server).add(`d${index}.example`, 'sandbox_new'))
    expect(added.map(({ status }) => status)).toEqual(range(1, 10).map(() => 200))
    for (const server of servers) {
      expect((await server.get('/domains', 'sandbox_new')).body.data.domains).toHaveLength(10)
      expect((await server.ask('/accounts')).data.accounts).toMatchObject([{ id: 'default' }, { id: 'sandbox_new' }])
    }
  })

  it('give requests of nobody the ids that a server alone gives, and none twice', async () => {
    const [one, other] = await startTwo()
    const alone = await start({})
    const idOf = async (server: Server) => (await server.get('/domains', 'wrong')).headers['x-request-id']
    const ids = new Set<unknown>()
    for (let each = 0; each < 20; each++) {
      const first = await idOf(one)
      expect(first).toBe(await idOf(alone))
      ids.add(first).add(await idOf(other))
    }
    expect(ids.size).toBe(40)
  })

  it('count what each of them does with the store', async () => {
    const [one, other] = await startTwo()
    const trips = async () =>
      Number(/^dmarc_understudy_store_round_trips_total (\d+)$/m.exec((await one.ask('/metrics')).text)?.[1])
    const before = await trips()
    await one.add('one.example')
    expect(await trips()).toBeGreaterThan(before + 1)
    await other.get()
    const { text } = await other.ask('/metrics')
    const troubles = ['retries', 'conflicts', 'unknowns', 'unavailable', 'reconnects']
    const counts = ['store_connected 1', 'store_servers 2', 'exchanges_total 2']
    for (const count of [...counts, ...troubles.map((trouble) => `store_${trouble}_total 0`)]) {
      expect(text).toContain(`\ndmarc_understudy_${count}\n`)
    }
    const [, counted] = /^dmarc_understudy_store_reply_seconds_count (\d+)$/m.exec(text) ?? []
    expect(text).toContain(`dmarc_understudy_store_reply_seconds_bucket{le="+Inf"} ${counted}\n`)
    expect(text).toMatch(/^dmarc_understudy_memory_limit_bytes\{part="accounts"\} \d{7,}$/m)
  })

  it('tell the others of everything before they stop, and are forgotten then', async () => {
    const [one, other] = await startTwo()
    await one.add('one.example')
    await one.stop()
    expect((await other.ask('/requests')).data.requests).toMatchObject([{ operation: 'addDomains', status: 200 }])
    await expect.poll(async () => (await other.ask('/metrics')).text).toMatch(/^dmarc_understudy_store_servers 1$/m)
  })
})

describe('a server that shares its accounts with nobody', () => {
  it('says what it refuses, where it can read but not write', async () => {
    const data = join(temporaryFolder(), 'accounts')
    const server = await start({ data })
    expect((await server.ask('/ready')).data).toMatchObject({ store: 'folder', limitation: null })
    rmSync(data, { recursive: true })
    expect((await server.add('one.example')).status).toBe(500)
    const { status, data: ready } = await server.ask('/ready')
    expect([status, ready.limitation]).toEqual([200, expect.stringMatching(/^Changes are refused, because /)])
    mkdirSync(data)
    await expect.poll(async () => (await server.add('one.example')).status).toBe(200)
    expect((await server.ask('/ready')).data).toMatchObject({ limitation: null })
  })

  it('is ready', async () => {
    const server = await start({})
    const { status, data } = await server.ask('/ready')
    const { instance } = server
    expect([status, data]).toEqual([200, { status: 'ready', instance, store: 'memory', limitation: null }])
    const { text } = await server.ask('/metrics')
    expect(text).toMatch(/^dmarc_understudy_ready 1$/m)
    expect(text).not.toMatch(/dmarc_understudy_store_/)
  })
})
