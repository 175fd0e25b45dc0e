import { readdirSync, readFileSync } from 'node:fs'
import { createServer, connect as openSocket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { SILENT } from '../../src/http/log.ts'
import { readLibrary } from '../../src/redis/library.ts'
import { FORMAT } from '../../src/redis/membership.ts'
import { SENT } from '../../src/redis/server-check.ts'
import type { ServerOptions } from '../../src/start/options.ts'
import { nameStore } from '../../src/start/store-failure.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { askControl, type Served } from '../support/control-plane.ts'
import { listenOn, tlsBefore } from '../support/listening.ts'
import { writeOverlay } from '../support/overlay-file.ts'
import { recordingLog } from '../support/recording-log.ts'
import {
  freshPrefix,
  HAS_REDIS,
  openRedis,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../support/redis-server.ts'
import { PATIENCE, startPatient } from '../support/replicas.ts'
import { sendRequest } from '../support/request.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PASSWORD = 'Sesame-77-Open'
const WAITED = 'The store has not answered yet; the start waits for it a little longer.'
const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url))

/** `patience`: by what the times are multiplied that a step of the store may take. */
async function start(options: ServerOptions, patience = PATIENCE) {
  const service = await startPatient({ fixture: 'empty', ...options }, { patience: () => patience })
  onTestFinished(() => service.stop())
  return service
}

/** What a start says that comes to nothing. */
async function refusalOf(options: ServerOptions, patience?: number): Promise<string> {
  const error = await start(options, patience).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(StoreError)
  const { message } = error as StoreError
  expect(message).not.toContain('\n')
  expect(message).not.toContain(PASSWORD)
  return message
}

describe('a store that cannot be reached', () => {
  it('is named with a remedy where the library gives up first', () => {
    const late = new StoreError('unavailable', 'The store cannot be reached: Connection timeout')
    expect(nameStore(late, 'redis://db.example', { kind: 'tcp', port: 6379 })).toMatchObject({
      message: expect.stringMatching(/timeout; is it Redis or Valkey\? If it speaks TLS, write rediss:\/\/$/),
    })
  })

  const WHO = /cannot be reached: .+; is it Redis or Valkey\?/

  it.each([
    [
      `redis://app:${PASSWORD}@127.0.0.1:1/3`,
      /^The store redis:\/\/127\.0\.0\.1:1\/3 cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:1; is it running there\?$/,
    ],
    [
      'unix:/no/redis.sock',
      /^The store unix:\/no\/redis\.sock cannot be reached: connect ENOENT \/no\/redis\.sock; is it running there\?$/,
    ],
    [
      'redis://nowhere.invalid',
      /^The store redis:\/\/nowhere\.invalid:6379\/0 cannot be reached: .+; check the name of the host$/,
    ],
  ])('is named with the reason: %s', async (store, message) => {
    expect(await refusalOf({ store })).toMatch(message)
  })

  it.each<[what: string, answer: string | Buffer | undefined, message: RegExp]>([
    ['nothing', '', /has not answered within 900 ms; is it Redis or Valkey\? If it speaks TLS, write rediss:\/\/$/],
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n', WHO],
    ['bytes of any kind', Buffer.from([0, 255, 13, 10, 42, 13, 10]), WHO],
    ['an end at once', undefined, WHO],
  ])('is named where it answers with %s', async (_, answer, message) => {
    const server = createServer((socket) => {
      if (answer === undefined) socket.destroy()
      else socket.write(answer)
    })
    const said: string[] = []
    const log = { ...SILENT, info: (_: object, message: string) => void said.push(message) }
    const store = `redis://127.0.0.1:${await listenOn(server)}`
    expect(await refusalOf({ store, log }, 0.3)).toMatch(message)
    if (answer === '') expect(said).toEqual([WAITED])
  })
})

