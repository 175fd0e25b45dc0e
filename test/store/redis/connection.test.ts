import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { elapsed } from '../../../src/ground/clock.ts'
import { openConnection, type StoreAddress, type StoreConnection } from '../../../src/store/redis/connection.ts'
import { explainReply } from '../../../src/store/redis/reply-problem.ts'
import { checkServer } from '../../../src/store/redis/server-check.ts'
import { StoreClock } from '../../../src/store/redis/store-clock.ts'
import { freshPrefix, HAS_REDIS, type RedisServer, sharedRedis, startRedis } from '../../support/redis-server.ts'

async function open(address: StoreAddress): Promise<StoreConnection> {
  const connection = await openConnection(address, { now: 0 })
  onTestFinished(() => connection.close())
  return connection
}

describe.skipIf(!HAS_REDIS)('a connection', () => {
  it('speaks with a server on a port and on a Unix socket', async () => {
    const server = await sharedRedis()
    const key = freshPrefix()
    const one = await open({ kind: 'tcp', host: '127.0.0.1', port: server.port })
    expect(await one.send(['SET', key, 'ä'])).toBe('OK')
    const other = await open({ kind: 'unix', path: server.socket })
    expect(await other.send(['GET', key])).toBe('ä')
    expect(await other.duplicate().send(['LRANGE', `${key} list`, '0', '1'])).toEqual([])
  })

  it('uses the database of the address', async () => {
    const { port } = await sharedRedis()
    const key = freshPrefix()
    await (await open({ kind: 'tcp', port, database: 3 })).send(['SET', key, 'there'])
    expect(await (await open({ kind: 'tcp', port })).send(['GET', key])).toBeNull()
    expect(await (await open({ kind: 'tcp', port, database: 3 })).send(['GET', key])).toBe('there')
  })

  it('logs in with a password, and as a user', async () => {
    const server = await startRedis({ requirepass: 'secret' })
    await server.command('ACL', 'SETUSER', 'app', 'on', '>hidden', '~*', '+@all')
    const { port } = server
    expect(await (await open({ kind: 'tcp', port, password: 'secret' })).send(['ECHO', 'a'])).toBe('a')
    const app = await open({ kind: 'tcp', port, username: 'app', password: 'hidden' })
    expect(await app.send(['ACL', 'WHOAMI'])).toBe('app')
  })

  const refusals: [what: string, address: (server: RedisServer) => StoreAddress, reason: RegExp][] = [
    ['no password', ({ port }) => ({ kind: 'tcp', port }), /^The store asks for a password/],
    ['a wrong password', ({ port }) => ({ kind: 'tcp', port, password: 'x' }), /refuses this user and password/],
    [
      'a database that it has not',
      ({ port }) => ({ kind: 'tcp', port, password: 'secret', database: 99 }),
      /^The store refuses the connection \(ERR DB index is out of range\)/,
    ],
    ['a socket that is not there', () => ({ kind: 'unix', path: '/nowhere/redis.sock' }), /ENOENT/],
    ['TLS where there is none', ({ port }) => ({ kind: 'tcp', port, tls: true }), /^The store cannot be reached: /],
  ]

  it('says what is wrong with the first attempt', async () => {
    const server = await startRedis({ requirepass: 'secret' })
    for (const [what, address, reason] of refusals) {
      const opened = openConnection(address(server), { now: 0 })
      await expect(opened, what).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringMatching(reason),
      })
    }
    await server.kill()
    const refused = openConnection({ kind: 'tcp', port: server.port }, { now: 0 })
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('ECONNREFUSED') })
  })

  it('does not wait for a server that accepts connections and answers nothing', async () => {
    const silent = createServer()
    onTestFinished(() => void silent.close())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const began = elapsed()
    await expect(openConnection({ kind: 'tcp', port }, { now: 0 })).rejects.toMatchObject({
      message: 'The store cannot be reached: it has not answered within 1000 ms',
    })
    expect(elapsed() - began).toBeLessThan(1_500)
  })

  it('waits as long for a short command as for a long one before it', async () => {
    const { port } = await sharedRedis()
    const connection = await open({ kind: 'tcp', port })
    const key = freshPrefix()
    const long = connection.send(['BLPOP', key, '0.95'], { deadline: 3_000 })
    const short = connection.send(['ECHO', 'a'])
    expect(await Promise.all([long, short])).toEqual([null, 'a'])
    expect(connection.figures.reconnects).toBe(0)
  })

  it('counts what it does', async () => {
    const { port } = await sharedRedis()
    const { figures, send } = await openBound(port)
    await send(['PING'])
    await send(['PING'])
    expect(figures.roundTrips).toBe(2)
    expect(figures.latencies.reduce((sum, count) => sum + count, 0)).toBe(2)
    expect(figures.latencySum).toBeGreaterThan(0)
  })

  async function openBound(port: number) {
    const connection = await open({ kind: 'tcp', port })
    return { figures: connection.figures, send: connection.send.bind(connection) }
  }

  it('answers nothing any more when it is closed', async () => {
    const { port } = await sharedRedis()
    const connection = await open({ kind: 'tcp', port })
    connection.close()
    await expect(connection.send(['PING'])).rejects.toMatchObject({ problem: 'closed' })
  })

  it('finds a cluster of one node usable, and says of another what is wrong', async () => {
    const server = await startRedis({ 'cluster-enabled': 'yes' })
    const connection = await open({ kind: 'tcp', port: server.port })
    const check = () => checkServer(connection, { prefix: 'p', scripts: [] })
    await server.command('CLUSTER', 'ADDSLOTSRANGE', 0, 9_999)
    await expect(check()).rejects.toMatchObject({
      problem: 'unusable',
      message: 'is a cluster that does not serve all slots',
    })
    await server.command('CLUSTER', 'ADDSLOTSRANGE', 10_000, 16_383)
    await expect.poll(async () => `${await server.command('CLUSTER', 'INFO')}`).toContain('cluster_state:ok')
    expect((await check()).name).toMatch(/^(Redis|Valkey)$/)
  })
})

