import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import type { AccountState } from '../../src/domain/account.ts'
import {
  type AccountBirth,
  createAccount,
  FIXTURE_NAMES,
  type Fixture,
  FixtureError,
  loadFixture,
} from '../../src/seeding/fixture.ts'
import { hashKey } from '../../src/seeding/secrets.ts'
import { API_KEY, START, startService } from '../service.ts'
import { temporaryFolder } from '../store/temporary-folder.ts'

const DAY = 86_400_000
const rules = await loadContract()
const birth: AccountBirth = { id: 'default', seed: 42, now: START, clock: { offset: 0 }, apiKey: API_KEY }

async function accountOf(fixture: string | Fixture, more: Partial<AccountBirth> = {}): Promise<AccountState> {
  return createAccount(await loadFixture(fixture), { ...birth, ...more }, rules)
}

function fileWith(text: string): string {
  const path = join(temporaryFolder(), 'shop.json')
  writeFileSync(path, text)
  return path
}

async function refusalOf(path: string): Promise<string> {
  const error = await accountOf(path).then(
    () => 'The fixture was taken.',
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(FixtureError)
  return (error as FixtureError).message
}

describe('a fixture file is refused', () => {
  it.each<[what: string, fixture: unknown, place: string, reason: string]>([
    ['that is a list', [], '', 'The value must be object.'],
    ['that is null', null, '', 'The value must be object.'],
    ['with an unknown field', { colour: 'blue' }, '', 'The value has no field colour.'],
    ['whose plan is a number', { plan: 7 }, '#/plan', 'The value must be string.'],
    ['whose plan is empty', { plan: '' }, '#/plan', 'The value must NOT have fewer than 1 characters.'],
    ['whose keys are an object', { keys: {} }, '#/keys', 'The value must be array.'],
    ['with a key that is text', { keys: ['key_1'] }, '#/keys/0', 'The value must be object.'],
    [
      'with an empty key',
      { keys: [{}, { key: '' }] },
      '#/keys/1/key',
      'The value must NOT have fewer than 1 characters.',
    ],
    ['with an unknown field of a key', { keys: [{ secret: 'x' }] }, '#/keys/0', 'The value has no field secret.'],
    [
      'with a key that is disabled by text',
      { keys: [{ disabled: 'yes' }] },
      '#/keys/0/disabled',
      'The value must be boolean.',
    ],
    [
      'with a key of no instant',
      { keys: [{ created_at: 'yesterday' }] },
      '#/keys/0/created_at',
      'The value must match format "date-time".',
    ],
    [
      'with a key of a day without a time',
      { keys: [{ created_at: '2026-01-15' }] },
      '#/keys/0/created_at',
      'The value must match format "date-time".',
    ],
    [
      'with a key of an instant without a zone',
      { keys: [{ created_at: '2026-01-15T09:00:00' }] },
      '#/keys/0/created_at',
      'The value must match format "date-time".',
    ],
    [
      'with a key of a day that no month has',
      { keys: [{ created_at: '2026-02-30T09:00:00Z' }] },
      '#/keys/0/created_at',
      'The value must match format "date-time".',
    ],
    [
      'with a key of an hour that no day has',
      { keys: [{ created_at: '2026-01-15T25:00:00Z' }] },
      '#/keys/0/created_at',
      'The value must match format "date-time".',
    ],
    ['whose domains are text', { domains: 'a.example' }, '#/domains', 'The value must be array.'],
    [
      'with a domain without a name',
      { domains: [{ features: ['mta-sts'] }] },
      '#/domains/0',
      "The value must have required property 'name'.",
    ],
    [
      'with an unknown field of a domain',
      { domains: [{ name: 'a.example', featurs: [] }] },
      '#/domains/0',
      'The value has no field featurs.',
    ],
    [
      'with a feature that stands twice',
      { domains: [{ name: 'a.example', features: ['x', 'x'] }] },
      '#/domains/0/features',
      'The value must NOT have duplicate items (items ## 1 and 0 are identical).',
    ],
    [
      'with a domain of no instant',
      { domains: [{ name: 'a.example', added_at: 'soon' }] },
      '#/domains/0/added_at',
      'The value must match format "date-time".',
    ],
    [
      'with a group without a name',
      { groups: [{ domains: [] }] },
      '#/groups/0',
      "The value must have required property 'name'.",
    ],
    [
      'with a group with an empty name',
      { groups: [{ name: '' }] },
      '#/groups/0/name',
      'The value must NOT have fewer than 1 characters.',
    ],
    [
      'with a group with a name of white space',
      { groups: [{ name: ' ' }] },
      '#/groups/0/name',
      'The value must match pattern "\\S".',
    ],
    [
      'with a group with a name of 101 characters',
      { groups: [{ name: 'x'.repeat(101) }] },
      '#/groups/0/name',
      'The value must NOT have more than 100 characters.',
    ],
    ['with a group with an id', { groups: [{ id: 'g1', name: 'X' }] }, '#/groups/0', 'The value has no field id.'],
    [
      'with a member that is an object',
      { groups: [{ name: 'X', domains: [{}] }] },
      '#/groups/0/domains/0',
      'The value must be string.',
    ],
    [
      'with a plan that there is not',
      { plan: 'gold' },
      '#/plan',
      'There is no plan gold; there are below-stone, stone, above-stone.',
    ],
    [
      'with a domain that is no hostname',
      { domains: ['a.example', 'no host'] },
      '#/domains/1',
      '"no host" is not a valid hostname.',
    ],
    [
      'with a named domain that is no hostname',
      { domains: [{ name: '192.0.2.1' }] },
      '#/domains/0/name',
      '"192.0.2.1" is not a valid hostname.',
    ],
    [
      'with a domain that stands twice',
      { domains: ['a.example', 'b.example', 'A.example.'] },
      '#/domains/2',
      'a.example is named more than once.',
    ],
    [
      'with a named domain that stands twice',
      { domains: ['a.example', { name: 'a.example' }] },
      '#/domains/1/name',
      'a.example is named more than once.',
    ],
    [
      'with a member that is no hostname',
      { groups: [{ name: 'X', domains: ['no host'] }] },
      '#/groups/0/domains/0',
      '"no host" is not a valid hostname.',
    ],
    [
      'with a member that is not among its domains',
      { domains: ['a.example'], groups: [{ name: 'X' }, { name: 'Y', domains: ['a.example', 'b.example'] }] },
      '#/groups/1/domains/1',
      '"b.example" is not among the domains of this fixture.',
    ],
    [
      'with two groups of one name',
      { groups: [{ name: 'Shop' }, { name: 'SHOP' }] },
      '#/groups/1/name',
      '"SHOP" is the name of another group.',
    ],
  ])('%s', async (_, fixture, place, reason) => {
    const path = fileWith(JSON.stringify(fixture))
    expect(await refusalOf(path)).toBe(`${path}${place}: ${reason}`)
  })

  // The words after the colon are the JavaScript engine's, and differ between its versions.
  it.each([
    ['that is empty', ''],
    ['that is cut off', '{ "domains": ["a.example"'],
    ['with a comma too many', '{ "domains": [], }'],
    ['that is YAML', 'domains: [a.example]'],
    ['that is broken after several lines', '[1,\n2,\n}'],
    ['with a byte order mark', '\ufeff{}'],
  ])('%s, in one line', async (_, text) => {
    const path = fileWith(text)
    const message = await refusalOf(path)
    expect(message.slice(0, path.length)).toBe(path)
    expect(message.slice(path.length)).toMatch(/^: This is not valid JSON: [^\n]*[^.]\.$/)
  })

  it('that is not there', async () => {
    const path = join(temporaryFolder(), 'nowhere.json')
    expect(await refusalOf(path)).toBe(
      `${path}: The fixture cannot be read (ENOENT); give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file.`,
    )
  })

  it('that is a folder', async () => {
    const path = temporaryFolder()
    expect(await refusalOf(path)).toBe(
      `${path}: The fixture cannot be read (EISDIR); give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file.`,
    )
  })

  it('whose group names a member twice, where that is refused', async () => {
    const change = { target: "$['x-settings']['repeated-members']", update: { value: 'refused' } }
    const overlay = asOverlay({ overlay: '1.0.0', actions: [change] }, 'change.yaml')
    const fixture = { domains: ['a.example'], groups: [{ name: 'X', domains: ['a.example', 'A.example'] }] }
    const strict = await loadContract({ overlays: [overlay] })
    const loaded = await loadFixture(fixture)
    expect(() => createAccount(loaded, birth, strict)).toThrow(
      /^fixture#\/groups\/0\/domains\/1: "?a\.example"? is named more than once\.$/,
    )
  })
})

describe('a fixture', () => {
  it('given as an object is spoken of as fixture', async () => {
    await expect(accountOf({ domains: ['no host'] })).rejects.toThrow(
      new FixtureError('fixture', '/domains/0', '"no host" is not a valid hostname.'),
    )
  })

  it('given as an object may say under which name errors speak of it', async () => {
    await expect(accountOf({ file: 'shop.ts', domains: ['no host'] })).rejects.toThrow(
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
    const { domains, groups } = await accountOf(name)
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
