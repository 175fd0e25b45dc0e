import { describe, expect, it } from 'vitest'
import { openConnection, type StoreConnection } from '../../src/redis/connection.ts'
import { readLibrary } from '../../src/redis/library.ts'
import { checkServer, commandsIn, SENT } from '../../src/redis/server-check.ts'
import { atOnce } from '../support/at-once.ts'
import { HAS_REDIS, startRedis } from '../support/redis-server.ts'

/** A server that answers so. */
function checkOf(send: () => Promise<unknown>, call: () => Promise<unknown> = async () => []) {
  return checkServer({ send, call } as unknown as StoreConnection, { prefix: 'p' })
}

/** A server that says this about itself, and permits everything. */
function check(...facts: string[]) {
  return checkOf(async () => `# Server\r\n${facts.join('\r\n')}\r\n`)
}

describe('the server of a store', () => {
  it.each<[facts: string[], server: object]>([
    [['redis_version:7.0.15', 'role:master', 'maxmemory_policy:noeviction'], { name: 'Redis', version: '7.0.15' }],
    [['redis_version:8.2.0', 'loading:0'], { name: 'Redis', version: '8.2.0' }],
    [['redis_version:7.2.4', 'server_name:valkey', 'valkey_version:8.1.1'], { name: 'Valkey', version: '8.1.1' }],
  ])('is accepted: %j', async (facts, server) => {
    expect(await check(...facts)).toEqual({ ...server, warnings: [] })
  })

  it.each<[facts: string[], message: string]>([
    [['redis_version:6.2.14'], 'is Redis 6.2.14; it must be Redis 7 or newer, or Valkey'],
    [[], 'is Redis of an unknown version; it must be Redis 7 or newer, or Valkey'],
    [
      ['redis_version:7.0.0', 'redis_mode:sentinel'],
      'is a Sentinel, which holds no data; give the address of the server that it watches',
    ],
    [
      ['redis_version:7.0.0', 'redis_mode:cluster', 'cluster_slots_ok:16384', 'cluster_size:3'],
      'is a cluster of several nodes, which is not supported; use one server, or a cluster of one node',
    ],
    [['redis_version:7.0.0', 'loading:1'], 'is still loading its data; start again when it has'],
  ])('is refused: %j', async (facts, message) => {
    await expect(check(...facts)).rejects.toThrow(message)
  })

  it.each(['INFO', 'FCALL'])('is refused where it does not know %s', async (renamed) => {
    const answer = (command: string, text: unknown) => async () => {
      if (command === renamed) throw new Error(`ERR unknown command '${command}', with args beginning with: `)
      return text
    }
    const checked = checkOf(answer('INFO', 'redis_version:7.0.0\r\nrole:master'), answer('FCALL', []))
    const message = `does not know the command ${renamed}; give it back its name if rename-command has taken it`
    await expect(checked).rejects.toMatchObject({ problem: 'unusable', message })
  })

  it.each([
    [['set', 'get', 'get'], '+get +set'],
    [[...'hgfedcba'], '+a +b +c +d +e +f +g +h'],
    [[...'ihgfedcba'], '+a +b +c +d +e +f +g +h …'],
  ])('is refused where it does not permit %j, with the first eight of them', async (missing, named) => {
    const checked = checkOf(
      async () => 'redis_version:7.0.0',
      async () => missing,
    )
    const message = `does not let its user do what is needed; give it ~p:* and ${named}`
    await expect(checked).rejects.toMatchObject({ problem: 'unusable', message })
  })

  it.skipIf(!HAS_REDIS)('is refused without the right to any command that is needed', async () => {
    const redis = await startRedis()
    const named = new Map([
      ['fcall', '+fcall +function|load'],
      ['function', '~p:* and +function|load'],
      ['info', '+info'],
    ])
    // Without it, there is no connection.
    const commands = new Set([...SENT, ...commandsIn(readLibrary().text)].filter((command) => command !== 'time'))
    expect(commands.size).toBeGreaterThan(30)
    await atOnce(commands.size, async (index) => {
      const command = `${[...commands][index]}`
      await redis.command('ACL', 'SETUSER', command, 'on', 'nopass', '~*', '+@all', `-${command}`)
      const address = { kind: 'tcp', port: redis.port, username: command, password: 'any' } as const
      const connection = await openConnection(address, { now: 0, patience: () => 25 })
      const hint = named.get(command) ?? `~p:* and +${command}`
      const message = `does not let its user do what is needed; give it ${hint}`
      await expect(checkServer(connection, { prefix: 'p' }), command).rejects.toMatchObject({ message })
      connection.close()
    })
  })

  it('is awaited for a moment while it loads its data', async () => {
    let asked = 0
    await checkOf(async () => `redis_version:7.0.0\r\nloading:${++asked < 3 ? 1 : 0}`)
    expect(asked).toBe(3)
  })
})

describe('the functions of the store', () => {
  it('name each command where they call it, so that the rights for it can be asked for', () => {
    const code = readLibrary().text.replaceAll(/--[^\n]*/g, '')
    // One call has the command of its caller, whose name for that is a definition here.
    expect(code.match(/redis\.call\(command,/g)).toHaveLength(1)
    const calls = code.match(/(redis\.p?call|(?<!function )call_with)\(/g) ?? []
    expect(commandsIn(code)).toHaveLength(calls.length - 1)
    expect(calls.length).toBeGreaterThan(100)
  })

  it('may have spaces before the name of a command', () => {
    expect(commandsIn(`redis.call( 'GET', a) redis.pcall(\n"HSET", b)`)).toEqual(['get', 'hset'])
  })

  it('are declared with what they do', () => {
    const { functions, nameOf } = readLibrary()
    expect(functions.get('look')).toEqual({ isReadOnly: true })
    expect(functions.get('change')).toEqual({ isReadOnly: false })
    expect(nameOf('look')).toMatch(/^look_[0-9a-f]{16}$/)
  })
})
