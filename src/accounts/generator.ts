import type { Faker } from '@faker-js/faker'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
import { drawProfile } from '../figures/profiles.ts'
import { usualVolume } from '../figures/volume.ts'
import {
  type DomainPurpose,
  HOME,
  inventOwners,
  labelOf,
  type Owner,
  PURPOSES,
  REGIONS,
  type StoryName,
} from './owners.ts'

export interface GeneratorOptions {
  domains: number
  groups: number
  seed: number
  story: StoryName
  /** Called at intervals with the number of domains that exist so far. */
  onProgress?: (made: number) => void
}

interface InventedDomain {
  owner: Owner
  /** The names of the groups that the domain could belong to. */
  titles: readonly string[]
  domain: FixtureDomain
}

const { office, news, campaign, shop, service, billing, people, web, systems, members, booking, parked } = PURPOSES

/** The probable purposes of a domain with each profile. */
const USES: Readonly<Record<ProfileName, readonly DomainPurpose[]>> = {
  enforced: [HOME, office, shop, billing, service, people, web, systems],
  'rolling-out': [HOME, office, shop, service],
  'monitoring-only': [HOME, office, news, people, service, booking],
  'forwarding-heavy': [members, office],
  'broken-spf': [news, service, shop],
  'broken-dkim': [billing, office, service],
  'new-esp': [campaign, news],
  spoofed: [HOME, billing],
  parked: [parked],
  'no-record': [web, people, booking],
  new: [campaign],
}

/** The number of days since the beginning of a profile's history. */
const BEGINNINGS: Partial<Record<ProfileName, readonly [least: number, most: number]>> = {
  'rolling-out': [0, 120],
  'new-esp': [3, 45],
  spoofed: [2, 25],
}

const GROUP_SIZE = 500

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
  const made: InventedDomain[] = []
  while (made.length < wanted) {
    const profile = drawProfile(faker.number.int(999_999))
    made.push(inventDomain(faker, profile, () => pickOwner(faker, owners, story), names, seed))
    if (made.length % 500 === 0) onProgress?.(made.length)
  }
  const place = new Map(owners.map((owner, index) => [owner, index]))
  made.sort((one, other) => (place.get(one.owner) ?? 0) - (place.get(other.owner) ?? 0))
  return {
    title: `${story}, ${wanted} domains`,
    description: `Made by dmarc-understudy fixture --story ${story} --domains ${wanted} --groups ${groups} --seed ${seed}`,
    seed,
    domains: made.map(({ domain }) => domain),
    groups: makeGroups(made, groups),
  }
}

/** A few owners have many domains, and most owners have few. Customers of a provider all have about the same number. */
function pickOwner(faker: Faker, owners: readonly Owner[], story: StoryName): Owner {
  const skewed = faker.number.float() * (story === 'isp' ? 1 : faker.number.float())
  const owner = owners[Math.floor(skewed * owners.length)] ?? owners[0]
  if (owner === undefined) throw new Error('There is at least one owner.')
  return owner
}

/** The number of owners that are tried for a free name. After that, a name with a number is used. */
const TRIES = 20

function inventDomain(
  faker: Faker,
  profile: ProfileName,
  pick: () => Owner,
  names: Set<string>,
  seed: number,
): InventedDomain {
  let { owner, region, purpose, name } = inventName(faker, profile, pick(), names)
  for (let tries = 1; name === undefined && tries < TRIES; tries++) {
    ;({ owner, region, purpose, name } = inventName(faker, profile, pick(), names))
  }
  const free = name ?? numberedName(owner, purpose, names)
  names.add(free)
  const beginning = BEGINNINGS[profile]
  const isOffice = purpose === HOME || purpose === office
  const inUse = isOffice && profile !== 'no-record' && faker.number.int(99) < 8
  const { monthly } = usualVolume(free, seed, faker.number.int(0xffffffff), owner.size)
  const domain: FixtureDomain = {
    name: free,
    profile,
    added_at: `P${faker.number.int({ min: 150, max: 1500 })}D`,
    ...(beginning !== undefined && { since: `P${faker.number.int({ min: beginning[0], max: beginning[1] })}D` }),
    ...(profile !== 'parked' && { volume: Math.ceil(monthly) }),
    ...(inUse && { features: [faker.helpers.arrayElement(['mta-sts', 'tls-rpt'])] }),
  }
  return { owner, titles: [owner.title, purpose.title, owner.kind.isInternational ? region : owner.kind.title], domain }
}

