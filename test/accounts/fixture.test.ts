import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AccountParameters, createAccount } from '../../src/accounts/creation.ts'
import { FIXTURE_NAMES, FixtureError, loadFixture } from '../../src/accounts/fixture.ts'
import type { ClockSetting } from '../../src/domain/clock.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import { API_KEY, START } from '../support/service.ts'
import { accountOf, birth, fileWith, rules } from './fixture-files.ts'

const DAY = 86_400_000

describe('a fixture', () => {
  it.each([
    [undefined, 'fixture'],
    ['shop.ts', 'shop.ts'],
  ])('given as an object under the name %s is spoken of as %s', async (given, name) => {
    const fixture = await loadFixture({ domains: ['no host'] }, given)
    const error = new FixtureError(name, '/domains/0', '"no host" is not a valid hostname.')
    expect(() => createAccount(fixture, birth, rules)).toThrow(error)
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

  it.each<[fixture: Fixture, given: Partial<AccountParameters>, createdAt: string, clock: ClockSetting]>([
    [{}, {}, '2026-01-15T09:30:00Z', { offset: 0 }],
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
  ])('%j, with %j, makes an account at %s with the clock %j', async (fixture, given, createdAt, clock) => {
    const account = await accountOf(fixture, given)
    expect(account.createdAt).toBe(Date.parse(createdAt))
    expect(account.clock).toEqual(clock)
  })

  it.each<[field: 'seed' | 'plan', fixture: unknown, given: unknown, expected: unknown]>([
    ['seed', undefined, undefined, 42],
    ['seed', 7, undefined, 7],
    ['seed', 7, 0, 0],
    ['plan', undefined, undefined, 'stone'],
    ['plan', 'below-stone', 'above-stone', 'above-stone'],
  ])('with the %s %s, where %s is asked for, makes an account with %s', async (field, ofFixture, given, expected) => {
    const fixture = ofFixture === undefined ? {} : { [field]: ofFixture }
    expect((await accountOf(fixture, { seed: undefined, [field]: given }))[field]).toBe(expected)
  })

  it('may say in its file what it is, and where its schema lies', async () => {
    const text = { $schema: './fixture.schema.json', title: 'Shop', description: 'A shop.', domains: ['a.example'] }
    const path = fileWith(JSON.stringify(text))
    expect(await loadFixture(path)).toEqual({ ...text, file: path })
    expect([...(await accountOf(path)).domains.keys()]).toEqual(['a.example'])
  })

  it('may have what exports of earlier versions say about the past, which makes no difference', async () => {
    const domain = { name: 'a.example', added_at: '2026-01-01T00:00:00Z' }
    const records = [{ from: '2025-01-01T00:00:00Z', record: { p: 'none' } }]
    const former = { former_domains: [domain], domains: [{ ...domain, former_records: records }] }
    const [{ domains }, expected] = [await accountOf(former as Fixture), await accountOf({ domains: [domain] })]
    expect(domains.toArray()).toEqual(expected.domains.toArray())
  })

  it('can be written as in the documentation', async () => {
    const [, example = ''] = /```jsonc\n([\s\S]*?)```/.exec(readFileSync('docs/demo.md', 'utf8')) ?? []
    const fixture = JSON.parse(example)
    expect(fixture.scenes).toHaveLength(3)
    await expect(accountOf(fixture)).resolves.toMatchObject({ id: 'default' })
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

it.each(FIXTURE_NAMES)('the fixture %s names no domain of anybody (RFC 2606, RFC 6761)', async (name) => {
  const domains = [...(await accountOf(name)).domains.keys()]
  expect(domains.filter((each) => !/\.(example|test|invalid)$|(^|\.)example\.(com|net|org)$/.test(each))).toEqual([])
})
