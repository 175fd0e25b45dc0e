import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { startUnderstudy, type Understudy } from '../../src/start/server.ts'
import { askControl, type ControlResponse } from '../support/control-plane.ts'
import { promptly } from '../support/promptness.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KEY = 'the-key-of-default'
/** In milliseconds, how long an answer may take while the store is away. */
const PROMPT = 1_000
/** In milliseconds, how long a server may take to notice that its store is there again, on a busy machine. */
const SOON = 10_000

interface Server extends Understudy {
  /** What was logged as a warning, an error, or about the store. */
  said: string[]
  get(path?: string, key?: string): Promise<Received>
  add(domain: string): Promise<Received>
  ask(path: string): Promise<ControlResponse>
}

async function start(options: ServerOptions): Promise<Server> {
  const said: string[] = []
  const note = (_: object, message: string) => void said.push(message)
  const log = {
    warn: note,
    error: note,
    info: (_: object, words: string) => void (/store/i.test(words) && said.push(words)),
  }
  const service = await startUnderstudy({ fixture: 'empty', apiKey: KEY, log, ...options })
  onTestFinished(() => service.stop())
  async function send(method: string, path: string, body: unknown, key = KEY): Promise<Received> {
    const received = await sendRequest(method, service.baseUrl + path, body, { authorization: `Bearer ${key}` })
    expectLawful(service.contract, method, path, received)
    return received
  }
  // It is loaded when it is first asked, which takes longer than any answer.
  await askControl(service, 'GET', '/verdict')
  return {
    ...service,
    said,
    get: (path = '/domains', key) => send('GET', path, undefined, key),
    add: (domain) => send('POST', '/domains', { domains: [domain] }),
    ask: (path) => askControl(service, 'GET', path),
  }
}

/** Calls until the result is as expected; the calls before it must be as expected, too. */
async function until<Result>(
  call: () => Promise<Result>,
  isThere: (result: Result) => boolean,
  before: (result: Result) => void = () => {},
): Promise<void> {
  const end = performance.now() + SOON
  for (;;) {
    const result = await call()
    if (isThere(result)) return
    before(result)
    expect(performance.now()).toBeLessThan(end)
  }
}

function timed<Result>(call: () => Promise<Result>): Promise<Result> {
  return promptly(PROMPT, call)
}

/** Expects a server whose store is away to say so everywhere. */
async function expectAway(server: Server, reason: RegExp): Promise<void> {
  for (const received of [await timed(() => server.get()), await timed(() => server.add('lost.example'))]) {
    expect([received.status, received.body.error.code]).toEqual([500, 'internal_error'])
  }
  const ready = await server.ask('/ready')
  expect([ready.status, ready.error.code]).toEqual([503, 'unavailable'])
  expect(ready.error.message).toMatch(reason)
  expect((await server.ask('/health')).status).toBe(200)
  expect((await server.get('/nowhere')).status).toBe(404)
  for (const path of [
    '/accounts',
    '/accounts/default',
    '/accounts/default/domains',
    '/verdict',
    '/requests',
    '/coverage',
  ]) {
    const { status, error } = await timed(() => server.ask(path))
    expect({ path, status, code: error?.code }).toEqual({ path, status: 503, code: 'unavailable' })
  }
  const metrics = await server.ask('/metrics')
  expect(metrics.text).toMatch(/^dmarc_understudy_ready 0$/m)
  expect(metrics.text).toMatch(/^dmarc_understudy_store_connected 0$/m)
}

async function expectBack(server: Server): Promise<void> {
  await until(
    () => server.get(),
    ({ status }) => status === 200,
    // Before, it knows nothing; no key is refused meanwhile.
    ({ status }) => expect(status).toBe(500),
  )
  await until(
    () => server.ask('/ready'),
    ({ status }) => status === 200,
  )
  expect((await server.ask('/ready')).data).toMatchObject({ status: 'ready', store: 'redis', limitation: null })
}

