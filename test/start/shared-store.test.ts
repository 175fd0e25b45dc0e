import { readdirSync, readFileSync } from 'node:fs'
import { createServer, connect as openSocket, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { startUnderstudy } from '../../src/start/server.ts'
import { FORMAT } from '../../src/store/redis/membership.ts'
import { SENT } from '../../src/store/redis/server-check.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { CERTIFICATE, PRIVATE_KEY } from '../evidence/proxy/certificate.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { promptly } from '../support/promptness.ts'
import { recordingLog } from '../support/recording-log.ts'
import {
  freshPrefix,
  HAS_REDIS,
  openRedis,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../support/redis-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PASSWORD = 'Sesame-77-Open'
/** In milliseconds, how long a start may take that comes to nothing. */
const PROMPT = 3_000

async function start(options: ServerOptions) {
  const service = await startUnderstudy({ fixture: 'empty', ...options })
  onTestFinished(() => service.stop())
  return service
}

/** What a start says that comes to nothing. */
async function refusalOf(options: ServerOptions): Promise<string> {
  const error = await promptly(PROMPT, () => start(options).catch((thrown: unknown) => thrown))
  expect(error).toBeInstanceOf(StoreError)
  const { message } = error as StoreError
  expect(message).not.toContain('\n')
  expect(message).not.toContain(PASSWORD)
  return message
}

/** Listens on a free port until the test ends. */
async function listenOn(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as { port: number }).port
}

/** Speaks TLS and passes everything on to a Redis. */
function tlsBefore({ socket }: RedisServer): Server {
  const server = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY }, (client) => {
    const inner = openSocket(socket)
    inner.on('error', () => client.destroy())
    client.on('error', () => inner.destroy())
    client.pipe(inner).pipe(client)
  })
  server.on('tlsClientError', () => {})
  return server
}

// To load what a start needs takes longer than the start.
beforeAll(async () => {
  await refusalOf({ store: 'redis://127.0.0.1:1' }).catch(() => {})
})

describe('a store that cannot be reached', () => {
  it('is named with the reason: nobody listens', async () => {
    expect(await refusalOf({ store: `redis://app:${PASSWORD}@127.0.0.1:1/3` })).toBe(
      'The store redis://127.0.0.1:1/3 cannot be reached: connect ECONNREFUSED 127.0.0.1:1; is it running there?',
    )
    expect(await refusalOf({ store: 'unix:/no/redis.sock' })).toBe(
      'The store unix:/no/redis.sock cannot be reached: connect ENOENT /no/redis.sock; is it running there?',
    )
  })

  it('is named with the reason: there is no such host', async () => {
    expect(await refusalOf({ store: 'redis://nowhere.invalid' })).toMatch(
      /^The store redis:\/\/nowhere\.invalid:6379\/0 cannot be reached: .+; check the name of the host$/,
    )
  })

  it('is named with the reason: it accepts, and never answers', async () => {
    const port = await listenOn(createServer(() => {}))
    expect(await refusalOf({ store: `redis://127.0.0.1:${port}` })).toMatch(
      /has not answered within 1000 ms; is it Redis or Valkey\? If it speaks TLS, write rediss:\/\/$/,
    )
  })

  it.each([
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'],
    ['bytes of any kind', Buffer.from([0, 255, 13, 10, 42, 13, 10])],
    ['an end at once', undefined],
  ])('is named where it answers with %s', async (_, answer) => {
    const port = await listenOn(
      createServer((socket) => {
        if (answer === undefined) socket.destroy()
        else socket.write(answer)
      }),
    )
    expect(await refusalOf({ store: `redis://127.0.0.1:${port}` })).toMatch(
      /cannot be reached: .+; is it Redis or Valkey\?/,
    )
  })
})

