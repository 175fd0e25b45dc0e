import type { Faker } from '@faker-js/faker'
import type { ProfileName } from '../domain/dmarc.ts'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import { drawProfile } from '../figures/profiles.ts'

export const STORIES = ['company', 'agency', 'isp', 'random'] as const
type StoryName = (typeof STORIES)[number]

export interface GeneratorOptions {
  domains: number
  groups: number
  seed: number
  story: StoryName
  /** Called at intervals with the number of domains that exist so far. */
  onProgress?: (made: number) => void
}

interface Owner {
  title: string
  /** The part of its hostnames before the suffix. */
  label: string
  suffix: string
  domains: InventedDomain[]
}

interface InventedDomain {
  /** The name of the group of the domains with this use. */
  use: string
  domain: FixtureDomain
}

/**
 * Who owns the domains: brands of a company, clients of an agency, customers of a provider. How many domains an owner
 * has on average, and how often it is named like a person or a place.
 */
const OWNERS: Readonly<Record<StoryName, { share: number; persons: number }>> = {
  company: { share: 8, persons: 0 },
  agency: { share: 6, persons: 0 },
  isp: { share: 2, persons: 1 },
  random: { share: 4, persons: 0.5 },
}

/** These suffixes are reserved by RFC 2606 and RFC 6761, so no generated name belongs to a real domain. */
const SUFFIXES = ['example', 'example', 'test'] as const

/** The main domain of an owner. */
const HOME = '*'
/** What domains with each profile are probably used for, as patterns in which `*` is the label of the owner. */
const USES: Readonly<Record<ProfileName, readonly string[]>> = {
  enforced: ['mail.*', 'shop.*', 'billing.*', 'support.*', 'careers.*', 'www.*', 'status.*'],
  'rolling-out': ['mail.*', 'shop.*', 'support.*'],
  'monitoring-only': ['mail.*', 'news.*', 'careers.*', 'support.*', 'booking.*'],
  'forwarding-heavy': ['members.*', 'lists.*', 'mail.*'],
  'broken-spf': ['news.*', 'support.*', 'shop.*'],
  'broken-dkim': ['billing.*', 'mail.*', 'support.*'],
  'new-esp': ['offers.*', 'news.*'],
  spoofed: ['billing.*', 'shop.*'],
  parked: ['*-online', 'get-*', '*-old', 'my-*'],
  'no-record': ['www.*', 'careers.*', 'booking.*'],
  new: ['offers.*'],
}

/** The number of days since the beginning of a profile's history. */
const BEGINNINGS: Partial<Record<ProfileName, { min: number; max: number }>> = {
  'rolling-out': { min: 0, max: 120 },
  'new-esp': { min: 3, max: 45 },
  spoofed: { min: 2, max: 25 },
}

const GROUP_SIZE = 500
/** How many names are tried. After that, one with a number is used. */
const TRIES = 20

/**
 * Generates an account that looks real and contains only reserved names. The same options give the same fixture. The
 * shares of the profiles are the published ones, see `POLICY_SHARES`.
 */
export async function generateFixture(options: GeneratorOptions): Promise<Fixture> {
  const { domains: wanted, groups, seed, story, onProgress } = options
  const { faker } = await import('@faker-js/faker/locale/en')
  faker.seed(seed)
  const owners = inventOwners(faker, story, wanted)
  const names = new Set<string>()
  while (names.size < wanted) {
    inventDomain(faker, owners, names)
    if (names.size % 500 === 0) onProgress?.(names.size)
  }
  const domains = owners.flatMap((owner) => owner.domains.map(({ domain }) => domain))
  return {
    title: `${story}, ${wanted} domains`,
    description: `Made by dmarc-understudy fixture --story ${story} --domains ${wanted} --groups ${groups} --seed ${seed}`,
    seed,
    domains,
    groups: makeGroups(owners, domains, groups),
  }
}