describe('what an error of the server means', () => {
  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'.", 'full', /maxmemory/, false],
    ["READONLY You can't write against a read only replica.", 'unavailable', /read-only replica/, true],
    ['LOADING Redis is loading the dataset in memory', 'unavailable', /still loading/, false],
    ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'unavailable', /master/, true],
    ['NOAUTH Authentication required.', 'unavailable', /password/, true],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'unavailable', /user and password/, true],
    ["NOPERM this user has no permissions to run the 'evalsha' command", 'unavailable', /does not permit/, false],
    ['MISCONF Errors writing to the AOF file: No space left on device', 'unavailable', /disk/, false],
    ['NOREPLICAS Not enough good replicas to write.', 'unavailable', /too few replicas/, false],
    ['BUSY Redis is busy running a script.', 'unavailable', /too long/, false],
    ['CLUSTERDOWN Hash slot not served', 'unavailable', /cluster/, false],
    ['MOVED 3999 127.0.0.1:6381', 'unavailable', /cluster of several nodes/, false],
    ['ERR max number of clients reached', 'unavailable', /refuses the connection/, true],
  ])('%s', (text, problem, reason, isOfConnection) => {
    const explained = explainReply(text)
    expect(explained).toMatchObject({ isOfConnection, error: { problem, reported: true } })
    expect(explained?.error.message).toMatch(reason)
    expect(explained?.error.message).toContain(text)
  })

  it.each(['ERR wrong number of arguments', 'WRONGTYPE Operation against a key', '__proto__ x', ''])(
    'is a bug of ours: %s',
    (text) => expect(explainReply(text)).toBeUndefined(),
  )
})

describe('the clock of the store', () => {
  it('follows the best reply, and never goes back', () => {
    const clock = new StoreClock(1_000)
    expect(clock.now()).toBeGreaterThanOrEqual(1_000)
    clock.learn(50_000, elapsed())
    expect(clock.now()).toBeGreaterThanOrEqual(50_000)
    expect(clock.now()).toBeLessThan(51_000)
    // A reply that took long says less.
    clock.learn(90_000, elapsed() - 10_000)
    const latest = clock.now()
    expect(latest).toBeGreaterThanOrEqual(90_000)
    clock.learn(50_000, elapsed())
    expect(clock.now()).toBeGreaterThanOrEqual(latest)
  })
})
