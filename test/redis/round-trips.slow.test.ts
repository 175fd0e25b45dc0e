import { describe, expect, it, onTestFinished } from 'vitest'
import { readLibrary } from '../../src/redis/library.ts'
import type { Understudy } from '../../src/start/server.ts'
import { askControl } from '../support/control-plane.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { startPatient } from '../support/replicas.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'

/** What a replica sends without a request that waits for it: its heartbeat, uses of sandboxes, and the history. */
const UNAWAITED = ['beat', 'use', 'record', 'history', 'XREAD', 'lost']

/** The functions by the names that the store knows. */
const FUNCTIONS = new Map([...readLibrary().functions.keys()].map((name) => [readLibrary().nameOf(name), name]))

async function startAt(store: string): Promise<Understudy> {
  const understudy = await startPatient({ store, fixture: 'empty', apiKey: API_KEY, enforceQuotas: false })
  onTestFinished(() => understudy.stop())
  return understudy
}

/** A replica, and what it sends to Redis while something is done. */
async function start() {
  const redis = await startRedis()
  const proxy = await startCuttingProxy(redis.port)
  const understudy = await startAt(proxy.url)
  let sent: { name: string; bytes: number }[] = []
  proxy.listen(([name = '', first = ''], bytes) => {
    // Beside functions, only the history has commands on keys that belong to no account.
    const plain = first.includes('{all}') ? 'history' : name
    sent.push({ name: name === 'FCALL' ? (FUNCTIONS.get(first) ?? first) : plain, bytes })
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
  return {
    redis,
    understudy,
    ask,
    awaited,
    countOf: (name: string) => sent.filter((each) => each.name === name).length,
  }
}

describe.skipIf(!HAS_REDIS)('a request to a replica', () => {
  it('takes one round trip to enter, and one more to change something', async () => {
    const { ask, awaited } = await start()
    const { group } = await ask('POST', '/domaingroups', { name: 'Web' })
    const web = `/domaingroups?id=${group.id}`
    for (const path of ['/domains', '/domaingroups', '/dmarc', web]) {
      expect(`${path}: ${(await awaited(() => ask('GET', path))).commands}`).toBe(`${path}: enter`)
    }
    const writes = [
      ['POST', '/domains', { domains: ['a.example'] }],
      ['PATCH', web, { add_domains: ['a.example'] }],
      ['POST', '/domaingroups', { name: 'Mail' }],
      ['DELETE', '/domains', { domains: ['a.example'] }],
      ['DELETE', web, undefined],
    ] as const
    for (const [method, path, body] of writes) {
      expect(`${method}: ${(await awaited(() => ask(method, path, body))).commands}`).toBe(`${method}: enter,change`)
    }
  })

  it('costs no more than one script for the journal and the verdict', async () => {
    const { ask, awaited, countOf } = await start()
    await ask('POST', '/domaingroups', { name: 'Web' })
    await awaited(async () => {
      for (let index = 0; index < 50; index++) await ask('GET', '/domaingroups')
    })
    expect(countOf('enter')).toBe(50)
    expect(countOf('record')).toBeGreaterThan(0)
    // Those of the requests before, and of other news of the server, come beside them.
    expect(countOf('record')).toBeLessThan(60)
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
