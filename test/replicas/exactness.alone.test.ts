import { describe, expect, it, onTestFinished } from 'vitest'
import type { ServerOptions } from '../../src/start/options.ts'
import type { Understudy } from '../../src/start/server.ts'
import { addFault, askControl, faultsOf, journalOf } from '../support/control-plane.ts'
import { HAS_REDIS } from '../support/redis-server.ts'
import { startAlone, startFleet } from '../support/replicas.ts'
import { type Received, sendRequest } from '../support/request.ts'
import { API_KEY, expectLawful } from '../support/service.ts'

/** A clock that stands, so that no window ends in the middle of a test. */
const STANDING = { now: '2026-01-15T09:30:00Z', frozen: true }

type Start = (count: number, options?: ServerOptions) => Promise<readonly Understudy[]>

/** Replicas and what asks them; each request goes to the next of them. */
async function open(start: Start, options: ServerOptions = {}) {
  const replicas = await start(3, { ...STANDING, ...options })
  const [a, b, c] = replicas as [Understudy, Understudy, Understudy]
  let turn = 0

  async function ask(of: Understudy, method: string, path: string, body?: unknown, key = API_KEY): Promise<Received> {
    const received = await sendRequest(method, of.baseUrl + path, body, { authorization: `Bearer ${key}` })
    expectLawful(of.contract, method, path, received)
    return received
  }

  /** So many requests at once, in turn through all replicas. */
  function askAtOnce(
    count: number,
    method: string,
    path: string,
    bodyOf: (index: number) => unknown = () => undefined,
    key = API_KEY,
  ): Promise<Received[]> {
    const asked = Array.from({ length: count }, (_, index) =>
      ask(replicas[turn++ % 3] as Understudy, method, path, bodyOf(index), key),
    )
    return Promise.all(asked)
  }
  return { replicas, a, b, c, ask, askAtOnce }
}

