import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountWithKey, Fixture, Understudy } from '../../src/index.ts'
import type { Received } from '../support/request.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { IN_PROCESS, NOW, open, send, untilTheEnd, WAYS } from './stand-in.ts'

const FIXTURE: Fixture = {
  domains: ['one.example', 'two.example'],
  groups: [{ name: 'Shop', domains: ['one.example'] }],
}
const TODAY = '2026-01-15'
const LATER = '2026-02-01T00:00:00Z'
const AFTER_AN_HOUR = 'Thu, 15 Jan 2026 10:30:00 GMT'
const FROZEN = [{ frozen: false }, { frozen: true }]

interface Given {
  account: AccountWithKey
  understudy: Understudy
  /** Sends a request of the account's client. */
  ask(method: string, path: string, body?: unknown): Promise<Received>
  /** The id of a request that has added three.example. */
  request: string
  group: string
  key: string
}

type Row = readonly [verb: string, call: Call, resolves: unknown, then?: readonly [Call, unknown]]
type Call = (account: AccountWithKey, given: Given) => Promise<unknown>

const status: Call = async (_, { ask }) => (await ask('GET', '/domains')).status
const domains: Call = async (_, { ask }) => (await ask('GET', '/domains')).body.data.domains
const date: Call = async (_, { ask }) => (await ask('GET', '/domains')).headers['date']
const figures: Call = async (_, { ask }) => (await ask('GET', '/dmarc')).body.data[0]

