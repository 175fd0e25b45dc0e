import { describe, expect, it } from 'vitest'
import { FIXTURE_NAMES } from '../../src/accounts/fixture.ts'
import { readLimits } from '../../src/admin/document.ts'
import { type ControlPlane, controlApi, startControlPlane } from '../support/control-plane.ts'

const HOUR = 3_600_000
const READS = ['/domains', '/dmarc', '/domaingroups']

/** What an account answers to a client that reads all of it. */
async function readAll({ ask }: ControlPlane, key: string): Promise<string[]> {
  return Promise.all(READS.map(async (path) => (await ask(key, 'GET', path)).text))
}

/** A day's work of a client, as the whole answers that it got, headers included. */
async function work({ ask }: ControlPlane, key: string): Promise<unknown[]> {
  const answers: unknown[] = []
  const requests: [method: string, path: string, body?: object][] = [
    ['GET', '/domains'],
    ['POST', '/domains', { domains: ['new.example', 'other.example'] }],
    ['POST', '/domains', { domains: ['new.example'] }],
    ['POST', '/domaingroups', { name: 'First', domains: ['new.example'] }],
    ['POST', '/domaingroups', { name: 'Second', domains: [] }],
    ['GET', '/dmarc'],
    ['DELETE', '/domains', { domains: ['other.example'] }],
    ['GET', '/domaingroups'],
  ]
  for (const request of requests) {
    const { status, headers, text } = await ask(key, ...request)
    const { connection: _, 'keep-alive': __, ...rest } = headers
    answers.push({ status, headers: rest, text })
  }
  return answers
}

