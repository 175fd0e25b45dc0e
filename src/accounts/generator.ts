import type { Faker } from '@faker-js/faker'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
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

/** The owners of the domains: brands of a company, clients of an agency, customers of a provider. */
interface OwnerKind {
  /** How many domains an owner has on average. */
  share: number
  name(faker: Faker): string
}

interface Owner {
  title: string
  /** The part of its hostnames before the suffix. */
  label: string
  suffix: string
  /** The most important owner has 0. */
  rank: number
}

interface InventedDomain {
  owner: Owner
  /** The name of the group of the domains with this use. */
  use: string
  domain: FixtureDomain
}

const OWNERS: Readonly<Record<StoryName, OwnerKind>> = {
  company: { share: 8, name: (faker) => faker.company.name() },
  agency: { share: 6, name: (faker) => faker.company.name() },
  isp: { share: 2, name: (faker) => nameOfPerson(faker) },
  random: {
    share: 4,
    name: (faker) => (faker.datatype.boolean() ? faker.company.name() : nameOfPerson(faker)),
  },
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
  const owners = inventOwners(faker, OWNERS[story], wanted)
  const names = new Set<string>()
  const made: InventedDomain[] = []
  while (made.length < wanted) {
    made.push(inventDomain(faker, owners, names))
    if (made.length % 500 === 0) onProgress?.(made.length)
  }
  made.sort((one, other) => one.owner.rank - other.owner.rank)
  return {
    title: `${story}, ${wanted} domains`,
    description: `Made by dmarc-understudy fixture --story ${story} --domains ${wanted} --groups ${groups} --seed ${seed}`,
    seed,
    domains: made.map(({ domain }) => domain),
    groups: makeGroups(made, groups),
  }
}

function inventOwners(faker: Faker, { share, name }: OwnerKind, domains: number): Owner[] {
  const owners = new Map<string, Owner>()
  while (owners.size < Math.max(1, Math.round(domains / share))) {
    let title = name(faker)
    for (let tries = 0; tries < TRIES && owners.has(labelOf(title)); tries++) title = name(faker)
    if (owners.has(labelOf(title))) title = `${title} ${owners.size}`
    const label = labelOf(title)
    owners.set(label, { title, label, suffix: faker.helpers.arrayElement(SUFFIXES), rank: owners.size })
  }
  return [...owners.values()]
}

function nameOfPerson(faker: Faker): string {
  return faker.datatype.boolean() ? faker.person.lastName() : faker.location.city()
}

function labelOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll("'", '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '')
}

function inventDomain(faker: Faker, owners: readonly Owner[], names: Set<string>): InventedDomain {
  const profile = drawProfile(faker.number.int(999_999))
  const { owner, use, name } = inventName(faker, profile, owners, names)
  names.add(name)
  const since = BEGINNINGS[profile]
  const domain: FixtureDomain = {
    name,
    profile,
    added_at: `P${faker.number.int({ min: 150, max: 1500 })}D`,
    ...(since !== undefined && { since: `P${faker.number.int(since)}D` }),
    ...(use === HOME &&
      faker.number.int(99) < 15 && { features: [faker.helpers.arrayElement(['mta-sts', 'tls-rpt'])] }),
  }
  return { owner, use: titleOf(use), domain }
}

/** A free name of an owner that suits the profile. The main domain of an owner comes first. */
function inventName(faker: Faker, profile: ProfileName, owners: readonly Owner[], names: ReadonlySet<string>) {
  for (let tries = 0; ; tries++) {
    // A few owners have many domains, and most owners have few.
    const owner = owners[Math.floor(faker.number.float() * faker.number.float() * owners.length)] as Owner
    const number = tries < TRIES ? '' : `-${tries - TRIES + 2}`
    const nameFor = (use: string) => `${use.replace('*', owner.label + number)}.${owner.suffix}`
    const isFirst = profile !== 'parked' && !names.has(`${owner.label}.${owner.suffix}`)
    const uses = isFirst ? [HOME] : faker.helpers.shuffle(USES[profile])
    const use = uses.find((each) => !names.has(nameFor(each)))
    if (use !== undefined) return { owner, use, name: nameFor(use) }
  }
}

function titleOf(use: string): string {
  if (use === HOME) return 'Main domains'
  return use.endsWith('.*') ? `${use.charAt(0).toUpperCase()}${use.slice(1, -2)}` : 'Parked'
}

/** Groups by owner and by use, the largest first. If these are too few, batches of domains follow. */
function makeGroups(made: readonly InventedDomain[], count: number): { name: string; domains: readonly string[] }[] {
  const members = new Map<string, string[]>()
  for (const { owner, use, domain } of made) {
    for (const title of [owner.title, use]) {
      const group = members.get(title) ?? []
      if (group.length < GROUP_SIZE) group.push(domain.name)
      members.set(title, group)
    }
  }
  const fullest = [...members].toSorted(([, one], [, other]) => other.length - one.length)
  const batch = Math.ceil(made.length / Math.max(1, count - fullest.length))
  return Array.from({ length: count }, (_, index) => {
    const [name, domains] = fullest[index] ?? []
    if (name !== undefined && domains !== undefined) return { name, domains }
    const number = index - fullest.length
    const rest = made.slice(number * batch, (number + 1) * batch).map(({ domain }) => domain.name)
    return { name: `Batch ${number + 1}`, domains: rest }
  })
}

/** The text of a fixture for human readers and for diffs: one line for each key, domain and group. */
export function writeFixture(fixture: Fixture): string {
  const fields = Object.entries(fixture).map(([name, value]) => {
    if (!Array.isArray(value) || value.length === 0) return `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`
    return `  ${JSON.stringify(name)}: [\n${value.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}
