import { type AccountOfPool, BEGINNING, secretOf } from './pool.ts'

/** A fixture as far as the model reads one. Moments are instants, or days before the beginning such as `P1D`. */
export interface Fixture {
  plan?: string
  seed?: number
  clock?: { now: string; frozen?: boolean }
  keys?: readonly { key?: string; label?: string; created_at?: string; disabled?: boolean }[]
  domains?: readonly (string | FixtureDomain)[]
  former_domains?: readonly FixtureDomain[]
  groups?: readonly { id?: string; name: string; domains?: readonly string[] }[]
  groups_created?: number
}

export interface FixtureDomain {
  name: string
  added_at?: string
  features?: readonly string[]
  profile?: string
  since?: string
  policy?: Readonly<Record<string, unknown>>
  record?: Readonly<Record<string, unknown>>
}

/** What an account of the pool is made of, but for its first key. */
export function fixtureOf({ plan, keys: [, ...more], domains }: AccountOfPool) {
  return {
    plan,
    keys: more.map(({ name, createdAt, disabled }) => ({
      key: secretOf(name),
      created_at: new Date(createdAt).toISOString(),
      disabled,
    })),
    domains: domains.map(({ name, addedAt, features }) => ({
      name,
      added_at: new Date(addedAt).toISOString(),
      features,
    })),
  } satisfies Fixture
}

const DAY = 86_400_000

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
  { plan: 'gold' },
  { domains: ['a.example', 'A.Example'] },
  { domains: ['a.example'], groups: [{ name: 'Web', domains: ['b.example'] }] },
  { groups: [{ name: 'Web' }, { name: 'WEB' }] },
]
