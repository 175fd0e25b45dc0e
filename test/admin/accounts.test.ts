import { describe, expect, it, vi } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { deriveKey } from '../../src/ground/secrets.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { holdTime, someoneWaits } from '../support/held-time.ts'

describe('a new account', () => {
  it('is as the server was started, with a key that has left its grace period', async () => {
    const { post, ask, get } = await startControlPlane({ fixture: 'demo', seed: 7, plan: 'above-stone' })
    const { status, data } = await post('/accounts')
    expect(status).toBe(201)
    const chosen = { plan: 'above-stone', seed: 7, fixture: 'demo' }
    expect(data.account).toMatchObject({ id: 'account-1', ...chosen, frozen: false })
    const { status: served, headers } = await ask(data.api_key, 'GET', '/domains')
    expect(served).toBe(200)
    expect(headers['x-ratelimit-limit']).toBe('30')
    expect((await get('/accounts/account-1')).data).toMatchObject({ account: data.account, api_key: data.api_key })
    expect((await get('/accounts')).data.accounts).toMatchObject([{ id: 'default' }, { id: 'account-1' }])
  })

  it('can be made of a fixture in the request, whose own keys work and are not told again', async () => {
    const { post, ask } = await startControlPlane()
    const fixture = { keys: [{ key: 'second', label: 'CI' }], domains: ['a.example'], groups: [{ name: 'G' }] }
    const { data, text } = await post('/accounts', { fixture })
    expect(data.account).toMatchObject({ fixture: null, domains: 1, groups: 1, keys: 2 })
    expect(text).not.toContain('second')
    expect((await ask('second', 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
  })

  it('has an id and a key of its own, however many are asked for at once', async () => {
    const { understudy, post } = await startControlPlane()
    const overHttp = Array.from({ length: 20 }, async () => (await post('/accounts')).data.account.id as string)
    const fromHere = Array.from({ length: 20 }, async () => (await understudy.createAccount()).id)
    const ids = await Promise.all([...overHttp, ...fromHere])
    expect(new Set(ids).size).toBe(40)
  })

  it('never gets the id of one that was deleted, unless it is asked for', async () => {
    const { create, delete: remove } = await startControlPlane()
    const { id } = await create()
    await remove(`/accounts/${id}`)
    expect((await create()).id).not.toBe(id)
    expect((await create({ id })).id).toBe(id)
  })
})

/** Deletes an account while a request of it waits; `answer` ends the wait, and returns what was answered. */
async function deleteUnderRequest() {
  const plane = await startControlPlane()
  const { id, key } = await plane.create({ id: 'again' })
  holdTime()
  await plane.post(`/accounts/${id}/faults`, { delay_ms: 150, match: { operation: 'addDomains' } })
  const waiting = plane.ask(key, 'POST', '/domains', { domains: ['late.example'] })
  await someoneWaits()
  await plane.delete(`/accounts/${id}`)
  const answer = async () => {
    await vi.advanceTimersByTimeAsync(150)
    return waiting
  }
  return { plane, id, key, answer }
}

/** What changes the version of an account: the words, and the request. */
const CHANGES: [what: string, method: 'post' | 'put' | 'patch' | 'delete', path: string, body?: object][] = [
  ['the plan', 'patch', '', { plan: 'above-stone' }],
  ['the clock', 'patch', '/clock', { advance: 'PT1H' }],
  ['a key', 'post', '/keys', { label: 'CI' }],
  ['a rule', 'post', '/faults', { times: 1, respond: { error: 'rate_limited' } }],
  ['a pin', 'put', '/domains/demo.example/dmarc', { dmarc: 50 }],
  ['a snapshot', 'post', '/snapshots', { name: 's' }],
  ['the end of a snapshot', 'delete', '/snapshots/s'],
  ['a reset', 'post', '/reset', {}],
]

describe('the version of an account', () => {
  it('is the same while nothing changes, and another one after each change', async () => {
    const start = { now: '2026-01-15T09:00:00Z', frozen: true, fixture: { domains: ['demo.example'] } }
    const plane = await startControlPlane(start)
    const { get, ask, create } = plane
    const { key } = await create({ id: 'one', ...start })
    const read = async () => (await get('/accounts/one/version')).data.version as string
    let version = await read()
    await ask(key, 'GET', '/domains')
    await get('/accounts/one/overview')
    expect(await read()).toBe(version)
    for (const [what, method, path, body] of CHANGES) {
      expect((await plane[method](`/accounts/one${path}`, body)).status, what).toBeLessThan(300)
      const next = await read()
      expect(next, what).not.toBe(version)
      version = next
    }
    await ask(key, 'POST', '/domains', { domains: ['other.example'] })
    expect(await read()).not.toBe(version)
  })
})

describe('an account', () => {
  it('is gone with its key, its journal and its snapshots once it is deleted', async () => {
    const { create, delete: remove, get, post, ask } = await startControlPlane()
    const { id, key } = await create({ id: 'one' })
    await ask(key, 'GET', '/domains')
    await post('/accounts/one/snapshots', { name: 's' })
    expect(await remove('/accounts/one')).toMatchObject({ status: 200, data: {} })
    expect((await ask(key, 'GET', '/domains')).status).toBe(401)
    const lists = ['/snapshots', '/keys', '/faults', '/requests', '/events', '/domains', '/groups', '/scenes']
    const dmarc = '/dmarc?from=2026-01-15&to=2026-01-16'
    for (const path of ['', '/state', '/clock', '/quotas', '/coverage', '/overview', dmarc, ...lists]) {
      expect(await get(`/accounts/one${path}`), path).toMatchObject({ status: 404, error: { code: 'not_found' } })
    }
    expect((await remove('/accounts/one')).status).toBe(404)
    const again = await create({ id })
    expect(again.key).toBe(key)
    expect((await get('/accounts/one')).data.account.snapshots).toBe(0)
    expect((await get('/accounts/one/requests')).data.count).toBe(0)
  })

  it('that serves whoever knows of no other cannot be deleted', async () => {
    const { delete: remove, get } = await startControlPlane()
    const refusal = await remove('/accounts/default')
    expect(refusal).toMatchObject({ status: 409, error: { code: 'protected' } })
    expect(refusal.error.message).toContain('reset it instead')
    expect((await get('/accounts/default')).status).toBe(200)
  })

  it('that is deleted while a request waits is answered as the key of nobody', async () => {
    const { plane, answer } = await deleteUnderRequest()
    const { status, body, headers } = await answer()
    expect([status, body.error.code, headers['x-ratelimit-limit']]).toEqual([401, 'unauthorized', undefined])
    expect((await plane.get('/accounts')).data.accounts).toMatchObject([{ id: 'default' }])
  })

  it('that is deleted and created again while a request waits is not changed by it, and has no trace of it', {}, async () => {
    const { plane, id, key, answer } = await deleteUnderRequest()
    const { create, ask, get } = plane
    expect((await create({ id })).key).toBe(key)
    expect((await ask(key, 'GET', '/domaingroups')).status).toBe(200)
    expect((await answer()).status).toBe(401)
    expect((await get(`/accounts/${id}`)).data.account.domains).toBe(0)
    const read = { path: '/api/v1/domaingroups', account: id }
    expect((await get(`/accounts/${id}/requests`)).data.requests).toMatchObject([read])
    expect((await get('/requests')).data.requests).toMatchObject([read, { path: '/api/v1/domains', account: null }])
    const { operations } = (await get(`/accounts/${id}/coverage`)).data as CoverageReport
    const isSeen = ({ genuine, injected }: { genuine: number; injected: number }) => genuine + injected > 0
    const seen = operations.filter(({ responses }) => responses.some(isSeen))
    expect(seen).toMatchObject([{ operation: 'listDomainGroups' }])
  })
})

describe('a key of a sandbox', () => {
  it('opens one account of its own on first use, however many requests come first', async () => {
    const { ask, get } = await startControlPlane({ fixture: 'demo' })
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask('sandbox_x', 'GET', '/domains')))
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([...Array(30).fill(200), ...Array(20).fill(429)])
    expect((await get('/accounts')).data.count).toBe(2)
    expect((await get('/accounts/sandbox_x')).data.account).toMatchObject({ fixture: 'demo', snapshots: 0 })
  })

  it('sees nothing of another, and is not changed by what was set up for another', async () => {
    const { ask, post } = await startControlPlane()
    await post('/accounts/sandbox_x/faults', { respond: { error: 'rate_limited' }, match: { operation: 'listDmarc' } })
    expect((await ask('sandbox_x', 'GET', '/dmarc')).status).toBe(429)
    expect((await ask('sandbox_y', 'GET', '/dmarc')).status).toBe(200)
    await ask('sandbox_x', 'POST', '/domains', { domains: ['x.example'] })
    expect((await ask('sandbox_y', 'GET', '/domains')).body.data.domains).toEqual([])
    expect((await ask('sandbox_x', 'GET', '/domains')).body.data.domains).toEqual(['x.example'])
  })

  it.each([
    ['sandbox_', 401],
    ['sandbox', 401],
    ['Sandbox_x', 401],
    [`sandbox_${'x'.repeat(120)}`, 200],
    [`sandbox_${'x'.repeat(121)}`, 401],
    ['sandbox_../../etc/passwd', 200],
    ['sandbox_%2e%2e', 200],
    ['sandbox___proto__', 200],
    ['sandbox_\\"<>', 200],
  ])('%s is answered with %i', async (key, status) => {
    const { ask } = await startControlPlane()
    expect((await ask(key, 'GET', '/domains')).status).toBe(status)
  })

  it('opens a fresh one after its sandbox was deleted, and works on after a reset', async () => {
    const { ask, post, delete: remove } = await startControlPlane()
    for (const clear of [() => post('/accounts/sandbox_x/reset'), () => remove('/accounts/sandbox_x')]) {
      await ask('sandbox_x', 'POST', '/domains', { domains: ['x.example'] })
      await clear()
      expect((await ask('sandbox_x', 'GET', '/domains')).body.data.domains).toEqual([])
    }
  })

  it.each<[which: string, account: object, key: string, status: number]>([
    ['has been made, with this key', {}, 'sandbox_mine', 200],
    ['has been made with another key, which alone opens it', { api_key: 'other' }, 'other', 401],
  ])('of an account that %s makes no room for others', async (_, account, key, status) => {
    const { create, ask, get, post } = await startControlPlane({ maxAccounts: 2 })
    const fixture = { domains: ['a.example'] }
    expect((await create({ id: 'sandbox_mine', fixture, ...account })).key).toBe(key)
    expect((await ask('sandbox_mine', 'GET', '/domains')).status).toBe(status)
    expect((await ask(key, 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
    expect((await post('/accounts')).status).toBe(507)
    expect((await get('/accounts/sandbox_mine')).status).toBe(200)
  })
})

describe('the key of an account', () => {
  it.each<[what: string, account: object, key: string | null]>([
    ['that derives from the seed is told', { id: 'a', seed: 7 }, deriveKey(7, 'a')],
    ['of a sandbox is its name', { id: 'sandbox_a' }, 'sandbox_a'],
    ['that somebody chose is a secret', { id: 'a', api_key: 'chosen-key' }, null],
  ])('%s', async (_, account, key) => {
    const { create, get } = await startControlPlane()
    const { id } = await create(account)
    expect((await get(`/accounts/${id}`)).data.api_key).toBe(key)
  })

  it('is in the commands of its coverage where it is no secret, and else a variable is', async () => {
    const { post, get } = await startControlPlane()
    await post('/accounts', { id: 'sandbox_a' })
    await post('/accounts', { id: 'b', api_key: 'chosen-key' })
    const known = JSON.stringify((await get('/accounts/sandbox_a/coverage')).data)
    const secret = JSON.stringify((await get('/accounts/b/coverage')).data)
    expect(known).toContain("-H 'Authorization: Bearer sandbox_a'")
    expect(known).not.toContain('$API_KEY')
    expect(secret).toContain('Bearer $API_KEY')
    expect(secret).not.toContain('chosen-key')
  })

  it('that is disabled is in no command', async () => {
    const { post, get, patch } = await startControlPlane()
    await post('/accounts', { id: 'sandbox_a' })
    const [key] = (await get('/accounts/sandbox_a/keys')).data.keys
    await patch(`/accounts/sandbox_a/keys/${key.id}`, { disabled: true })
    expect((await get('/accounts/sandbox_a')).data.api_key).toBeNull()
  })
})

describe('a sandbox', () => {
  it.each<[method: string, path: string, body?: object]>([
    ['POST', '/faults', { delay_ms: 1 }],
    ['POST', '/fault-sets/flaky'],
    ['POST', '/domains', { domains: ['a.example'] }],
    ['POST', '/requests/verify', { match: {}, count: 0 }],
    ['PATCH', '/clock', { frozen: true }],
    ['PATCH', '/quotas', { bucket: 'domains', remaining: 0 }],
    ['PUT', '/state', { domains: ['a.example'] }],
    ['POST', '/snapshots', { name: 'before' }],
    ['DELETE', '/faults'],
    ['POST', '/reset', {}],
  ])('is opened by its name with %s …%s, before its first request', async (method, path, body) => {
    const { send, ask, get } = await startControlPlane()
    expect((await send(method, `/accounts/sandbox_x${path}`, body)).status).toBeLessThan(300)
    expect((await get('/accounts/sandbox_x')).status).toBe(200)
    expect((await ask('sandbox_x', 'GET', '/domaingroups')).status).toBe(200)
  })

  it('is not opened by who only looks, who is told what opens it', async () => {
    const { get } = await startControlPlane()
    for (const path of ['', '/requests', '/clock', '/events']) {
      const { status, error } = await get(`/accounts/sandbox_x${path}`)
      expect(status).toBe(404)
      expect(error.message).toMatch(/^There is no account "sandbox_x" yet; the first request with this key opens it/)
    }
    expect((await get('/accounts')).data.accounts).toHaveLength(1)
  })

  it('is not opened to be deleted, nor where such keys open nothing', async () => {
    const { delete: remove, get } = await startControlPlane()
    expect((await remove('/accounts/sandbox_x')).status).toBe(404)
    expect((await get('/accounts')).data.accounts).toHaveLength(1)
    const closed = await startControlPlane({ sandboxKeys: false })
    expect((await closed.ask('sandbox_x', 'GET', '/domains')).status).toBe(401)
    expect((await closed.post('/accounts/sandbox_x/faults', { delay_ms: 1 })).status).toBe(404)
    expect((await closed.get('/accounts')).data.count).toBe(1)
  })
})
