import { describe, expect, it, onTestFinished } from 'vitest'
import type { Circumstances } from '../../src/accounts/exchange-log.ts'
import { StoreError } from '../../src/store/store-error.ts'
import { countersOf } from '../store/counting.ts'
import { range } from '../support/at-once.ts'
import { entry } from '../support/entry.ts'
import { recordingLog } from '../support/recording-log.ts'
import { freshPrefix, HAS_REDIS, type RedisOptions, sharedRedis, startRedis } from '../support/redis-server.ts'
import { sendRequest } from '../support/request.ts'
import { API_KEY } from '../support/service.ts'
import { dumpStore, type Replica, type ReplicaOptions, startReplica, startReplicas } from './history-replica.ts'

const NOBODY: Circumstances = {
  ...{
    history: undefined,
    query: {},
    body: undefined,
    judged: false,
    principal: undefined,
    owner: undefined,
    started: 0,
    ended: 0,
  },
  ...{ requestBody: undefined, responseBody: undefined },
}

/** Lets a replica take an exchange of nobody. */
function takeNobodys({ exchanges }: Replica, requestId: string, chosen: Parameters<typeof entry>[0] = {}): void {
  exchanges.take(entry({ requestId, account: undefined, ...chosen }), NOBODY)
}

const as = (key: string) => ({ authorization: `Bearer ${key}` })

async function idsOf(replica: Replica, path = ''): Promise<string[]> {
  const { data, text } = await replica.ask('GET', `${path}/requests?limit=1000`)
  expect(text).toContain('requests')
  return data.requests.map(({ request_id }: { request_id: string }) => request_id)
}

/** Two replicas on a Redis of their own, with the prefix `p`. */
async function startApart(options: Omit<ReplicaOptions, 'server'> = {}, redis: RedisOptions = {}) {
  const server = await startRedis(redis)
  const [one, other] = await startReplicas({ server, prefix: 'p', ...options })
  return { server, one, other }
}

/** Two replicas on the Redis of all tests, and the name of a key there that all accounts share. */
async function startTogether() {
  const server = await sharedRedis()
  const prefix = freshPrefix()
  const [one, other] = await startReplicas({ server, prefix })
  return { server, prefix, one, other, keyOf: (name: string) => `${prefix}:{all}:${name}` }
}

/** Resolves as soon as both have so many exchanges in their journals. */
async function untilBothHave(count: number, ...replicas: Replica[]): Promise<void> {
  await until(() => replicas.every(({ journal }) => journal.size() === count))
}

/** Resolves as soon as something is so. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await expect.poll(isSo, { interval: 5 }).toBe(true)
}

/** Takes the next events of a stream of a replica; a comment says that it is open. */
async function openEvents({ baseUrl }: Replica, lastEventId?: string) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
  const url = `${new URL(baseUrl).origin}/__admin/events`
  const { body } = await fetch(url, { headers, signal: leaving.signal })
  const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    async take(count: number): Promise<string[]> {
      const found = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id ?? '')
      while (found().length < count) {
        const { value, done } = await reader.read()
        if (done) throw new Error(`The stream ended after ${text}`)
        text += value
      }
      return found()
    },
    /** Resolves when the server has ended it. */
    async end(): Promise<void> {
      for (;;) if ((await reader.read().catch(() => ({ done: true }))).done) return
    },
  }
}

