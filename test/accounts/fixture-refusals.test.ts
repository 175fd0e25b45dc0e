import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/creation.ts'
import { FIXTURE_NAMES, FixtureError, loadFixture } from '../../src/accounts/fixture.ts'
import { loadContract } from '../../src/contract/contract.ts'
import { asOverlay } from '../../src/contract/overlay.ts'
import { PROFILE_NAMES } from '../../src/domain/profile.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { accountOf, birth, fileWith } from './fixture-files.ts'

const MOMENT = "an instant such as 2026-01-15T09:00:00Z, or a duration before the account's creation such as P21D"

const FIELDS =
  '$schema, title, description, plan, seed, clock, keys, domains, former_domains, groups, groups_created, scenes'

const FIELDS_OF_A_DOMAIN = 'name, features, added_at, profile, since, volume, policy, record'

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
      'The value is "" but must be a secret of 1 to 200 visible ASCII characters without spaces.',
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
      'The value is " " but must be a name of 1 to 100 characters, at least one of them visible.',
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
      '"192.0.2.1" is not a valid hostname (setting ipv4-addresses: refused).',
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
    const change = { target: "$['x-settings']['repeated-members']", update: { value: 'invalid_domain' } }
    const overlay = asOverlay({ overlay: '1.0.0', actions: [change] }, 'change.yaml')
    const fixture = { domains: ['a.example'], groups: [{ name: 'X', domains: ['a.example', 'A.example'] }] }
    const strict = await loadContract({ overlays: [overlay] })
    const loaded = await loadFixture(fixture)
    expect(() => createAccount(loaded, birth, strict)).toThrow(
      new FixtureError(
        'fixture',
        '/groups/0/domains/1',
        '"a.example" is named more than once (setting repeated-members: invalid_domain).',
      ),
    )
  })
})