/** Each verb of an account: a call, what it resolves to, and for a change what its client or the account then has. */
const VERBS: readonly Row[] = [
  ['read', (account) => account.read(), { plan: 'stone', created_at: NOW, now: NOW, domains: 3, groups: 1, keys: 1 }],
  ['setPlan', (account) => account.setPlan('below-stone'), { plan: 'below-stone' }, [status, 403]],
  ['reset', (account) => account.reset(), { domains: 2, now: NOW }],
  ['export', (account) => account.export(), { plan: 'stone', groups: [{ name: 'Shop' }] }],
  [
    'export of the past',
    async (account, { request }) => (await account.export({ before: request })).domains?.length,
    2,
  ],
  ['import of a fixture', (account) => account.import({ domains: ['x.example'] }), { domains: 1, groups: 0 }],
  ['rewind', (account, { request }) => account.rewind(request), {}, [domains, ['one.example', 'two.example']]],
  ['scenes', async (account) => [await account.import('demo'), (await account.scenes()).scenes.length > 0][1], true],
  ['delete', (account) => account.delete(), undefined, [status, 401]],
  ['explain', (account, { request }) => account.explain(request), { status: 200, operation: 'addDomains' }],
  ['coverage', (account) => account.coverage(), { summary: { operations: { seen: 1, total: 8 } } }],
  ['overview', async (account) => (await account.overview()).days.length, 90],
  [
    'listDailyRecords of some domains',
    (account) => account.listDailyRecords({ from: TODAY, to: TODAY, domain: ['two.example', 'one.example'] }),
    [{ date: TODAY, records: [{ domain: 'two.example' }, { domain: 'one.example' }] }],
  ],
  ['clock.now', (account) => account.clock.now(), NOW],
  ['clock.advance', (account) => account.clock.advance({ hours: 1 }), { frozen: true }, [date, AFTER_AN_HOUR]],
  ['clock.advanceTo', (account) => account.clock.advanceTo('refresh'), { now: '2026-01-16T00:00:00Z' }],
  ['clock.set', (account) => account.clock.set(LATER), { now: LATER }],
  ['clock.freeze', async (account) => [await account.clock.unfreeze(), await account.clock.freeze()], FROZEN],
  [
    'faults.add',
    (account) => account.faults.add({ match: { operation: 'listDomains' }, respond: { error: 'rate_limited' } }),
    { hits: 0, rule: { respond: { error: 'rate_limited' } } },
    [status, 429],
  ],
  ['faults.addSet', (account) => account.faults.addSet('slow'), [{ set: 'slow' }, { set: 'slow' }]],
  [
    'faults.list, remove and clear',
    async (account) => {
      const { id } = await account.faults.add({ delay_ms: 1 })
      await account.faults.addSet('slow')
      await account.faults.remove(id)
      const left = await account.faults.list()
      await account.faults.clear()
      return [left.length, await account.faults.list()]
    },
    [2, []],
  ],
  [
    'keys.create',
    (account) => account.keys.create({ label: 'CI', key: 'key-of-CI' }),
    { api_key: 'key-of-CI', key: { label: 'CI', disabled: false, created_at: NOW } },
    [async (account) => (await account.keys.list()).map(({ label }) => label), [null, 'CI']],
  ],
  ['keys.disable', (account, { key }) => account.keys.disable(key), { disabled: true }, [status, 401]],
  [
    'keys.enable',
    async (account, { key }) => account.keys.disable(key).then(() => account.keys.enable(key)),
    {},
    [status, 200],
  ],
  ['keys.delete', (account, { key }) => account.keys.delete(key), undefined, [status, 401]],
  ['quotas.set', async (account) => (await account.quotas.set('domains', 0)).length, 3, [status, 429]],
  ['quotas.list', async (account) => (await account.quotas.list()).length, 3],
  ['quotas.areEnforced', (account) => account.quotas.areEnforced(), true],
  ['requests.list', (account) => account.requests.list({ violation: false }), [{ operation: 'addDomains' }]],
  [
    'requests.verify',
    (account) => account.requests.verify({ operation: 'addDomains' }, { at_least: 2, at_most: 3 }),
    { passed: false, matched: 1 },
  ],
  ['requests.clear', (account) => account.requests.clear(), undefined, [(account) => account.requests.list(), []]],
  ['snapshots.take', (account) => account.snapshots.take('here'), { name: 'here', domains: 3, groups: 1 }],
  [
    'snapshots.list, take in the place of one, restore and delete',
    async (account) => {
      await account.snapshots.take('here')
      await account.domains.add('four.example')
      await expect(account.snapshots.take('here')).rejects.toMatchObject({ name: 'ControlError', code: 'taken' })
      await account.snapshots.take('here', { replace: true })
      await account.domains.remove('one.example', 'two.example')
      const [listed, { domains }] = [await account.snapshots.list(), await account.snapshots.restore('here')]
      await account.snapshots.delete('here')
      return [listed.map(({ name }) => name), domains, await account.snapshots.list()]
    },
    [['here'], 4, []],
  ],
  ['domains.add', (account) => account.domains.add('Four.example', 'b.example'), ['four.example', 'b.example']],
  [
    'domains.remove',
    (account) => account.domains.remove('two.example', 'three.example'),
    ['two.example', 'three.example'],
    [domains, ['one.example']],
  ],
  ['domains.list', async (account) => (await account.domains.list())[0], { domain: 'one.example', events: [] }],
  [
    'domains.setFeatures',
    (account) => account.domains.setFeatures('ONE.example', ['mta-sts']),
    { domain: 'one.example', features: ['mta-sts'] },
  ],
  [
    'domains.pin',
    (account) => account.domains.pin('one.example', { p: 'reject', count: 1200, dkim: 95.5 }),
    { record: { p: 'reject', sp: 'reject', count: 1200, dkim: 95.5 } },
    [figures, { p: 'reject', count: 1200, dkim: 95.5 }],
  ],
  [
    'domains.unpin',
    async (account, given) => {
      const before = await figures(account, given)
      await account.domains.pin('one.example', { profile: 'parked' })
      expect(await figures(account, given)).not.toEqual(before)
      await account.domains.unpin('one.example')
      expect(await figures(account, given)).toEqual(before)
    },
    undefined,
  ],
  ['groups.list', (account, { group }) => account.groups.list().then(([one]) => one?.id === group), true],
  ['groups.create', (account) => account.groups.create({ name: 'Mail' }), { name: 'Mail', domains: [] }],
  [
    'groups.update',
    (account, { group }) => account.groups.update(group, { name: 'Store', add_domains: ['two.example'] }),
    { name: 'Store', domains: ['one.example', 'two.example'] },
  ],
  [
    'groups.delete',
    (account, { group }) => account.groups.delete(group),
    undefined,
    [(account) => account.groups.list(), []],
  ],
]

function expectLike(found: unknown, expected: unknown): void {
  if (typeof expected === 'object' && expected !== null && !('asymmetricMatch' in expected))
    expect(found).toMatchObject(expected)
  else expect(found).toEqual(expected)
}