describe('a reset', () => {
  it('leads to the same bytes for the same requests, request ids and group ids included', async () => {
    const plane = await startControlPlane()
    const birth = { fixture: 'demo', seed: 11, now: '2026-03-04T05:06:07Z', frozen: true }
    const { id, key } = await plane.create(birth)
    const first = await work(plane, key)
    await plane.post(`/accounts/${id}/reset`)
    expect(await work(plane, key)).toEqual(first)
    await plane.post(`/accounts/${id}/reset`, { fixture: 'demo', seed: 11, now: birth.now, frozen: true })
    expect(await work(plane, key)).toEqual(first)
    await plane.delete(`/accounts/${id}`)
    await plane.create({ ...birth, id })
    expect(await work(plane, key)).toEqual(first)
  })

  it('takes back all that has happened since, save for the snapshots', async () => {
    const plane = await startControlPlane({ fixture: { keys: [{ key: 'of-the-fixture' }], domains: ['a.example'] } })
    const { get, post, put, patch, ask } = plane
    const path = '/accounts/default'
    const key = plane.understudy.apiKey ?? ''
    const before = (await get(path)).data.account
    await post(`${path}/snapshots`, { name: 's' })
    await post(`${path}/keys`, { key: 'later' })
    await patch(`${path}/keys/${(await get(`${path}/keys`)).data.keys[1].id}`, { disabled: true })
    await put(`${path}/domains/a.example/features`, { features: ['mta-sts'] })
    await put(`${path}/domains/a.example/dmarc`, { p: 'reject' })
    await patch(path, { plan: 'above-stone' })
    await patch(`${path}/quotas`, { bucket: 'domains', remaining: 0 })
    await patch(`${path}/clock`, { advance: 'P10D', frozen: true })
    await post(`${path}/faults`, { delay_ms: 1 })
    await ask(key, 'GET', '/dmarc')
    expect((await get(`${path}/requests`)).data.count).toBe(1)

    const { data } = await post(`${path}/reset`)
    expect(data.account).toEqual({ ...before, snapshots: 1 })
    expect((await get(`${path}/requests`)).data.count).toBe(0)
    expect((await get(`${path}/faults`)).data.faults).toEqual([])
    expect((await ask('later', 'GET', '/domains')).status).toBe(401)
    expect((await ask('of-the-fixture', 'GET', '/domains')).status).toBe(200)
    const { headers } = await ask(key, 'GET', '/domains')
    expect(headers['x-ratelimit-remaining']).toBe('29')
    expect((await ask(key, 'DELETE', '/domains', { domains: ['a.example'] })).status).toBe(200)
    expect((await post(`${path}/snapshots/s/restore`)).status).toBe(200)
  })

  it('keeps the faults that the server gives to every account', async () => {
    const { post, get } = await startControlPlane({ faults: ['slow'] })
    const { data } = await get('/accounts/default/faults')
    expect(data.faults.length).toBeGreaterThan(0)
    await post('/accounts/default/faults', { delay_ms: 1 })
    await post('/accounts/default/reset')
    expect((await get('/accounts/default/faults')).data).toEqual(data)
  })

  it('goes to another beginning, to which later ones go back', async () => {
    const { post } = await startControlPlane({ fixture: 'demo' })
    const path = '/accounts/default/reset'
    const chosen = { fixture: 'edge-cases', seed: 99, now: '2031-01-01T00:00:00Z', frozen: true }
    expect((await post(path, chosen)).data.account).toMatchObject(chosen)
    expect((await post(path)).data.account).toMatchObject(chosen)
    expect((await post(path, { fixture: { domains: ['a.example'] } })).data.account).toMatchObject({
      fixture: null,
      domains: 1,
      seed: 99,
    })
    expect((await post(path)).data.account).toMatchObject({ fixture: null, domains: 1 })
  })

  it('follows the machine’s clock unless a time was chosen, and may set the clock back', async () => {
    const { create, post, patch, advance } = await startControlPlane()
    const follows = await create()
    const chosen = await create({ now: '2026-06-01T00:00:00Z' })
    for (const { id } of [follows, chosen]) await patch(`/accounts/${id}/clock`, { advance: 'P100D' })
    advance(HOUR)
    expect((await post(`/accounts/${follows.id}/reset`)).data.account.now).toBe('2026-01-15T10:30:00Z')
    expect((await post(`/accounts/${chosen.id}/reset`)).data.account.now).toBe('2026-06-01T00:00:00Z')
  })

  it.each<[body: object, status: number, code: string]>([
    [{ plan: 'stone' }, 400, 'unknown_field'],
    [{ seed: 'x' }, 400, 'invalid_field_type'],
    [{ now: 'x' }, 400, 'invalid_value'],
    [{ now: '9999-12-31T23:59:59Z' }, 400, 'invalid_value'],
    [{ fixture: 'x' }, 400, 'invalid_value'],
    [{ fixture: { domains: ['x'] } }, 400, 'invalid_fixture'],
    [{ fixture: { keys: [{ key: 'other-key' }] } }, 409, 'taken'],
  ])('to %j is refused and changes nothing', async (body, status, code) => {
    const { post, get, create } = await startControlPlane({ fixture: 'demo' })
    await create({ api_key: 'other-key' })
    const before = (await get('/accounts/default/state')).data
    expect(await post('/accounts/default/reset', body)).toMatchObject({ status, error: { code } })
    expect((await get('/accounts/default/state')).data).toEqual(before)
  })
})

