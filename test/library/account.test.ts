import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Account, type Fixture, startUnderstudy, type Understudy } from '../../src/index.ts'
import { NOW, send, WAYS_OF_CALLS } from './stand-in.ts'

const FIXTURE: Fixture = {
  domains: ['one.example', 'two.example'],
  groups: [{ name: 'Shop', domains: ['one.example'] }],
}

describe.each(WAYS_OF_CALLS)('$way', ({ start }) => {
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

    it('is compared with another one, with its snapshot, and with its state before a request', async () => {
      const other = await understudy.createAccount({ like: account.id })
      await account.snapshots.take('clean')
      const { headers } = await ask('POST', '/domains', { domains: ['three.example'] })
      for (const way of [other, other.id, { snapshot: 'clean' }, { before: headers['x-request-id'] ?? '' }]) {
        const { holds } = await account.compare(way)
        expect(holds.domains).toMatchObject({
          alike: 2,
          only_in_one: { count: 1, listed: [{ name: 'three.example' }] },
        })
      }
      const { asked } = await account.compare(other, { limit: 1 })
      expect(asked).toMatchObject({ result: 'inconclusive', one: 1, other: 0 })
      await expect(account.compare('nobody')).rejects.toMatchObject({ name: 'ControlError', code: 'not_found' })
      await expect(account.compare(account)).rejects.toMatchObject({ code: 'invalid_value' })
    })

    it('tells what there is of it', async () => {
      expect(await account.read()).toEqual({
        ...{ id: account.id, plan: 'stone', seed: 42, fixture: null, created_at: NOW, now: NOW, frozen: true },
        ...{ domains: 2, groups: 1, keys: 1, faults: 0, snapshots: 0 },
      })
    })

    it('changes its plan', async () => {
      expect(await account.setPlan('below-stone')).toMatchObject({ plan: 'below-stone' })
      expect((await ask('GET', '/domains')).status).toBe(403)
    })

    it('goes back to its creation, or to another beginning', async () => {
      await ask('POST', '/domains', { domains: ['three.example'] })
      expect(await account.reset()).toMatchObject({ domains: 2 })
      const now = '2027-01-01T00:00:00Z'
      const other = await account.reset({ fixture: 'empty', seed: 7, now, frozen: false })
      expect(other).toMatchObject({ domains: 0, seed: 7, created_at: now, frozen: false })
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
    it.each<[span: Parameters<Account['clock']['advance']>[0], now: string]>([
      [{ hours: 1 }, '2026-01-15T10:30:00Z'],
      [{ weeks: 1, days: 1, hours: 1, minutes: 1, seconds: 1 }, '2026-01-23T10:31:01Z'],
      [{ hours: 0.5 }, '2026-01-15T10:00:00Z'],
      [{ seconds: 0 }, NOW],
      [{ hours: 1, days: undefined } as object, '2026-01-15T10:30:00Z'],
      [{ weeks: 3, seconds: 100_000 }, '2026-02-06T13:16:40Z'],
      ['P1DT30M', '2026-01-16T10:00:00Z'],
    ])('moves by %j to %s', async (span, now) => {
      expect(await account.clock.advance(span)).toEqual({ now, frozen: true })
      expect(await account.clock.now()).toBe(now)
      expect((await ask('GET', '/domains')).headers['date']).toBe(new Date(now).toUTCString())
    })

    it('moves to an ending, is set, goes on and stands still', async () => {
      expect(await account.clock.advanceTo('refresh')).toEqual({ now: '2026-01-16T00:00:00Z', frozen: true })
      expect(await account.clock.set('2026-02-01T00:00:00Z')).toEqual({ now: '2026-02-01T00:00:00Z', frozen: true })
      expect((await account.clock.unfreeze()).frozen).toBe(false)
      expect((await account.clock.freeze()).frozen).toBe(true)
    })

    it.each([
      ...[undefined, null, 60, '', '1h', 'P1M', {}, [], { hour: 1 }, { hours: '1' }, { hours: -1 }],
      ...[{ hours: Number.NaN }, { seconds: 0.5 }, { weeks: 1e300 }],
    ])('stays where it is for %j, which is no length of time', async (span) => {
      await expect(account.clock.advance(span as string)).rejects.toMatchObject({
        name: 'ControlError',
        code: 'invalid_value',
        problems: [{ code: 'invalid_value', field: expect.stringMatching(/^\/advance/), message: expect.any(String) }],
      })
      expect(await account.clock.now()).toBe(NOW)
    })
  })

  describe('its faults', () => {
    it('strike until they are removed, come in sets, and are cleared', async () => {
      const { id } = await account.faults.add({
        match: { operation: 'listDomains' },
        respond: { error: 'rate_limited' },
      })
      expect((await ask('GET', '/domains')).status).toBe(429)
      expect(await account.faults.list()).toMatchObject([{ id, matched: 1, hits: 1, state: 'active', phase: 'before' }])
      await account.faults.remove(id)
      expect((await ask('GET', '/domains')).status).toBe(200)
      expect(await account.faults.addSet('flaky')).toMatchObject([{ set: 'flaky' }, { set: 'flaky' }, { set: 'flaky' }])
      await account.faults.clear()
      expect(await account.faults.list()).toEqual([])
      const names = (await understudy.listFaultSets()).map(({ name }) => name)
      expect(names).toEqual(['flaky', 'quota-storm', 'lossy-writes', 'slow'])
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

    it('are listed as a filter wants them, verified, and forgotten when they are cleared', async () => {
      const statuses = async (...filter: Parameters<Account['requests']['list']>) =>
        (await account.requests.list(...filter)).map(({ status }) => status)
      expect(await statuses()).toEqual([200, 400, 404, 500])
      expect(await statuses({ violation: true })).toEqual([400])
      expect(await statuses({ injected: false, method: 'GET' })).toEqual([404])
      expect(await statuses({ operation: 'addDomains', limit: 1 })).toEqual([400])
      const added = { operation: 'addDomains' } as const
      expect(await account.requests.verify(added)).toMatchObject({ passed: true, matched: 2, near_misses: [] })
      expect(await account.requests.verify(added, { count: 1 })).toMatchObject({ passed: false, matched: 2 })
      expect(await account.requests.verify(added, { at_least: 1, at_most: 2 })).toMatchObject({ passed: true })
      await account.requests.clear()
      expect(await statuses()).toEqual([])
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
      expect([await status(), (await ask('GET', '/domains')).status]).toEqual([401, 200])
      expect(await account.keys.enable(key.id)).toMatchObject({ disabled: false })
      expect(await status()).toBe(200)
      expect((await account.keys.list()).map(({ label }) => label)).toEqual([null, 'CI'])
      await account.keys.delete(key.id)
      expect(await status()).toBe(401)
      expect(await account.keys.list()).toHaveLength(1)
      for (const again of [account.keys.delete(key.id), account.keys.disable(key.id)]) {
        await expect(again).rejects.toMatchObject({ code: 'not_found' })
      }
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
    it('are read and set, for one key or for all, and say whether they are enforced', async () => {
      await account.keys.create({ key: 'second', created_at: '2025-01-01T00:00:00Z' })
      const left = async () =>
        (await account.quotas.list()).filter(({ bucket }) => bucket === 'dmarc').map(({ remaining }) => remaining)
      const [first] = await account.keys.list()
      await account.quotas.set('dmarc', 0, first?.id)
      expect(await left()).toEqual([0, 10])
      expect((await ask('GET', '/dmarc')).status).toBe(429)
      expect(await account.quotas.set('dmarc', 3)).toContainEqual(
        expect.objectContaining({ bucket: 'dmarc', remaining: 3 }),
      )
      expect(await left()).toEqual([3, 3])
      expect(await account.quotas.areEnforced()).toBe(true)
      expect(await (await start({ enforceQuotas: false })).account.quotas.areEnforced()).toBe(false)
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
    it('are added and removed, one by one or as a list, and as a list that is refused', async () => {
      expect(await account.domains.add('Three.example', 'four.example')).toEqual(['three.example', 'four.example'])
      expect(await account.domains.add(['five.example'])).toEqual(['five.example'])
      expect(await account.domains.add('six.example')).toEqual(['six.example'])
      expect(await account.domains.remove(['two.example'])).toEqual(['two.example'])
      expect(await account.domains.remove('one.example', 'six.example')).toEqual(['one.example', 'six.example'])
      expect(await domains()).toEqual(['three.example', 'four.example', 'five.example'])
      const error = await account.domains.add('a.example', 'no host').catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'ControlError', code: 'refused', problems: [{ code: 'invalid_domain' }] })
      expect((error as Error).message).toMatch(/^The service refuses this with invalid_domain: .*`domains\[1\]`/)
      const none = { code: 'refused', problems: [{ code: 'missing_field' }] }
      await expect(account.domains.add()).rejects.toMatchObject(none)
      expect((await account.domains.list()).map(({ domain }) => domain)).toEqual(await domains())
    })

    it('have the features that are set, and the DMARC records that are pinned', async () => {
      expect(await account.domains.setFeatures('ONE.example', ['mta-sts'])).toMatchObject({ features: ['mta-sts'] })
      expect((await ask('DELETE', '/domains', { domains: ['one.example'] })).status).toBe(409)
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

  describe('its groups', () => {
    it('are created, changed, listed and deleted, as the service does it', async () => {
      const [{ id = '' } = {}] = await account.groups.list()
      const mail = await account.groups.create({ name: 'Mail', domains: ['ONE.example'] })
      expect(mail).toEqual({ id: expect.stringMatching(/^\w{8}$/), name: 'Mail', domains: ['one.example'] })
      const store = { id, name: 'Store', domains: ['one.example', 'two.example'] }
      expect(await account.groups.update(id, { name: 'Store', add_domains: ['two.example'] })).toEqual(store)
      expect((await ask('GET', '/domaingroups')).body.data.groups).toEqual([store, mail])
      await expect(account.groups.create({ name: 'MAIL' })).rejects.toMatchObject({
        code: 'refused',
        problems: [{ code: 'duplicate_name' }],
      })
      await account.groups.delete(mail.id)
      expect(await account.groups.list()).toEqual([store])
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
  })
})
