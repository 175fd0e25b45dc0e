import type { Contract } from '../contract/contract.ts'
import type { AccountOrigin } from '../domain/account.ts'
import { contradictionIn } from '../domain/dmarc.ts'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import { show } from '../ground/show.ts'
import { errorIn, type LoadedFixture } from './fixture.ts'
import { withoutSecret } from './fixture-keys.ts'
import { checkScenes } from './scenes.ts'

/** The contents of a fixture for every account that is created from it. All domains are canonical and unique. */
export interface FixtureContents {
  domains: readonly (FixtureDomain & { spelling?: string })[]
  groups: readonly { id?: string; name: string; domains: readonly string[] }[]
  /** The part of the fixture that accounts remember: its name, or everything except the secrets. */
  origin: AccountOrigin['fixture']
}

type HostnameRules = Pick<Contract, 'canonicalHostname'>

/** This is cached because thousands of accounts are created from the same few fixtures. */
const prepared = new WeakMap<Fixture, { contents: FixtureContents } & Pick<HostnameRules, 'canonicalHostname'>>()

/** Reads and checks the contents of a fixture, once for each fixture and contract. @throws FixtureError */
export function readContents(fixture: LoadedFixture, rules: HostnameRules): FixtureContents {
  const { canonicalHostname } = rules
  const known = prepared.get(fixture)
  if (known?.canonicalHostname === canonicalHostname) return known.contents
  const names = new Set<string>()
  const domains = readDomains(fixture, rules, names)
  checkScenes(fixture, names, rules)
  const contents: FixtureContents = {
    domains,
    groups: readGroups(fixture, rules),
    origin: originOf(fixture),
  }
  prepared.set(fixture, { contents, canonicalHostname })
  return contents
}

function originOf({ file: _, origin, ...document }: LoadedFixture): AccountOrigin['fixture'] {
  return origin ?? { ...document, ...(document.keys && { keys: document.keys.map(withoutSecret) }) }
}

function readDomains(fixture: LoadedFixture, rules: HostnameRules, names: Set<string>): FixtureContents['domains'] {
  return (fixture.domains ?? []).map((entry, index) => {
    const domain: FixtureDomain = typeof entry === 'string' ? { name: entry } : entry
    const pointer = `/domains/${index}`
    const namePointer = typeof entry === 'string' ? pointer : `${pointer}/name`
    const name = readName(fixture, namePointer, domain.name, rules, names)
    const contradiction = contradictionIn(domain.record ?? {})
    if (contradiction) throw errorIn(fixture, `${pointer}/record`, `The record ${contradiction}.`)
    return name === domain.name ? { ...domain, name } : { ...domain, name, spelling: domain.name }
  })
}

function readGroups({ groups = [] }: LoadedFixture, rules: HostnameRules): FixtureContents['groups'] {
  const read: { id?: string; name: string; domains: readonly string[] }[] = []
  for (const group of groups) {
    const domains = (group.domains ?? []).map((member) => rules.canonicalHostname(member) ?? member)
    read.push({ ...group, domains })
  }
  return read
}

/** Returns the canonical name and adds it to `names`. @throws FixtureError */
function readName(
  fixture: LoadedFixture,
  pointer: string,
  given: string,
  rules: HostnameRules,
  names: Set<string>,
): string {
  const name = rules.canonicalHostname(given)
  if (name === undefined) {
    throw errorIn(fixture, pointer, `${show(given)} is not a valid hostname.`)
  }
  if (names.has(name)) throw errorIn(fixture, pointer, `${name} is named more than once.`)
  names.add(name)
  return name
}
