import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { RedisConnection } from '../support/redis-connection.ts'
import { freshPrefix, HAS_REDIS, openRedis, sharedRedis, startRedis } from '../support/redis-server.ts'
import { RedisError } from '../support/resp.ts'

describe.skipIf(!HAS_REDIS)('the Redis of a test', () => {
  it('answers commands of any bytes, also with errors, lists and nothing', async () => {
    const redis = await sharedRedis()
    const key = freshPrefix()
    expect(await redis.command('SET', key, 'ä\r\n"$')).toBe('OK')
    expect(await redis.command('GET', key)).toBe('ä\r\n"$')
    expect(await redis.command('GET', `${key}-2`)).toBeNull()
    expect(await redis.command('EVAL', `return {1, {'a', false}, redis.status_reply('S')}`, 0)).toEqual([
      1,
      ['a', null],
      'S',
    ])
    expect(await redis.command('INCR', key)).toEqual(new RedisError('ERR value is not an integer or out of range'))
    expect((await redis.info('server'))['redis_mode']).toBe('standalone')
  })

  it('forgets everything when it is killed, unless it writes each change to its log', async () => {
    for (const [options, kept] of [
      [{}, null],
      [{ appendonly: 'yes', appendfsync: 'always' }, 'v'],
    ] as const) {
      const redis = await startRedis(options)
      await redis.command('SET', 'k', 'v')
      const { port } = redis
      await redis.kill()
      await expect(new RedisConnection({ port, host: '127.0.0.1' }).command('PING')).rejects.toThrow()
      await redis.restart()
      expect([redis.port, await redis.command('GET', 'k')]).toEqual([port, kept])
    }
  })

  it('answers nobody while it is stopped, and everybody afterwards', async () => {
    const redis = await startRedis()
    await redis.command('PING')
    redis.pause()
    let answered = false
    const reply = redis.command('PING').then((text) => {
      answered = true
      return text
    })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(answered).toBe(false)
    redis.resume()
    expect(await reply).toBe('PONG')
  })

  it('follows its options, those of a restart too', async () => {
    const redis = await startRedis({ requirepass: 'secret', maxmemory: '100mb' })
    const stranger = new RedisConnection({ port: redis.port, host: '127.0.0.1' })
    expect(`${await stranger.command('PING')}`).toMatch(/NOAUTH/)
    expect(await redis.command('CONFIG', 'GET', 'maxmemory')).toEqual(['maxmemory', '104857600'])
    await redis.restart({ 'cluster-enabled': 'yes' })
    expect((await redis.info('server'))['redis_mode']).toBe('cluster')
  })

  it('copies another one', async () => {
    const first = await startRedis()
    await first.command('SET', 'k', 'v')
    const second = await startRedis({ replicaof: `127.0.0.1 ${first.port}` })
    await expect.poll(() => second.command('GET', 'k'), { timeout: 10_000 }).toBe('v')
    expect(`${await second.command('SET', 'k', 'w')}`).toMatch(/READONLY/)
  })

  it('says why it does not start', async () => {
    await expect(openRedis({ maxmemory: 'much' })).rejects.toThrow(/does not start: [\s\S]*maxmemory/)
  })

  it('leaves nothing when it has ended', async () => {
    const redis = await openRedis()
    await redis.end()
    expect(existsSync(redis.folder)).toBe(false)
    await expect(redis.command('PING')).rejects.toThrow()
  })
})