describe.skipIf(!HAS_REDIS)('The exchanges of several replicas', () => {
  it('are the same on each of them, in the same order', async () => {
    const [one, other] = await startReplicas()
    await one.send('GET', '/domains')
    await other.send('POST', '/domains', { domains: ['a.example.com'] })
    await one.send('POST', '/domains', { nonsense: 1 })
    await other.send('GET', '/nowhere', undefined, { authorization: '' })
    const here = await one.ask('GET', '/requests')
    expect(here.data.requests.map(({ ordinal }: { ordinal: number }) => ordinal)).toEqual([1, 2, 3, 4])
    expect((await other.ask('GET', '/requests')).data).toEqual(here.data)
    const path = `/explain/${here.data.requests[2].request_id}`
    const explained = await one.ask('GET', path)
    expect(explained.data.correction.changes.length).toBeGreaterThan(0)
    const { text } = await other.ask('GET', path)
    expect(text.replaceAll(new URL(other.baseUrl).origin, new URL(one.baseUrl).origin)).toBe(explained.text)
  })

  it('are read by a replica that starts later', async () => {
    const server = await sharedRedis()
    const prefix = freshPrefix()
    // It waits for nobody whom it asks for exchanges.
    const first = await startReplica({ server, prefix, others: 0 })
    for (let number = 0; number < 5; number++) await first.send('GET', `/domains?n=${number}`)
    await first.ask('DELETE', '/accounts/default/requests')
    for (let number = 5; number < 8; number++) await first.send('GET', `/domains?n=${number}`)
    const later = await startReplica({ server, prefix })
    expect([...later.journal.oldestFirst()].map(({ ordinal }) => ordinal)).toEqual([6, 7, 8])
    expect((await later.ask('GET', '/requests')).data).toEqual((await first.ask('GET', '/requests')).data)
  })

  it('are in the journal of any of them as soon as a client has the response', async () => {
    const [one, other] = await startReplicas()
    const { call } = one.connection
    one.connection.call = async (name, ...rest) => {
      // The store is far away.
      for (let trip = 0; trip < 5 && name === 'record'; trip++) await one.connection.send(['PING'])
      return call.call(one.connection, name, ...rest)
    }
    const send = () => sendRequest('GET', `${one.baseUrl}/domains`, undefined, as(API_KEY))
    for (let number = 1; number <= 3; number++) {
      await send()
      expect(await idsOf(other)).toHaveLength(number)
    }
    await send()
    await other.ask('DELETE', '/accounts/default/requests')
    expect(await idsOf(other)).toEqual([])
    await one.exchanges.caughtUp()
    expect(await idsOf(other)).toEqual([])
  })

  it('are shown without those of a replica that does not answer, which is logged once', async () => {
    const said: object[] = []
    const log = { ...recordingLog(), warn: (fields: object) => void said.push(fields) }
    const [one] = await startReplicas({ others: 5, patience: () => 1, log })
    takeNobodys(one, 'a')
    for (const _ of [1, 2]) expect(await idsOf(one)).toEqual(['a'])
    expect(said).toEqual([{ servers: expect.any(Number), answers: 1 }])
  })

  it('are shown whose body a fault left unread, and those before and after them', async () => {
    const [one, other] = await startReplicas()
    await one.ask('POST', '/accounts/default/faults', { match: { method: 'POST' }, respond: { status: 503 } })
    await one.send('GET', '/domains')
    await one.send('POST', '/domains', { domains: ['a.example'] })
    await one.send('GET', '/domains')
    const shown = async ({ ask }: Replica) => {
      const { requests } = (await ask('GET', '/requests')).data
      return requests.map(({ method, status }: { method: string; status: number }) => `${method} ${status}`)
    }
    for (const each of [one, other]) expect(await shown(each)).toEqual(['GET 200', 'POST 503', 'GET 200'])
  })

  it('of a client that waits for each answer are in this order, through whichever replica they go', async () => {
    const [one, other] = await startReplicas()
    const events = await openEvents(other)
    const sent: string[] = []
    for (const number of range(1, 60)) {
      const { baseUrl } = number % 3 === 0 ? one : other
      await sendRequest('GET', `${baseUrl}/domains?n=${number}`, undefined, as(API_KEY))
      sent.push(`n=${number}`)
    }
    const list = async (replica: Replica) => (await replica.ask('GET', '/requests?limit=1000')).data.requests
    const here = await list(one)
    expect(here.map(({ query }: { query: string }) => query)).toEqual(sent)
    expect(here.map(({ ordinal }: { ordinal: number }) => ordinal)).toEqual(range(1, 60))
    expect(await list(other)).toEqual(here)
    expect(await events.take(60)).toEqual(range(1, 60).map(String))
  })

  it('come to those who read events, at any replica, in order', async () => {
    const [one, other] = await startReplicas()
    const events = await openEvents(other)
    await one.send('GET', '/domains')
    await other.send('GET', '/domains')
    await one.send('GET', '/domains')
    expect(await events.take(3)).toEqual(['1', '2', '3'])
    const resumed = await openEvents(one, '1')
    expect(await resumed.take(2)).toEqual(['2', '3'])
  })

  it('of an account that has ended are gone everywhere, and what was under way is recorded for nobody', async () => {
    const [one, other] = await startReplicas()
    const { data } = await one.ask('POST', '/accounts', { id: 'acme' })
    const headers = as(data.api_key)
    await one.send('GET', '/domains', undefined, headers)
    const slow = other.send('GET', '/domains', undefined, { ...headers, prefer: 'delay=300' })
    // Both requests are charged by then, so the second one is under way.
    await until(async () => [...(await countersOf(other.store, 'acme')).quotas.values()].some(({ used }) => used === 2))
    await one.ask('DELETE', '/accounts/acme')
    expect([...other.journal.oldestFirst('acme')]).toEqual([])
    await slow
    await other.exchanges.caughtUp()
    expect([...other.journal.oldestFirst('acme')]).toEqual([])
    await other.ask('POST', '/accounts', { id: 'acme' })
    expect(await idsOf(one, '/accounts/acme')).toEqual([])
    expect((await one.ask('GET', '/requests')).data.requests).toMatchObject([{ account: null }])
  })

  it('of an account that was deleted by a replica that died then are not those of its successor', async () => {
    const [one, other] = await startReplicas()
    const first = (await one.ask('POST', '/accounts', { id: 'acme' })).data.api_key
    await one.send('GET', '/domains', undefined, as(first))
    await one.exchanges.caughtUp()
    await one.store.delete('acme')
    const second = (await other.ask('POST', '/accounts', { id: 'acme', seed: 7 })).data.api_key
    await other.send('GET', '/domaingroups', undefined, as(second))
    for (const each of [one, other]) expect(await idsOf(each, '/accounts/acme')).toHaveLength(1)
  })

  it('are as many for each account as the journal has, and the heaviest account gives up its oldest', async () => {
    const [one, other] = await startReplicas({ journal: { entries: 5, total: 40_000 } })
    for (let number = 0; number < 8; number++) takeNobodys(one, `n${number}`)
    await one.send('GET', '/domains')
    expect(await idsOf(other)).toHaveLength(6)
    for (let number = 8; number < 12; number++) {
      takeNobodys(other, `n${number}`, { responseBody: { held: 'x'.repeat(9_000), size: 9_000 } })
    }
    await other.exchanges.caughtUp()
    const ids = await idsOf(one)
    expect(await idsOf(other)).toEqual(ids)
    expect(await idsOf(one, '/accounts/default')).toHaveLength(1)
    expect(ids.at(-1)).toBe('n11')
    expect(ids.length).toBeLessThan(6)
  })

  it('come to readers of events even where the journal keeps none', async () => {
    const [one, other] = await startReplicas({ journal: { entries: 0 } })
    const events = await openEvents(other)
    for (let number = 0; number < 30; number++) takeNobodys(one, `n${number}`)
    expect(await events.take(30)).toHaveLength(30)
    expect(await idsOf(other)).toEqual([])
  })
})

