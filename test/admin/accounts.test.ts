import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { FIXTURE_NAMES } from '../../src/accounts/fixture.ts'
import { deriveKey } from '../../src/ground/secrets.ts'
import { startControlPlane } from '../support/control-plane.ts'
import { holdTime, someoneWaits } from '../support/held-time.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HOUR = 3_600_000

describe('a new account', () => {
  it('is as the server was started, with a key that has left its grace period', async () => {
    const { post, ask, get } = await startControlPlane({ fixture: 'demo', seed: 7, plan: 'above-stone' })
    const { status, data } = await post('/accounts')
    expect(status).toBe(201)
    expect(data.account).toMatchObject({
      id: 'account-1',
      plan: 'above-stone',
      seed: 7,
      fixture: 'demo',
      frozen: false,
    })
    const { status: served, headers } = await ask(data.api_key, 'GET', '/domains')
    expect(served).toBe(200)
    expect(headers['x-ratelimit-limit']).toBe('30')
    expect((await get('/accounts/account-1')).data).toEqual({ account: data.account, api_key: data.api_key })
    expect((await get('/accounts')).data.accounts.map(({ id }: { id: string }) => id)).toEqual(['default', 'account-1'])
  })

  it('is what is asked for', async () => {
    const { post, ask } = await startControlPlane()
    const asked = { id: 'A.b_c~d-9', plan: 'below-stone', fixture: 'edge-cases', seed: 9, now: '2030-02-03T04:05:06Z' }
    const { data } = await post('/accounts', { ...asked, frozen: true, api_key: 'my-own-key' })
    expect(data).toMatchObject({ account: { ...asked, frozen: true }, api_key: 'my-own-key' })
    expect((await ask('my-own-key', 'GET', '/domains')).status).toBe(403)
  })

  it.each(FIXTURE_NAMES)('can be made of the fixture %s', async (fixture) => {
    const { create, ask } = await startControlPlane()
    const { key } = await create({ fixture })
    for (const path of ['/domains', '/dmarc', '/domaingroups']) expect((await ask(key, 'GET', path)).status).toBe(200)
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

  it.each<[body: object, status: number, code: string, message: RegExp]>([
    [{ id: 'default' }, 409, 'taken', /^There is an account "default" already\.$/],
    [{ api_key: 'taken-key' }, 409, 'taken', /^The key "key_\w{8}" belongs to the account "holder" already\.$/],
    [{ fixture: { keys: [{ key: 'taken-key' }] } }, 409, 'taken', /belongs to the account "holder"/],
    [{ id: '.hidden' }, 400, 'invalid_value', /`id` must be 1 to 100 letters/],
    [{ id: 'a/b' }, 400, 'invalid_value', /`id` must be 1 to 100 letters/],
    [{ id: 'a'.repeat(101) }, 400, 'invalid_value', /`id` must be 1 to 100 letters/],
    [{ id: '' }, 400, 'invalid_value', /`id` must be/],
    [{ id: 5 }, 400, 'invalid_field_type', /`id` must be of type string, not number/],
    [{ plan: 'gold' }, 400, 'invalid_value', /`plan` must be one of below-stone, stone, above-stone, not "gold"\.$/],
    [{ seed: -1 }, 400, 'invalid_value', /`seed` must be at least 0/],
    [{ seed: 1.5 }, 400, 'invalid_field_type', /`seed` must be of type integer/],
    [{ now: 'tomorrow' }, 400, 'invalid_value', /`now` must be an instant such as/],
    [{ now: '2026-02-30T00:00:00Z' }, 400, 'invalid_value', /`now` must be an instant/],
    [{ now: '9999-12-31T12:00:00Z' }, 400, 'invalid_value', /before the year 10000/],
    [{ api_key: 'a b' }, 400, 'invalid_value', /`api_key` must be 1 to 200 visible ASCII/],
    [
      { fixture: 'nobody' },
      400,
      'invalid_value',
      /`fixture` must be one of demo, empty, edge-cases, agency or a fixture/,
    ],
    [{ fixture: [] }, 400, 'invalid_field_type', /`fixture`/],
    [{ fixture: { domains: ['no host'] } }, 400, 'invalid_fixture', /^fixture#\/domains\/0: "no host" is not a valid/],
    [{ fixture: { plan: 'gold' } }, 400, 'invalid_fixture', /There is no plan gold/],
    [{ fixture: { color: 'red' } }, 400, 'invalid_fixture', /^fixture#\/color: .*allowed fields are .*scenes\.$/],
    [{ colour: 'red' }, 400, 'unknown_field', /The field `colour` is unknown/],
  ])('%j is refused', async (body, status, code, message) => {
    const { create, post, get } = await startControlPlane()
    await create({ id: 'holder', api_key: 'taken-key' })
    const refusal = await post('/accounts', body)
    expect(refusal).toMatchObject({ status, error: { code } })
    expect(refusal.error.message).toMatch(message)
    expect((await get('/accounts')).data.count).toBe(2)
  })
})

describe('an account', () => {
  it('gets another plan, and a reset gives back the one of its birth', async () => {
    const { create, patch, post, ask } = await startControlPlane()
    const { id, key } = await create()
    expect((await patch(`/accounts/${id}`, { plan: 'below-stone' })).data.account.plan).toBe('below-stone')
    expect((await ask(key, 'GET', '/domains')).status).toBe(403)
    expect((await patch(`/accounts/${id}`, { plan: 'above-stone' })).data.account.plan).toBe('above-stone')
    expect((await ask(key, 'GET', '/domains')).status).toBe(200)
    expect((await post(`/accounts/${id}/reset`)).data.account.plan).toBe('stone')
  })

  it.each<[body: unknown, status: number, code: string]>([
    [{ plan: 'gold' }, 400, 'invalid_value'],
    [{ plan: 1 }, 400, 'invalid_field_type'],
    [{}, 400, 'missing_field'],
    [{ plan: 'stone', id: 'x' }, 400, 'unknown_field'],
    ['{', 400, 'invalid_json'],
    ['', 400, 'invalid_request_body'],
    ['[]', 400, 'invalid_request_body'],
    ['null', 400, 'invalid_request_body'],
  ])('refuses the change %j', async (body, status, code) => {
    const { patch, get } = await startControlPlane()
    expect(await patch('/accounts/default', body)).toMatchObject({ status, error: { code } })
    expect((await get('/accounts/default')).data.account.plan).toBe('stone')
  })

  it('is gone with its key, its journal and its snapshots once it is deleted', async () => {
    const { create, delete: remove, get, post, ask } = await startControlPlane()
    const { id, key } = await create({ id: 'one' })
    await ask(key, 'GET', '/domains')
    await post('/accounts/one/snapshots', { name: 's' })
    expect(await remove('/accounts/one')).toMatchObject({ status: 200, data: {} })
    expect((await ask(key, 'GET', '/domains')).status).toBe(401)
    for (const path of [
      '',
      '/state',
      '/snapshots',
      '/keys',
      '/clock',
      '/quotas',
      '/faults',
      '/requests',
      '/coverage',
    ]) {
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

  it('that is deleted under its requests leaves them a lawful answer, and no trace for its successor', async () => {
    const { create, delete: remove, ask, get } = await startControlPlane({ responseValidation: 'error' })
    for (let round = 0; round < 10; round++) {
      const { key } = await create({ id: 'short-lived' })
      const requests = Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0
          ? ask(key, 'POST', '/domains', { domains: [`d${index}.example`] })
          : ask(key, 'GET', '/domaingroups'),
      )
      const deleted = remove('/accounts/short-lived')
      const statuses = new Set((await Promise.all(requests)).map(({ status }) => status))
      expect((await deleted).status).toBe(200)
      for (const status of statuses) expect([200, 401, 429]).toContain(status)
      await create({ id: 'short-lived' })
      expect((await get('/accounts/short-lived/requests')).data.count).toBe(0)
      await remove('/accounts/short-lived')
    }
  })

  it('that is deleted while a request waits is answered as the key of nobody', async () => {
    const { create, delete: remove, ask, post, understudy } = await startControlPlane()
    const { id, key } = await create()
    holdTime()
    await post(`/accounts/${id}/faults`, { delay_ms: 150, match: { operation: 'addDomains' } })
    const waiting = ask(key, 'POST', '/domains', { domains: ['a.example'] })
    await someoneWaits()
    await remove(`/accounts/${id}`)
    await vi.advanceTimersByTimeAsync(150)
    const { status, body, headers } = await waiting
    expect({ status, code: body.error.code }).toEqual({ status: 401, code: 'unauthorized' })
    expect(headers['x-ratelimit-limit']).toBeUndefined()
    expect((await understudy.listAccounts()).map(({ id }) => id)).toEqual(['default'])
  })

  it('that is deleted and created again while a request waits is not changed by it', async () => {
    const { create, delete: remove, ask, post } = await startControlPlane()
    const { id, key } = await create({ id: 'again' })
    holdTime()
    await post(`/accounts/${id}/faults`, { delay_ms: 150, match: { operation: 'addDomains' } })
    const waiting = ask(key, 'POST', '/domains', { domains: ['late.example'] })
    await someoneWaits()
    await remove(`/accounts/${id}`)
    await create({ id })
    await vi.advanceTimersByTimeAsync(150)
    expect((await waiting).status).toBe(401)
    expect((await ask(key, 'GET', '/domains')).body.data.domains).not.toContain('late.example')
  })

  it('that is deleted and created again while a request waits has no trace of the request', async () => {
    const { create, delete: remove, ask, post, get } = await startControlPlane()
    const { id, key } = await create({ id: 'again' })
    holdTime()
    await post(`/accounts/${id}/faults`, { delay_ms: 150, match: { operation: 'listDomains' } })
    const waiting = ask(key, 'GET', '/domains')
    await someoneWaits()
    await remove(`/accounts/${id}`)
    expect((await create({ id })).key).toBe(key)
    expect((await ask(key, 'GET', '/domaingroups')).status).toBe(200)
    await vi.advanceTimersByTimeAsync(150)
    await waiting
    const { requests } = (await get(`/accounts/${id}/requests`)).data
    expect(requests.map(({ path }: { path: string }) => path)).toEqual(['/api/v1/domaingroups'])
    const { operations } = (await get(`/accounts/${id}/coverage`)).data
    const shown = operations.filter(({ responses }: { responses: { genuine: number; injected: number }[] }) =>
      responses.some(({ genuine, injected }) => genuine + injected > 0),
    )
    expect(shown.map(({ operation }: { operation: string }) => operation)).toEqual(['listDomainGroups'])
    const all = (await get('/requests')).data.requests
    expect(all.map(({ path, account }: { path: string; account: string | null }) => [path, account])).toEqual([
      ['/api/v1/domaingroups', id],
      ['/api/v1/domains', null],
    ])
  })
})

describe('a key of a sandbox', () => {
  it('opens one account of its own on first use, however many requests come first', async () => {
    const { ask, get } = await startControlPlane({ fixture: 'demo' })
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask('sandbox_x', 'GET', '/domains')))
    const counts = new Map<number, number>()
    for (const { status } of answers) counts.set(status, (counts.get(status) ?? 0) + 1)
    expect([...counts].toSorted()).toEqual([
      [200, 30],
      [429, 20],
    ])
    expect((await get('/accounts')).data.count).toBe(2)
    expect((await get('/accounts/sandbox_x')).data.account).toMatchObject({ fixture: 'demo', snapshots: 0 })
  })

  it('sees nothing of another', async () => {
    const { ask } = await startControlPlane()
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

  it('with signs of a path stays in the folder', async () => {
    const data = temporaryFolder()
    const { ask, get, stop } = await startControlPlane({ data })
    await ask('sandbox_../../evil', 'POST', '/domains', { domains: ['a.example'] })
    expect((await get(`/accounts/${encodeURIComponent('sandbox_../../evil')}`)).data.account.domains).toBe(1)
    await stop()
    expect(readdirSync(data).filter((name) => name.endsWith('.json'))).toHaveLength(2)
    const { ask: askAgain } = await startControlPlane({ data })
    const { body } = await askAgain('sandbox_../../evil', 'GET', '/domains')
    expect(body.data.domains).toEqual(['a.example'])
  })

  it('is nobody’s where sandboxes are switched off', async () => {
    const { ask, get } = await startControlPlane({ sandboxKeys: false })
    expect((await ask('sandbox_x', 'GET', '/domains')).status).toBe(401)
    expect((await get('/accounts')).data.count).toBe(1)
  })

  it('opens a fresh one after its sandbox was deleted, and works on after a reset', async () => {
    const { ask, post, delete: remove } = await startControlPlane()
    await ask('sandbox_x', 'POST', '/domains', { domains: ['x.example'] })
    await post('/accounts/sandbox_x/reset')
    expect((await ask('sandbox_x', 'GET', '/domains')).body.data.domains).toEqual([])
    await ask('sandbox_x', 'POST', '/domains', { domains: ['x.example'] })
    await remove('/accounts/sandbox_x')
    expect((await ask('sandbox_x', 'GET', '/domains')).body.data.domains).toEqual([])
  })

  it('opens the account of that name which somebody has made, and that one does not make room', async () => {
    const { create, ask, get, post } = await startControlPlane({ maxAccounts: 2 })
    const { key } = await create({ id: 'sandbox_mine', fixture: { domains: ['a.example'] } })
    expect(key).toBe('sandbox_mine')
    expect((await ask('sandbox_mine', 'GET', '/domains')).body.data.domains).toEqual(['a.example'])
    expect((await post('/accounts')).status).toBe(507)
    expect((await get('/accounts/sandbox_mine')).status).toBe(200)
  })

  it('is not that of an account of that name which has another one', async () => {
    const { create, ask, post, get } = await startControlPlane({ maxAccounts: 2 })
    await create({ id: 'sandbox_mine', api_key: 'other' })
    expect((await ask('sandbox_mine', 'GET', '/domains')).status).toBe(401)
    expect((await post('/accounts')).status).toBe(507)
    expect((await get('/accounts/sandbox_mine')).status).toBe(200)
  })
})

describe('with a folder', () => {
  it('all that was changed through the control plane survives a restart, and a deleted account leaves no file', async () => {
    const data = temporaryFolder()
    const first = await startControlPlane({ data })
    const { id, key } = await first.create({ id: 'kept', fixture: { domains: ['a.example', 'b.example'] }, seed: 5 })
    await first.create({ id: 'dropped' })
    const path = `/accounts/${id}`
    await first.patch(path, { plan: 'above-stone' })
    const { data: second } = await first.post(`${path}/keys`, { label: 'CI', key: 'second-key' })
    await first.patch(`${path}/keys/${second.key.id}`, { disabled: true })
    await first.put(`${path}/domains/a.example/features`, { features: ['mta-sts'] })
    await first.put(`${path}/domains/b.example/dmarc`, { p: 'reject', profile: 'parked' })
    await first.patch(`${path}/clock`, { advance: 'P3D', frozen: true })
    await first.patch(`${path}/quotas`, { bucket: 'dmarc', remaining: 1 })
    await first.post(`${path}/faults`, { delay_ms: 1, times: 3, match: { operation: 'listDomains' } })
    await first.ask(key, 'GET', '/domains')
    await first.delete('/accounts/dropped')
    const seen = async ({ get }: typeof first) =>
      Promise.all(
        ['', '/keys', '/clock', '/quotas', '/faults', '/state'].map(async (rest) => (await get(path + rest)).data),
      )
    const before = await seen(first)
    await first.stop()
    expect(readdirSync(data).filter((name) => name.endsWith('.json'))).toEqual([
      'account-default.json',
      'account-kept.json',
    ])
    const again = await startControlPlane({ data })
    again.advance(HOUR)
    expect(await seen(again)).toEqual(before)
    expect((await again.ask(key, 'DELETE', '/domains', { domains: ['a.example'] })).body.error.code).toBe(
      'domain_delete_failed',
    )
    expect((await again.ask('second-key', 'GET', '/domains')).status).toBe(401)
    expect(existsSync(`${data}/account-dropped.json`)).toBe(false)
  })
})

describe('the key of an account', () => {
  it.each<[what: string, account: object, key: string | null]>([
    ['that derives from the seed is told', { id: 'a', seed: 7 }, deriveKey(7, 'a')],
    ['of a sandbox is its name', { id: 'sandbox_a' }, 'sandbox_a'],
    ['that somebody chose is a secret', { id: 'a', api_key: 'chosen-key' }, null],
  ])('%s', async (_, account, key) => {
    const { post, get } = await startControlPlane()
    const { data } = await post('/accounts', account)
    expect((await get(`/accounts/${data.account.id}`)).data.api_key).toBe(key)
  })

  it('is in the commands of its coverage where it is no secret, and else a variable is', async () => {
    const { post, get } = await startControlPlane()
    await post('/accounts', { id: 'sandbox_a' })
    await post('/accounts', { id: 'b', api_key: 'chosen-key' })
    const [known, secret] = await Promise.all(
      ['sandbox_a', 'b'].map(async (id) => JSON.stringify((await get(`/accounts/${id}/coverage`)).data)),
    )
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
  it.each<[method: string, path: string, body: object | undefined]>([
    ['POST', '/faults', { delay_ms: 1 }],
    ['POST', '/fault-sets/flaky', undefined],
    ['POST', '/requests/verify', { match: {}, count: 0 }],
    ['PATCH', '/clock', { frozen: true }],
    ['PATCH', '/quotas', { bucket: 'domains', remaining: 0 }],
    ['PUT', '/state', { domains: ['a.example'] }],
    ['POST', '/snapshots', { name: 'before' }],
    ['DELETE', '/faults', undefined],
    ['POST', '/reset', {}],
  ])('is opened by its name with %s …%s, before its first request', async (method, path, body) => {
    const { send, ask, get } = await startControlPlane()
    expect((await send(method, `/accounts/sandbox_x${path}`, body)).status).toBeLessThan(300)
    expect((await get('/accounts')).data.accounts.map(({ id }: { id: string }) => id)).toContain('sandbox_x')
    expect((await ask('sandbox_x', 'GET', '/domaingroups')).status).toBe(200)
  })

  it('keeps what was set up before its first request', async () => {
    const { post, ask } = await startControlPlane()
    await post('/accounts/sandbox_x/faults', {
      match: { operation: 'listDomains' },
      respond: { error: 'rate_limited' },
    })
    expect((await ask('sandbox_x', 'GET', '/domains')).status).toBe(429)
    expect((await ask('sandbox_y', 'GET', '/domains')).status).toBe(200)
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
    expect((await closed.post('/accounts/sandbox_x/faults', { delay_ms: 1 })).status).toBe(404)
  })
})
