import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type AccountParameters, createAccount } from '../../src/accounts/creation.ts'
import { FIXTURE_NAMES, FixtureError, loadFixture } from '../../src/accounts/fixture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import type { AccountState } from '../../src/domain/account.ts'
import type { ClockSetting } from '../../src/domain/clock.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { hashKey } from '../../src/ground/secrets.ts'
import { API_KEY, START, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const DAY = 86_400_000
const rules = await loadContract()
const birth: AccountParameters = { id: 'default', seed: 42, real: START, apiKey: API_KEY }
const MOMENT = "an instant such as 2026-01-15T09:00:00Z, or a duration before the account's creation such as P21D"
const FIELDS = '$schema, title, description, plan, seed, clock, keys, domains, groups, groups_created'
const FIELDS_OF_A_DOMAIN = 'name, features, added_at, profile, since, volume, record'

async function accountOf(fixture: string | Fixture, more: Partial<AccountParameters> = {}): Promise<AccountState> {
  return createAccount(await loadFixture(fixture), { ...birth, ...more }, rules)
}

function fileWith(text: string): string {
  const path = join(temporaryFolder(), 'shop.json')
  writeFileSync(path, text)
  return path
}

/** A fixture of one domain whose record is fixed so. */
function recordOf(record: object): unknown {
  return { domains: [{ name: 'a.example', record }] }
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
    ['that is a list', [], '', 'The value is [] but must be of type object.'],
    ['that is null', null, '', 'The value is null but must be of type object.'],
    ['that is text', 'demo', '', 'The value is "demo" but must be of type object.'],
    [
      'with an unknown field',
      { colour: 'blue' },
      '#/colour',
      `The value is not allowed here; allowed fields are ${FIELDS}.`,
    ],
    [
      'with an unknown field whose name has a slash and a tilde',
      { 'a/b~c': 1 },
      '#/a~1b~0c',
      `The value is not allowed here; allowed fields are ${FIELDS}.`,
    ],
    ['whose plan is a number', { plan: 7 }, '#/plan', 'The value is 7 but must be of type string.'],
    ['whose plan is empty', { plan: '' }, '#/plan', 'The value is "" but must have at least 1 character.'],
    ['whose seed is text', { seed: '42' }, '#/seed', 'The value is "42" but must be of type integer.'],
    ['whose seed is a fraction', { seed: 4.2 }, '#/seed', 'The value is 4.2 but must be of type integer.'],
    ['whose seed is below 0', { seed: -1 }, '#/seed', 'The value is -1 but must be at least 0.'],
    [
      'whose seed is beyond what a number holds exactly',
      { seed: 2 ** 53 },
      '#/seed',
      'The value is 9007199254740992 but must be at most 9007199254740991.',
    ],
    [
      'whose clock is an instant alone',
      { clock: '2026-01-15T09:00:00Z' },
      '#/clock',
      'The value is "2026-01-15T09:00:00Z" but must be of type object.',
    ],
    ['whose clock shows nothing', { clock: { frozen: true } }, '#/clock/now', 'The value is missing.'],
    [
      'whose clock shows a day that no month has',
      { clock: { now: '2026-02-30T09:00:00Z' } },
      '#/clock/now',
      'The value is "2026-02-30T09:00:00Z" but must be an RFC 3339 instant such as 2026-01-15T09:00:00Z.',
    ],
    [
      'whose clock shows a duration',
      { clock: { now: 'P21D' } },
      '#/clock/now',
      'The value is "P21D" but must be an RFC 3339 instant such as 2026-01-15T09:00:00Z.',
    ],
    [
      'whose clock is frozen by text',
      { clock: { now: '2026-01-15T09:00:00Z', frozen: 'yes' } },
      '#/clock/frozen',
      'The value is "yes" but must be of type boolean.',
    ],
    [
      'with an unknown field of the clock',
      { clock: { now: '2026-01-15T09:00:00Z', offset: 5 } },
      '#/clock/offset',
      'The value is not allowed here; allowed fields are now, frozen.',
    ],
    ['whose keys are an object', { keys: {} }, '#/keys', 'The value is {} but must be of type array.'],
    ['with a key that is text', { keys: ['key_1'] }, '#/keys/0', 'The value is "key_1" but must be of type object.'],
    [
      'with an empty key',
      { keys: [{}, { key: '' }] },
      '#/keys/1/key',
      'The value is "" but must be a secret of visible ASCII characters.',
    ],
    [
      'with an unknown field of a key',
      { keys: [{ secret: 'x' }] },
      '#/keys/0/secret',
      'The value is not allowed here; allowed fields are label, key, id, hash, disabled, created_at.',
    ],
    [
      'with a key that is disabled by text',
      { keys: [{ disabled: 'yes' }] },
      '#/keys/0/disabled',
      'The value is "yes" but must be of type boolean.',
    ],
    [
      'with a key of no moment',
      { keys: [{ created_at: 'yesterday' }] },
      '#/keys/0/created_at',
      `The value is "yesterday" but must be ${MOMENT}.`,
    ],
    [
      'with a key of a day without a time',
      { keys: [{ created_at: '2026-01-15' }] },
      '#/keys/0/created_at',
      `The value is "2026-01-15" but must be ${MOMENT}.`,
    ],
    [
      'with a key of an instant without a zone',
      { keys: [{ created_at: '2026-01-15T09:00:00' }] },
      '#/keys/0/created_at',
      `The value is "2026-01-15T09:00:00" but must be ${MOMENT}.`,
    ],
    [
      'with a key of a day that no month has',
      { keys: [{ created_at: '2026-02-30T09:00:00Z' }] },
      '#/keys/0/created_at',
      `The value is "2026-02-30T09:00:00Z" but must be ${MOMENT}.`,
    ],
    [
      'with a key of an hour that no day has',
      { keys: [{ created_at: '2026-01-15T25:00:00Z' }] },
      '#/keys/0/created_at',
      `The value is "2026-01-15T25:00:00Z" but must be ${MOMENT}.`,
    ],
    [
      'with a key of a moment that is a number',
      { keys: [{ created_at: 1768471200 }] },
      '#/keys/0/created_at',
      'The value is 1768471200 but must be of type string.',
    ],
    [
      'with two keys of one secret',
      { keys: [{ key: 'key_of_both' }, {}, { label: 'Again', key: 'key_of_both' }] },
      '#/keys/2/key',
      'The key is the same as one before it.',
    ],
    [
      'whose domains are text',
      { domains: 'a.example' },
      '#/domains',
      'The value is "a.example" but must be of type array.',
    ],
    [
      'with a domain that is a number',
      { domains: ['a.example', 7] },
      '#/domains/1',
      'The value is 7 but must be of type string or object.',
    ],
    [
      'with a domain without a name',
      { domains: [{ features: ['mta-sts'] }] },
      '#/domains/0/name',
      'The value is missing.',
    ],
    [
      'with an unknown field of a domain',
      { domains: [{ name: 'a.example', featurs: [] }] },
      '#/domains/0/featurs',
      `The value is not allowed here; allowed fields are ${FIELDS_OF_A_DOMAIN}.`,
    ],
    [
      'with a feature that stands twice',
      { domains: [{ name: 'a.example', features: ['x', 'x'] }] },
      '#/domains/0/features',
      'The value is ["x","x"] but must not have the same item twice, as at 0 and 1.',
    ],
    [
      'with a domain of no moment',
      { domains: [{ name: 'a.example', added_at: 'soon' }] },
      '#/domains/0/added_at',
      `The value is "soon" but must be ${MOMENT}.`,
    ],
    [
      'with a domain since a duration of months, which have no length',
      { domains: [{ name: 'a.example', since: 'P2M' }] },
      '#/domains/0/since',
      `The value is "P2M" but must be ${MOMENT}.`,
    ],
    [
      'with a domain since a duration of nothing',
      { domains: [{ name: 'a.example', since: 'P' }] },
      '#/domains/0/since',
      `The value is "P" but must be ${MOMENT}.`,
    ],
    [
      'with a domain since a duration of weeks and days',
      { domains: [{ name: 'a.example', since: 'P1W2D' }] },
      '#/domains/0/since',
      `The value is "P1W2D" but must be ${MOMENT}.`,
    ],
    [
      'with a profile that there is not',
      { domains: ['a.example', { name: 'b.example', profile: 'spoof' }] },
      '#/domains/1/profile',
      `The value is "spoof" but must be one of ${PROFILE_NAMES.map((name) => `"${name}"`).join(', ')}.`,
    ],
    [
      'with a volume below 0',
      { domains: [{ name: 'a.example', volume: -5 }] },
      '#/domains/0/volume',
      'The value is -5 but must be at least 0.',
    ],
    [
      'with a volume beyond a billion',
      { domains: [{ name: 'a.example', volume: 1_000_000_001 }] },
      '#/domains/0/volume',
      'The value is 1000000001 but must be at most 1000000000.',
    ],
    [
      'with a volume of half a message',
      { domains: [{ name: 'a.example', volume: 0.5 }] },
      '#/domains/0/volume',
      'The value is 0.5 but must be of type integer.',
    ],
    ['with an empty record', recordOf({}), '#/domains/0/record', 'The value is {} but must have at least 1 field.'],
    [
      'with an unknown field of a record',
      recordOf({ policy: 'none' }),
      '#/domains/0/record/policy',
      'The value is not allowed here; allowed fields are p, sp, np, pct, testing, dmarc, dkim, spf, count.',
    ],
    [
      'with a policy that there is not',
      recordOf({ sp: 'block' }),
      '#/domains/0/record/sp',
      'The value is "block" but must be one of "none", "quarantine", "reject".',
    ],
    [
      'with a test mode that is a truth value',
      recordOf({ testing: true }),
      '#/domains/0/record/testing',
      'The value is true but must be one of "y", "n".',
    ],
    [
      'with a pct above 100',
      recordOf({ pct: 101 }),
      '#/domains/0/record/pct',
      'The value is 101 but must be at most 100.',
    ],
    [
      'with a percentage above 100',
      recordOf({ dkim: 100.1 }),
      '#/domains/0/record/dkim',
      'The value is 100.1 but must be at most 100.',
    ],
    [
      'with a percentage below 0',
      recordOf({ spf: -0.1 }),
      '#/domains/0/record/spf',
      'The value is -0.1 but must be at least 0.',
    ],
    [
      'with a percentage that is text',
      recordOf({ dmarc: '99.9' }),
      '#/domains/0/record/dmarc',
      'The value is "99.9" but must be of type number.',
    ],
    [
      'with a record of more dkim than dmarc',
      recordOf({ dmarc: 50, dkim: 50.1 }),
      '#/domains/0/record',
      'The record has less dmarc than dkim or spf, of which either suffices.',
    ],
    [
      'with a record of more dmarc than dkim and spf',
      recordOf({ dmarc: 90.1, dkim: 50, spf: 40 }),
      '#/domains/0/record',
      'The record has more dmarc than dkim and spf together.',
    ],
    [
      'with a record of shares of no mail',
      recordOf({ count: 0, spf: 1 }),
      '#/domains/0/record',
      'The record has shares of no mail: with count 0 they are 0.',
    ],
    ['with a group without a name', { groups: [{ domains: [] }] }, '#/groups/0/name', 'The value is missing.'],
    [
      'with a group with an empty name',
      { groups: [{ name: '' }] },
      '#/groups/0/name',
      'The value is "" but must have at least 1 character.',
    ],
    [
      'with a group with a name of white space',
      { groups: [{ name: ' ' }] },
      '#/groups/0/name',
      'The value is " " but must be a name of 1 to 100 characters, not all white space.',
    ],
    [
      'with a group with a name of 101 characters',
      { groups: [{ name: 'x'.repeat(101) }] },
      '#/groups/0/name',
      `The value is "${'x'.repeat(98)}… but must have at most 100 characters.`,
    ],
    [
      'with a group id of another form',
      { groups: [{ id: 'g1', name: 'X' }] },
      '#/groups/0/id',
      '"g1" must be 8 characters of 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.',
    ],
    [
      'with a member that is an object',
      { groups: [{ name: 'X', domains: [{}] }] },
      '#/groups/0/domains/0',
      'The value is {} but must be of type string.',
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
      '"no host" is not among the domains of this fixture.',
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
      new FixtureError('fixture', '/groups/0/domains/1', '"a.example" is named more than once.'),
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