describe.skipIf(!HAS_REDIS)('The verdict of several replicas', () => {
  it('counts all of their requests, and has the first violations explained', async () => {
    const [one, other] = await startReplicas()
    await one.send('GET', '/domains')
    for (let number = 0; number < 12; number++) {
      await (number % 2 === 0 ? one : other).send('POST', '/domains', { [`nonsense${number}`]: 1 })
    }
    const here = (await one.ask('GET', '/verdict')).data
    expect(here).toMatchObject({
      ...{ passed: false, requests: 13, judged: 13, injected: 0 },
      violations: { count: 12, by_code: { unknown_field: 12 } },
    })
    const fields = here.violations.first.map(({ message }: { message: string }) => /nonsense\d+/.exec(message)?.[0])
    expect(fields).toEqual(range(0, 9).map((number) => `nonsense${number}`))
    expect(here.violations.first[0].correction).toContain(`Bearer $API_KEY`)
    expect((await other.ask('GET', '/verdict')).data).toEqual(here)
  })

  it('begins again at all of them, and can still be read as a whole', async () => {
    const [one, other] = await startReplicas()
    await one.send('POST', '/domains', { nonsense: 1 })
    expect((await other.ask('GET', '/verdict')).data.violations.first).toHaveLength(1)
    await other.ask('DELETE', '/verdict')
    for (const each of [one, other]) expect((await each.ask('GET', '/verdict')).data).toMatchObject({ requests: 0 })
    await one.send('POST', '/domains', { rubbish: 1 })
    const { data } = await other.ask('GET', '/verdict')
    expect(data.violations).toMatchObject({ count: 1, by_code: { unknown_field: 1 } })
    expect(data.violations.first).toHaveLength(1)
    const whole = await one.exchanges.wholeVerdict()
    expect(whole.counts).toMatchObject({ requests: 2, violations: 2, byCode: { unknown_field: 2 } })
    expect(await whole.examples()).toHaveLength(2)
  })

  it('sees that a request is sent again through another replica', async () => {
    const [one, other] = await startReplicas()
    for (const each of [one, other]) {
      const refused = await each.send('GET', '/domains', undefined, { prefer: 'code=internal_error' })
      expect(refused.status).toBe(500)
    }
    for (const each of [one, other]) await each.send('POST', '/domains', { domains: ['a.example.com'] })
    for (const each of [one, other]) await each.send('GET', '/dmarc')
    await other.exchanges.caughtUp()
    const { data } = await one.ask('GET', '/verdict')
    const kinds = data.politeness.map(({ kind }: { kind: string }) => kind)
    expect(kinds.sort()).toEqual(['immediate-retry', 'repeated-read', 'repeated-write'])
    expect(data.politeness.every(({ request_ids }: { request_ids: string[] }) => request_ids.length === 1)).toBe(true)
    expect((await other.ask('GET', '/verdict')).data).toEqual(data)
  })

  it('tells those who watch for violations of all replicas', async () => {
    const [one, other] = await startReplicas()
    const seen: unknown[] = []
    other.exchanges.subscribeViolations(({ account, presented, entry: { path }, explain }) => {
      seen.push(explain().then((explanation) => [account, presented?.length, path, explanation?.problems.length]))
    })
    await one.send('POST', '/domains', { nonsense: 1 })
    await one.send('GET', '/nowhere', undefined, { authorization: 'Bearer nobodys' })
    await other.exchanges.caughtUp()
    expect(await Promise.all(seen)).toEqual([
      ['default', undefined, '/api/v1/domains', 2],
      [undefined, 64, '/api/v1/nowhere', 1],
    ])
  })
})

