import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startUnderstudy } from '../../src/start/server.ts'
import { readScript } from '../../src/store/script.ts'
import { askControl } from '../support/control-plane.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

const FOLDERS = ['store/redis/scripts', 'replicas/scripts']
/** What a replica sends without a request that waits for it: its heartbeat, uses of sandboxes, and the history. */
const UNAWAITED = ['beat', 'use', 'record', 'history', 'XREAD']

/** Which script has which digest. */
function scriptNames(): Map<string, string> {
  const source = fileURLToPath(new URL('../../src/', import.meta.url))
  const paths = FOLDERS.flatMap((folder) => readdirSync(source + folder).map((file) => `${folder}/${file}`))
  return new Map(
    paths.filter((path) => path.endsWith('.lua')).map((path) => [readScript(path).digest, readScript(path).name]),
  )
}

/** A replica, and what it sends to Redis while something is done. */
async function start() {
  const redis = await startRedis()
  const proxy = await startCuttingProxy(redis.port)
  const understudy = await startUnderstudy({
    store: proxy.url,
    fixture: 'empty',
    apiKey: API_KEY,
    enforceQuotas: false,
  })
  onTestFinished(() => understudy.stop())
  const names = scriptNames()
  let sent: { name: string; bytes: number }[] = []
  proxy.listen(([name = '', script = ''], bytes) => {
    const digest = name === 'EVAL' ? createHash('sha1').update(script).digest('hex') : script
    // Beside scripts, only the history has commands on keys that belong to no account.
    const plain = script.includes('{all}') ? 'history' : name
    sent.push({ name: name.startsWith('EVAL') ? (names.get(digest) ?? digest) : plain, bytes })
  })

  // biome-ignore lint/suspicious/noExplicitAny: whose shape the contract has proved
  async function ask(method: string, path: string, body?: unknown, key = API_KEY): Promise<any> {
    const response = await sendRequest(method, understudy.baseUrl + path, body, { authorization: `Bearer ${key}` })
    return response.body.data
  }

  /** The commands that a request waits for, and their bytes in both directions. */
  async function awaited(act: () => Promise<unknown>): Promise<{ commands: string[]; bytes: number }> {
    sent = []
    await act()
    const waited = sent.filter(({ name }) => !UNAWAITED.includes(name))
    return { commands: waited.map(({ name }) => name), bytes: waited.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /** How often Redis was asked to run a script. */
  async function scriptsRun(): Promise<number> {
    const stats = await redis.info('commandstats')
    return Number(/calls=(\d+)/.exec(stats['cmdstat_evalsha'] ?? '')?.[1] ?? 0)
  }
  return { redis, understudy, ask, awaited, scriptsRun }
}

describe.skipIf(!HAS_REDIS)('a request to a replica', () => {
  it('takes one round trip to enter, and one more to change something', async () => {
    const { ask, awaited } = await start()
    const { group } = await ask('POST', '/domaingroups', { name: 'Web' })
    const reads = [
      ['GET', '/domains'],
      ['GET', '/domaingroups'],
      ['GET', '/dmarc'],
      ['GET', `/domaingroups?id=${group.id}`],
    ] as const
    for (const [method, path] of reads) {
      expect(`${path}: ${(await awaited(() => ask(method, path))).commands}`).toBe(`${path}: enter`)
    }
    const writes = [
      ['POST', '/domains', { domains: ['a.example'] }],
      ['PATCH', `/domaingroups?id=${group.id}`, { add_domains: ['a.example'] }],
      ['POST', '/domaingroups', { name: 'Mail' }],
      ['DELETE', '/domains', { domains: ['a.example'] }],
      ['DELETE', `/domaingroups?id=${group.id}`, undefined],
    ] as const
    for (const [method, path, body] of writes) {
      expect(`${method}: ${(await awaited(() => ask(method, path, body))).commands}`).toBe(`${method}: enter,change`)
    }
  })

  it('takes one round trip to enter although another replica has changed the account', async () => {
    const { redis, ask, awaited } = await start()
    const other = await startUnderstudy({ store: redis.url, fixture: 'empty', apiKey: API_KEY, enforceQuotas: false })
    onTestFinished(() => other.stop())
    await ask('GET', '/domains')
    const authorization = `Bearer ${API_KEY}`
    await sendRequest('POST', `${other.baseUrl}/domains`, { domains: ['a.example'] }, { authorization })
    const read = await awaited(async () => expect((await ask('GET', '/domains')).domains).toEqual(['a.example']))
    expect(read.commands).toEqual(['enter'])
  })

  it('asks Redis for as many scripts as it says, by the statistics of Redis', async () => {
    const { ask, scriptsRun } = await start()
    await ask('POST', '/domaingroups', { name: 'Web' })
    const before = await scriptsRun()
    const begun = performance.now()
    for (let index = 0; index < 200; index++) await ask('GET', '/domaingroups')
    const seconds = (performance.now() - begun) / 1000
    const perRequest = ((await scriptsRun()) - before) / 200
    // One to enter, and at most one for the history; and the looks at the store, two in a second.
    expect(perRequest).toBeGreaterThanOrEqual(1)
    expect(perRequest).toBeLessThanOrEqual(2 + (3 * seconds + 2) / 200)
  })

  it('sends and receives no more in an account of 10,000 domains than in an empty one', async () => {
    const { understudy, ask, awaited } = await start()

    async function measure(domains: readonly string[]): Promise<{ commands: string[]; bytes: number }[]> {
      const created = await askControl(understudy, 'POST', '/accounts', { fixture: { domains } })
      expect(created.status, created.text).toBe(201)
      const key: string = created.data.api_key
      const { group } = await ask('POST', '/domaingroups', { name: 'Web' }, key)
      const patch = (changes: object) => awaited(() => ask('PATCH', `/domaingroups?id=${group.id}`, changes, key))
      return [await patch({ name: 'Web' }), await patch({ name: 'Mail' }), await patch({ domains: ['d0.example'] })]
    }
    const small = await measure(['d0.example'])
    const large = await measure(Array.from({ length: 10_000 }, (_, index) => `d${index}.example`))
    expect(large.map(({ commands }) => commands)).toEqual(small.map(({ commands }) => commands))
    for (const [index, { bytes }] of large.entries()) {
      expect(bytes).toBeLessThan(2000)
      expect(bytes).toBeLessThan((small[index]?.bytes ?? 0) + 100)
    }
  })
})