describe('the rights that a start asks for', () => {
  it('are those of every command that is sent', () => {
    const folders = ['store/redis', 'replicas', 'start']
    const sent = folders.flatMap((folder) =>
      readdirSync(join(ROOT, 'src', folder))
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => [
          ...readFileSync(join(ROOT, 'src', folder, name), 'utf8').matchAll(/(?:send\(|= )\['([A-Z]{3,})'/g),
        ])
        .map(([, command = '']) => command.toLowerCase()),
    )
    expect(sent.length).toBeGreaterThan(8)
    // Only a node of a cluster is asked for its cluster, and a refusal of that says what is missing.
    expect([...new Set(sent)].filter((command) => !SENT.includes(command))).toEqual(['cluster'])
  })
})

describe.skipIf(!HAS_REDIS)('a store with which no server can work', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await openRedis({ requirepass: PASSWORD })
  })
  afterAll(() => redis.end())
  const at = (user: string, rest = '') => `redis://${user}127.0.0.1:${redis.port}${rest}`

  it('asks for a password', async () => {
    expect(await refusalOf({ store: at('') })).toMatch(
      /^The store redis:\/\/127\.0\.0\.1:\d+\/0 asks for a password \(NOAUTH .+\); write redis:\/\/USER:PASSWORD@HOST$/,
    )
  })

  it.each([`:${PASSWORD}x@`, `somebody:${PASSWORD}@`, 'default@'])('refuses user and password: %s', async (user) => {
    expect(await refusalOf({ store: at(user) })).toMatch(
      /^The store redis:\/\/\S+ refuses this user and password \(WRONGPASS .+\); check user and password in the URL$/,
    )
  })

  it('has no such database', async () => {
    expect(await refusalOf({ store: at(`:${PASSWORD}@`, '/99') })).toMatch(
      /^The store redis:\/\/127\.0\.0\.1:\d+\/99 refuses the connection \(ERR DB index is out of range\); end the URL with the number of a database that it has$/,
    )
  })

  it.each<[rights: string[], missing: string]>([
    [['+@all', '-hset', '-xadd', '-zadd'], 'give it ~PREFIX:* and +hset +xadd +zadd'],
    [['+@all', '-info'], 'give it +info'],
    [['+@all', '-evalsha'], 'give it +eval +evalsha'],
    [['+@all', '-xread'], 'give it ~PREFIX:* and +xread'],
    [['+@all', 'resetkeys', '~other:*'], 'give it ~PREFIX:*'],
  ])('does not permit its user what is needed: %j', async (rights, missing) => {
    const prefix = freshPrefix()
    await redis.command('ACL', 'SETUSER', prefix, 'reset', 'on', `>${PASSWORD}`, '~*', ...rights)
    expect(await refusalOf({ store: at(`${prefix}:${PASSWORD}@`), storePrefix: prefix })).toBe(
      `The store redis://127.0.0.1:${redis.port}/0 does not let its user do what is needed; ${missing.replace('PREFIX', prefix)}`,
    )
    expect(await redis.command('KEYS', `${prefix}*`)).toEqual([])
  })

  it('serves a user who may do no more than what the documentation names', async () => {
    const prefix = freshPrefix()
    const rights = ['+@read', '+@write', '+@connection', '+@scripting', '+time', '-@dangerous', '+info']
    await redis.command('ACL', 'SETUSER', prefix, 'reset', 'on', `>${PASSWORD}`, `~${prefix}:*`, ...rights)
    const service = await start({ store: at(`${prefix}:${PASSWORD}@`), storePrefix: prefix, apiKey: 'a-key' })
    const added = await fetch(`${service.baseUrl}/domains`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-key', 'content-type': 'application/json' },
      body: '{"domains": ["one.example"]}',
    })
    expect(added.status).toBe(200)
    expect(await service.requests.list()).toHaveLength(1)
  })

  it('is a read-only replica of another server', async () => {
    const replica = await startRedis({ replicaof: `127.0.0.1 ${redis.port}`, masterauth: PASSWORD })
    expect(await refusalOf({ store: replica.url })).toBe(
      `The store ${replica.url}/0 is a read-only replica of 127.0.0.1:${redis.port}; give the address of that server`,
    )
  })

  it('is stopped', async () => {
    const stopped = await startRedis()
    stopped.pause()
    expect(await refusalOf({ store: stopped.url })).toMatch(/cannot be reached: it has not answered within 1000 ms; /)
    stopped.resume()
  })

  it('speaks TLS where the URL does not, and the other way round', async () => {
    const plain = await sharedRedis()
    const port = await listenOn(tlsBefore(plain))
    expect(await refusalOf({ store: `redis://127.0.0.1:${port}` })).toMatch(/If it speaks TLS, write rediss:\/\/$/)
    expect(await refusalOf({ store: `rediss://127.0.0.1:${plain.port}` })).toMatch(
      /If it does not speak TLS, write redis:\/\/$/,
    )
    expect(await refusalOf({ store: `rediss://127.0.0.1:${port}` })).toMatch(
      /certificate; name the file of its authority in NODE_EXTRA_CA_CERTS$/,
    )
  })

  it('has no memory left', async () => {
    const full = await startRedis({ maxmemory: '1mb' })
    expect(await refusalOf({ store: full.url })).toMatch(/has no memory left: .+ maxmemory/)
  })
})

