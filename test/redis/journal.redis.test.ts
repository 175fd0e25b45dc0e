import { describe, expect, it, onTestFinished } from 'vitest'
import { ascending, atOnce, range } from '../support/at-once.ts'
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts'
import { freshPrefix, HAS_REDIS, startRedis } from '../support/redis-server.ts'
import { KEY, startTwo } from './two-servers.ts'

interface Listed {
  ordinal: number
  query: string
  request_id: string
}

async function listed({ get }: ControlPlane, path = ''): Promise<Listed[]> {
  return (await get(`${path}/requests?limit=1000`)).data.requests
}

/** A text in which a server names its own address, without that. */
function anywhere(text: string): string {
  return text.replaceAll(/127\.0\.0\.1:\d+/g, 'SERVER')
}

/** The next ids of the events of a server. */
async function openEvents({ adminUrl }: ControlPlane, lastEventId?: string) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const { body } = await fetch(`${adminUrl}/events`, { headers, signal: leaving.signal })
  const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return async (count: number): Promise<string[]> => {
    const found = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id ?? '')
    while (found().length < count) text += (await reader.read()).value
    return found()
  }
}

describe.skipIf(!HAS_REDIS)('The journal of two servers on one Redis', () => {
  it('has the requests to both in one order, and explains them alike', async () => {
    const servers = await startTwo()
    const [one, other] = servers
    const events = await openEvents(other)
    for (const number of range(0, 39)) {
      const body = number % 4 === 0 ? { nonsense: number } : undefined
      const method = body === undefined ? 'GET' : 'POST'
      await servers[number % 3 === 0 ? 0 : 1].ask(KEY, method, `/domains?n=${number}`, body)
    }
    await expect.poll(() => listed(one)).toHaveLength(40)
    const here = await listed(one)
    const numbers = here.map(({ query }) => Number(query.slice('n='.length)))
    expect(numbers.toSorted(ascending)).toEqual(range(0, 39))
    // What goes through one of them is in its order.
    for (const isFirst of [true, false]) {
      const through = numbers.filter((number) => (number % 3 === 0) === isFirst)
      expect(through).toEqual(through.toSorted(ascending))
    }
    expect(here.map(({ ordinal }) => ordinal)).toEqual(range(1, 40))
    await expect.poll(() => listed(other)).toEqual(here)
    expect(await events(40)).toEqual(range(1, 40).map(String))
    expect((await (await openEvents(one, '38'))(2)).slice(0, 2)).toEqual(['39', '40'])
    const [first] = here
    const texts = servers.map(async ({ get }) => anywhere((await get(`/explain/${first?.request_id}`)).text))
    const [explained, again] = await Promise.all(texts)
    expect(JSON.parse(explained ?? '').data.correction.changes.length).toBeGreaterThan(0)
    expect(again).toBe(explained)
  })

  it('has a request at each of them as soon as a client has the answer, and forgets it at both', async () => {
    const [one, other] = await startTwo()
    for (const count of range(1, 5)) {
      await one.ask(KEY, 'GET', '/domains')
      expect(await listed(other)).toHaveLength(count)
    }
    await one.ask(KEY, 'GET', '/domains')
    await other.delete('/accounts/default/requests')
    for (const each of [one, other]) expect(await listed(each)).toEqual([])
  })

  it('loses none of many at the same time, and gives no id twice', async () => {
    const servers = await startTwo({ enforceQuotas: false })
    const answers = await atOnce(100, (index) =>
      (servers[index % 2] as ControlPlane).ask(index % 5 === 0 ? 'nobodys' : KEY, 'GET', '/domains'),
    )
    const ids = answers.map(({ headers }) => headers['x-request-id']).toSorted()
    expect(new Set(ids).size).toBe(100)
    for (const each of servers) {
      await expect.poll(async () => (await listed(each)).map(({ request_id }) => request_id).toSorted()).toEqual(ids)
    }
    const [here, there] = await Promise.all(servers.map((each) => listed(each)))
    expect(there).toEqual(here)
  })

  it('is read by a server that starts later, and after those before have stopped', async () => {
    const redis = await startRedis()
    const common = { store: redis.url, storePrefix: freshPrefix(), apiKey: KEY, clock: undefined }
    const first = await startControlPlane(common)
    for (const number of range(1, 3)) await first.ask(KEY, 'GET', `/domains?n=${number}`)
    await first.stop()
    const later = await startControlPlane(common)
    expect((await listed(later)).map(({ query }) => query)).toEqual(['n=1', 'n=2', 'n=3'])
  })

  it('of an account ends with it at both, and its successor begins with an empty one', async () => {
    const [one, other] = await startTwo()
    const { key } = await one.create({ id: 'acme' })
    await one.ask(key, 'GET', '/domains')
    expect(await listed(other, '/accounts/acme')).toHaveLength(1)
    await other.delete('/accounts/acme')
    await one.create({ id: 'acme' })
    for (const each of [one, other]) expect(await listed(each, '/accounts/acme')).toEqual([])
  })

  it('has for each account as many requests as the option says', async () => {
    const [one, other] = await startTwo({ journal: 5 })
    for (const number of range(1, 8)) await one.ask(KEY, 'GET', `/domains?n=${number}`)
    for (const each of [one, other]) {
      const queries = (await listed(each)).map(({ query }) => query)
      expect(queries).toEqual(range(4, 8).map((number) => `n=${number}`))
    }
  })

  it('makes one verdict of all requests, with the first violations explained, which begins again at both', async () => {
    const servers = await startTwo()
    const [one, other] = servers
    await one.ask(KEY, 'GET', '/domains')
    for (const number of range(0, 11)) {
      await (servers[number % 2] as ControlPlane).ask(KEY, 'POST', '/domains', { [`nonsense${number}`]: 1 })
    }
    const verdict = async () => (await one.get('/verdict')).data
    await expect.poll(async () => (await verdict()).requests).toBe(13)
    const here = await verdict()
    expect(here).toMatchObject({
      ...{ passed: false, requests: 13, judged: 13, injected: 0 },
      violations: { count: 12, by_code: { unknown_field: 12 } },
    })
    const fields = here.violations.first.map(({ message }: { message: string }) => /nonsense\d+/.exec(message)?.[0])
    expect(new Set(fields).size).toBe(10)
    const [shown, again] = await Promise.all(servers.map(async ({ get }) => anywhere((await get('/verdict')).text)))
    expect(again).toBe(shown)
    await other.delete('/verdict')
    for (const { get } of servers) expect((await get('/verdict')).data).toMatchObject({ requests: 0 })
    await one.ask(KEY, 'POST', '/domains', { rubbish: 1 })
    const { first, ...counted } = (await other.get('/verdict')).data.violations
    expect(counted).toMatchObject({ count: 1, by_code: { unknown_field: 1 } })
    expect(first).toHaveLength(1)
  })

  it('makes one coverage of all responses, for the account and over all', async () => {
    const servers = await startTwo()
    const [one, other] = servers
    const { key } = await one.create({ id: 'acme' })
    for (const each of servers) for (const asked of [KEY, key, key]) await each.ask(asked, 'GET', '/domains')
    const seen = async (path: string, each: ControlPlane) => {
      const { operations, summary } = (await each.get(path)).data
      const { responses } = operations.find(({ operation }: { operation: string }) => operation === 'listDomains')
      const { genuine } = responses.find(({ status }: { status: number }) => status === 200)
      return [genuine, summary.rules.seen > 0]
    }
    for (const each of servers) {
      await expect.poll(() => seen('/coverage', each)).toEqual([6, true])
      expect(await seen('/accounts/acme/coverage', each)).toEqual([4, true])
    }
    await other.post('/accounts/acme/reset', {})
    expect(await seen('/accounts/acme/coverage', one)).toEqual([0, false])
    expect(await seen('/coverage', one)).toEqual([2, true])
  })

  it('has no key that is in use, wherever a client has put it, and neither has Redis', async () => {
    const redis = await startRedis()
    const token = 'the-token-of-the-control-plane'
    const common = { store: redis.url, storePrefix: freshPrefix(), apiKey: KEY, clock: undefined, adminToken: token }
    const servers = [await startControlPlane(common), await startControlPlane(common)] as const
    const own = 'Correct-Horse+Battery/Staple'
    const { key: derived } = await servers[0].create({ id: 'beta' })
    await servers[0].create({ id: 'acme', api_key: own })
    const secrets = [KEY, own, derived, token]
    for (const { ask, get } of servers) {
      for (const secret of secrets) {
        const escaped = encodeURIComponent(secret)
        await ask(secret, 'POST', '/domains', { domains: [secret, `${secret}.example.com`], [secret]: { a: [secret] } })
        await ask(secret, 'GET', `/domains?id=${escaped}&api_key=${escaped}`)
        await ask(secret, 'GET', `/${escaped}/x`)
        await ask(secret, 'POST', '/domaingroups', `{"name": "${secret}`)
      }
      expect((await get('/verdict')).data.passed).toBe(false)
    }
    const texts = [...(await Promise.all(servers.map(async ({ get }) => (await get('/requests?limit=1000')).text)))]
    for (const name of (await redis.command('KEYS', '*')) as string[]) {
      texts.push(name, `${await redis.command('DUMP', name)}`)
      const type = `${await redis.command('TYPE', name)}`
      const [command = '', ...range] = (READING[type] ?? '').split(' ')
      texts.push(JSON.stringify(await redis.command(command, name, ...range)))
    }
    const text = texts.join('\n').toLowerCase()
    expect(text).toContain('example.com')
    for (const secret of secrets) {
      for (const spelling of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
        expect(text).not.toContain(spelling.toLowerCase())
      }
    }
  })
})

/** By the type of a key, how all of it is read. */
const READING: Readonly<Record<string, string>> = {
  ...{
    string: 'GET',
    hash: 'HGETALL',
    list: 'LRANGE 0 -1',
    set: 'SMEMBERS',
    zset: 'ZRANGE 0 -1',
    stream: 'XRANGE - +',
  },
}