interface InventedName {
  owner: Owner
  region: string
  purpose: DomainPurpose
  /** Absent if the owner has a domain of each name already. */
  name: string | undefined
}

/** A free name that suits the profile, or else any purpose of the owner, whose main domain is used first. */
function inventName(faker: Faker, profile: ProfileName, owner: Owner, names: ReadonlySet<string>): InventedName {
  const region = owner.kind.isInternational ? faker.helpers.arrayElement(REGIONS) : owner.region
  let first: DomainPurpose | undefined
  for (const purpose of purposesOf(faker, profile, owner, names)) {
    first ??= purpose
    const name = namesFor(faker, owner, region, purpose).find((each) => !names.has(each))
    if (name !== undefined) return { owner, region, purpose, name }
  }
  return { owner, region, purpose: first ?? HOME, name: undefined }
}

function purposesOf(faker: Faker, profile: ProfileName, owner: Owner, names: ReadonlySet<string>): DomainPurpose[] {
  const isParked = ({ title }: DomainPurpose) => title === parked.title
  const possible = owner.kind.purposes.filter((purpose) => isParked(purpose) === (profile === 'parked'))
  const suits = ({ title }: DomainPurpose) => USES[profile].some((use) => use.title === title)
  const suitable = faker.helpers.shuffle(possible.filter(suits))
  const others = faker.helpers.shuffle(possible.filter((purpose) => !suits(purpose)))
  const isFirst = profile !== 'parked' && !names.has(`${owner.label}.${owner.suffix}`)
  return [...(isFirst ? [HOME] : []), ...suitable, ...others]
}

function namesFor(faker: Faker, { label, suffix, kind }: Owner, region: string, { names }: DomainPurpose): string[] {
  const patterns = faker.helpers.shuffle(names)
  const bases = kind.isInternational ? [label, `${label}-${labelOf(region)}`] : [label]
  return bases.flatMap((base) => patterns.map((pattern) => `${pattern.replace('*', base)}.${suffix}`))
}

/** Returns `mail2.name`, or `name-2-online` if the purpose is no subdomain. */
function numberedName(
  { label, suffix }: Owner,
  { names: [pattern = '*'] }: DomainPurpose,
  taken: ReadonlySet<string>,
): string {
  for (let number = 2; ; number++) {
    const name = pattern.includes('.')
      ? `${pattern.replace('.*', `${number}.${label}`)}.${suffix}`
      : `${pattern.replace('*', `${label}-${number}`)}.${suffix}`
    if (!taken.has(name)) return name
  }
}

/** Groups by owner, purpose and region, the largest first. If these are too few, batches of domains follow. */
function makeGroups(made: readonly InventedDomain[], count: number): { name: string; domains: readonly string[] }[] {
  const members = new Map<string, string[]>()
  for (const { titles, domain } of made) {
    for (const title of titles) {
      const group = members.get(title) ?? []
      if (group.length < GROUP_SIZE) group.push(domain.name)
      members.set(title, group)
    }
  }
  const different = new Map([...members].map(([name, domains]) => [domains.join(), { name, domains }]))
  const fullest = [...different.values()].toSorted((one, other) => other.domains.length - one.domains.length)
  const batch = Math.ceil(made.length / Math.max(1, count - fullest.length))
  return Array.from({ length: count }, (_, index) => {
    const number = index - fullest.length
    const rest = made.slice(number * batch, (number + 1) * batch).map(({ domain }) => domain.name)
    return fullest[index] ?? { name: `Batch ${number + 1}`, domains: rest }
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