function statuses(responses: readonly Received[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function header(name: string, { headers }: Received): string {
  return headers[name] ?? ''
}

const GROUNDS: { name: string; start: Start; isThere: boolean }[] = [
  { name: 'one server in memory', start: startAlone, isThere: true },
  { name: 'three replicas', start: startFleet, isThere: HAS_REDIS },
]

function describeGrounds(situation: string, body: (start: Start) => void): void {
  for (const { name, start, isThere } of GROUNDS) describe.skipIf(!isThere)(`${name}, ${situation}`, () => body(start))
}

describeGrounds('asked at the same moment', (start) => {
  it('lets exactly 30 of 60 requests pass where the quota is 30', async () => {
    const { askAtOnce } = await open(start)
    const responses = await askAtOnce(60, 'GET', '/domains')
    expect(statuses(responses)).toEqual({ 200: 30, 429: 30 })
    const left = responses
      .filter(({ status }) => status === 200)
      .map((each) => Number(header('x-ratelimit-remaining', each)))
    expect(left.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 30 }, (_, index) => index))
  })

  it('counts the requests of each key for itself', async () => {
    const { a, askAtOnce } = await open(start)
    const { data } = await askControl(a, 'POST', '/accounts/default/keys', { created_at: '2025-12-01T00:00:00Z' })
    const both = await Promise.all([
      askAtOnce(40, 'GET', '/domains'),
      askAtOnce(40, 'GET', '/domains', undefined, data.api_key),
    ])
    expect(both.map(statuses)).toEqual([
      { 200: 30, 429: 10 },
      { 200: 30, 429: 10 },
    ])
  })

  it('creates one of 20 groups of the same name', async () => {
    const { a, ask, askAtOnce } = await open(start)
    const responses = await askAtOnce(20, 'POST', '/domaingroups', (index) => ({
      name: index % 2 === 0 ? 'Web' : 'WEB',
    }))
    expect(statuses(responses)).toEqual({ 200: 1, 409: 19 })
    expect(responses.filter(({ status }) => status === 409).map(({ body }) => body.error.code)).toEqual(
      Array(19).fill('duplicate_name'),
    )
    expect((await ask(a, 'GET', '/domaingroups')).body.data.count).toBe(1)
  })

  it('adds a domain once, and loses none of several', async () => {
    const { b, ask, askAtOnce } = await open(start)
    const same = await askAtOnce(10, 'POST', '/domains', () => ({ domains: ['same.example'] }))
    expect(statuses(same)).toEqual({ 200: 1, 400: 9 })
    await askAtOnce(15, 'POST', '/domains', (index) => ({ domains: [`d${index}.example`] }))
    const { domains } = (await ask(b, 'GET', '/domains')).body.data
    expect(domains).toHaveLength(16)
    expect(new Set(domains).size).toBe(16)
  })

  it('loses no change of a group', async () => {
    const { a, c, ask, askAtOnce } = await open(start)
    const names = Array.from({ length: 30 }, (_, index) => `d${index}.example`)
    await ask(a, 'POST', '/domains', { domains: names })
    const { id } = (await ask(a, 'POST', '/domaingroups', { name: 'Web' })).body.data.group
    const responses = await askAtOnce(30, 'PATCH', `/domaingroups?id=${id}`, (index) => ({
      add_domains: [names[index]],
    }))
    expect(statuses(responses)).toEqual({ 200: 30 })
    const { group } = (await ask(c, 'GET', `/domaingroups?id=${id}`)).body.data
    expect(group.domains.toSorted()).toEqual(names.toSorted())
    // Each response shows what there was after its own change, and none shows the same.
    expect(new Set(responses.map(({ body }) => body.data.group.domains.length)).size).toBe(30)
  })

  it('deletes a group once', async () => {
    const { a, ask, askAtOnce } = await open(start)
    const { id } = (await ask(a, 'POST', '/domaingroups', { name: 'Web' })).body.data.group
    expect(statuses(await askAtOnce(9, 'DELETE', `/domaingroups?id=${id}`))).toEqual({ 200: 1, 404: 8 })
  })

  it('opens one account for a sandbox key that nobody has used before', async () => {
    const { a, ask, askAtOnce } = await open(start)
    const responses = await askAtOnce(
      9,
      'POST',
      '/domains',
      (index) => ({ domains: [`d${index}.example`] }),
      'sandbox_new',
    )
    expect(statuses(responses)).toEqual({ 200: 9 })
    expect((await ask(a, 'GET', '/domains', undefined, 'sandbox_new')).body.data.domains).toHaveLength(9)
    const { data } = await askControl(a, 'GET', '/accounts')
    expect(data.accounts.map(({ id }: { id: string }) => id)).toEqual(['default', 'sandbox_new'])
  })

  it('acts five times by a rule that acts five times', async () => {
    const { a, b, askAtOnce } = await open(start)
    await addFault(a, { respond: { error: 'internal_error' }, times: 5 })
    const responses = await askAtOnce(60, 'GET', '/domaingroups')
    expect(statuses(responses)).toEqual({ 200: 55, 500: 5 })
    expect(await faultsOf(b)).toMatchObject([{ matched: 5, hits: 5 }])
  })

  it('passes over the first requests as often as a rule says', async () => {
    const { a, askAtOnce } = await open(start)
    await addFault(a, { respond: { error: 'internal_error' }, skip: 7 })
    expect(statuses(await askAtOnce(30, 'GET', '/domaingroups'))).toEqual({ 200: 7, 500: 23 })
  })

  it('never gives an id twice, neither to a request nor to a group', async () => {
    const { replicas, askAtOnce } = await open(start)
    const created = await askAtOnce(60, 'POST', '/domaingroups', (index) => ({ name: `Group ${index}` }))
    const strangers = await askAtOnce(30, 'GET', '/domains', undefined, 'key_nobody00.0')
    const nowhere = await Promise.all(replicas.map(({ baseUrl }) => sendRequest('GET', `${baseUrl}/nowhere`)))
    const requests = [...created, ...strangers, ...nowhere].map((each) => header('x-request-id', each))
    expect(new Set(requests).size).toBe(93)
    expect(new Set(created.map(({ body }) => body.data.group.id)).size).toBe(60)
  })

  it('creates one account of an id', async () => {
    const { replicas, a } = await open(start)
    const asked = Array.from({ length: 9 }, (_, index) =>
      askControl(replicas[index % 3] as Understudy, 'POST', '/accounts', { id: 'shop' }),
    )
    expect(statuses(await Promise.all(asked))).toEqual({ 201: 1, 409: 8 })
    expect((await askControl(a, 'GET', '/accounts')).data.count).toBe(2)
  })

  it('creates as many accounts as there may be', async () => {
    const { replicas, c } = await open(start, { maxAccounts: 5 })
    const asked = Array.from({ length: 12 }, (_, index) =>
      askControl(replicas[index % 3] as Understudy, 'POST', '/accounts', {}),
    )
    const responses = await Promise.all(asked)
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(4)
    expect((await askControl(c, 'GET', '/accounts')).data.count).toBe(5)
  })
})