describe.skipIf(!HAS_REDIS)('The coverage of several replicas', () => {
  it('counts all of their responses, for the account and over all', async () => {
    const [one, other] = await startReplicas()
    const { data } = await one.ask('POST', '/accounts', { id: 'acme' })
    const acme = as(data.api_key)
    for (const each of [one, other]) {
      await each.send('GET', '/domains')
      await each.send('GET', '/domains', undefined, acme)
      await each.send('GET', '/domains', undefined, { ...acme, prefer: 'code=internal_error' })
      await each.send('GET', '/nowhere', undefined, { authorization: '' })
    }
    const count = async (path: string, replica = one) => {
      const report = (await replica.ask('GET', path)).data
      const operation = report.operations.find(({ operation: id }: { operation: string }) => id === 'listDomains')
      const read = (status: number) =>
        operation.responses
          .filter((each: { status: number }) => each.status === status)
          .reduce((sum: number, each: { genuine: number; injected: number }) => sum + each.genuine + each.injected, 0)
      return [read(200), read(500), report.summary.rules.seen > 0]
    }
    for (const each of [one, other]) {
      expect(await count('/coverage', each)).toEqual([4, 2, true])
      expect(await count('/accounts/acme/coverage', each)).toEqual([2, 2, true])
      expect(await count('/accounts/default/coverage', each)).toEqual([2, 0, true])
    }
    await other.ask('POST', '/accounts/acme/reset')
    expect(await count('/accounts/acme/coverage')).toEqual([0, 0, false])
    expect(await count('/coverage')).toEqual([2, 0, true])
    await one.ask('DELETE', '/accounts/acme')
    expect(await count('/coverage', other)).toEqual([2, 0, true])
  })

  it('knows a rule by what was done through different replicas', async () => {
    const [one, other] = await startReplicas()
    const shown = async (replica: Replica) => {
      const { data } = await replica.ask('GET', '/accounts/default/coverage')
      return data.rules.filter(({ seen }: { seen: boolean }) => seen).map(({ id }: { id: string }) => id)
    }
    await one.send('GET', '/dmarc')
    const before = await shown(one)
    // The same on the same day: the rule is about the second time.
    await other.send('GET', '/dmarc')
    await other.exchanges.caughtUp()
    const after = await shown(one)
    expect(after.length).toBe(before.length + 1)
    expect(await shown(other)).toEqual(after)
  })
})

