import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import { StoreError } from '../../src/store/store-error.ts'
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
    [['resetkeys', '~other:*'], `${MISSING} ~PREFIX:*`],
    [['-time'], /permit its user a command that is needed \(NOPERM .+ 'time' .+\); give it \+@connection \+time$/],
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

  it('warns of a server that evicts', async () => {
    const redis = await startRedis({ 'maxmemory-policy': 'volatile-ttl', maxmemory: '100mb' })
    const said: string[] = []
    const log = { ...recordingLog(), warn: (_: object, message: string) => void said.push(message) }
    await start({ store: redis.url, log })
    expect(said).toEqual([
      'The setting maxmemory-policy of the store is volatile-ttl, so it deletes accounts when its memory is full; set it to noeviction.',
    ])
  })
})