describe.skipIf(!HAS_REDIS)('a server whose store', () => {
  it('is killed answers 500 at once, and goes on where it was when the store is there again', async () => {
    const redis = await startRedis({ appendonly: 'yes', appendfsync: 'always' })
    const servers = [await start({ store: redis.url }), await start({ store: redis.url })]
    expect((await servers[0]?.add('one.example'))?.status).toBe(200)
    await redis.kill()
    for (const server of servers) await expectAway(server, /^The store cannot be reached: .*ECONNREFUSED/)
    await redis.restart()
    for (const server of servers) {
      await expectBack(server)
      expect((await server.get()).body.data).toEqual({ domains: ['one.example'] })
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
    const servers = [await start({ store: redis.url }), await start({ store: redis.url })] as const
    const shop = await servers[0].createAccount({ id: 'shop' })
    expect((await servers[1].get('/domains', shop.apiKey)).status).toBe(200)
    await servers[0].add('one.example')
    await redis.kill()
    await until(
      () => servers[0].ask('/ready'),
      ({ status }) => status === 503,
    )
    await redis.restart()
    for (const server of servers) {
      await expectBack(server)
      expect((await server.get()).body.data).toEqual({ domains: [] })
      expect((await server.get('/domains', shop.apiKey)).status).toBe(401)
      expect((await server.ask('/accounts')).data.accounts).toMatchObject([{ id: 'default' }])
      expect(server.said.filter((line) => /emptied/.test(line))).toHaveLength(1)
    }
    expect((await servers[1].add('two.example')).status).toBe(200)
    expect((await servers[0].get()).body.data).toEqual({ domains: ['two.example'] })
  })

  it('is emptied while it runs notices it', async () => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await server.add('one.example')
    await redis.command('FLUSHALL')
    await until(
      () => server.get(),
      ({ status, body }) => status === 200 && body.data.domains.length === 0,
    )
    expect(server.said.at(-1)).toMatch(/^The store was emptied or replaced/)
    expect((await server.ask('/ready')).status).toBe(200)
  })

  it('is stopped answers 500 within a second, and goes on afterwards', async () => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await server.add('one.example')
    redis.pause()
    await expectAway(server, /^The store (has not answered within|cannot be reached)/)
    redis.resume()
    await expectBack(server)
    expect(await domainsOf(server)).toContain('one.example')
  })

  it('has become a read-only replica is away, until it is none', async () => {
    const [redis, other] = [await startRedis(), await startRedis()]
    const server = await start({ store: redis.url })
    await redis.command('REPLICAOF', '127.0.0.1', other.port)
    await until(
      () => server.ask('/ready'),
      ({ status }) => status === 503,
    )
    expect((await server.ask('/ready')).error.message).toMatch(/read-only replica/)
    await redis.command('REPLICAOF', 'NO', 'ONE')
    await expectBack(server)
  })

  it.each(['kill', 'pause'] as const)('is away at the end (%s) stops all the same, and soon', async (trouble) => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await server.add('one.example')
    await redis[trouble]()
    await server.get()
    await timed(() => server.stop())
    if (trouble === 'pause') redis.resume()
  })

  it('has forgotten its scripts notices nothing', async () => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await redis.command('SCRIPT', 'FLUSH')
    expect((await server.add('one.example')).status).toBe(200)
    expect((await server.get()).status).toBe(200)
    expect(server.said).toEqual(['The store is shared.'])
  })

  it('has no memory left refuses changes, and goes on reading', async () => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await server.add('one.example')
    await redis.command('CONFIG', 'SET', 'maxmemory', '1mb')
    expect((await server.add('two.example')).status).toBe(500)
    expect((await server.get()).body.data).toEqual({ domains: ['one.example'] })
    await until(
      () => server.ask('/ready'),
      ({ data }) => data.limitation !== null,
      ({ status }) => expect(status).toBe(200),
    )
    expect((await server.ask('/ready')).data).toMatchObject({
      status: 'ready',
      limitation: 'Changes are refused, because the store has no memory left (its setting maxmemory).',
    })
    await redis.command('CONFIG', 'SET', 'maxmemory', '0')
    expect((await server.add('two.example')).status).toBe(200)
    await until(
      () => server.ask('/ready'),
      ({ data }) => data.limitation === null,
    )
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
    await until(
      () => server.ask('/ready'),
      ({ status }) => status === 503,
    )
    await expectAway(server, /^Servers with another contract have taken over/)
    await command('HSET', marker, 'contract', contract)
    await expectBack(server)
  })
})

describe.skipIf(!HAS_REDIS)('servers that share a store', () => {
  async function startTwo(): Promise<[Server, Server]> {
    const where = { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
    return [await start(where), await start(where)]
  }

  it('give requests of nobody the ids that a server alone gives, and none twice', async () => {
    const servers = await startTwo()
    const alone = await start({})
    const ids = new Set<unknown>()
    for (let each = 0; each < 20; each++) {
      const [first, second] = [await servers[0].get('/domains', 'wrong'), await servers[1].get('/domains', 'wrong')]
      expect(first.headers['x-request-id']).toBe((await alone.get('/domains', 'wrong')).headers['x-request-id'])
      ids.add(first.headers['x-request-id']).add(second.headers['x-request-id'])
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
    for (const [name, value] of [
      ['store_connected', '1'],
      ['store_servers', '2'],
      ['store_retries_total', '0'],
      ['store_conflicts_total', '0'],
      ['store_unknowns_total', '0'],
      ['store_unavailable_total', '0'],
      ['store_reconnects_total', '0'],
      ['exchanges_total', '2'],
    ]) {
      expect(text).toContain(`\ndmarc_understudy_${name} ${value}\n`)
    }
    const [, counted] = /^dmarc_understudy_store_reply_seconds_count (\d+)$/m.exec(text) ?? []
    expect(text).toContain(`dmarc_understudy_store_reply_seconds_bucket{le="+Inf"} ${counted}\n`)
    expect(text).toMatch(/^dmarc_understudy_memory_limit_bytes\{part="accounts"\} \d{7,}$/m)
  })

  it('forget a server that has left', async () => {
    const [one, other] = await startTwo()
    await other.stop()
    await until(
      () => one.ask('/metrics'),
      ({ text }) => /^dmarc_understudy_store_servers 1$/m.test(text),
    )
  })

  it('tell the others of everything before they stop', async () => {
    const [one, other] = await startTwo()
    await one.add('one.example')
    await one.stop()
    expect((await other.ask('/requests')).data.requests).toMatchObject([{ operation: 'addDomains', status: 200 }])
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
    expect([status, ready]).toMatchObject([
      200,
      { limitation: expect.stringMatching(/^Changes are refused, because /) },
    ])
    mkdirSync(data)
    await until(
      () => server.add('one.example'),
      (received) => received.status === 200,
    )
    expect((await server.ask('/ready')).data).toMatchObject({ limitation: null })
  })

  it('is ready', async () => {
    const server = await start({})
    const { status, data } = await server.ask('/ready')
    expect([status, data]).toEqual([
      200,
      { status: 'ready', instance: server.instance, store: 'memory', limitation: null },
    ])
    expect((await server.ask('/metrics')).text).toMatch(/^dmarc_understudy_ready 1$/m)
    expect((await server.ask('/metrics')).text).not.toMatch(/dmarc_understudy_store_/)
  })
})

async function domainsOf(server: Server): Promise<string[]> {
  return (await server.get()).body.data.domains
}
