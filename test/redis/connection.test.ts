import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { elapsed } from '../../src/ground/clock.ts'
import { openConnection, type StoreAddress, type StoreConnection } from '../../src/redis/connection.ts'
import { explainReply } from '../../src/redis/reply-problem.ts'
import { checkServer } from '../../src/redis/server-check.ts'
import { StoreClock } from '../../src/redis/store-clock.ts'
import { freshPrefix, HAS_REDIS, sharedRedis, startRedis } from '../support/redis-server.ts'

async function open(address: StoreAddress, patience = () => 25): Promise<StoreConnection> {
  const connection = await openConnection(address, { now: 0, patience })
  onTestFinished(() => connection.close())
  return connection
}

/** Opens a connection to the server of all tests. */
async function openShared(patience?: () => number): Promise<StoreConnection> {
  return open({ kind: 'tcp', port: (await sharedRedis()).port }, patience)
}

describe.skipIf(!HAS_REDIS)('a connection', () => {
  // That it speaks on a port and on a Unix socket is shown by every test of replicas.
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

  // What a start says of a server that refuses it is in test/start/shared-store.test.ts.
  it('does not wait for a server that accepts connections and answers nothing', async () => {
    const silent = createServer()
    onTestFinished(() => void silent.close())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const message = 'The store cannot be reached: it has not answered within 300 ms'
    await expect(open({ kind: 'tcp', port }, () => 0.1)).rejects.toMatchObject({ problem: 'unavailable', message })
  })

  it('waits as long for a short command as for a long one before it', async () => {
    let patience = 25
    const connection = await openShared(() => patience)
    const states: object[] = []
    connection.listen((state) => void states.push(state))
    const key = freshPrefix()
    patience = 0.1
    const long = connection.send(['BLPOP', key, '0.2'], { deadline: 300_000 })
    const short = connection.send(['ECHO', 'a'])
    expect(await Promise.all([long, short])).toEqual([null, 'a'])
    expect(states).toEqual([{ isReady: true }])
  })

  it('answers nothing any more when it is closed', async () => {
    const connection = await openShared()
    connection.close()
    await expect(connection.send(['PING'])).rejects.toMatchObject({ problem: 'closed' })
  })

  it('finds a cluster of one node usable, and says of another what is wrong', async () => {
    const server = await startRedis({ 'cluster-enabled': 'yes' })
    const connection = await open({ kind: 'tcp', port: server.port })
    const check = () => checkServer(connection, { prefix: 'p' })
    await server.command('CLUSTER', 'ADDSLOTSRANGE', 0, 9_999)
    const message = 'is a cluster that does not serve all slots'
    await expect(check()).rejects.toMatchObject({ problem: 'unusable', message })
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
    ["NOPERM this user has no permissions to run the 'fcall' command", 'unavailable', /does not permit/, false],
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
