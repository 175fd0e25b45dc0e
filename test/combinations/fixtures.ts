import { readFileSync } from 'node:fs'
import fc, { type Arbitrary } from 'fast-check'
import { FIXTURE_NAMES } from '../../src/accounts/fixture.ts'
import type { Fixture } from '../../src/domain/fixture.ts'
import { weighted } from '../support/weighted.ts'
import { lawfulFor, type Manner, type Texts, textsOf } from './values.ts'

const SCHEMA = JSON.parse(readFileSync(new URL('../../fixtures/fixture.schema.json', import.meta.url), 'utf8'))

/** A parent with a child, longest names and labels, other alphabets, and spellings of the same name. */
export const HOSTNAMES = [
  ...['a.example', 'sub.a.example', 'b.example', 'c.example', 'münchen.example', '😀.example', 'xn--fa-hia.example'],
  ...[`${'x'.repeat(63)}.example`, `${'y.'.repeat(120)}example`, 'p-reject.count-1200.understudy.test'],
  ...['A.Example.', 'xn--mnchen-3ya.example', 'not a name'],
]
export const hostnames = fc.constantFrom(...HOSTNAMES)
const LAWFUL_NAMES = HOSTNAMES.slice(0, 10)
export const groupNames = fc.oneof(
  fc.constantFrom('Web', 'WEB', 'Straße', 'STRASSE', 'Café', 'e\u0301'),
  textsOf(1, 100),
)

/** Two domains, keys or groups that are one would make most fixtures invalid. */
function fixturesLike(atLimits: boolean): Arbitrary<Fixture> {
  const texts: Texts = {
    name: atLimits ? fc.constantFrom(...LAWFUL_NAMES) : hostnames,
    domains: fc.array(hostnames, { maxLength: 4 }),
    group: groupNames,
    plan: fc.constantFrom('stone', 'above-stone', ...(atLimits ? [] : ['below-stone'])),
  }
  const manner: Manner = { texts, root: SCHEMA, atLimits }
  const { domains, groups } = SCHEMA.properties
  const domain = lawfulFor(domains.items, manner)
  const group = { ...texts, name: groupNames, id: fc.constant(undefined) }
  const fields: Texts = {
    domains: fc.oneof(fc.uniqueArray(domain, { maxLength: 6, selector: nameOf }), alike(domain)),
    groups: fc.uniqueArray(lawfulFor(groups.items, { ...manner, texts: group }), { maxLength: 4, selector: nameOf }),
    plan: fc.constantFrom('stone', 'above-stone'),
  }
  return lawfulFor(SCHEMA, { ...manner, texts: fields }).map((drawn) => withMembers(drawn as Fixture))
}

/** Domains that are alike but for their names, so that what is at its limit is there several times. */
function alike(domain: Arbitrary<unknown>): Arbitrary<unknown[]> {
  return fc
    .tuple(domain, fc.subarray(LAWFUL_NAMES, { minLength: 2 }))
    .map(([like, names]) => names.map((name) => (typeof like === 'string' ? name : { ...(like as object), name })))
}

export const fixtures = weighted<string | Fixture>(
  [2, fc.constantFrom(...FIXTURE_NAMES)],
  [3, fixturesLike(false)],
  [5, fixturesLike(true)],
)

function nameOf(item: unknown): string {
  const name = typeof item === 'string' ? item : `${(item as { name?: unknown } | null)?.name}`
  return name.toLowerCase()
}

/** Members of groups are among the domains. */
function withMembers(fixture: Fixture): Fixture {
  const { domains, groups } = fixture
  if (!Array.isArray(groups)) return fixture
  const names = new Set(Array.isArray(domains) ? domains.map(nameOf) : [])
  const among = (members: unknown) => Array.isArray(members) && members.filter((member) => names.has(nameOf(member)))
  return {
    ...fixture,
    groups: groups.map((group) => (group?.domains ? { ...group, domains: among(group.domains) } : group)),
  }
}
