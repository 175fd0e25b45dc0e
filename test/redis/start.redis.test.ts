import { createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listenOn } from '../support/listening.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import {
  freshPrefix,
  HAS_REDIS,
  openRedis,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../support/redis-server.ts'
import { PASSWORD, refusalOf, startUntilTestEnd } from '../support/refused-start.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What speaks like Redis, and says these facts about itself; its address. */
async function pretend(...facts: string[]): Promise<string> {
  const text = `# Server\r\n${facts.join('\r\n')}\r\n`
  const server = createServer((socket) =>
    socket.on('data', (bytes) => {
      for (const [, name = ''] of bytes.toString().matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g)) {
        if (name === 'TIME') socket.write('*2\r\n$10\r\n1768467600\r\n$1\r\n0\r\n')
        else socket.write(name === 'INFO' ? `$${text.length}\r\n${text}\r\n` : '+OK\r\n')
      }
    }),
  )
  return `redis://127.0.0.1:${await listenOn(server)}`
}

describe('a store that is not as it should be is named at the start, with what helps:', () => {
  it.each([
    ['an old version', ['redis_version:6.2.14'], / is Redis 6\.2\.14; it must be Redis 7 or newer, or Valkey$/],
    [
      'a sentinel',
      ['redis_version:7.0.0', 'redis_mode:sentinel'],
      / is a Sentinel, which holds no data; give the address /,
    ],
    [
      'a cluster',
      ['redis_version:7.0.0', 'redis_mode:cluster'],
      / is a node of a cluster, which is not supported; use a server without cluster mode$/,
    ],
    [
      'one that loads its data',
      ['redis_version:7.0.0', 'loading:1'],
      / is still loading its data; start again when it has/,
    ],
  ])('%s', async (_, facts, message) => {
    expect(await refusalOf({ store: await pretend(...facts) })).toMatch(message)
  })

  it.each([
    [
      `redis://app:${PASSWORD}@127.0.0.1:1/3`,
      / redis:\/\/127\.0\.0\.1:1\/3 cannot be reached: .+; is it running there\?$/,
    ],
    [
      'redis://nowhere.invalid',
      / redis:\/\/nowhere\.invalid:6379\/0 cannot be reached: .+; check the name of the host$/,
    ],
  ])('%s', async (store, message) => {
    expect(await refusalOf({ store })).toMatch(message)
  })

  it.each<[what: string, answer: string | undefined, message: RegExp]>([
    [
      'one that answers nothing',
      '',
      /has not answered within \d+ ms; is it Redis or Valkey\? If it speaks TLS, write red/,
    ],
    ['one that speaks HTTP', 'HTTP/1.1 400 Bad Request\r\n\r\n', /cannot be reached: .+; is it Redis or Valkey\?/],
    ['one that closes each connection', undefined, /cannot be reached: .+; is it Redis or Valkey\?/],
  ])('%s', async (_, answer, message) => {
    const server = createServer((socket) => (answer === undefined ? socket.destroy() : void socket.write(answer)))
    expect(await refusalOf({ store: `redis://127.0.0.1:${await listenOn(server)}` }, 0.3)).toMatch(message)
  })
})

describe.skipIf(!HAS_REDIS)('a Redis with a password', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await openRedis({ requirepass: PASSWORD })
  })
  afterAll(() => redis.end())
  const at = (user: string, rest = '') => `redis://${user}127.0.0.1:${redis.port}${rest}`

  it.each([
    ['asks for it', '', '', / refuses the connection \(NOAUTH .+\); write redis:\/\/USER:PASSWORD@HOST$/],
    ['refuses another', `:${PASSWORD}x@`, '', / refuses the connection \(WRONGPASS .+\); check user and password /],
    [
      'has no such database',
      `:${PASSWORD}@`,
      '/99',
      / refuses the connection \(ERR DB index is out of range\); end the URL /,
    ],
  ])('%s', async (_, user, rest, message) => {
    expect(await refusalOf({ store: at(user, rest) })).toMatch(message)
  })

  it('names what its user may not do, and serves one who may do what the documentation names', async () => {
    const storePrefix = freshPrefix()
    const permit = (...rights: string[]) =>
      redis.command('ACL', 'SETUSER', 'app', 'reset', 'on', `>${PASSWORD}`, ...rights)
    const store = at(`app:${PASSWORD}@`)
    await permit('~*', '+@all', '-evalsha')
    expect(await refusalOf({ store, storePrefix })).toMatch(/ refuses commands \(NOPERM .*evalsha/)
    await permit('~other:*', '+@all')
    expect(await refusalOf({ store, storePrefix })).toMatch(/ refuses commands \(NOPERM /)
    const documented = ['+@read', '+@write', '+@connection', '+@scripting', '+time', '-@dangerous', '+info']
    await permit(`~${storePrefix}:*`, ...documented)
    const service = await startUntilTestEnd({ store, storePrefix: `${storePrefix}:a`, apiKey: 'a-key' })
    expect(await service.account?.domains.add(['one.example'])).toBeDefined()
    expect(await service.requests.list()).toEqual([])
  })

  it('that is a replica is refused', async () => {
    const replica = await startRedis({ replicaof: `127.0.0.1 ${redis.port}`, masterauth: PASSWORD })
    expect(await refusalOf({ store: replica.url })).toBe(
      `The store ${replica.url}/0 refuses changes, because its server is a read-only replica of another one`,
    )
  })
})

describe.skipIf(!HAS_REDIS)('a Redis that others use, or have used,', () => {
  async function shared(): Promise<{ store: string; storePrefix: string }> {
    return { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
  }

  const withNames = (value: string) => ({
    overlays: [
      writeOverlay(temporaryFolder(), [{ target: "$['x-settings']['international-names']", update: { value } }]),
    ],
  })

  it('has one default account, when many servers start at the same time', async () => {
    const where = await shared()
    const servers = await Promise.all([1, 2, 3].map(() => startUntilTestEnd(where)))
    expect(new Set(servers.map(({ apiKey }) => apiKey)).size).toBe(1)
    for (const server of servers) expect((await server.listAccounts()).map(({ id }) => id)).toEqual(['default'])
  })

  it('is refused where it is full', async () => {
    const full = await startRedis({ maxmemory: '1mb' })
    expect(await refusalOf({ store: full.url })).toMatch(/has no memory left: .+ maxmemory/)
  })

  it('is refused to those who serve another contract, also when nobody uses it, with what to do', async () => {
    const where = await shared()
    await (await startUntilTestEnd({ ...where, ...withNames('u-label') })).stop()
    expect(await refusalOf(where)).toMatch(
      / was used with other overlays, or with another openapi\.yaml, .+; start with the same, or use another --store-prefix$/,
    )
    await startUntilTestEnd({ ...where, ...withNames('u-label') })
  })

  it('is refused where its data have another format', async () => {
    const where = await shared()
    await (await sharedRedis()).command('HSET', `${where.storePrefix}:store`, 'marker', '{"format":"99"}')
    const found = `holds accounts under ${where.storePrefix} in format 99, and this version reads format 4`
    expect(await refusalOf(where)).toContain(` ${found}; use another --store-prefix`)
  })

  it('is refused where its data are those of another program', async () => {
    const where = await shared()
    const { command } = await sharedRedis()
    await command('SET', `${where.storePrefix}:store`, 'something else')
    expect(await refusalOf(where)).toContain(
      ` its key ${where.storePrefix}:store is not of this program; use another --store-prefix`,
    )
  })
})