describeGrounds('asked one after the other', (start) => {
  it('shows at once what another has acknowledged', async () => {
    const { replicas, ask } = await open(start)
    for (let index = 0; index < 12; index++) {
      const at = (step: number) => replicas[(index + step) % 3] as Understudy
      const name = `Group ${index}`
      const { id } = (await ask(at(0), 'POST', '/domaingroups', { name })).body.data.group
      expect((await ask(at(1), 'GET', `/domaingroups?id=${id}`)).body.data.group.name).toBe(name)
      await ask(at(2), 'PATCH', `/domaingroups?id=${id}`, { name: `${name} anew` })
      expect((await ask(at(0), 'GET', `/domaingroups?id=${id}`)).body.data.group.name).toBe(`${name} anew`)
      await ask(at(1), 'DELETE', `/domaingroups?id=${id}`)
      expect((await ask(at(2), 'GET', `/domaingroups?id=${id}`)).status).toBe(404)
    }
  })

  it('shows a clock that another has set, in the service too', async () => {
    const { a, b, c, ask } = await open(start)
    await askControl(a, 'PATCH', '/accounts/default/clock', { now: '2026-02-01T12:15:00Z' })
    expect(
      (await askControl(b, 'GET', '/accounts/default/clock')).data.clock ??
        (await askControl(b, 'GET', '/accounts/default/clock')).data,
    ).toMatchObject({ now: '2026-02-01T12:15:00Z' })
    expect(header('x-ratelimit-reset', await ask(c, 'GET', '/domains'))).toBe(
      `${Date.parse('2026-02-01T13:00:00Z') / 1000}`,
    )
  })

  it('takes a key that another has created, and refuses one that another has disabled or deleted', async () => {
    const { a, b, c, ask } = await open(start)
    const { data } = await askControl(a, 'POST', '/accounts/default/keys', {})
    const key = data.api_key
    const { id } = data.key
    expect((await ask(b, 'GET', '/domains', undefined, key)).status).toBe(200)
    expect((await ask(c, 'GET', '/domains', undefined, key)).status).toBe(200)
    await askControl(b, 'PATCH', `/accounts/default/keys/${id}`, { disabled: true })
    expect((await ask(c, 'GET', '/domains', undefined, key)).status).toBe(401)
    await askControl(c, 'PATCH', `/accounts/default/keys/${id}`, { disabled: false })
    expect((await ask(a, 'GET', '/domains', undefined, key)).status).toBe(200)
    await askControl(a, 'DELETE', `/accounts/default/keys/${id}`)
    expect((await ask(b, 'GET', '/domains', undefined, key)).status).toBe(401)
    expect((await ask(c, 'GET', '/domains', undefined, key)).status).toBe(401)
  })

  it('restores a snapshot that another has taken', async () => {
    const { a, b, c, ask } = await open(start)
    await ask(a, 'POST', '/domains', { domains: ['a.example'] })
    await askControl(a, 'POST', '/accounts/default/snapshots', { name: 'before' })
    await ask(b, 'POST', '/domains', { domains: ['b.example'] })
    expect((await askControl(c, 'GET', '/accounts/default/snapshots')).data.snapshots).toMatchObject([
      { name: 'before' },
    ])
    expect((await askControl(b, 'POST', '/accounts/default/snapshots/before/restore')).status).toBe(200)
    expect((await ask(c, 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
    // The quota is that of the snapshot, too: one request was counted before it, and one since.
    expect(header('x-ratelimit-remaining', await ask(a, 'GET', '/domains'))).toBe('27')
  })

  it('rewinds to a request that another has answered', async () => {
    const { a, b, c, ask } = await open(start)
    await ask(a, 'POST', '/domains', { domains: ['a.example'] })
    const second = await ask(b, 'POST', '/domains', { domains: ['b.example'] })
    await ask(c, 'DELETE', '/domains', { domains: ['a.example'] })
    const request_id = header('x-request-id', second)
    expect((await askControl(c, 'POST', '/accounts/default/rewind', { request_id })).status).toBe(200)
    expect((await ask(a, 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
  })

  it('knows nothing any more of an account that another has reset or deleted', async () => {
    const { a, b, c, ask } = await open(start)
    const { data } = await askControl(a, 'POST', '/accounts', { id: 'shop', fixture: 'empty' })
    const key = data.api_key
    await ask(b, 'POST', '/domains', { domains: ['a.example'] }, key)
    await askControl(c, 'POST', '/accounts/shop/reset', {})
    expect((await ask(b, 'GET', '/domains', undefined, key)).body.data.domains).toEqual([])
    await askControl(a, 'DELETE', '/accounts/shop')
    expect((await ask(b, 'GET', '/domains', undefined, key)).status).toBe(401)
    expect((await askControl(c, 'GET', '/accounts/shop')).status).toBe(404)
  })

  it('shows pins, features and the plan that another has set', async () => {
    const { a, b, c, ask } = await open(start)
    await ask(a, 'POST', '/domains', { domains: ['a.example'] })
    expect((await ask(b, 'GET', '/dmarc')).body.data).toMatchObject([{ domain: 'a.example', p: 'none' }])
    await askControl(a, 'PUT', '/accounts/default/domains/a.example/dmarc', { p: 'reject' })
    const records = await Promise.all([a, b, c].map((replica) => ask(replica, 'GET', '/dmarc')))
    expect(records[0]?.body.data).toMatchObject([{ domain: 'a.example', p: 'reject' }])
    expect(new Set(records.map(({ text }) => text)).size).toBe(1)
    await askControl(b, 'PUT', '/accounts/default/domains/a.example/features', { features: ['mta-sts'] })
    expect((await ask(c, 'DELETE', '/domains', { domains: ['a.example'] })).body.error.code).toBe(
      'domain_delete_failed',
    )
    await askControl(c, 'PATCH', '/accounts/default', { plan: 'below-stone' })
    expect((await ask(a, 'GET', '/domains')).status).toBe(403)
  })

  it('follows a fault rule that another has added or removed', async () => {
    const { a, b, c, ask } = await open(start)
    await ask(b, 'GET', '/domains')
    const { id } = await addFault(a, { respond: { error: 'internal_error' } })
    expect((await ask(b, 'GET', '/domains')).status).toBe(500)
    await askControl(c, 'DELETE', `/accounts/default/faults/${id}`)
    expect((await ask(b, 'GET', '/domains')).status).toBe(200)
  })

  it('has every request in its journal when it is asked, whoever has answered it', async () => {
    const { replicas, a, ask } = await open(start)
    const ids: string[] = []
    for (let index = 0; index < 12; index++) {
      ids.push(header('x-request-id', await ask(replicas[index % 3] as Understudy, 'GET', '/domains')))
      const reader = replicas[(index + 1) % 3] as Understudy
      expect((await journalOf(reader)).map(({ request_id }) => request_id)).toEqual(ids)
    }
    const journals = await Promise.all(replicas.map((replica) => journalOf(replica)))
    expect(journals[1]).toEqual(journals[0])
    expect(journals[2]).toEqual(journals[0])
    const shown = await askControl(a, 'GET', `/explain/${ids.at(-1)}`)
    expect(shown.status).toBe(200)
  })

  it('has the same verdict and coverage as the others', async () => {
    const { replicas, a, b, c, ask } = await open(start)
    await ask(a, 'GET', '/domaingroups')
    await ask(b, 'POST', '/domaingroups', { wrong: true })
    await ask(c, 'POST', '/domaingroups', { name: 'Web' })
    const verdicts = await Promise.all(replicas.map((replica) => askControl(replica, 'GET', '/verdict')))
    expect(verdicts[0]?.data).toMatchObject({ passed: false, requests: 3, violations: { count: 1 } })
    expect(verdicts.map(({ data }) => data)).toEqual(replicas.map(() => verdicts[0]?.data))
    for (const path of ['/coverage', '/accounts/default/coverage']) {
      const reports = await Promise.all(replicas.map((replica) => askControl(replica, 'GET', path)))
      // The commands of a report name the server that was asked.
      const texts = reports.map(({ text }) => text.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST'))
      expect(texts).toEqual(replicas.map(() => texts[0]))
    }
    await askControl(b, 'DELETE', '/verdict')
    expect((await askControl(c, 'GET', '/verdict')).data).toMatchObject({ requests: 0, violations: { count: 0 } })
  })

  it('tells listeners within 100 ms of a request that another has answered', async () => {
    const { a, b, ask } = await open(start)
    const leaving = new AbortController()
    onTestFinished(() => leaving.abort())
    const response = await fetch(`${b.adminUrl}/events`, { signal: leaving.signal })
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream() as never)
      .getReader() as ReadableStreamDefaultReader<string>
    // What is told first, before any request, is no event.
    let text = ''
    for (let index = 0; index < 5; index++) {
      const id = header('x-request-id', await ask(a, 'GET', '/domains'))
      const answered = performance.now()
      while (!text.includes(id)) text += (await reader.read()).value ?? ''
      expect(performance.now() - answered).toBeLessThan(100)
    }
  })
})
