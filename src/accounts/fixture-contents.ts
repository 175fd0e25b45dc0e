import type { AccountOrigin } from '../domain/account.ts'
import { contradictionIn } from '../domain/dmarc.ts'
import type { Fixture, FixtureDomain, FixtureNature } from '../domain/fixture.ts'
import { show } from '../ground/show.ts'
import { errorIn, type LoadedFixture } from './fixture.ts'
import { withoutSecret } from './fixture-keys.ts'

/** What a fixture says about every account that is made of it. All domains are in canonical form, and none is twice. */
export interface FixtureContents {
  domains: readonly (FixtureDomain & { spelling: string })[]
  formerDomains: readonly FixtureNature[]
  groups: readonly { id?: string; name: string; domains: readonly string[] }[]
  /** What accounts remember of the fixture: its name, or everything except the secrets. */
  origin: AccountOrigin['fixture']
}

/** `undefined` for a text that is no hostname. */
export type CanonicalHostname = (text: string) => string | undefined

interface Prepared {
  contents: FixtureContents
  canonicalHostname: CanonicalHostname
}

/** Thousands of accounts are made of the same few fixtures. */
const prepared = new WeakMap<Fixture, Prepared>()

/** Reads and checks the contents of a fixture, once for each fixture and contract. @throws FixtureError */
export function readContents(fixture: LoadedFixture, canonicalHostname: CanonicalHostname): FixtureContents {
  const known = prepared.get(fixture)
  if (known?.canonicalHostname === canonicalHostname) return known.contents
  const domains = readDomains(fixture, canonicalHostname)
  const contents = {
    domains,
    formerDomains: readFormerDomains(fixture, canonicalHostname, new Set(domains.map(({ name }) => name))),
    groups: (fixture.groups ?? []).map((group) => {
      return { ...group, domains: (group.domains ?? []).map((member) => canonicalHostname(member) ?? member) }
    }),
    origin: originOf(fixture),
  }
  prepared.set(fixture, { contents, canonicalHostname })
  return contents
}

function originOf({ file: _, origin, ...document }: LoadedFixture): AccountOrigin['fixture'] {
  return origin ?? { ...document, ...(document.keys && { keys: document.keys.map(withoutSecret) }) }
}

function readDomains(fixture: LoadedFixture, canonicalHostname: CanonicalHostname): FixtureContents['domains'] {
  const names = new Set<string>()
  return (fixture.domains ?? []).map((entry, index) => {
    const domain: FixtureDomain = typeof entry === 'string' ? { name: entry } : entry
    const pointer = `/domains/${index}`
    const namePointer = typeof entry === 'string' ? pointer : `${pointer}/name`
    const name = readName(fixture, namePointer, domain.name, canonicalHostname, names)
    const contradiction = contradictionIn(domain.record ?? {})
    if (contradiction) throw errorIn(fixture, `${pointer}/record`, `The record ${contradiction}.`)
    return { ...domain, name, spelling: domain.name }
  })
}

function readFormerDomains(
  fixture: LoadedFixture,
  canonicalHostname: CanonicalHostname,
  names: Set<string>,
): FixtureNature[] {
  return (fixture.former_domains ?? []).map((domain, index) => {
    const pointer = `/former_domains/${index}/name`
    return { ...domain, name: readName(fixture, pointer, domain.name, canonicalHostname, names) }
  })
}

/** The name in canonical form, which is added to `names`. @throws FixtureError */
function readName(
  fixture: LoadedFixture,
  pointer: string,
  given: string,
  canonicalHostname: CanonicalHostname,
  names: Set<string>,
): string {
  const name = canonicalHostname(given)
  if (name === undefined) throw errorIn(fixture, pointer, `${show(given)} is not a valid hostname.`)
  if (names.has(name)) throw errorIn(fixture, pointer, `${name} is named more than once.`)
  names.add(name)
  return name
}