describe('an exported account', () => {
  it.each(FIXTURE_NAMES)('of the fixture %s answers the same after an import elsewhere', async (fixture) => {
    const plane = await startControlPlane()
    const { id, key } = await plane.create({ fixture, seed: 3, plan: 'above-stone', now: '2026-05-05T05:05:05Z' })
    await plane.ask(key, 'POST', '/domains', { domains: ['fresh.example'] })
    const { body } = await plane.ask(key, 'POST', '/domaingroups', { name: 'Made', domains: ['fresh.example'] })
    await plane.ask(key, 'DELETE', `/domaingroups?id=${body.data.group.id}`)
    await plane.put(`/accounts/${id}/domains/fresh.example/features`, { features: ['mta-sts'] })
    await plane.put(`/accounts/${id}/domains/fresh.example/dmarc`, { p: 'quarantine', dkim: 12.5, profile: 'spoofed' })
    const { data: state } = await plane.get(`/accounts/${id}/state`)
    expect(JSON.stringify(state)).not.toMatch(/"hash"|"key"|"id":"key_/)

    const other = await plane.create({ fixture: 'empty', seed: 4 })
    const { data } = await plane.put(`/accounts/${other.id}/state`, state)
    expect(data.account).toMatchObject({ plan: 'above-stone', seed: 3, now: '2026-05-05T05:05:05Z' })
    expect(await readAll(plane, other.key)).toEqual(await readAll(plane, key))
    const again = (await plane.get(`/accounts/${other.id}/state`)).data
    const { description: _, keys: __, ...given } = state
    expect(again).toMatchObject(given)
    for (const account of [id, other.id]) await plane.patch(`/accounts/${account}/clock`, { advance: 'P45D' })
    expect(await readAll(plane, other.key)).toEqual(await readAll(plane, key))
    const refused = await plane.ask(other.key, 'DELETE', '/domains', { domains: ['fresh.example'] })
    expect(refused.body.error.code).toBe('domain_delete_failed')
    const made = await Promise.all(
      [key, other.key].map((each) => plane.ask(each, 'POST', '/domaingroups', { name: 'N', domains: [] })),
    )
    const ids = [body, ...made.map((each) => each.body)].map(({ data }) => data.group.id)
    expect(new Set(ids).size, 'no id is given twice, and no two accounts give the same').toBe(3)
  })

  it('can be created anew from its state, in which nobody can use the keys', async () => {
    const { create, get, ask } = await startControlPlane()
    const { id } = await create({ fixture: { keys: [{ key: 'known-key', label: 'CI', disabled: true }] } })
    const { data: state } = await get(`/accounts/${id}/state`)
    expect(state.keys).toEqual([{ label: 'CI', disabled: true, created_at: '2025-12-16T09:30:00Z' }])
    const copy = await create({ fixture: state })
    const { data } = await get(`/accounts/${copy.id}/keys`)
    expect(data.keys[1]).toMatchObject({ label: 'CI', disabled: true, created_at: '2025-12-16T09:30:00Z' })
    expect((await ask('known-key', 'GET', '/domains')).status).toBe(401)
    expect((await ask(copy.key, 'GET', '/domains')).status).toBe(200)
  })
})

describe('an import', () => {
  it('keeps keys, quotas, faults and the journal, adds keys with a secret, and a reset undoes it', async () => {
    const plane = await startControlPlane({ fixture: 'demo' })
    const { get, put, post, ask } = plane
    const key = plane.understudy.apiKey ?? ''
    const path = '/accounts/default'
    const before = (await get(path)).data.account
    await ask(key, 'GET', '/domains')
    await post(`${path}/faults`, { delay_ms: 1 })
    const fixture = { domains: ['only.example'], keys: [{ key: 'joins' }, { label: 'nobody’s' }] }
    const { data } = await put(`${path}/state`, fixture)
    const kept = { plan: before.plan, seed: before.seed, now: before.now, frozen: before.frozen, faults: 1 }
    expect(data.account).toMatchObject({ ...kept, domains: 1, groups: 0, keys: before.keys + 1 })
    const { headers } = await ask(key, 'GET', '/domains')
    expect(headers['x-ratelimit-remaining']).toBe('28')
    expect((await ask('joins', 'GET', '/domains')).status).toBe(200)
    expect((await get(`${path}/requests`)).data.count).toBe(3)
    expect((await post(`${path}/reset`)).data.account).toEqual(before)
  })

  it('of a clock sets it, also backwards, and one without leaves it as it is', async () => {
    const { get, put, patch, advance } = await startControlPlane()
    const path = '/accounts/default'
    await put(`${path}/state`, { clock: { now: '2020-01-01T00:00:00Z', frozen: true } })
    expect((await get(`${path}/clock`)).data).toEqual({ now: '2020-01-01T00:00:00Z', frozen: true })
    await patch(`${path}/clock`, { frozen: false })
    await put(`${path}/state`, {})
    advance(HOUR)
    expect((await get(`${path}/clock`)).data).toEqual({ now: '2020-01-01T01:00:00Z', frozen: false })
  })

  it('loses no key that is made at the same time', async () => {
    const { post, put, get } = await startControlPlane()
    const made = Array.from({ length: 20 }, (_, index) => post('/accounts/default/keys', { key: `key-${index}` }))
    const imports = Array.from({ length: 10 }, () => put('/accounts/default/state', { domains: ['a.example'] }))
    for (const { status } of await Promise.all([...made, ...imports])) expect([200, 201]).toContain(status)
    expect((await get('/accounts/default/keys')).data.keys).toHaveLength(21)
  })

  it.each<[fixture: unknown, status: number, code: string]>([
    [{ domains: ['x'] }, 400, 'invalid_fixture'],
    [{ domains: ['a.example', 'A.Example'] }, 400, 'invalid_fixture'],
    [{ groups: [{ name: 'G', domains: ['b.example'] }] }, 400, 'invalid_fixture'],
    [{ groups: [{ name: 'G' }, { name: 'g' }] }, 400, 'invalid_fixture'],
    [{ groups: [{ name: 'G', id: 'short' }] }, 400, 'invalid_fixture'],
    [{ domains: [{ name: 'a.example', record: { dmarc: 1, dkim: 2 } }] }, 400, 'invalid_fixture'],
    [{ clock: { now: 'x' } }, 400, 'invalid_fixture'],
    [{ plan: 'gold' }, 400, 'invalid_fixture'],
    [{ keys: [{ key: 'other key' }] }, 400, 'invalid_fixture'],
    [{ keys: [{ key: 'other-key' }] }, 409, 'taken'],
    [
      {
        keys: [
          { hash: 'a'.repeat(64), id: 'one' },
          { hash: 'b'.repeat(64), id: 'one' },
        ],
      },
      409,
      'taken',
    ],
    ['demo', 400, 'invalid_json'],
    ['"demo"', 400, 'invalid_request_body'],
  ])('of %j is refused and changes nothing', async (fixture, status, code) => {
    const { put, get, create } = await startControlPlane({ fixture: 'demo' })
    await create({ api_key: 'other-key' })
    const before = (await get('/accounts/default/state')).data
    const refusal = await put('/accounts/default/state', fixture)
    expect(refusal).toMatchObject({ status, error: { code } })
    expect(refusal.text).not.toMatch(/other.key/)
    expect((await get('/accounts/default/state')).data).toEqual(before)
  })
})

describe('a snapshot', () => {
  it('brings back state, keys, pins, features, clock, quotas and faults, twice in a row, and leaves the journal', async () => {
    const plane = await startControlPlane({ fixture: { domains: ['a.example', 'b.example'] } })
    const { get, post, put, patch, ask, delete: remove, advance } = plane
    const path = '/accounts/default'
    const key = plane.understudy.apiKey ?? ''
    await ask(key, 'POST', '/domaingroups', { name: 'G', domains: ['a.example'] })
    await put(`${path}/domains/a.example/features`, { features: ['mta-sts'] })
    await put(`${path}/domains/b.example/dmarc`, { p: 'reject' })
    await patch(`${path}/quotas`, { bucket: 'dmarc', remaining: 7 })
    await post(`${path}/faults`, { delay_ms: 1, match: { operation: 'listDmarc' } })
    const seen = async () =>
      Promise.all(
        ['/state', '/keys', '/quotas', '/faults', '/clock'].map(async (rest) => (await get(path + rest)).data),
      )
    const before = await seen()
    const taken = await post(`${path}/snapshots`, { name: 'before' })
    expect(taken).toMatchObject({
      status: 201,
      data: { snapshot: { name: 'before', taken_at: '2026-01-15T09:30:00Z', domains: 2, groups: 1 } },
    })
    for (let round = 1; round <= 2; round++) {
      advance(HOUR)
      await post(`${path}/keys`, { key: `later-${round}` })
      await put(`${path}/domains/a.example/features`, { features: [] })
      await remove(`${path}/domains/b.example/dmarc`)
      await ask(key, 'GET', '/dmarc')
      await ask(key, 'DELETE', '/domains', { domains: ['a.example', 'b.example'] })
      await post(`${path}/faults`, { delay_ms: 2 })
      await patch(`${path}/clock`, { advance: 'P30D', frozen: true })
      const { count } = (await get(`${path}/requests`)).data
      const { status, data } = await post(`${path}/snapshots/before/restore`)
      expect([status, data.account.now]).toEqual([200, '2026-01-15T09:30:00Z'])
      expect(await seen()).toEqual(before)
      expect((await get(`${path}/requests`)).data.count).toBe(count)
      expect((await ask(`later-${round}`, 'GET', '/domains')).status).toBe(401)
      await post(`${path}/snapshots/before/restore`)
      expect(await seen()).toEqual(before)
    }
    const ids = (await get(`${path}/requests`)).data.requests.map((entry: { request_id: string }) => entry.request_id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('stays as it was when the account goes on', async () => {
    const { get, post, ask, understudy } = await startControlPlane({ fixture: { domains: ['a.example'] } })
    const path = '/accounts/default/snapshots'
    await post(path, { name: 'one' })
    for (let index = 0; index < 5; index++) {
      await ask(understudy.apiKey ?? '', 'POST', '/domains', { domains: [`d${index}.example`] })
    }
    await post(path, { name: 'two' })
    expect((await get(path)).data.snapshots).toMatchObject([
      { name: 'one', domains: 1 },
      { name: 'two', domains: 6 },
    ])
    expect((await post(`${path}/one/restore`)).data.account.domains).toBe(1)
    expect((await post(`${path}/two/restore`)).data.account.domains).toBe(6)
  })

  it('has a name, which is taken until it is deleted or replaced', async () => {
    const { post, get, delete: remove } = await startControlPlane()
    const path = '/accounts/default/snapshots'
    for (const name of ['a', 'A.b_c~d-9', 'x'.repeat(100), '__proto__'])
      expect((await post(path, { name })).status).toBe(201)
    expect(await post(path, { name: 'a' })).toMatchObject({ status: 409, error: { code: 'taken' } })
    expect(await post(path, { name: 'a', replace: false })).toMatchObject({ status: 409 })
    expect(await post(path, { name: 'a', replace: true })).toMatchObject({ status: 201 })
    expect((await remove(`${path}/a`)).status).toBe(200)
    expect(await remove(`${path}/a`)).toMatchObject({ status: 404, error: { code: 'not_found' } })
    expect(await post(`${path}/a/restore`)).toMatchObject({ status: 404, error: { code: 'not_found' } })
    expect((await get(path)).data.snapshots).toHaveLength(3)
    for (const name of ['', '.', '..', 'a/b', 'a b', 'x'.repeat(101)]) {
      expect(await post(path, { name })).toMatchObject({ status: 400, error: { code: 'invalid_value' } })
    }
    expect(await post(path, {})).toMatchObject({ status: 400, error: { code: 'missing_field' } })
    expect(await post(path, { name: 1 })).toMatchObject({ status: 400, error: { code: 'invalid_field_type' } })
  })

  it('is one of so many, and one that replaces another is none more', async () => {
    const { post } = await startControlPlane()
    const { snapshotsPerAccount: limit } = readLimits(controlApi)
    const path = '/accounts/default/snapshots'
    for (let number = 1; number <= limit; number++) expect((await post(path, { name: `s${number}` })).status).toBe(201)
    expect(await post(path, { name: 'more' })).toMatchObject({ status: 409, error: { code: 'too_many' } })
    expect((await post(path, { name: 's1', replace: true })).status).toBe(201)
  })

  it('whose key is another account’s by now cannot be restored', async () => {
    const { post, create, delete: remove, get } = await startControlPlane()
    const path = '/accounts/default'
    const { data } = await post(`${path}/keys`, { key: 'wanders' })
    await post(`${path}/snapshots`, { name: 's' })
    await remove(`${path}/keys/${data.key.id}`)
    await create({ api_key: 'wanders' })
    expect(await post(`${path}/snapshots/s/restore`)).toMatchObject({ status: 409, error: { code: 'taken' } })
    expect((await get(path)).data.account.keys).toBe(1)
  })
})