describe.skipIf(!HAS_REDIS)('While the store is away', () => {
  it('exchanges wait, the oldest are lost when there are too many, which the log says, and the rest comes', async () => {
    let patience = 25
    const said: { requests?: number }[] = []
    const log = { ...recordingLog(), warn: (fields: object) => void said.push(fields) }
    const given = { waiting: 10_000, patience: () => patience, log }
    const { server, one, other } = await startApart(given, { appendonly: 'yes', appendfsync: 'always' })
    takeNobodys(one, 'before')
    await other.exchanges.caughtUp()
    await untilBothHave(1, other)
    await server.kill()
    await until(() => !one.connection.state.isReady)
    for (let number = 0; number < 100; number++) takeNobodys(one, `n${number}`)
    patience = 0.25
    await expect(one.exchanges.caughtUp()).rejects.toThrow()
    patience = 25
    await server.restart()
    await until(() => other.journal.find('n99') !== undefined)
    const lost = 101 - (await idsOf(one)).length
    expect(lost).toBeGreaterThan(50)
    expect(said.filter(({ requests }) => requests !== undefined)).toEqual([{ requests: expect.any(Number) }])
    expect(await idsOf(one)).toEqual(['before', ...range(lost, 99).map((number) => `n${number}`)])
    expect(await idsOf(other)).toEqual(await idsOf(one))
  })

  it('a replica whose connection was cut goes on where it was', async () => {
    const { server, one, other } = await startApart()
    const events = await openEvents(other)
    takeNobodys(one, 'a')
    await events.take(1)
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    takeNobodys(one, 'b')
    takeNobodys(other, 'c')
    expect(await events.take(3)).toEqual(['1', '2', '3'])
    await untilBothHave(3, one)
    expect(await idsOf(other)).toEqual(await idsOf(one))
  })

  it('and comes back empty, all replicas begin again, and readers of events are cut', async () => {
    const { server, one, other } = await startApart()
    for (let number = 0; number < 5; number++) takeNobodys(one, `n${number}`)
    const events = await openEvents(other)
    await other.exchanges.caughtUp()
    await server.command('FLUSHALL')
    takeNobodys(one, 'new')
    await events.end()
    await untilBothHave(1, one, other)
    for (const each of [one, other]) {
      await each.exchanges.caughtUp()
      expect([...each.journal.oldestFirst()]).toMatchObject([{ requestId: 'new', ordinal: 1 }])
    }
  })

  it('and comes back without the last exchanges, all replicas have what it has', async () => {
    const { server, one, other } = await startApart()
    const idsOfNews = async () => {
      const news = (await server.command('XRANGE', 'p:{all}:news', '-', '+')) as [id: string, fields: unknown][]
      return news.map(([id]) => id)
    }
    for (let number = 0; number < 3; number++) takeNobodys(one, `n${number}`)
    for (const each of [one, other]) await each.exchanges.caughtUp()
    const kept = await idsOfNews()
    for (let number = 3; number < 5; number++) takeNobodys(one, `n${number}`)
    for (const each of [one, other]) await each.exchanges.caughtUp()
    // As after a failover to a server that has not got them.
    await server.command('XDEL', 'p:{all}:journal', '4-0', '5-0')
    await server.command('XSETID', 'p:{all}:journal', '3-0')
    await server.command('HSET', 'p:{all}:counts', 'ordinal', '3')
    await server.command('XDEL', 'p:{all}:news', ...(await idsOfNews()).filter((id) => !kept.includes(id)))
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    takeNobodys(one, 'new')
    for (const { journal } of [one, other]) await until(() => journal.find('new') !== undefined)
    await untilBothHave(4, one, other)
    for (const each of [one, other]) expect(await idsOf(each)).toEqual(['n0', 'n1', 'n2', 'new'])
  })
})