/** The owners, the most important first. */
function inventOwners(faker: Faker, story: StoryName, domains: number): Owner[] {
  const { share, persons } = OWNERS[story]
  const owners = new Map<string, Owner>()
  let misses = 0
  while (owners.size < Math.max(1, Math.round(domains / share))) {
    const name = faker.datatype.boolean(persons)
      ? faker.helpers.arrayElement([faker.person.lastName(), faker.location.city()])
      : faker.company.name()
    const isTaken = owners.has(labelOf(name))
    // Names may run out.
    if (isTaken && ++misses % TRIES !== 0) continue
    const title = isTaken ? `${name} ${owners.size}` : name
    const label = labelOf(title)
    owners.set(label, { title, label, suffix: faker.helpers.arrayElement(SUFFIXES), domains: [] })
  }
  return [...owners.values()]
}

function labelOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll("'", '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
}

/** Gives an owner a domain with a free name that suits its profile. The main domain of an owner comes first. */
function inventDomain(faker: Faker, owners: readonly Owner[], names: Set<string>): void {
  const profile = drawProfile(faker.number.int(999_999))
  for (let tries = 0; ; tries++) {
    // A few owners have many domains, and most owners have few.
    const owner = owners[Math.floor(faker.number.float() * faker.number.float() * owners.length)] as Owner
    const label = tries < TRIES ? owner.label : `${owner.label}-${tries - TRIES + 2}`
    const nameFor = (use: string) => `${use.replace('*', label)}.${owner.suffix}`
    const isFirst = profile !== 'parked' && !names.has(nameFor(HOME))
    const use = (isFirst ? [HOME] : faker.helpers.shuffle(USES[profile])).find((each) => !names.has(nameFor(each)))
    if (use === undefined) continue
    const name = nameFor(use)
    const since = BEGINNINGS[profile]
    const hasFeature = use === HOME && faker.datatype.boolean(0.15)
    const domain: FixtureDomain = {
      name,
      profile,
      added_at: `P${faker.number.int({ min: 150, max: 1500 })}D`,
      ...(since !== undefined && { since: `P${faker.number.int(since)}D` }),
      ...(hasFeature && { features: [faker.helpers.arrayElement(['mta-sts', 'tls-rpt'])] }),
    }
    names.add(name)
    owner.domains.push({ use: titleOf(use), domain })
    return
  }
}

function titleOf(use: string): string {
  if (use === HOME) return 'Main domains'
  return use.endsWith('.*') ? `${use.charAt(0).toUpperCase()}${use.slice(1, -2)}` : 'Parked'
}

/** Groups by owner and by use, the largest first. If these are too few, batches of domains follow. */
function makeGroups(owners: readonly Owner[], all: readonly FixtureDomain[], count: number) {
  const members = new Map<string, string[]>()
  for (const { title, domains } of owners) {
    for (const { use, domain } of domains) {
      for (const name of [title, use]) {
        const group = members.get(name) ?? []
        members.set(name, group)
        group.push(domain.name)
      }
    }
  }
  const groups = Array.from(members, ([name, domains]) => ({ name, domains: domains.slice(0, GROUP_SIZE) }))
  const fullest = groups.toSorted((one, other) => other.domains.length - one.domains.length).slice(0, count)
  const batches = count - fullest.length
  const size = Math.ceil(all.length / Math.max(1, batches))
  const batch = (number: number) => all.slice(number * size, (number + 1) * size).map(({ name }) => name)
  const rest = Array.from({ length: batches }, (_, number) => ({ name: `Batch ${number + 1}`, domains: batch(number) }))
  return [...fullest, ...rest]
}

/** The text of a fixture for human readers and for diffs: one line for each key, domain and group. */
export function writeFixture(fixture: Fixture): string {
  const fields = Object.entries(fixture).map(([name, value]) => {
    if (!Array.isArray(value) || value.length === 0) return `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`
    return `  ${JSON.stringify(name)}: [\n${value.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}
