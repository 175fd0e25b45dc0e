import { afterAll, describe, expect, it } from 'vitest'
import { openControlPlane, startControlPlane } from '../support/control-plane.ts'

const PATH = '/accounts/default'
const STATE = `${PATH}/state`

/** A server for tests that change only accounts of their own. */
const shared = await openControlPlane()
afterAll(shared.stop)

/** What an account answers to a client that reads all of it. */
async function readAll(key: string): Promise<string[]> {
  const paths = ['/domains', '/dmarc', '/domaingroups']
  return Promise.all(paths.map(async (path) => (await shared.ask(key, 'GET', path)).text))
}

describe('an exported account', () => {
  it.each(['demo', 'edge-cases'])('of the fixture %s answers the same after an import elsewhere', async (fixture) => {
    const { create, ask, get, put, patch } = shared
    const { id, key } = await create({ fixture, seed: 3, plan: 'above-stone', now: '2026-05-05T05:05:05Z' })
    await ask(key, 'POST', '/domains', { domains: ['fresh.example'] })
    await ask(key, 'POST', '/domaingroups', { name: 'Made', domains: ['fresh.example'] })
    await put(`/accounts/${id}/domains/fresh.example/features`, { features: ['mta-sts'] })
    await put(`/accounts/${id}/domains/fresh.example/dmarc`, { p: 'quarantine', dkim: 12.5, profile: 'spoofed' })
    const { data: state } = await get(`/accounts/${id}/state`)
    expect(JSON.stringify(state)).not.toMatch(/"hash"|"key"|"id":"key_/)

    const other = await create({ fixture: 'empty', seed: 4 })
    const { data } = await put(`/accounts/${other.id}/state`, state)
    expect(data.account).toMatchObject({ plan: 'above-stone', seed: 3, now: '2026-05-05T05:05:05Z' })
    expect(await readAll(other.key)).toEqual(await readAll(key))
    const { description: _, keys: __, ...given } = state
    expect((await get(`/accounts/${other.id}/state`)).data).toMatchObject(given)
    for (const account of [id, other.id]) await patch(`/accounts/${account}/clock`, { advance: 'P45D' })
    expect(await readAll(other.key)).toEqual(await readAll(key))
  })
})

describe('an import', () => {
  it('keeps keys, quotas, faults and the journal, adds keys with a secret, and a reset undoes it', async () => {
    const { get, put, post, ask, key } = await startControlPlane({ fixture: 'demo' })
    const before = (await get(PATH)).data.account
    await ask(key, 'GET', '/domains')
    await post(`${PATH}/faults`, { delay_ms: 1 })
    const fixture = { domains: ['only.example'], keys: [{ key: 'joins' }, { label: 'nobody’s' }] }
    const { data } = await put(STATE, fixture)
    const kept = { plan: before.plan, seed: before.seed, now: before.now, frozen: before.frozen, faults: 1 }
    expect(data.account).toMatchObject({ ...kept, domains: 1, groups: 0, keys: before.keys + 1 })
    expect((await ask(key, 'GET', '/domains')).headers['x-ratelimit-remaining']).toBe('28')
    expect((await ask('joins', 'GET', '/domains')).status).toBe(200)
    expect((await get(`${PATH}/requests`)).data.count).toBe(3)
    expect((await post(`${PATH}/reset`)).data.account).toEqual(before)
  })
})

const STORY = {
  ...{ title: 'The shop', description: 'A shop that loses its protection.' },
  scenes: [{ title: 'After <b>it</b>', text: 'The policy is gone.', look_at: { tab: 'domains' } }],
}

describe('the story of an account', () => {
  it('is imported, exported, and stays where a fixture without scenes is imported, until a reset', async () => {
    const { get, put, post } = await startControlPlane({ fixture: 'demo' })
    const scenes = async () => (await get(`${PATH}/scenes`)).data
    const first = await scenes()
    await put(STATE, { ...STORY, domains: ['shop.example'] })
    expect(await scenes()).toEqual(STORY)
    expect((await get(STATE)).data).toMatchObject(STORY)
    await put(STATE, { title: 'Other', domains: ['shop.example'] })
    expect(await scenes()).toEqual(STORY)
    await post(`${PATH}/reset`)
    expect(await scenes()).toEqual(first)
  })
})
