import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Account, type Fixture, startUnderstudy, type Understudy } from '../../src/index.ts'
import { NOW, send, start } from './stand-in.ts'

const FIXTURE: Fixture = {
  domains: ['one.example', 'two.example'],
  groups: [{ name: 'Shop', domains: ['one.example'] }],
}

let understudy: Understudy
let account: Account

beforeEach(async () => {
  understudy = await start()
  account = await understudy.createAccount({ fixture: FIXTURE })
})

const ask = (method: string, path: string, body?: unknown) => send(understudy, account, method, path, body)
const domains = async () => (await ask('GET', '/domains')).body.data.domains

describe('an account', () => {
  it('has what a client needs: base URL, key and header fields', async () => {
    expect(account.baseUrl).toBe(understudy.baseUrl)
    expect(account.headers).toEqual({ authorization: `Bearer ${account.apiKey}` })
    expect(await domains()).toEqual(['one.example', 'two.example'])
  })

  it('tells what there is of it', async () => {
    expect(await account.read()).toEqual({
      id: account.id,
      plan: 'stone',
      seed: 42,
      fixture: null,
      created_at: NOW,
      now: NOW,
      frozen: true,
      domains: 2,
      groups: 1,
      keys: 1,
      faults: 0,
      snapshots: 0,
    })
  })

  it('changes its plan', async () => {
    expect(await account.setPlan('below-stone')).toMatchObject({ plan: 'below-stone' })
    expect((await ask('GET', '/domains')).status).toBe(403)
  })

  it('goes back to its creation, or to another beginning', async () => {
    await ask('POST', '/domains', { domains: ['three.example'] })
    expect(await account.reset()).toMatchObject({ domains: 2 })
    expect(
      await account.reset({ fixture: 'empty', seed: 7, now: '2027-01-01T00:00:00Z', frozen: false }),
    ).toMatchObject({
      domains: 0,
      seed: 7,
      created_at: '2027-01-01T00:00:00Z',
      frozen: false,
    })
    expect(await domains()).toEqual([])
  })

  it('is exported as a fixture that makes its like, and imports one', async () => {
    const exported = await account.export()
    expect(exported).toMatchObject({ plan: 'stone', groups: [{ name: 'Shop', domains: ['one.example'] }] })
    const other = await understudy.createAccount({ fixture: exported })
    const answers = await Promise.all([account, other].map((each) => send(understudy, each, 'GET', '/domaingroups')))
    expect(answers[1]?.text).toBe(answers[0]?.text)
    expect(await other.import({ domains: ['four.example'] })).toMatchObject({ domains: 1, groups: 0 })
    expect(await other.import('demo')).toMatchObject({ id: other.id, domains: expect.any(Number) })
  })

  it('is rewound to any of its requests, and exported as it was before one', async () => {
    const { headers } = await ask('DELETE', '/domains', { domains: ['two.example'] })
    const request = String(headers['x-request-id'])
    expect(await domains()).toEqual(['one.example'])
    expect((await account.export({ before: request })).domains).toHaveLength(2)
    expect(await domains()).toEqual(['one.example'])
    expect(await account.rewind(request)).toMatchObject({ id: account.id, domains: 2 })
    expect(await domains()).toEqual(['one.example', 'two.example'])
    await expect(account.rewind('none')).rejects.toMatchObject({ code: 'not_found' })
    await expect(account.export({ before: 'none' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('reads a fixture file when it is made, reset and imported', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'understudy-')), 'mine.json')
    writeFileSync(path, JSON.stringify({ domains: ['mine.example'] }))
    account = await understudy.createAccount({ fixture: path })
    expect(await domains()).toEqual(['mine.example'])
    expect(await account.reset({ fixture: 'empty' })).toMatchObject({ domains: 0 })
    expect(await account.reset({ fixture: path })).toMatchObject({ domains: 1 })
    expect(await account.import('empty')).toMatchObject({ domains: 0 })
    expect(await account.import(path)).toMatchObject({ domains: 1 })
  })

  it('is gone after it was deleted, and its key with it', async () => {
    await account.delete()
    expect((await ask('GET', '/domains')).status).toBe(401)
    await expect(account.read()).rejects.toMatchObject({ code: 'not_found' })
    await expect(understudy.findAccount(account.id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is deleted at the end of a block, gone already or not', async () => {
    await account[Symbol.asyncDispose]()
    await expect(account.read()).rejects.toMatchObject({ code: 'not_found' })
    await account[Symbol.asyncDispose]()
    await understudy.stop()
    await account[Symbol.asyncDispose]()
    const own = await startUnderstudy({ fixture: 'empty' })
    onTestFinished(() => own.stop())
    await expect(own.account[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'protected' })
  })
})

describe('its clock', () => {
  it('moves on to the next refresh, the end of a quota window, or the end of a grace period', async () => {
    expect(await account.clock.advanceTo('refresh')).toEqual({ now: '2026-01-16T00:00:00Z', frozen: true })
    await expect(account.clock.advanceTo('grace-end')).rejects.toMatchObject({ code: 'invalid_value' })
  })

  it.each<[span: Parameters<Account['clock']['advance']>[0], now: string]>([
    [{ hours: 1 }, '2026-01-15T10:30:00Z'],
    [{ weeks: 1, days: 1, hours: 1, minutes: 1, seconds: 1 }, '2026-01-23T10:31:01Z'],
    [{ hours: 0.5 }, '2026-01-15T10:00:00Z'],
    [{ seconds: 0 }, NOW],
    ['P1DT30M', '2026-01-16T10:00:00Z'],
  ])('moves by %j to %s', async (span, now) => {
    expect(await account.clock.advance(span)).toEqual({ now, frozen: true })
    expect(await account.clock.now()).toBe(now)
    expect((await ask('GET', '/domains')).headers['date']).toBe(new Date(now).toUTCString())
  })

  it('is set, goes on and stands still', async () => {
    expect(await account.clock.set('2026-02-01T00:00:00Z')).toEqual({ now: '2026-02-01T00:00:00Z', frozen: true })
    expect((await account.clock.unfreeze()).frozen).toBe(false)
    expect((await account.clock.freeze()).frozen).toBe(true)
  })

  it.each([
    undefined,
    null,
    60,
    '',
    {},
    [],
    { hour: 1 },
    { hours: '1' },
    { hours: -1 },
    { hours: Number.NaN },
    { seconds: 0.5 },
    { weeks: 1e300 },
    '1h',
    'P1M',
  ])('stays where it is for %j, which is no length of time', async (span) => {
    await expect(account.clock.advance(span as string)).rejects.toMatchObject({
      name: 'ControlError',
      code: 'invalid_value',
      problems: [{ code: 'invalid_value', field: expect.stringMatching(/^\/advance/), message: expect.any(String) }],
    })
    expect(await account.clock.now()).toBe(NOW)
  })

  it('never goes back', async () => {
    await expect(account.clock.set('2026-01-15T09:29:59Z')).rejects.toMatchObject({ code: 'invalid_value' })
  })
})

describe('its faults', () => {
  it('strike until they are removed', async () => {
    const { id } = await account.faults.add({ match: { operation: 'listDomains' }, respond: { error: 'rate_limited' } })
    expect((await ask('GET', '/domains')).status).toBe(429)
    expect((await ask('GET', '/domaingroups')).status).toBe(200)
    expect(await account.faults.list()).toMatchObject([{ id, matched: 1, hits: 1, state: 'active', phase: 'before' }])
    await account.faults.remove(id)
    expect((await ask('GET', '/domains')).status).toBe(200)
  })

  it('come in sets, and are cleared', async () => {
    const names = (await understudy.listFaultSets()).map(({ name }) => name)
    expect(names).toEqual(['flaky', 'quota-storm', 'lossy-writes', 'slow'])
    expect(await account.faults.addSet('flaky')).toMatchObject([{ set: 'flaky' }, { set: 'flaky' }, { set: 'flaky' }])
    expect((await account.read()).faults).toBe(3)
    await account.faults.clear()
    expect(await account.faults.list()).toEqual([])
  })

  it('are copies: what is changed afterwards on this side changes nothing on the other', async () => {
    const rule = { respond: { status: 503 } }
    const added = await account.faults.add(rule)
    rule.respond.status = 504
    Object.assign(added.rule, { respond: { status: 505 } })
    Object.assign((await account.faults.list())[0]?.rule ?? {}, { respond: { status: 506 } })
    expect(await account.faults.list()).toMatchObject([{ rule: { respond: { status: 503 } } }])
  })
})

describe('its requests', () => {
  beforeEach(async () => {
    await ask('POST', '/domains', { domains: ['three.example'] })
    await ask('POST', '/domains', { domains: ['no domain'] })
    await ask('GET', '/domaingroups?id=00000000')
    await account.faults.add({ match: { operation: 'listDmarc' }, respond: { error: 'internal_error' } })
    await ask('GET', '/dmarc')
  })

  it.each<[filter: Parameters<Account['requests']['list']>[0], statuses: number[]]>([
    [undefined, [200, 400, 404, 500]],
    [{}, [200, 400, 404, 500]],
    [{ operation: 'addDomains' }, [200, 400]],
    [{ method: 'GET' }, [404, 500]],
    [{ path: '/dmarc' }, [500]],
    [{ status: 200 }, [200]],
    [{ code: 'invalid_domain' }, [400]],
    [{ violation: true }, [400]],
    [{ violation: false }, [200, 404, 500]],
    [{ injected: true }, [500]],
    [{ injected: false, method: 'GET' }, [404]],
    [{ limit: 2 }, [404, 500]],
    [{ limit: 0 }, []],
    [{ operation: 'addDomains', limit: 1 }, [400]],
  ])('of %j are those with %j', async (filter, statuses) => {
    expect((await account.requests.list(filter)).map(({ status }) => status)).toEqual(statuses)
  })

  it('tell what was asked and answered', async () => {
    const [first] = await account.requests.list()
    expect(first).toMatchObject({
      account: account.id,
      at: NOW,
      method: 'POST',
      operation: 'addDomains',
      status: 200,
      injected: false,
      request: { body: '{"domains":["three.example"]}' },
      quota: { limit: 30, remaining: 29 },
    })
  })

  it.each<[...Parameters<Account['requests']['verify']>, passed: boolean, matched: number]>([
    [{ operation: 'addDomains' }, {}, true, 2],
    [{ operation: 'addDomains' }, { count: 2 }, true, 2],
    [{ operation: 'addDomains' }, { count: 1 }, false, 2],
    [{ operation: 'addDomains', body: { domains: ['three.example'] } }, { count: 1 }, true, 1],
    [{ operation: 'deleteDomains' }, {}, false, 0],
    [{ operation: 'deleteDomains' }, { count: 0 }, true, 0],
    [{ method: 'GET' }, { at_least: 1, at_most: 2 }, true, 2],
    [{ violation: true }, { count: 0 }, false, 1],
  ])('are verified: %j as often as %j', async (match, times, passed, matched) => {
    expect(await account.requests.verify(match, times)).toMatchObject({ passed, matched })
  })

  it('that nearly match are named with what differs', async () => {
    const { near_misses } = await account.requests.verify({ operation: 'addDomains', status: 413 })
    expect(near_misses[0]?.differences).toEqual([{ field: 'status', expected: 413, received: 400 }])
  })

  it('are forgotten when they are cleared', async () => {
    await account.requests.clear()
    expect(await account.requests.list()).toEqual([])
  })

  it('are explained by their id, here and there', async () => {
    const [refused] = await account.requests.list({ code: 'invalid_domain' })
    const explanation = await account.explain(refused?.request_id ?? '')
    expect(explanation).toMatchObject({
      account: account.id,
      status: 400,
      problems: [{ code: 'invalid_domain', field: '/domains/0', received: expect.stringContaining('no domain') }],
      correction: { curl: expect.stringContaining('curl') },
    })
    expect(await understudy.explain(refused?.request_id ?? '')).toEqual(explanation)
  })

  it('show what of the contract they cover', async () => {
    const { summary, operations } = await account.coverage()
    expect(summary.operations).toMatchObject({ seen: 2, total: 8 })
    expect(operations.map(({ operation }) => operation)).toContain('addDomains')
    expect((await understudy.coverage()).summary.operations.seen).toBe(2)
    expect((await understudy.account.coverage()).summary.operations.seen).toBe(0)
  })
})

describe('its keys', () => {
  it('are made, disabled, enabled and deleted', async () => {
    const { key, api_key } = await account.keys.create({ label: 'CI' })
    expect(key).toMatchObject({ label: 'CI', disabled: false, in_grace: true, created_at: NOW })
    const status = async () => {
      const headers = { authorization: `Bearer ${api_key}` }
      return (await send(understudy, { baseUrl: account.baseUrl, headers }, 'GET', '/domains')).status
    }
    expect(await status()).toBe(200)
    expect(await account.keys.disable(key.id)).toMatchObject({ id: key.id, disabled: true })
    expect(await status()).toBe(401)
    expect(await account.keys.enable(key.id)).toMatchObject({ disabled: false })
    expect(await status()).toBe(200)
    expect((await account.keys.list()).map(({ label }) => label)).toEqual([null, 'CI'])
    await account.keys.delete(key.id)
    expect(await status()).toBe(401)
    expect(await account.keys.list()).toHaveLength(1)
  })

  it('are told where they can be, and not made up where they cannot', async () => {
    for (const [id, known] of [
      [account.id, account.apiKey],
      ['default', understudy.apiKey],
      [(await understudy.createAccount({ id: 'sandbox_mine' })).id, 'sandbox_mine'],
      [(await understudy.createAccount({ id: 'sandbox_other', apiKey: 'chosen' })).id, undefined],
    ] as const) {
      expect((await understudy.findAccount(id)).apiKey).toBe(known)
    }
    await account.reset({ seed: 7 })
    expect((await understudy.findAccount(account.id)).apiKey).toBe(account.apiKey)
    const keyless = await understudy.findAccount('sandbox_other')
    expect(() => keyless.headers).toThrow(
      'The key of the account sandbox_other is not known here; create another one with keys.create().',
    )
  })
})

describe('its quotas', () => {
  it.each([true, false])('say whether they are enforced: %s', async (enforceQuotas) => {
    const { account } = await start({ enforceQuotas })
    expect(await account.quotas.areEnforced()).toBe(enforceQuotas)
  })

  it('are read and set, for one key or for all', async () => {
    await account.keys.create({ key: 'second', created_at: '2025-01-01T00:00:00Z' })
    const left = async () =>
      (await account.quotas.list()).filter(({ bucket }) => bucket === 'dmarc').map(({ remaining }) => remaining)
    expect(await left()).toEqual([10, 10])
    const [first] = await account.keys.list()
    await account.quotas.set('dmarc', 0, first?.id)
    expect(await left()).toEqual([0, 10])
    expect((await ask('GET', '/dmarc')).status).toBe(429)
    expect(await account.quotas.set('dmarc', 3)).toContainEqual(
      expect.objectContaining({ bucket: 'dmarc', remaining: 3 }),
    )
    expect(await left()).toEqual([3, 3])
  })
})

describe('its snapshots', () => {
  it('are taken, listed, replaced, restored and deleted', async () => {
    expect(await account.snapshots.take('before')).toEqual({ name: 'before', taken_at: NOW, domains: 2, groups: 1 })
    await ask('POST', '/domains', { domains: ['three.example'] })
    await account.clock.advance({ days: 1 })
    await expect(account.snapshots.take('before')).rejects.toMatchObject({ code: 'taken' })
    expect(await account.snapshots.restore('before')).toMatchObject({ domains: 2, now: NOW })
    expect(await domains()).toEqual(['one.example', 'two.example'])
    await ask('POST', '/domains', { domains: ['four.example'] })
    await account.snapshots.take('before', { replace: true })
    expect(await account.snapshots.list()).toMatchObject([{ name: 'before', domains: 3 }])
    await account.snapshots.delete('before')
    expect(await account.snapshots.list()).toEqual([])
  })
})

describe('its domains', () => {
  it('are in use and free again', async () => {
    const remove = async () => (await ask('DELETE', '/domains', { domains: ['one.example'] })).status
    expect(await account.domains.setFeatures('one.example', ['mta-sts'])).toMatchObject({ features: ['mta-sts'] })
    expect(await remove()).toBe(409)
    await account.domains.setFeatures('ONE.example', [])
    expect(await remove()).toBe(200)
  })

  it('have the DMARC records that are pinned', async () => {
    const row = async () =>
      (await ask('GET', '/dmarc')).body.data.find(({ domain }: { domain: string }) => domain === 'one.example')
    const before = await row()
    const pinned = await account.domains.pin('one.example', { p: 'reject', count: 1200, dkim: 95.5 })
    expect(pinned.record).toMatchObject({ p: 'reject', sp: 'reject', count: 1200, dkim: 95.5 })
    expect(await row()).toEqual(pinned.record)
    await account.domains.pin('one.example', { profile: 'parked' })
    expect(await row()).toMatchObject({ count: 0 })
    await account.domains.unpin('one.example')
    expect(await row()).toEqual(before)
  })
})

describe('its figures', () => {
  it('are listed day by day, and named are the events that change them', async () => {
    const today = (await account.clock.now()).slice(0, 10)
    const [day, ...more] = await account.listDailyRecords({ from: today, to: today })
    expect(more).toEqual([])
    expect(day).toEqual({ date: today, records: (await ask('GET', '/dmarc')).body.data })
    const domains = await account.domains.list()
    expect(domains.map(({ domain }) => domain)).toEqual((await ask('GET', '/domains')).body.data.domains)
    for (const each of domains) expect(each).toMatchObject({ profile: expect.any(String), events: expect.any(Array) })
  })

  it('are summed up for all domains together', async () => {
    const { days, ...overview } = await account.overview({ days: 7 })
    const records: { count: number }[] = (await ask('GET', '/dmarc')).body.data
    expect(overview.messages).toBe(records.reduce((sum, { count }) => sum + count, 0))
    expect(days).toHaveLength(7)
    expect((await account.overview()).days).toHaveLength(90)
    await expect(account.overview({ days: 0 })).rejects.toMatchObject({ name: 'ControlError', code: 'invalid_value' })
  })

  it('are listed for some domains only, where these are named', async () => {
    const today = (await account.clock.now()).slice(0, 10)
    const [day] = await account.listDailyRecords({ from: today, to: today })
    const [first, second] = (day?.records ?? []).map(({ domain }) => domain)
    const namesFor = async (domain: string | string[]) => {
      const [some] = await account.listDailyRecords({ from: today, to: today, domain })
      return some?.records.map(({ domain }) => domain)
    }
    expect(await namesFor([`${second}`, `${first}`])).toEqual([second, first])
    expect(await namesFor(`${first}`)).toEqual([first])
    await expect(namesFor(['no hostname'])).rejects.toMatchObject({ code: 'invalid_value' })
  })

  it('are refused for days that there are not', async () => {
    await expect(account.listDailyRecords({ from: '2026-02-30', to: '2026-03-01' })).rejects.toMatchObject({
      name: 'ControlError',
      code: 'invalid_value',
    })
  })
})

describe('the verdict about all clients', () => {
  it('passes after lawful requests, fails after a violation, and survives the account', async () => {
    expect((await understudy.verdict()).passed).toBe(false)
    await ask('GET', '/domains')
    expect(await understudy.verdict()).toMatchObject({ passed: true, requests: 1 })
    await ask('POST', '/domains', { domain: 'x.example' })
    await account.delete()
    const { passed, violations } = await understudy.verdict()
    expect(passed).toBe(false)
    expect(violations.first[0]).toMatchObject({ account: account.id, code: 'unknown_field' })
    await understudy.clearVerdict()
    expect(await understudy.verdict()).toMatchObject({ passed: false, requests: 0 })
  })
})