describe('the rights that a start asks for', () => {
  it('are those of every command that is sent', () => {
    const folders = ['redis', 'start']
    const sent = folders.flatMap((folder) =>
      readdirSync(SOURCE + folder)
        .filter((name) => name.endsWith('.ts'))
        .flatMap((name) => [
          ...readFileSync(`${SOURCE}${folder}/${name}`, 'utf8').matchAll(/(?:send\(|= )\['([A-Z]{3,})'/g),
        ])
        .map(([, command = '']) => command.toLowerCase()),
    )
    expect(sent.length).toBeGreaterThan(8)
    // Only a node of a cluster is asked for its cluster, and a refusal of that says what is missing.
    expect([...new Set(sent)].filter((command) => !SENT.includes(command))).toEqual(['cluster'])
  })
})

describe.skipIf(!HAS_REDIS)('a store that is slow to accept the second connection of a server', () => {
  it('is waited for, and the start says so once', async () => {
    const { url, port } = await sharedRedis()
    const kept = { storePrefix: freshPrefix(), apiKey: 'a-key' }
    const first = await start({ ...kept, store: url })
    await sendRequest('GET', `${first.baseUrl}/domains`, undefined, { authorization: 'Bearer a-key' })
    await first.stop()
    let connections = 0
    let letThrough = () => {}
    const server = createServer((socket) => {
      const redis = openSocket(port, '127.0.0.1')
      for (const each of [socket, redis]) each.on('error', () => socket.destroy())
      redis.pipe(socket)
      if (++connections === 2) letThrough = () => void socket.pipe(redis)
      else socket.pipe(redis)
    })
    const said: string[] = []
    const info = (_: object, message: string) => {
      said.push(message)
      if (message === WAITED) letThrough()
    }
    const store = `redis://127.0.0.1:${await listenOn(server)}`
    const second = await start({ ...kept, store, log: { ...SILENT, info } }, 1)
    expect(await second.requests.list()).toHaveLength(1)
    expect(said.filter((message) => message === WAITED)).toEqual([WAITED])
  })
})

describe.skipIf(!HAS_REDIS)('a store with which no server can work', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await openRedis({ requirepass: PASSWORD })
  })
  afterAll(() => redis.end())
  const at = (user: string, rest = '') => `redis://${user}127.0.0.1:${redis.port}${rest}`

  const REFUSED =
    /^The store redis:\/\/\S+ refuses this user and password \(WRONGPASS .+\); check user and password in the URL$/

  it.each<[what: string, user: string, message: RegExp, rest?: string]>([
    ['asks for a password', '', /\d\/0 asks for a password \(NOAUTH .+\); write redis:\/\/USER:PASSWORD@HOST$/],
    ['refuses the password', `:${PASSWORD}x@`, REFUSED],
    ['refuses the user', `somebody:${PASSWORD}@`, REFUSED],
    ['refuses a user without a password', 'default@', REFUSED],
    [
      'has no such database',
      `:${PASSWORD}@`,
      /\/99 refuses the connection \(ERR DB index is out of range\); end the URL with the number of a database that it has$/,
      '/99',
    ],
  ])('%s', async (_, user, message, rest) => {
    expect(await refusalOf({ store: at(user, rest) })).toMatch(message)
  })

  const MISSING = 'does not let its user do what is needed; give it'

  it.each<[rights: string[], problem: string | RegExp]>([
    [['-hset', '-xadd', '-zadd'], `${MISSING} ~PREFIX:* and +hset +xadd +zadd`],
    [['-function|load'], `${MISSING} ~PREFIX:* and +function|load`],
    [['resetkeys', '~other:*'], `${MISSING} ~PREFIX:*`],
    [['-time'], /permit its user a command that is needed \(NOPERM .+ 'time' .+\); give it \+@connection \+time$/],
    [['-client'], /permit its user a command that is needed \(NOPERM .+ 'client.+\); give it \+@connection \+time$/],
  ])('does not permit its user what is needed: %j', async (rights, problem) => {
    const prefix = freshPrefix()
    await redis.command('ACL', 'SETUSER', prefix, 'reset', 'on', `>${PASSWORD}`, '~*', '+@all', ...rights)
    const refused = await refusalOf({ store: at(`${prefix}:${PASSWORD}@`), storePrefix: prefix })
    if (typeof problem !== 'string') expect(refused).toMatch(problem)
    else expect(refused).toBe(`The store redis://127.0.0.1:${redis.port}/0 ${problem.replace('PREFIX', prefix)}`)
    expect(await redis.command('KEYS', `${prefix}*`)).toEqual([])
  })

  it('serves a user who may do no more than what the documentation names', async () => {
    const prefix = freshPrefix()
    const rights = ['+@read', '+@write', '+@connection', '+@scripting', '+time', '-@dangerous', '+info']
    await redis.command('ACL', 'SETUSER', prefix, 'reset', 'on', `>${PASSWORD}`, `~${prefix}:*`, ...rights)
    const service = await start({ store: at(`${prefix}:${PASSWORD}@`), storePrefix: prefix, apiKey: 'a-key' })
    const [url, authorization] = [`${service.baseUrl}/domains`, 'Bearer a-key']
    expect((await sendRequest('POST', url, { domains: ['one.example'] }, { authorization })).status).toBe(200)
    expect(await service.requests.list()).toHaveLength(1)
  })

  it('is a read-only replica of another server', async () => {
    const replica = await startRedis({ replicaof: `127.0.0.1 ${redis.port}`, masterauth: PASSWORD })
    expect(await refusalOf({ store: replica.url })).toBe(
      `The store ${replica.url}/0 is a read-only replica of 127.0.0.1:${redis.port}; give the address of that server`,
    )
  })

  it('speaks TLS where the URL does not, and the other way round', async () => {
    const plain = await sharedRedis()
    const port = await listenOn(tlsBefore(plain))
    expect(await refusalOf({ store: `redis://127.0.0.1:${port}` })).toMatch(/If it speaks TLS, write rediss:\/\/$/)
    expect(await refusalOf({ store: `rediss://127.0.0.1:${plain.port}` }, 0.1)).toMatch(
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
  async function shared(): Promise<{ store: string; storePrefix: string }> {
    return { store: (await sharedRedis()).url, storePrefix: freshPrefix() }
  }

  /** The same overlay in a file of its own, with this value of a setting. */
  const withUnderscores = (value: string) => ({
    overlays: [writeOverlay(temporaryFolder(), [{ target: "$['x-settings']['underscores']", update: { value } }])],
  })

  it('has one default account, when many servers start at the same time', async () => {
    const where = await shared()
    const servers = await Promise.all([1, 2, 3].map(() => start(where)))
    expect(new Set(servers.map(({ apiKey }) => apiKey)).size).toBe(1)
    for (const server of servers) expect(await idsOf(server)).toEqual(['default'])
  })

  it('loses the functions of former versions once no server uses it, and keeps those of others', async () => {
    const redis = await startRedis()
    const load = (name: string) => {
      const code = `redis.register_function('f_${name}', function() return 1 end)`
      return redis.command('FUNCTION', 'LOAD', `#!lua name=${name}\n${code}`)
    }
    const names = async () => {
      const listed = (await redis.command('FUNCTION', 'LIST')) as unknown as readonly (readonly [string, string])[]
      return listed.map(([, name]) => name).toSorted()
    }
    for (const name of ['dmarc_understudy_former', 'other']) await load(name)
    await start({ store: redis.url })
    const own = readLibrary().name
    expect(await names()).toEqual([own, 'other'].toSorted())
    // While a server takes part, it may be of that version.
    await load('dmarc_understudy_former')
    await start({ store: redis.url })
    expect(await names()).toEqual([own, 'dmarc_understudy_former', 'other'].toSorted())
  })

  it('is used also where a second connection comes late, and there are requests to be read', async () => {
    const { port } = await sharedRedis()
    const storePrefix = freshPrefix()
    const first = await start({ store: `redis://127.0.0.1:${port}`, storePrefix, apiKey: 'a-key' })
    await fetch(`${first.baseUrl}/domains`, { headers: { authorization: 'Bearer a-key' } })
    await first.stop()
    let connections = 0
    const slow = createServer((client) => {
      // So many attempts take longer than one step of the store may take.
      if (++connections > 1 && connections < 8) return void client.destroy()
      const inner = openSocket(port, '127.0.0.1')
      for (const socket of [client, inner]) socket.on('error', () => {})
      client.pipe(inner).pipe(client)
    })
    const service = await start({ store: `redis://127.0.0.1:${await listenOn(slow)}`, storePrefix }, 1)
    expect(await service.requests.list()).toHaveLength(1)
    expect(connections).toBeGreaterThanOrEqual(8)
  })

  it('is refused to those who serve another contract, with what differs', async () => {
    const where = await shared()
    await start({ ...where, ...withUnderscores('accepted') })
    expect(await refusalOf(where)).toMatch(
      / Another server uses it under \S+ with other overlays \(there: overlay.*\.yaml; here: none\); start all with the same overlays, or with another --store-prefix$/,
    )
    await start({ ...where, ...withUnderscores('accepted') })
    const other = await refusalOf({ ...where, ...withUnderscores('refused') })
    expect(other).toMatch(/ 2 other servers use it under \S+ with other contents of the overlays overlay.*\.yaml; /)
  })

  it('is taken over by another contract when nobody uses it, as long as it can serve every account', async () => {
    const where = await shared()
    const first = await start({ ...where, ...withUnderscores('accepted') })
    await first.account?.domains.add(['one.example'])
    await first.stop()
    const second = await start(where)
    expect(await second.account?.domains.list()).toMatchObject([{ domain: 'one.example' }])
    await second.stop()
    const third = await start({ ...where, ...withUnderscores('accepted') })
    await third.account?.domains.add(['_two.example'])
    await third.stop()
    expect(await refusalOf({ ...where, ...withUnderscores('refused') })).toMatch(
      /was used with other contents of the overlays .+, and the account default cannot be served here: \/account\/domains\/1\/name is "_two\.example" .+; start with the same overlays, or with another --store-prefix$/,
    )
    await start({ ...where, ...withUnderscores('accepted') })
  })

  it('is served by those who find every account valid, where the marker was lost that names the contract', async () => {
    const { command } = await sharedRedis()
    const where = await shared()
    const first = await start({ ...where, ...withUnderscores('accepted') })
    await first.account?.domains.add(['_two.example'])
    await first.stop()
    await command('DEL', `${where.storePrefix}:{all}:marker`)
    expect(await refusalOf({ ...where, ...withUnderscores('refused') })).toMatch(
      /has lost the key \S+:\{all\}:marker, .+, and the account default cannot be served here: .+; start with those, or /,
    )
    expect(await idsOf(await start({ ...where, ...withUnderscores('accepted') }))).toEqual(['default'])
  })

  it('is not read in another format, and not by those who would not know it', async () => {
    const { command } = await sharedRedis()
    const where = await shared()
    const marker = `${where.storePrefix}:{all}:marker`
    await (await start(where)).stop()
    await command('HSET', marker, 'format', '99')
    expect(await refusalOf(where)).toContain(
      ` in format 99, and this version reads format ${FORMAT}; use the version that made them, or another --store-prefix`,
    )
    await command('SET', marker, 'something else')
    expect(await refusalOf(where)).toContain(` its key ${marker} is not of this program; use another --store-prefix`)
  })

  it('warns of options that the servers should have in common', async () => {
    const where = await shared()
    const log = recordingLog()
    await start({ ...where, enforceQuotas: false, seed: 7, log })
    await start({ ...where, enforceQuotas: false, seed: 7, log })
    expect(log.warnings).toEqual([])
    await start({ ...where, enforceQuotas: false, log })
    await start({ ...where, log })
    const seed = { option: '--seed', here: 'not given', there: '7' }
    const quotas = { option: '--no-quotas', here: 'false', there: 'true' }
    expect(log.warnings).toEqual([{ options: [seed] }, { options: [seed, quotas] }])
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

async function idsOf(server: Served): Promise<string[]> {
  return (await askControl(server, 'GET', '/accounts')).data.accounts.map(({ id }: { id: string }) => id)
}
