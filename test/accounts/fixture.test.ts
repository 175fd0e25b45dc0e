import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type AccountParameters, createAccount } from '../../src/accounts/creation.ts'
import { FIXTURE_NAMES, FixtureError, loadFixture } from '../../src/accounts/fixture.ts'
import type { ClockSetting } from '../../src/domain/clock.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import { API_KEY, START, startService } from '../support/service.ts'
import { accountOf, birth, fileWith, rules } from './fixture-files.ts'

const DAY = 86_400_000

describe('a fixture', () => {
  it('given as an object is spoken of as fixture', async () => {
    await expect(accountOf({ domains: ['no host'] })).rejects.toThrow(
      new FixtureError('fixture', '/domains/0', '"no host" is not a valid hostname.'),
    )
  })

  it('given as an object may say under which name errors speak of it', async () => {
    const fixture = await loadFixture({ domains: ['no host'] }, 'shop.ts')
    expect(() => createAccount(fixture, birth, rules)).toThrow(
      new FixtureError('shop.ts', '/domains/0', '"no host" is not a valid hostname.'),
    )
  })

  it('that is empty makes an account with its key and nothing else', async () => {
    const { domains, groups, keys, plan, createdAt } = await accountOf({})
    expect([domains.size, groups.size, plan, createdAt]).toEqual([0, 0, 'stone', START])
    expect(keys).toEqual([{ id: 'key_TestKey1', hash: hashKey(API_KEY), createdAt: START - 30 * DAY, disabled: false }])
  })

  it('keeps domains in canonical form and in their order, 400 days old unless it says otherwise', async () => {
    const { domains } = await accountOf({
      domains: ['B.example.', { name: 'münchen.example', features: ['mta-sts'], added_at: '2026-01-01T01:00+01:00' }],
    })
    expect([...domains.values()]).toEqual([
      { name: 'b.example', addedAt: START - 400 * DAY, features: [] },
      { name: 'xn--mnchen-3ya.example', addedAt: Date.parse('2026-01-01T00:00:00Z'), features: ['mta-sts'] },
    ])
  })

  it('keeps profile, beginning, volume and record of a domain', async () => {
    const { domains } = await accountOf({
      domains: [
        { name: 'a.example', profile: 'spoofed', since: 'P21D', volume: 0, record: { p: 'reject', dmarc: 99.9 } },
        { name: 'b.example', since: '2026-01-01T23:59:59Z', record: { count: 0, dmarc: 0 } },
      ],
    })
    const addedAt = START - 400 * DAY
    const today = Math.floor(START / DAY)
    expect([...domains.values()]).toEqual([
      {
        name: 'a.example',
        addedAt,
        features: [],
        profile: 'spoofed',
        since: today - 21,
        volume: 0,
        pin: { p: 'reject', dmarc: 99.9 },
      },
      { name: 'b.example', addedAt, features: [], since: today - 14, pin: { count: 0, dmarc: 0 } },
    ])
  })

  it.each([
    [{ dmarc: 0.3, dkim: 0.1, spf: 0.2 }],
    [{ dmarc: 10.3, dkim: 10.1, spf: 0.2 }],
    [{ dmarc: 12.4, dkim: 10.1, spf: 2.3 }],
    [{ dmarc: 100, dkim: 100, spf: 100 }],
    [{ dmarc: 100, spf: 0 }],
    [{ count: 0, dmarc: 0, dkim: 0, spf: 0 }],
  ])('takes the record %j, which is lawful to the last tenth', async (record) => {
    const { domains } = await accountOf({ domains: [{ name: 'a.example', record }] })
    expect(domains.get('a.example')?.pin).toEqual(record)
  })

  it.each<[duration: string, milliseconds: number]>([
    ['P7D', 7 * DAY],
    ['P2W', 14 * DAY],
    ['P1DT12H', 1.5 * DAY],
    ['PT90M', 5_400_000],
    ['PT1H1M1S', 3_661_000],
    ['P0D', 0],
  ])('counts the duration %s back from its creation', async (duration, milliseconds) => {
    const { domains, keys } = await accountOf({
      clock: { now: '2026-03-01T00:00:00Z' },
      keys: [{ created_at: duration }],
      domains: [{ name: 'a.example', added_at: duration }],
    })
    const moment = Date.parse('2026-03-01T00:00:00Z') - milliseconds
    expect([domains.get('a.example')?.addedAt, keys[1]?.createdAt]).toEqual([moment, moment])
  })

  it.each<[fixture: Fixture, given: Partial<AccountParameters>, createdAt: string, clock: ClockSetting]>([
    [{}, {}, '2026-01-15T09:30:00Z', { offset: 0 }],
    [{}, { frozen: true }, '2026-01-15T09:30:00Z', { frozenAt: START }],
    [{ clock: { now: '2026-01-15T10:30:00Z' } }, {}, '2026-01-15T10:30:00Z', { offset: 3_600_000 }],
    [{ clock: { now: '2026-01-15T09:30:00+01:00' } }, {}, '2026-01-15T08:30:00Z', { offset: -3_600_000 }],
    [
      { clock: { now: '2026-01-15T09:30:00Z', frozen: true } },
      { now: '2026-01-15T09:30:01Z' },
      '2026-01-15T09:30:01Z',
      { frozenAt: START + 1000 },
    ],
    [
      { clock: { now: '2026-01-15T09:30:02Z', frozen: true } },
      { frozen: false },
      '2026-01-15T09:30:02Z',
      { offset: 2000 },
    ],
  ])(
    '%j, where %j is asked for, makes an account at %s with the clock %j',
    async (fixture, given, createdAt, clock) => {
      const account = await accountOf(fixture, given)
      expect(account.createdAt).toBe(Date.parse(createdAt))
      expect(account.clock).toEqual(clock)
    },
  )

  it.each<[fixture: number | undefined, given: number | undefined, seed: number]>([
    [undefined, undefined, 42],
    [7, undefined, 7],
    [undefined, 8, 8],
    [7, 8, 8],
    [7, 0, 0],
  ])(
    'with seed %s, where the seed %s is asked for, makes an account of the seed %s',
    async (ofFixture, given, seed) => {
      const fixture = ofFixture === undefined ? {} : { seed: ofFixture }
      expect((await accountOf(fixture, { seed: given })).seed).toBe(seed)
    },
  )

  it('may say in its file what it is, and where its schema lies', async () => {
    const text = { $schema: './fixture.schema.json', title: 'Shop', description: 'A shop.', domains: ['a.example'] }
    const path = fileWith(JSON.stringify(text))
    expect(await loadFixture(path)).toEqual({ ...text, file: path })
    expect([...(await accountOf(path)).domains.keys()]).toEqual(['a.example'])
  })

  it('keeps groups with canonical members, each once', async () => {
    const { groups, groupsCreated } = await accountOf({
      domains: ['a.example', 'b.example'],
      groups: [{ name: 'Shop', domains: ['B.example', 'a.example.', 'b.example'] }, { name: 'Parked' }],
    })
    expect([...groups.values()]).toEqual([
      { id: expect.stringMatching(/^[0-9A-Za-z]{8}$/), name: 'Shop', domains: ['b.example', 'a.example'] },
      { id: expect.stringMatching(/^[0-9A-Za-z]{8}$/), name: 'Parked', domains: [] },
    ])
    expect(groupsCreated).toBe(2)
  })

  it('keeps keys by their hash alone, 30 days old unless it says otherwise', async () => {
    const secret = 'key_Dashboard.secret'
    const { keys } = await accountOf({
      keys: [{ label: 'Dashboard', key: secret, created_at: '2026-01-14T00:00:00Z' }, { disabled: true }],
    })
    expect(keys.slice(1)).toEqual([
      {
        id: `key_${hashKey(secret).slice(0, 8)}`,
        hash: hashKey(secret),
        label: 'Dashboard',
        createdAt: Date.parse('2026-01-14T00:00:00Z'),
        disabled: false,
      },
      {
        id: expect.stringMatching(/^key_[0-9a-f]{8}$/),
        hash: expect.any(String),
        createdAt: START - 30 * DAY,
        disabled: true,
      },
    ])
    expect(JSON.stringify(keys)).not.toContain('secret')
  })

  it('does not add the key of the account a second time', async () => {
    const { keys } = await accountOf({ keys: [{ key: API_KEY, disabled: true }] })
    expect(keys).toEqual([expect.objectContaining({ hash: hashKey(API_KEY), disabled: false })])
  })

  it.each<[fixture: string | undefined, given: string | undefined, plan: string]>([
    [undefined, undefined, 'stone'],
    ['below-stone', undefined, 'below-stone'],
    [undefined, 'above-stone', 'above-stone'],
    ['below-stone', 'above-stone', 'above-stone'],
  ])('with plan %s, where the plan %s is asked for, makes an account on %s', async (ofFixture, given, plan) => {
    const fixture = ofFixture === undefined ? {} : { plan: ofFixture }
    expect((await accountOf(fixture, given === undefined ? {} : { plan: given })).plan).toBe(plan)
  })

  it('makes the same account of the same seed, and other group ids of another', async () => {
    const content = async (seed: number) => {
      const { domains, groups, keys } = await accountOf('demo', { seed })
      return { domains: [...domains.values()], groups: [...groups.values()], keys }
    }
    expect(await content(7)).toEqual(await content(7))
    const [one, other] = [await content(7), await content(8)]
    expect(one.groups.map(({ id }) => id)).not.toEqual(other.groups.map(({ id }) => id))
    expect(one.domains).toEqual(other.domains)
  })
})

describe('the ready-made fixtures', () => {
  it('are the files of the folder', () => {
    const names = readdirSync(fileURLToPath(new URL('../../fixtures/', import.meta.url)))
    expect(names.filter((name) => name !== 'fixture.schema.json').toSorted()).toEqual(
      FIXTURE_NAMES.map((name) => `${name}.json`).toSorted(),
    )
  })

  it.each(FIXTURE_NAMES)('hold what the service accepts: %s', async (name) => {
    const { domains, groups } = await accountOf(name, { seed: undefined })
    const service = await startService({ fixture: name })
    expect((await service.get('/domains')).body.data.domains).toEqual([...domains.keys()])
    expect((await service.get('/domaingroups')).body.data).toEqual({
      groups: [...groups.values()],
      count: groups.size,
    })
    expect((await service.get('/dmarc')).body.data).toHaveLength(domains.size)
  })

  it('name no domain that could belong to anybody (RFC 2606, RFC 6761)', async () => {
    for (const name of FIXTURE_NAMES) {
      for (const domain of (await accountOf(name)).domains.keys()) {
        expect(domain).toMatch(/\.(example|test|invalid)$|(^|\.)example\.(com|net|org)$/)
      }
    }
  })
})