describe.each(WAYS)('An account, used $way,', (way) => {
  let understudy: Understudy
  beforeAll(async () => {
    understudy = await way.open()
  })
  afterAll(() => understudy.stop())

  async function given(): Promise<Given> {
    const account = await understudy.createAccount({ fixture: FIXTURE })
    expect(account).toMatchObject({
      baseUrl: understudy.baseUrl,
      headers: { authorization: `Bearer ${account.apiKey}` },
    })
    const ask: Given['ask'] = (method, path, body) => send(understudy, account, method, path, body)
    const { headers } = await ask('POST', '/domains', { domains: ['three.example'] })
    const [{ id: group = '' } = {}] = await account.groups.list()
    const [{ id: key = '' } = {}] = await account.keys.list()
    return { account, understudy, ask, request: headers['x-request-id'] ?? '', group, key }
  }

  // Both ways share what an account does; over HTTP, the places of parameters matter as well.
  if (way.way !== IN_PROCESS)
    it.for(VERBS)('does %s', async ([, call, resolves, then]) => {
      const all = await given()
      expectLike(await call(all.account, all), resolves)
      if (then !== undefined) expectLike(await then[0](all.account, all), then[1])
    })

  it('is one of several that are listed and found, with a key where that can be known', async () => {
    const ids = ['sandbox_mine', 'sandbox_other']
    await understudy.createAccount({ id: 'sandbox_mine' })
    await understudy.createAccount({ id: 'sandbox_other', apiKey: 'chosen' })
    expect((await understudy.listAccounts()).map(({ id }) => id)).toEqual(expect.arrayContaining(ids))
    expect((await understudy.findAccount('sandbox_mine')).apiKey).toBe('sandbox_mine')
    expect((await understudy.findAccount('default')).apiKey).toBe(understudy.apiKey)
    const keyless = await understudy.findAccount('sandbox_other')
    expect(() => keyless.headers).toThrow(
      'The key of the account sandbox_other is not known here; create another one with keys.create().',
    )
  })

  it('reads a fixture file when it is made, reset and imported', async () => {
    const path = join(temporaryFolder(), 'mine.json')
    writeFileSync(path, '{"domains": ["mine.example"]}')
    const account = await understudy.createAccount({ fixture: path })
    expect(await account.read()).toMatchObject({ domains: 1 })
    for (const back of [account.reset, account.import]) {
      await account.import('empty')
      const fixture = back === account.reset ? { fixture: path } : path
      expect(await Reflect.apply(back, account, [fixture])).toMatchObject({ domains: 1 })
    }
  })

  it('gets and gives copies: what is changed afterwards on this side changes nothing on the other', async () => {
    const { account } = await given()
    const rule = { respond: { status: 503 } }
    const added = await account.faults.add(rule)
    rule.respond.status = 504
    Object.assign(added.rule, { respond: { status: 505 } })
    Object.assign((await account.faults.list())[0]?.rule ?? {}, { respond: { status: 506 } })
    expect(await account.faults.list()).toMatchObject([{ rule: { respond: { status: 503 } } }])
  })

  it('refuses what the service refuses, with the code and the place', async () => {
    const { account } = await given()
    await expect(account.domains.add('a.example', 'no host')).rejects.toMatchObject({
      ...{ name: 'ControlError', code: 'refused', problems: [{ code: 'invalid_domain' }] },
      message: expect.stringMatching(/^The service refuses this with invalid_domain: .*`domains\[1\]`/),
    })
    await expect(account.groups.create({ name: 'SHOP' })).rejects.toMatchObject({
      problems: [{ code: 'duplicate_name' }],
    })
  })

  it('is deleted at the end of a block, gone already or not', async () => {
    const { account } = await given()
    await account[Symbol.asyncDispose]()
    await expect(account.read()).rejects.toMatchObject({ code: 'not_found' })
    await account[Symbol.asyncDispose]()
    const own = untilTheEnd(await open())
    await expect(own.account[Symbol.asyncDispose]()).rejects.toMatchObject({ code: 'protected' })
    const other = await own.createAccount()
    await own.stop()
    await other[Symbol.asyncDispose]()
  })
})

describe('A length of time', () => {
  it.each<[span: unknown, now: string]>([
    [{ weeks: 1, days: 1, hours: 1, minutes: 1, seconds: 1 }, '2026-01-23T10:31:01Z'],
    [{ hours: 0.5 }, '2026-01-15T10:00:00Z'],
    ['P1DT30M', '2026-01-16T10:00:00Z'],
  ])('%j moves a clock to %s', async (span, now) => {
    const { account } = untilTheEnd(await open())
    expect(await account.clock.advance(span as string)).toEqual({ now, frozen: true })
  })

  it('that is none leaves the clock where it is', async () => {
    const { account } = untilTheEnd(await open())
    for (const span of [
      ...[undefined, null, 60, '', '1h', 'P1M', {}, [], { hour: 1 }, { hours: '1' }, { hours: -1 }],
      ...[{ hours: Number.NaN }, { seconds: 0.5 }, { weeks: 1e300 }],
    ]) {
      await expect(account.clock.advance(span as string), JSON.stringify(span)).rejects.toMatchObject({
        ...{ name: 'ControlError', code: 'invalid_value' },
        problems: [{ code: 'invalid_value', field: expect.stringMatching(/^\/advance/), message: expect.any(String) }],
      })
    }
    expect(await account.clock.now()).toBe(NOW)
  })
})
