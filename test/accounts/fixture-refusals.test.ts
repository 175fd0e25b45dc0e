import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FIXTURE_NAMES, FixtureError } from '../../src/accounts/fixture.ts'
import { PROFILE_NAMES } from '../../src/domain/dmarc.ts'
import { show } from '../../src/ground/show.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { accountOf, fileWith, fixtureWith, NOON } from './fixture-files.ts'

const MOMENT = "be an instant such as 2026-01-15T09:00:00Z, or a duration before the account's creation such as P21D"

const FIELDS =
  '$schema, title, description, plan, seed, clock, keys, domains, groups, groups_created, scenes, former_domains'

const FIELDS_OF_A_DOMAIN =
  'name, features, added_at, profile, since, volume, policy, record, record_since, former_records'

async function refusalOf(path: string): Promise<string> {
  const error = await accountOf(path).then(
    () => 'The fixture was taken.',
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(FixtureError)
  return (error as FixtureError).message
}

const TEXT = 'be of type string'
const WHOLE = 'be of type integer'
const OBJECT = 'be of type object'
const TRUTH = 'be of type boolean'
const PROFILES = `be one of ${PROFILE_NAMES.map((name) => `"${name}"`).join(', ')}`
const INSTANT = 'be an RFC 3339 instant such as 2026-01-15T09:00:00Z'
const SECRET = 'be a secret of 1 to 200 visible ASCII characters without spaces'

/** What a value at a place must be, and is not. */
const WRONG: readonly [place: string, value: unknown, must: string][] = [
  ['/plan', 7, TEXT],
  ['/seed', '42', WHOLE],
  ['/clock', NOON, OBJECT],
  ['/clock/now', '2026-02-30T09:00:00Z', INSTANT],
  ['/clock/frozen', 'yes', TRUTH],
  ['/keys/0', 'key_1', OBJECT],
  ['/keys/1/key', '', SECRET],
  ['/keys/0/created_at', 'yesterday', MOMENT],
  ['/domains/1', 7, 'be of type string or object'],
  ['/domains/0/features', ['x', 'x'], 'not have the same item twice, as at 0 and 1'],
  ['/domains/0/added_at', 'soon', MOMENT],
  // Months have no length.
  ['/domains/0/since', 'P2M', MOMENT],
  ['/domains/1/profile', 'spoof', PROFILES],
  ['/domains/0/record', {}, 'have at least 1 field'],
  ['/domains/0/record/sp', 'block', 'be one of "none", "quarantine", "reject"'],
  ['/groups/0/name', ' ', 'be a name with at least one visible character'],
  ['/groups/0/domains/0', {}, TEXT],
  ['/scenes/0/text', 7, TEXT],
]

const UNKNOWN: readonly [place: string, fixture: unknown, allowed: string][] = [
  ['/colour', { colour: 'blue' }, FIELDS],
  ['/a~1b~0c', { 'a/b~c': 1 }, FIELDS],
  ['/keys/0/secret', fixtureWith('/keys/0/secret', 'x'), 'label, key, id, hash, disabled, created_at'],
  ['/domains/0/featurs', fixtureWith('/domains/0/featurs', []), FIELDS_OF_A_DOMAIN],
  ['/scenes/0/picture', fixtureWith('/scenes/0/picture', 'x'), 'title, text, look_at, calls'],
]

const record = (fixed: object) => fixtureWith('/domains/0/record', fixed)
const groups = (...given: object[]) => ({ domains: ['a.example'], groups: given })
const TWICE = 'a.example is named more than once.'
const SAME_KEYS = [{ key: 'x' }, {}, { label: 'Again', key: 'x' }]
const ID = 'abcdefgh'
const STRANGER = 'which is not among the domains.'
const IPV4 = '"192.0.2.1" is not a valid hostname.'

/** What a call of a scene must have, and has not. */
const CALLS: readonly [place: string, call: object, reason: string][] = [
  ['/parameters/domain', { operation: 'pinDmarc', body: { p: 'none' } }, 'pinDmarc needs it.'],
  [
    '/parameters/account',
    { operation: 'updateClock', parameters: { account: 'other' }, body: {} },
    'updateClock has no such parameter.',
  ],
  ['/query/day', { operation: 'listDmarc', query: { day: '1' } }, 'listDmarc has no such parameter.'],
  ['/body', { operation: 'addDomains' }, 'addDomains needs a body.'],
  ['/body', { operation: 'clearFaults', body: {} }, 'clearFaults takes no body.'],
]

describe('a fixture file is refused', () => {
  it.each<readonly [place: string, fixture: unknown, reason: string]>([
    ...[[], null, 'demo'].map((value) => ['', value, `The value is ${show(value)} but must ${OBJECT}.`] as const),
    ...WRONG.map(([place, value, must]) => {
      return [place, fixtureWith(place, value), `The value is ${show(value)} but must ${must}.`] as const
    }),
    ...UNKNOWN.map(([place, fixture, allowed]) => {
      return [place, fixture, `The value is not allowed here; allowed fields are ${allowed}.`] as const
    }),
    ...[
      ['/clock/now', { clock: { frozen: true } }],
      ['/domains/0/name', { domains: [{ features: ['mta-sts'] }] }],
      ['/groups/0/name', { groups: [{ domains: [] }] }],
    ].map(([place, fixture]) => [String(place), fixture, 'The value is missing.'] as const),
    ['/keys/2/key', { keys: SAME_KEYS }, 'The key is the same as one before it.'],
    [
      '/domains/0/record',
      record({ dmarc: 50, dkim: 50.1 }),
      'The record has less dmarc than dkim or spf, of which either suffices.',
    ],
    [
      '/groups/0/name',
      groups({ name: 'x'.repeat(101) }),
      `The value is "${'x'.repeat(98)}… but must have at most 100 characters.`,
    ],
    ['/groups/0/id', groups({ id: 'g1', name: 'X' }), 'The value is "g1" but must have at least 8 characters.'],
    [
      '/groups/1/id',
      groups({ id: ID, name: 'X' }, { id: ID, name: 'Y' }),
      `The value is "${ID}", which is the id of a group before it.`,
    ],
    ['/plan', { plan: 'gold' }, 'There is no plan gold; there are below-stone, stone, above-stone.'],
    ['/domains/1', { domains: ['a.example', 'no host'] }, '"no host" is not a valid hostname.'],
    ['/domains/0/name', { domains: [{ name: '192.0.2.1' }] }, IPV4],
    ['/domains/2', { domains: ['a.example', 'b.example', 'A.example.'] }, TWICE],
    ['/groups/0/domains/0', groups({ name: 'X', domains: ['no host'] }), `The value is "no host", ${STRANGER}`],
    [
      '/groups/1/domains/1',
      groups({ name: 'X' }, { name: 'Y', domains: ['a.example', 'b.example'] }),
      `The value is "b.example", ${STRANGER}`,
    ],
    [
      '/groups/1/name',
      groups({ name: 'Shop' }, { name: 'SHOP' }),
      'The value is "SHOP", which is the name of another group.',
    ],
    ...CALLS.map(([place, call, reason]) => {
      return [`/scenes/0/calls/0${place}`, { scenes: [{ title: 'T', text: 'T', calls: [call] }] }, reason] as const
    }),
  ])('at %s: %j', async (place, fixture, reason) => {
    const path = fileWith(JSON.stringify(fixture))
    expect(await refusalOf(path)).toBe(`${path}${place === '' ? '' : `#${place}`}: ${reason}`)
  })

  // The words after the colon are the JavaScript engine's, and differ between its versions.
  it.each([
    ['that is empty', ''],
    ['with a comma too many', '{ "domains": [], }'],
    ['that is broken after several lines', '[1,\n2,\n}'],
  ])('%s, in one line', async (_, text) => {
    const path = fileWith(text)
    const message = await refusalOf(path)
    expect(message.slice(0, path.length)).toBe(path)
    expect(message.slice(path.length)).toMatch(/^: This is not valid JSON: [^\n]*[^.]\.$/)
  })

  it.each([
    ['not there', 'nowhere.json', 'ENOENT'],
    ['a folder', '', 'EISDIR'],
  ])('that is %s', async (_, name, code) => {
    const path = join(temporaryFolder(), name)
    const remedy = `give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file.`
    expect(await refusalOf(path)).toBe(`${path}: The fixture cannot be read (${code}); ${remedy}`)
  })
})
