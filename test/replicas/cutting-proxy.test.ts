import { describe, expect, it } from 'vitest'
import { isScript, next, startCuttingProxy } from '../support/cutting-proxy.ts'
import { RedisConnection } from '../support/redis-connection.ts'
import { freshPrefix, HAS_REDIS, sharedRedis } from '../support/redis-server.ts'
import { Values } from '../support/resp.ts'

const COUNT = "return redis.call('INCR', KEYS[1])"

describe.skipIf(!HAS_REDIS)('the proxy between a replica and Redis', () => {
  async function start() {
    const redis = await sharedRedis()
    const proxy = await startCuttingProxy(redis.port)
    const open = () => new RedisConnection({ host: '127.0.0.1', port: proxy.port })
    return { redis, proxy, open, key: freshPrefix() }
  }

  it('passes commands and replies on, also many at once', async () => {
    const { proxy, open, key } = await start()
    const connection = open()
    const long = 'ä'.repeat(300_000)
    const replies = [connection.command('SET', key, long), connection.command('GET', key), connection.command('PING')]
    expect(await Promise.all(replies)).toEqual(['OK', long, 'PONG'])
    expect(Object.fromEntries(proxy.commands)).toEqual({ SET: 1, GET: 1, PING: 1 })
  })

  it('loses the reply of a command that was carried out, and no other', async () => {
    const { redis, proxy, open, key } = await start()
    const connection = open()
    proxy.loseReplies(next(1))
    const before = connection.command('PING')
    const lost = connection.command('EVAL', COUNT, 1, key)
    const after = connection.command('PING')
    expect(await before).toBe('PONG')
    await expect(lost).rejects.toThrow('closed')
    await expect(after).rejects.toThrow('closed')
    expect(await redis.command('GET', key)).toBe('1')
    expect(await open().command('EVAL', COUNT, 1, key)).toBe(2)
    expect(proxy.lost).toBe(1)
  })

  it('cuts instead of delivering a command', async () => {
    const { redis, proxy, open, key } = await start()
    proxy.loseCommands(isScript)
    await expect(open().command('EVAL', COUNT, 1, key)).rejects.toThrow('closed')
    expect(await redis.command('GET', key)).toBeNull()
    proxy.restore()
    expect(await open().command('EVAL', COUNT, 1, key)).toBe(1)
  })

  it('cuts what there is, refuses what comes, and restores', async () => {
    const { proxy, open } = await start()
    const connection = open()
    await connection.command('PING')
    const waiting = connection.command('BLPOP', freshPrefix(), 0)
    proxy.cut()
    await expect(waiting).rejects.toThrow('closed')
    expect(await open().command('PING')).toBe('PONG')
    proxy.refuse()
    await expect(open().command('PING')).rejects.toThrow('closed')
    proxy.restore()
    expect(await open().command('PING')).toBe('PONG')
  })

  it('holds everything back without an end of the connection', async () => {
    const { proxy, open } = await start()
    const connection = open()
    await connection.command('PING')
    proxy.blackhole()
    const replies: unknown[] = []
    const waiting = [connection, open()].map((each) => each.command('PING').then((reply) => replies.push(reply)))
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(replies).toEqual([])
    proxy.restore()
    await Promise.all(waiting)
    expect(replies).toEqual(['PONG', 'PONG'])
  })

  it('gives Redis other scripts', async () => {
    const { proxy, open, key } = await start()
    proxy.rewriteScripts((text) => text.replace('INCR', 'DECR'))
    expect(await open().command('EVAL', COUNT, 1, key)).toBe(-1)
  })

  it('delays replies', async () => {
    const { proxy, open } = await start()
    proxy.delay(50)
    const begun = performance.now()
    expect(await open().command('PING')).toBe('PONG')
    expect(performance.now() - begun).toBeGreaterThan(45)
  })

  it.each([
    ['a map with a set, a double and a boolean', '%2\r\n+a\r\n~2\r\n:1\r\n,1.5\r\n$1\r\nb\r\n#t\r\n'],
    ['attributes and a list', '|1\r\n+ttl\r\n:9\r\n*2\r\n_\r\n=7\r\ntxt:a\r\n\r\n'],
    ['a push', '>2\r\n$7\r\nmessage\r\n(99\r\n'],
    ['an error with lines', '!4\r\nE\r\nx\r\n'],
    ['nothing', '$-1\r\n'],
    ['no list', '*-1\r\n'],
  ])('knows where %s of RESP3 ends, in whatever pieces it comes', (_, text) => {
    const values = new Values()
    const pieces = [...`${text}+OK\r\n`].map((character) => values.take(Buffer.from(character)))
    expect(pieces.flat().map(String)).toEqual([text, '+OK\r\n'])
  })
})