describe.skipIf(!HAS_REDIS)('Where the store has no memory left', () => {
  it('what is there can be read and cleared, and new exchanges are lost', async () => {
    const { server, one, other } = await startApart()
    await one.send('GET', '/domains')
    await server.command('CONFIG', 'SET', 'maxmemory', '1mb')
    await server.command('DEL', 'nothing')
    for (const each of [one, other]) {
      takeNobodys(each, 'lost')
      expect(await idsOf(each)).toHaveLength(1)
      expect((await each.ask('GET', '/verdict')).data.requests).toBe(1)
    }
    const later = await startReplica({ server, prefix: 'p' })
    expect(await idsOf(later)).toHaveLength(1)
    expect((await one.ask('DELETE', '/accounts/default/requests')).status).toBe(200)
    expect(await idsOf(other)).toEqual([])
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    await one.send('GET', '/domains')
    expect(await idsOf(other)).toHaveLength(1)
  })
})

describe.skipIf(!HAS_REDIS)('The store', () => {
  it('counts again from the start where the counts were deleted, and goes on with the ordinals', async () => {
    const { server, prefix, one, other, keyOf } = await startTogether()
    for (const id of ['a', 'b', 'c']) takeNobodys(one, id)
    await one.exchanges.caughtUp()
    await server.command('DEL', keyOf('counts'))
    takeNobodys(one, 'd')
    takeNobodys(other, 'e')
    await untilBothHave(5, one, other)
    expect((await idsOf(one)).sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await idsOf(other)).toEqual(await idsOf(one))
    expect((await one.ask('GET', '/verdict')).data.requests).toBe(2)
    await server.command('DEL', keyOf('counts'), keyOf('news'))
    const later = await startReplica({ server, prefix })
    expect(await idsOf(later)).toEqual(await idsOf(one))
  })

  it('has nothing of accounts that are gone', async () => {
    const { server, prefix, one, other, keyOf } = await startTogether()
    const { data } = await one.ask('POST', '/accounts', { id: 'acme' })
    await one.send('GET', '/domains', undefined, as(data.api_key))
    const incarnation = await server.command('HGET', keyOf('accounts'), 'acme')
    const keys = ['journal', 'coverage'].map((name) => `${prefix}:{${incarnation}}:${name}`)
    expect(await server.command('EXISTS', ...keys)).toBe(2)
    await one.store.delete('acme')
    expect(await server.command('EXISTS', ...keys)).toBe(0)
    expect(await server.command('EXISTS', keyOf('present'))).toBe(0)
    await untilBothHave(0, other)
  })

  it('does a batch once, also when it comes again because its reply was lost', async () => {
    const [one, other] = await startReplicas()
    const { call } = one.connection
    let isLost = false
    one.connection.call = async (...args) => {
      const reply = await call.apply(one.connection, args)
      if (args[0] !== 'record' || isLost) return reply
      isLost = true
      throw new StoreError('unknown', 'The reply was lost')
    }
    await one.send('POST', '/domains', { nonsense: 1 })
    await until(async () => (await idsOf(other)).length > 0)
    await one.send('GET', '/domains')
    expect(isLost).toBe(true)
    await one.exchanges.caughtUp()
    expect((await other.ask('GET', '/verdict')).data).toMatchObject({ requests: 2, violations: { count: 1 } })
    expect(await idsOf(other)).toHaveLength(2)
  })

  it('finds the end of the stream where the rest of what it knows is older', async () => {
    const { server, one, other, keyOf } = await startTogether()
    for (const id of ['a', 'b', 'c']) takeNobodys(one, id)
    await one.exchanges.caughtUp()
    await server.command('HSET', keyOf('counts'), 'ordinal', '1')
    takeNobodys(other, 'd')
    await until(() => one.journal.find('d') !== undefined)
    expect(await idsOf(other)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('is read again after an answer that is none', async () => {
    const { server, one, other, keyOf } = await startTogether()
    takeNobodys(one, 'a')
    await one.exchanges.caughtUp()
    await server.command('RENAME', keyOf('news'), keyOf('kept'))
    const errors = async () => (await server.info('errorstats'))['errorstat_WRONGTYPE']
    const before = await errors()
    await server.command('SET', keyOf('news'), 'no stream')
    await until(async () => (await errors()) !== before)
    await server.command('DEL', keyOf('news'))
    await server.command('RENAME', keyOf('kept'), keyOf('news'))
    takeNobodys(one, 'b')
    await until(() => other.journal.find('b') !== undefined)
    expect(await idsOf(other)).toEqual(['a', 'b'])
  })

  it('has exchanges that cannot be read, and the others come all the same', async () => {
    const { server, one, other, keyOf } = await startTogether()
    await one.send('GET', '/domains')
    await one.exchanges.caughtUp()
    await server.command('XADD', keyOf('journal'), '1-7', 'e', 'not JSON')
    await server.command('DEL', keyOf('news'))
    await other.send('GET', '/domains')
    expect(await idsOf(one)).toHaveLength(2)
  })

  it('has no key that is in use, wherever a client has put it', async () => {
    const { server, one, other } = await startApart()
    const plain = 'Correct-Horse+Battery/Staple'
    const created = await one.ask('POST', '/accounts', { id: 'acme', api_key: plain })
    expect(created.status).toBe(201)
    const derived = (await one.ask('POST', '/accounts', { id: 'beta' })).data.api_key
    const secrets = [API_KEY, derived, plain, 'the-token-of-the-control-plane']
    for (const replica of [one, other]) {
      await replica.send('GET', '/domains', undefined, as(plain))
      for (const secret of secrets) {
        const own = as(secret)
        const escaped = encodeURIComponent(secret)
        const body = { domains: [secret, `${secret}.example.com`], [secret]: { a: [secret] } }
        await replica.send('POST', '/domains', body, own)
        await replica.send('GET', `/domains?id=${escaped}&api_key=${escaped}`, undefined, own)
        await replica.send('GET', `/${escaped}/x`, undefined, { ...own, 'x-api-key': secret, cookie: `a=${secret}` })
        await replica.send('POST', '/groups', { name: secret }, { ...own, 'x-note': `my ${secret}` })
        await replica.send('POST', '/groups', `{"name": "${secret}`, own)
      }
    }
    for (const replica of [one, other]) expect((await replica.ask('GET', '/verdict')).data.passed).toBe(false)
    await Promise.all([one, other].map(({ exchanges }) => exchanges.caughtUp()))
    const text = await dumpStore(server)
    expect(text).toContain('nothing-secret-is-here'.slice(0, 7))
    for (const secret of secrets) {
      for (const spelling of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')]) {
        expect(text.toLowerCase()).not.toContain(spelling.toLowerCase())
      }
    }
  })
})