describe.skipIf(!HAS_REDIS)('a store that others use, or have used', () => {
  const elsewhere = /; start all with the same overlays, or with another --store-prefix$/

  async function shared(): Promise<{ store: string; storePrefix: string }> {
    return { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
  }

  it('is shared with those who serve the same contract', async () => {
    const where = await shared()
    const [one, other] = [await start(where), await start(where)]
    expect([one.kept, other.kept]).toEqual([false, true])
    expect(other.apiKey).toBe(one.apiKey)
    await one.createAccount({ id: 'shop' })
    expect(await idsOf(other)).toEqual(['default', 'shop'])
  })

  it('has one default account, when many servers start at the same time', async () => {
    const where = await shared()
    const servers = await Promise.all([1, 2, 3].map(() => start(where)))
    expect(new Set(servers.map(({ apiKey }) => apiKey)).size).toBe(1)
    for (const server of servers) expect(await idsOf(server)).toEqual(['default'])
  })

  it('is not shared with those whose keys begin otherwise', async () => {
    const where = await shared()
    const [one, other] = [await start(where), await start({ ...where, storePrefix: `${where.storePrefix}-2` })]
    await one.createAccount({ id: 'shop' })
    expect(await idsOf(other)).toEqual(['default'])
  })

  it('is shared with those whose overlays are the same, wherever they are', async () => {
    const where = await shared()
    await start({ ...where, overlays: [overlayOf('accepted')] })
    await start({ ...where, overlays: [overlayOf('accepted')] })
  })

  it('is refused to those who serve another contract, with what differs', async () => {
    const where = await shared()
    await start({ ...where, overlays: [overlayOf('accepted')] })
    const none = await refusalOf(where)
    expect(none).toMatch(
      / Another server uses it under \S+ with other overlays \(there: overlay.*\.yaml; here: none\); /,
    )
    expect(none).toMatch(elsewhere)
    await start({ ...where, overlays: [overlayOf('accepted')] })
    const other = await refusalOf({ ...where, overlays: [overlayOf('refused')] })
    expect(other).toMatch(/ 2 other servers use it under \S+ with other contents of the overlays overlay.*\.yaml; /)
  })

  it('is taken over by another contract when nobody uses it, as long as it can serve every account', async () => {
    const where = await shared()
    const first = await start({ ...where, overlays: [overlayOf('accepted')] })
    const { account } = first
    await account.domains.add(['one.example'])
    await first.stop()
    const second = await start(where)
    expect(await second.account?.domains.list()).toMatchObject([{ domain: 'one.example' }])
    await second.stop()
    const third = await start({ ...where, overlays: [overlayOf('accepted')] })
    await third.account?.domains.add(['_two.example'])
    await third.stop()
    expect(await refusalOf({ ...where, overlays: [overlayOf('refused')] })).toMatch(
      /was used with other contents of the overlays .+, and the account default cannot be served here: \/account\/domains\/1\/name is "_two\.example" .+; start with the same overlays, or with another --store-prefix$/,
    )
    await start({ ...where, overlays: [overlayOf('accepted')] })
  })

  it('is not read in another format, and not by those who would not know it', async () => {
    const { command } = await sharedRedis()
    const where = await shared()
    const marker = `${where.storePrefix}:{all}:marker`
    await (await start(where)).stop()
    await command('HSET', marker, 'format', '99')
    expect(await refusalOf(where)).toMatch(
      new RegExp(
        ` in format 99, and this version reads format ${FORMAT}; use the version that made them, or another --store-prefix$`,
      ),
    )
    await command('SET', marker, 'something else')
    expect(await refusalOf(where)).toContain(` its key ${marker} is not of this program; use another --store-prefix`)
  })

  it('can be emptied by what the documentation says', async () => {
    const { command } = await sharedRedis()
    const where = await shared()
    const first = await start(where)
    await first.createAccount({ id: 'shop' })
    await first.stop()
    for (const key of (await command('KEYS', `${where.storePrefix}:*`)) as string[]) {
      expect(key).toMatch(new RegExp(`^${where.storePrefix}:\\{`))
      await command('UNLINK', key)
    }
    expect(await idsOf(await start(where))).toEqual(['default'])
  })

  it('warns of options that the servers should have in common', async () => {
    const where = await shared()
    const log = recordingLog()
    await start({ ...where, enforceQuotas: false, seed: 7, log })
    await start({ ...where, enforceQuotas: false, seed: 7, log })
    expect(log.warnings).toEqual([])
    await start({ ...where, log })
    expect(log.warnings).toEqual([
      {
        options: [
          { option: '--seed', here: 'not given', there: '7' },
          { option: '--no-quotas', here: 'true', there: 'false' },
        ],
      },
    ])
  })

  it('takes over the options of whoever comes first', async () => {
    const where = await shared()
    const log = recordingLog()
    await (await start({ ...where, enforceQuotas: false, log })).stop()
    await start({ ...where, log })
    await start({ ...where, log })
    expect(log.warnings).toEqual([])
  })

  it.each([
    ['allkeys-lru', '0', 'once maxmemory is set'],
    ['volatile-ttl', '100mb', 'when its memory is full'],
  ])('warns of a server that evicts: %s', async (policy, maxmemory, when) => {
    const redis = await startRedis({ 'maxmemory-policy': policy, maxmemory })
    const said: string[] = []
    const log = { ...recordingLog(), warn: (_: object, message: string) => void said.push(message) }
    await start({ store: redis.url, log })
    expect(said).toEqual([
      `The setting maxmemory-policy of the store is ${policy}, so it deletes accounts ${when}; set it to noeviction.`,
    ])
  })
})

function overlayOf(value: string): string {
  return writeOverlay(temporaryFolder(), [{ target: "$['x-settings']['underscores']", update: { value } }])
}

async function idsOf({ adminUrl }: { adminUrl: string | undefined }): Promise<string[]> {
  const { data } = (await (await fetch(`${adminUrl}/accounts`)).json()) as { data: { accounts: { id: string }[] } }
  return data.accounts.map(({ id }) => id)
}
