import { describe, expect, it, onTestFinished } from 'vitest'
import { startUnderstudy } from '../../src/start/server.ts'
import { readScriptsIn } from '../../src/store/script.ts'
import { askControl } from '../support/control-plane.ts'
import { freshPrefix, HAS_REDIS, type RedisServer, startRedis } from '../support/redis-server.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

/** Which script a command runs. */
const NAMES = new Map(readScriptsIn('store/redis/scripts').map(({ digest, name }) => [digest, name]))
/** Scripts that run beside requests: the look at the store each half second. */
const BESIDE = new Set(['beat'])

async function open() {
  const redis = await startRedis({ 'slowlog-log-slower-than': '0', 'slowlog-max-len': '10000' })
  const options = { store: redis.url, storePrefix: freshPrefix(), fixture: 'empty', apiKey: API_KEY, port: 0 }
  const [one, other] = await Promise.all([startUnderstudy(options), startUnderstudy(options)])
  onTestFinished(async () => {
    await Promise.all([one.stop(), other.stop()])
  })
  const ask = (server: typeof one, method: string, path: string, body?: unknown) =>
    sendRequest(method, server.baseUrl + path, body, { authorization: `Bearer ${API_KEY}` })
  return { redis, one, other, ask }
}

/** The scripts of the store that the server has run meanwhile, in their order. */
async function stepsOf(redis: RedisServer, act: () => Promise<unknown>): Promise<string[]> {
  await redis.command('SLOWLOG', 'RESET')
  await act()
  const log = (await redis.command('SLOWLOG', 'GET', 10_000)) as [number, number, number, string[]][]
  const digests = log.flatMap(([, , , [command = '', digest = '']]) => (/^EVALSHA$/i.test(command) ? [digest] : []))
  return digests
    .reverse()
    .flatMap((digest) => NAMES.get(digest) ?? [])
    .filter((name) => !BESIDE.has(name))
}

describe.skipIf(!HAS_REDIS)('a request to a server on Redis', () => {
  it('takes one step to enter and one to change, and none of them reads the account', async () => {
    const { redis, one, other, ask } = await open()
    const names = Array.from({ length: 10_000 }, (_, index) => `domain-${index}.example`)
    const groups = [{ name: 'Web', domains: names.slice(0, 20) }]
    await askControl(one, 'PUT', '/accounts/default/state', { domains: names, groups })
    const { id } = (await ask(one, 'GET', '/domaingroups')).body.data.groups[0]
    await ask(other, 'GET', '/domaingroups')
    await ask(one, 'PATCH', `/domaingroups?id=${id}`, { name: 'Mail' })
    await ask(other, 'GET', '/domaingroups')

    expect(await stepsOf(redis, () => ask(one, 'GET', '/domaingroups'))).toEqual(['enter'])
    const patch = () => ask(one, 'PATCH', `/domaingroups?id=${id}`, { add_domains: [names[30]] })
    expect(await stepsOf(redis, patch)).toEqual(['enter', 'change'])
    expect(await stepsOf(redis, () => ask(other, 'GET', '/domaingroups'))).toEqual(['enter'])
    expect(await stepsOf(redis, () => ask(one, 'POST', '/domains', { domains: ['new.example'] }))).toEqual([
      'enter',
      'change',
    ])
    // A refusal must not come from a copy that is too old.
    expect(await stepsOf(redis, () => ask(other, 'POST', '/domaingroups', { name: 'Mail' }))).toEqual(['enter', 'look'])
    expect(await stepsOf(redis, () => ask(one, 'GET', '/unknown'))).toEqual([])
  })
})
