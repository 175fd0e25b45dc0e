import { describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { hosts } from '../store/example-account.ts'
import { atOnce, range } from '../support/at-once.ts'
import { askControl } from '../support/control-plane.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { sendRequest } from '../support/request.ts'

const KEY = 'the-key-of-default'
/** Those about all accounts that are made again from the accounts. */
const REGISTRY = ['accounts', 'keys', 'order', 'numbers', 'changed', 'unchanged']
/** Those of an account, and those of the servers. */
const ACCOUNT = ['head', 'parts', 'log', 'snapshots', 'snapshot:.+:parts', 'snapshot:.+:counters', 'ended']
const SERVER = ['marker', 'replicas']

async function start(storePrefix: string, options: ServerOptions = {}) {
  const said: string[] = []
  const say = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`)
  const log = { info: () => {}, warn: say, error: say }
  const { url: store } = await sharedRedis()
  const given = { store, storePrefix, fixture: 'empty', apiKey: KEY, enforceQuotas: false, journal: 5, log }
  const server = await startPatient({ ...given, ...options })
  onTestFinished(() => server.stop())
  return {
    ...server,
    said,
    send: (method: string, path: string, body?: unknown, key = KEY) =>
      sendRequest(method, server.baseUrl + path, body, { authorization: `Bearer ${key}` }),
    ask: (method: string, path: string, body?: unknown) => askControl(server, method, path, body),
  }
}

/** How many servers lose keys at the same time. */
const SERVERS = 4

type Server = Awaited<ReturnType<typeof start>>

/** Writes keys of all kinds; the key of the account `shop`. */
async function fill({ ask, send }: Server): Promise<string> {
  await ask('POST', '/accounts', { id: 'deleted' })
  await ask('DELETE', '/accounts/deleted')
  const shop: string = (await ask('POST', '/accounts', { id: 'shop', fixture: 'empty' })).data.api_key
  await ask('PUT', '/accounts/shop/state', { domains: hosts(1_001) })
  await ask('POST', '/accounts/shop/faults', { respond: { error: 'internal_error' }, match: { path: '/dmarc' } })
  for (const key of [KEY, shop, 'sandbox_changed', 'sandbox_unchanged']) await send('GET', '/domains', undefined, key)
  await send('GET', '/dmarc', undefined, shop)
  await ask('POST', '/accounts/shop/snapshots', { name: 's' })
  await send('POST', '/domains', { domains: ['one.example'] }, 'sandbox_changed')
  for (let each = 0; each < 7; each++) await send('POST', '/domains', { nonsense: 1 })
  await ask('DELETE', '/verdict')
  await send('POST', '/domains', { nonsense: 2 })
  await ask('GET', '/verdict')
  return shop
}

let used = 0

/** What the server refuses, where everything is asked for. */
async function refusalsOf({ ask, send }: Server, shop: string): Promise<string[]> {
  const answers = [
    await send('GET', '/domains'),
    await send('POST', '/domains', { domains: [`d${++used}.example`] }),
    await send('GET', '/domaingroups', undefined, shop),
    await send('GET', '/domains', undefined, 'sandbox_changed'),
    await ask('POST', '/accounts', {}),
  ]
  const paths = ['/accounts/shop/domains?limit=1', '/accounts/default', '/requests', '/verdict', '/coverage']
  for (const path of paths) answers.push(await ask('GET', path))
  return answers.filter(({ status }) => status >= 400).map(({ text }) => text)
}

async function idsOf({ ask }: Server): Promise<string[]> {
  return (await ask('GET', '/accounts')).data.accounts.map(({ id }: { id: string }) => id).toSorted()
}

async function keysOf(prefix: string): Promise<string[]> {
  return ((await (await sharedRedis()).command('KEYS', `${prefix}:*`)) as string[]).toSorted()
}

/** The keys of an account begin with this. */
async function partOf(prefix: string, account: string): Promise<string> {
  return `${prefix}:{${await (await sharedRedis()).command('HGET', `${prefix}:{all}:accounts`, account)}}`
}

/** A server on a copy of the keys under a prefix that are not lost. Without the leases, it waits for no server. */
async function startCopy(prefix: string, isLost = (_: string) => false) {
  const { command } = await sharedRedis()
  const copy = freshPrefix()
  for (const key of await keysOf(prefix)) {
    const isLeft = isLost(key.slice(prefix.length)) || key.endsWith(':{all}:replicas')
    if (!isLeft) await command('COPY', key, copy + key.slice(prefix.length))
  }
  return { server: await start(copy), copy }
}

describe.skipIf(!HAS_REDIS)('A key of the store that was deleted', () => {
  it('is made again by the server that runs, or nobody misses it', async () => {
    const { command } = await sharedRedis()
    const prefix = freshPrefix()
    const server = await start(prefix)
    const shop = await fill(server)
    expect(await refusalsOf(server, shop)).toEqual([])
    const ids = await idsOf(server)
    const keys = (await keysOf(prefix)).map((key) => key.slice(prefix.length))
    const kinds = [
      ...[...REGISTRY, ...SERVER].map((name) => `{all}:${name}`),
      ...ACCOUNT.map((name) => `{\\d+}:${name}`),
    ]
    const absent = kinds.filter((kind) => !keys.some((key) => new RegExp(`^:${kind}$`).test(key)))
    expect(absent).toEqual([])
    // A server that has the account in memory does not miss its parts.
    const missed = keys.filter((key) => !/:(head|parts)$/.test(key))
    // A loss is noticed at the next look, so several servers wait for theirs at the same time.
    await atOnce(SERVERS, async (turn) => {
      const { server: each, copy } = await startCopy(prefix)
      await refusalsOf(each, shop)
      for (const key of missed.filter((_, index) => index % SERVERS === turn)) {
        await command('DEL', copy + key)
        const isRegistry = REGISTRY.includes(key.slice(':{all}:'.length))
        const sign = isRegistry ? `"${copy}${key}"` : key.endsWith(':marker') ? 'has lost its marker' : ''
        await expect.poll(() => each.said.join(), { message: key }).toContain(sign)
        expect(await refusalsOf(each, shop), key).toEqual([])
        expect(await idsOf(each), key).toEqual(expect.arrayContaining(ids))
      }
    })
    const head = async () => `${await partOf(prefix, 'default')}:head`
    const lost = await head()
    await command('DEL', lost)
    expect((await server.send('GET', '/domains')).body.data.domains).toEqual([])
    expect(server.said.at(-1)).toContain(`"account":"default","key":"${lost}"`)
    await command('DEL', await head())
    // Those who come while it is made again wait for it, whoever has noticed first that it is gone.
    const [read, ...answers] = await Promise.all([
      server.ask('GET', '/accounts/default/domains?limit=1'),
      ...range(1, 20).map(() => server.send('GET', '/domains')),
    ])
    expect([200, 404]).toContain(read.status)
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(await refusalsOf(server, shop)).toEqual([])
  })

  it('while no server ran is made again at the next start, or nobody misses it', async () => {
    const prefix = freshPrefix()
    const first = await start(prefix)
    const shop = await fill(first)
    const ids = await idsOf(first)
    const account = (await partOf(prefix, 'default')).slice(prefix.length)
    await first.stop()
    const alone = [...REGISTRY.map((name) => `:{all}:${name}`), ':{all}:marker', `${account}:head`, `${account}:parts`]
    const missed = new Set(alone)
    const losses: [what: string, isLost: (key: string) => boolean, isNamed?: boolean][] = [
      ...alone.map((lost, index): (typeof losses)[0] => [lost, (key) => key === lost, index < REGISTRY.length]),
      ['what nobody misses', (key) => !missed.has(key) && !/:(head|parts)$/.test(key)],
      ['some about all accounts', (key) => /^:\{all}:(accounts|keys|order)$/.test(key)],
      ['all about all accounts', (key) => key.startsWith(':{all}:')],
    ]
    for (const [what, isLost, isNamed] of losses) {
      const { server, copy } = await startCopy(prefix, isLost)
      expect(await refusalsOf(server, shop), what).toEqual([])
      expect(await idsOf(server), what).toEqual(expect.arrayContaining(ids))
      if (isNamed) expect(server.said.join(), what).toContain(`"${copy}${what}"`)
      await server.stop()
    }
  })

  it('is never taken for an empty one, as long as it is not made again', async () => {
    const { command } = await sharedRedis()
    const prefix = freshPrefix()
    const [server, other] = [await start(prefix), await start(prefix)]
    const shop = await fill(server)
    const common = (await keysOf(prefix)).filter((key) => key.startsWith(`${prefix}:{all}:`))
    const registry = common.filter((key) => REGISTRY.some((name) => key.endsWith(`}:${name}`)))
    for (const lost of [registry, common]) {
      // The other server does not know any of these accounts yet, or asks whether they are still there.
      const before = await idsOf(server)
      await command('DEL', ...lost)
      const answers = await Promise.all([
        other.send('GET', '/domains', undefined, 'sandbox_changed'),
        other.send('GET', '/domains', undefined, shop),
        server.send('GET', '/domains'),
        other.ask('GET', '/accounts/shop/domains?limit=1'),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(answers[0]?.body.data.domains).toEqual(['one.example'])
      await command('DEL', ...lost)
      expect((await server.ask('POST', '/accounts', { id: 'shop' })).status).toBe(409)
      await command('DEL', ...lost)
      expect(await idsOf(other)).toEqual(before)
    }
    const creations = range(1, 20).map((index) => server.ask('POST', '/accounts', { id: `new-${index}` }))
    await command('DEL', `${prefix}:{all}:accounts`)
    expect((await Promise.all(creations)).map(({ status }) => status)).toEqual(creations.map(() => 201))
    expect(await idsOf(other)).toEqual(expect.arrayContaining(range(1, 20).map((index) => `new-${index}`)))
  })

  it('and cannot be made again is named, with what helps', async () => {
    const { command } = await sharedRedis()
    const prefix = freshPrefix()
    const first = await start(prefix)
    const key = await fill(first)
    const shop = await partOf(prefix, 'shop')
    const [copy = ''] = (await keysOf(prefix)).filter((key) => /:snapshot:.*:parts$/.test(key))
    await command('DEL', copy)
    const restored = await first.ask('POST', '/accounts/shop/snapshots/s/restore')
    expect(restored.error.message).toContain(`lacks the key ${copy} of the snapshot "s"`)
    expect((await first.ask('DELETE', '/accounts/shop/snapshots/s')).status).toBe(200)
    await command('DEL', `${shop}:parts`)
    // A server that has the account in memory keeps no part of it as if it were the whole.
    expect((await first.send('POST', '/domains', { domains: ['late.example'] }, key)).status).toBe(500)
    const taken = await first.ask('POST', '/accounts/shop/snapshots', { name: 'late' })
    expect(taken.error.message).toContain(`lacks the key ${shop}:parts of an account`)
    const other = await start(prefix)
    const { error } = await other.ask('GET', '/accounts/shop/domains')
    expect(error.message).toContain(`lacks the key ${shop}:parts of an account`)
    expect(error.message).toContain(`delete ${shop}:head, too, which ends the account`)
    expect(await idsOf(other)).toEqual(['default', 'sandbox_changed', 'sandbox_unchanged'])
    await command('DEL', `${shop}:head`)
    expect((await other.ask('GET', '/accounts/shop/domains')).status).toBe(404)
    expect(other.said.at(-1)).toContain(`"account":"shop","key":"${shop}:head"`)
    expect((await other.ask('POST', '/accounts', { id: 'shop' })).status).toBe(201)
  })
})
