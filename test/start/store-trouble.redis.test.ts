import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { Understudy } from '../../src/start/server.ts'
import { askControl, type ControlResponse } from '../support/control-plane.ts'
import { HAS_REDIS, type RedisOptions, type RedisServer, startRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { expectLawful } from '../support/service.ts'

const KEY = 'the-key-of-default'
/** By what the times are multiplied that a step of the store may take: long while it answers, short while it is away. */
const [LONG, SHORT] = [25, 0.25]
/** The beginning of what a server says of others that are slow, as they are on a busy machine. */
const LATE = 'Other servers have not sent their latest requests in time'
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
}

async function start(options: ServerOptions): Promise<Server> {
  const said: string[] = []
  const note = (_: object, message: string) => void said.push(message)
  const log = {
    warn: note,
    error: note,
    info: (_: object, words: string) => void (/store/i.test(words) && said.push(words)),
  }
  const given = { fixture: 'empty', apiKey: KEY, enforceQuotas: false, log, ...options }
  const service = await startPatient(given, { patience: () => patience })
  onTestFinished(() => {
    // The store may be away for good.
    patience = SHORT
    return service.stop()
  })
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
  }
}

interface Trouble {
  redis?: RedisOptions
  begin(redis: RedisServer): Promise<unknown>
  /** Why the servers are not ready. Without it, they are. */
  reason?: RegExp
  /** What they say that they refuse, if they are ready. */
  limitation?: string
  /** The statuses of a read and a change, and of the same at the control plane. */
  answers: readonly [read: number, change: number, controlRead: number, controlChange: number]
  end(redis: RedisServer): Promise<unknown>
  /** The domains after the recovery; at the beginning, there is `one.example`. */
  domains?: readonly string[]
  /** What is logged beside the loss and the return of the store. */
  said?: RegExp
}

const NOTHING = [500, 500, 503, 503] as const

const TROUBLES: Readonly<Record<string, Trouble>> = {
  'is killed, and is there again with its data': {
    redis: { appendonly: 'yes', appendfsync: 'always' },
    begin: (redis) => redis.kill(),
    reason: /^The (connection to the store was lost|store cannot be reached: .*ECONN)/,
    answers: NOTHING,
    end: (redis) => redis.restart(),
  },
  'is stopped, and continues': {
    begin: async (redis) => redis.pause(),
    reason: /not answered within \d+ ms/,
    answers: NOTHING,
    end: async (redis) => redis.resume(),
  },
  'has no memory left': {
    begin: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '1mb'),
    limitation: 'Changes are refused, because the store has no memory left (its setting maxmemory).',
    answers: [200, 500, 200, 507],
    end: (redis) => redis.command('CONFIG', 'SET', 'maxmemory', '0'),
    said: /^The store has (no )?memory (left|again)|^Requests are in no journal /,
  },
  'loses its functions and scripts': {
    async begin(redis) {
      await redis.command('FUNCTION', 'FLUSH')
      await redis.command('SCRIPT', 'FLUSH')
    },
    answers: [200, 200, 200, 201],
    end: async () => {},
    domains: ['one.example', 'lost.example'],
  },
}

/** Expects a server whose store is away to say so everywhere. */
async function expectAway(server: Server, reason: RegExp): Promise<void> {
  await expect.poll(async () => (await server.ask('/ready')).error?.message).toMatch(reason)
  const ready = await server.ask('/ready')
  expect([ready.status, ready.error.code]).toEqual([503, 'unavailable'])
  expect((await server.ask('/health')).status).toBe(200)
  expect((await server.get('/nowhere')).status).toBe(404)
  const paths = ['/accounts', '/accounts/default', '/accounts/default/domains', '/verdict', '/requests', '/coverage']
  for (const { status, error } of await Promise.all(paths.map((path) => server.ask(path)))) {
    expect([status, error?.code]).toEqual([503, 'unavailable'])
  }
}

/** Expects a server to be ready again soon, and not to give any other state until then. */
async function expectBack(server: Server, domains: readonly string[]): Promise<void> {
  for (;;) {
    const { status, body } = await server.get()
    if (status !== 500) expect([status, body.data?.domains]).toEqual([200, domains])
    const ready = await server.ask('/ready')
    if (status === 200 && ready.data?.limitation === null) break
  }
  expect((await server.ask('/ready')).data).toMatchObject({ status: 'ready', store: 'redis', limitation: null })
}

async function answersOf(server: Server): Promise<number[]> {
  const answers = await Promise.all([server.get(), server.ask('/accounts')])
  const [read, control] = answers.map(({ status }) => status)
  const created = await askControl(server, 'POST', '/accounts', { id: 'another' })
  return [read, (await server.add('lost.example')).status, control, created.status] as number[]
}

describe.skipIf(!HAS_REDIS)('servers whose store', () => {
  it.each(Object.entries(TROUBLES))('%s say so, give no other answers, and go on by themselves', async (_, trouble) => {
    const redis = await startRedis(trouble.redis)
    const servers = [await start({ store: redis.url }), await start({ store: redis.url })] as const
    expect((await servers[0].add('one.example')).status).toBe(200)
    expect(await servers[1].domains()).toEqual(['one.example'])
    // A server that notices its loss while it is patient lets requests wait for long.
    const { reason, limitation = null, domains = ['one.example'] } = trouble
    if (reason !== undefined) patience = SHORT
    await trouble.begin(redis)
    for (const server of reason === undefined ? servers.slice(0, 1) : servers) {
      expect(await answersOf(server)).toEqual(trouble.answers)
    }
    for (const server of servers) {
      if (reason !== undefined) await expectAway(server, reason)
      else await expect.poll(async () => (await server.ask('/ready')).data?.limitation).toBe(limitation)
    }
    patience = LONG
    await trouble.end(redis)
    for (const server of servers) await expectBack(server, domains)
    expect((await servers[0].add('three.example')).status).toBe(200)
    expect(await servers[1].domains()).toEqual([...domains, 'three.example'])
    for (const { said } of servers) {
      // One line at each change of state, and none for a request.
      const changes = said.filter((line) => !trouble.said?.test(line) && !line.startsWith(LATE))
      const [away, back] = [
        'The store is away: until it is back, requests are answered with 500.',
        'The store is back.',
      ]
      expect(changes).toEqual(['The store is shared.', ...(reason === undefined ? [] : [away, back])])
      if (trouble.said !== undefined) expect(said.length).toBeGreaterThan(changes.length)
    }
  })
})

describe.skipIf(!HAS_REDIS)('a server whose store', () => {
  it.each(['kill', 'pause'] as const)('is away at the end (%s) stops all the same', async (trouble) => {
    const redis = await startRedis()
    const server = await start({ store: redis.url })
    await server.add('one.example')
    patience = SHORT
    await redis[trouble]()
    await server.get()
    await server.stop()
    if (trouble === 'pause') redis.resume()
  })
})
