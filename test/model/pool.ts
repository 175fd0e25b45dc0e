import type { Fixture } from '../../src/domain/fixture.ts'

/** What random requests are made of. The pools are small, so that requests meet each other. */

const LABEL_OF_63 = 'l'.repeat(63)
const NAME_OF_253 = `${'l.'.repeat(95)}${'x'.repeat(55)}.example`

/** The names that most requests are about. */
export const USUAL_DOMAINS = ['a.example', 'A.Example', 'a.example.', 'b.example', 'ｂ.example', 'c.a.example']

export const ALL_DOMAINS = [
  ...['a.example', 'A.Example', 'a.example.', 'b.example', 'ｂ.example', 'b。example', 'B.EXAMPLE.', 'c.a.example'],
  ...['just.example', 'locked.example', 'LOCKED.example', 'fass.example', 'faß.example', 'xn--fa-hia.example.'],
  ...['münchen.example', 'MÜNCHEN.example', 'mu\u0308nchen.example', 'xn--mnchen-3ya.example', '1.2.3.4.example'],
  ...[`${LABEL_OF_63}.example`, NAME_OF_253, `${NAME_OF_253}.`],
]

/** Texts that are no hostnames. */
export const BAD_DOMAINS = [
  ...['', '.', ' a.example', 'a.example\n', 'a\u200b.example', 'a b.example'],
  ...['a.example..', '.a.example', 'a..example', 'localhost', 'a.example.1'],
  ...['192.0.2.1', '0x7f.1', '::1', 'a@b.example', 'a.example:443', 'https://a.example', 'a.example/', 'a%2eexample'],
  ...['a_b.example', '*.example', '-a.example', 'a-.example'],
  ...[`${LABEL_OF_63}l.example`, `l${NAME_OF_253}`],
]

/** So many names that one request is full, and one more. */
export const CROWD = Array.from({ length: 50 }, (_, index) => `n${index}.example`)
export const CROWD_AND_ONE = [...CROWD, 'n50.example']

export const USUAL_NAMES = ['Web', 'WEB', 'Straße', 'STRASSE', 'Caf\u00e9', 'cafe\u0301']
export const ALL_NAMES = [
  ...['Web', 'web', 'WEB', ' Web', 'Straße', 'STRASSE', 'strasse', 'Caf\u00e9', 'cafe\u0301', 'CAF\u00c9', 'Cafe'],
  ...['ΟΔΟΣ', 'οδος', 'οδοσ', '__proto__', 'a\tb', 'a\u200bb', '👨‍👩‍👧'],
  ...['x'.repeat(100), 'X'.repeat(100), '😀'.repeat(100)],
]
export const BAD_NAMES = [
  ...['', ' ', '\t\n', '\u00a0\u3000', ' \u200b', 'a\0', '\ud83d'],
  ...['x'.repeat(101), '😀'.repeat(101)],
]

/** Where the machine's clock stands at the beginning. */
export const BEGINNING = Date.parse('2026-01-15T09:30:00Z')

/** The secret of a key of the pool. */
export function secretOf(key: string): string {
  return `key_${key.padEnd(8, '0')}.${'0'.repeat(48)}`
}

const DAY = 86_400_000

/** What every account is made of that is not made of something else. */
export const FIRST: Fixture = {
  domains: ['a.example', 'b.example', { name: 'locked.example', features: ['mta-sts'] }],
}

/** Fixtures to begin anew with, or to take the place of what is there. */
export const FIXTURES: readonly Fixture[] = [
  {},
  { domains: ['A.Example', 'b.example', 'c.a.example'], groups: [{ name: 'Web', domains: ['a.example'] }] },
  {
    plan: 'above-stone',
    seed: 99,
    clock: { now: new Date(BEGINNING + 17 * DAY).toISOString(), frozen: true },
    keys: [
      { key: secretOf('fixed'), label: 'Fixed', created_at: 'P3D' },
      { key: secretOf('spare'), disabled: true },
    ],
    domains: [
      { name: 'b.example', features: ['bimi'], record: { p: 'reject', dmarc: 50 } },
      { name: 'faß.example', added_at: 'P1D', profile: 'no-record' },
      { name: 'a.example', profile: 'spoofed', policy: { p: 'quarantine', sp: 'reject' } },
      { name: 'c.a.example', profile: 'no-record' },
    ],
    groups: [{ name: 'Straße' }, { name: 'Caf\u00e9', domains: ['B.EXAMPLE.', 'b.example'] }],
  },
]

/** Fixtures that break a rule. */
export const BAD_FIXTURES: readonly Fixture[] = [
  { domains: ['a_b.example'] },
  { domains: ['a.example', 'A.Example'] },
  { domains: ['a.example'], groups: [{ name: 'Web', domains: ['b.example'] }] },
  { groups: [{ name: 'Web' }, { name: 'WEB' }] },
]
