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
  const shop: string = (await ask('POST', '/accounts', { id: 'shop', fixture: 'empty' })).data.api_key
  await ask('PUT', '/accounts/shop/state', { domains: hosts(1_001) })
  await ask('POST', '/accounts/shop/faults', { respond: { error: 'internal_error' }, match: { path: '/dmarc' } })
  await ask('POST', '/accounts/shop/snapshots', { name: 's' })
  for (const key of [KEY, shop, 'sandbox_changed', 'sandbox_unchanged']) await send('GET', '/domains', undefined, key)
  await send('GET', '/dmarc', undefined, shop)
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
  const paths = [
    '/accounts/shop/domains?limit=1',
    '/accounts/default',
    '/requests',
    '/verdict',
    '/coverage',
    '/metrics',
  ]
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

/** A server on a copy of all keys under a prefix, but for one, and for the leases: it would wait for servers that are elsewhere. */
async function startCopy(prefix: string, lost = '') {
  const { command } = await sharedRedis()
  const copy = freshPrefix()
  for (const key of await keysOf(prefix)) {
    const isLeft = key === prefix + lost || key.endsWith(':{all}:replicas')
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
    expect(keys.filter((key) => REGISTRY.some((name) => key === `:{all}:${name}`))).toHaveLength(REGISTRY.length)
    expect(keys.length).toBeGreaterThan(30)
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
    const others = ['marker', 'journal', 'coverage', 'counts', 'examples', 'present', 'totals', 'news', 'questions']
    const keys = [...[...REGISTRY, ...others].map((name) => `:{all}:${name}`), `${account}:head`, `${account}:parts`]
    for (const [index, lost] of keys.entries()) {
      const { server, copy } = await startCopy(prefix, lost)
      expect(await refusalsOf(server, shop), lost).toEqual([])
      expect(await idsOf(server), lost).toEqual(expect.arrayContaining(ids))
      if (index < REGISTRY.length) expect(server.said.join(), lost).toContain(`"${copy}${lost}"`)
      await server.stop()
    }
  })

  it('and cannot be made again is named, with what helps', async () => {
    const { command } = await sharedRedis()
    const prefix = freshPrefix()
    const first = await start(prefix)
    await fill(first)
    const shop = await partOf(prefix, 'shop')
    const [copy = ''] = (await keysOf(prefix)).filter((key) => /:snapshot:.*:parts$/.test(key))
    await command('DEL', copy)
    const restored = await first.ask('POST', '/accounts/shop/snapshots/s/restore')
    expect(restored.error.message).toContain(`lacks the key ${copy} of the snapshot "s"`)
    expect((await first.ask('DELETE', '/accounts/shop/snapshots/s')).status).toBe(200)
    await command('DEL', `${shop}:parts`)
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
