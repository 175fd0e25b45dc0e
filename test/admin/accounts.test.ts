import { afterAll, describe, expect, it } from 'vitest'
import { deriveKey } from '../../src/ground/secrets.ts'
import { openControlPlane, startControlPlane } from '../support/control-plane.ts'

/** A server for tests that change only accounts of their own. */
const shared = await openControlPlane({ fixture: 'demo' })
afterAll(shared.stop)

describe('a new account', () => {
  it('is as the server was started, with a key that has left its grace period', async () => {
    const { post, ask, get } = await startControlPlane({ fixture: 'demo', seed: 7, plan: 'above-stone' })
    const { status, data } = await post('/accounts')
    expect(status).toBe(201)
    const chosen = { plan: 'above-stone', seed: 7, fixture: 'demo' }
    expect(data.account).toMatchObject({ id: 'account-1', ...chosen, frozen: false })
    expect((await ask(data.api_key, 'GET', '/domains')).headers['x-ratelimit-limit']).toBe('30')
    expect((await get('/accounts/account-1')).data).toMatchObject({ account: data.account, api_key: data.api_key })
    expect((await get('/accounts')).data.accounts).toMatchObject([{ id: 'default' }, { id: 'account-1' }])
  })

  it('can be made of a fixture in the request, whose own keys work and are not told again', async () => {
    const fixture = { keys: [{ key: 'second', label: 'CI' }], domains: ['a.example'], groups: [{ name: 'G' }] }
    const { data, text } = await shared.post('/accounts', { fixture })
    expect(data.account).toMatchObject({ fixture: null, domains: 1, groups: 1, keys: 2 })
    expect(text).not.toContain('second')
    expect((await shared.ask('second', 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
  })

  it('has an id of its own, however many are asked for at once, and never that of one that was deleted', async () => {
    const { create, delete: remove } = shared
    const ids = await Promise.all(Array.from({ length: 10 }, async () => (await create()).id))
    expect(new Set(ids).size).toBe(10)
    await remove(`/accounts/${ids[0]}`)
    expect(ids).not.toContain((await create()).id)
    expect((await create({ id: ids[0] })).id).toBe(ids[0])
  })
})

describe('the key of an account', () => {
  it.each<[what: string, account: object, key: string | null]>([
    ['that derives from the seed is told', { id: 'derived', seed: 7 }, deriveKey(7, 'derived')],
    ['of a sandbox is its name', { id: 'sandbox_told' }, 'sandbox_told'],
    ['that somebody chose is a secret', { id: 'chosen', api_key: 'chosen-key' }, null],
  ])('%s, also in the commands of its coverage', async (_, account, key) => {
    const { create, get } = shared
    const { id } = await create(account)
    expect((await get(`/accounts/${id}`)).data.api_key).toBe(key)
    const { text } = await get(`/accounts/${id}/coverage`)
    expect(text).toContain(`Bearer ${key ?? '$API_KEY'}`)
    expect(text).not.toContain('chosen-key')
  })
})

describe('a deleted account', () => {
  it('is gone with its key, its journal and its snapshots', async () => {
    const { create, delete: remove, get, post, ask } = shared
    const { id, key } = await create({ id: 'gone' })
    await ask(key, 'GET', '/domains')
    await post('/accounts/gone/snapshots', { name: 's' })
    expect(await remove('/accounts/gone')).toMatchObject({ status: 200, data: {} })
    expect((await ask(key, 'GET', '/domains')).status).toBe(401)
    for (const path of ['', '/requests', '/events']) {
      expect(await get(`/accounts/gone${path}`), path).toMatchObject({ status: 404, error: { code: 'not_found' } })
    }
    expect((await remove('/accounts/gone')).status).toBe(404)
    expect((await create({ id })).key).toBe(key)
    expect((await get('/accounts/gone')).data.account.snapshots).toBe(0)
  })
})

describe('a key of a sandbox', () => {
  it('opens one account of its own on first use, however many requests come first', async () => {
    const { ask, get } = shared
    const answers = await Promise.all(Array.from({ length: 32 }, () => ask('sandbox_x', 'GET', '/domains')))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(30).fill(200), 429, 429])
    expect((await get('/accounts/sandbox_x')).data.account).toMatchObject({ fixture: 'demo', snapshots: 0 })
  })

  it.each([
    ['sandbox_', 401],
    [`sandbox_${'x'.repeat(120)}`, 200],
    [`sandbox_${'x'.repeat(121)}`, 401],
  ])('is %s: %i', async (key, status) => {
    expect((await shared.ask(key, 'GET', '/domains')).status).toBe(status)
  })
})

describe('a sandbox', () => {
  it.each<[method: string, path: string, body?: object]>([
    ['POST', '/faults', { delay_ms: 1 }],
    ['DELETE', '/faults'],
  ])('is opened by its name with %s …%s, before its first request', async (method, path, body) => {
    const id = `sandbox_${method}${path.replaceAll('/', '_')}`
    expect((await shared.send(method, `/accounts/${id}${path}`, body)).status).toBeLessThan(300)
    expect((await shared.ask(id, 'GET', '/domaingroups')).status).toBe(200)
  })

  it('is not opened by who only looks or deletes, who is told what opens it, nor where such keys open nothing', async () => {
    const { get, delete: remove } = await startControlPlane()
    for (const path of ['', '/clock', '/events']) {
      const { status, error } = await get(`/accounts/sandbox_x${path}`)
      expect(status).toBe(404)
      expect(error.message).toMatch(/^There is no account "sandbox_x" yet; the first request with this key opens it/)
    }
    expect((await remove('/accounts/sandbox_x')).status).toBe(404)
    expect((await get('/accounts')).data.count).toBe(1)
    const closed = await startControlPlane({ sandboxKeys: false })
    expect((await closed.ask('sandbox_x', 'GET', '/domains')).status).toBe(401)
    expect((await closed.post('/accounts/sandbox_x/faults', { delay_ms: 1 })).status).toBe(404)
  })
})
