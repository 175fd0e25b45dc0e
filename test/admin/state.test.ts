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

describe('an exported account', () => {
  it.each(FIXTURE_NAMES)('of the fixture %s answers the same after an import elsewhere', async (fixture) => {
    const plane = await startControlPlane()
    const { id, key } = await plane.create({ fixture, seed: 3, plan: 'above-stone', now: '2026-05-05T05:05:05Z' })
    await plane.ask(key, 'POST', '/domains', { domains: ['fresh.example'] })
    await plane.ask(key, 'POST', '/domaingroups', { name: 'Made', domains: ['fresh.example'] })
    await plane.put(`/accounts/${id}/domains/fresh.example/features`, { features: ['mta-sts'] })
    const pin = { p: 'quarantine', dkim: 12.5, profile: 'spoofed' }
    await plane.put(`/accounts/${id}/domains/fresh.example/dmarc`, pin)
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
    const { get, put, post, ask, key } = await startControlPlane({ fixture: 'demo' })
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
})

describe('a snapshot', () => {
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
