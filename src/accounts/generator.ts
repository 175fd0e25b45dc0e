import type { Faker } from '@faker-js/faker'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import type { ProfileName } from '../domain/profile.ts'
import { drawProfile } from '../figures/profiles.ts'

export const STORIES = ['company', 'agency', 'isp', 'random'] as const
type Story = (typeof STORIES)[number]

export interface GeneratorOptions {
  domains: number
  groups: number
  seed: number
  story: Story
  /** Called from time to time with the number of domains made so far. */
  onProgress?: (made: number) => void
}

/** The owner of domains: a brand, a client, a customer. */
interface Owner {
  title: string
  label: string
  region: string
  suffix: string
}

interface InventedDomain {
  owner: Owner
  /** The names of the groups that it could belong to. */
  titles: readonly string[]
  domain: FixtureDomain
}

interface Purpose {
  /** The name of a group of such domains. */
  title: string
  /** Patterns of hostnames, in which `*` stands for the owner's label. */
  names: readonly string[]
}

/** Reserved by RFC 2606 and RFC 6761, so that no name can be that of a real domain. */
const SUFFIXES = ['example', 'test', 'example.com', 'example.net', 'example.org'] as const
const REGIONS = [
  'Nordics',
  'Benelux',
  'Iberia',
  'DACH',
  'UK and Ireland',
  'North America',
  'Asia Pacific',
  'Alps',
] as const

const HOME: Purpose = { title: 'Main domains', names: ['*'] }
const PURPOSES = {
  office: { title: 'Staff mail', names: ['mail.*', 'office.*', 'hq.*', 'team.*'] },
  news: { title: 'Newsletters', names: ['news.*', 'mailing.*', 'letter.*'] },
  campaign: { title: 'Campaigns', names: ['*-sale', 'spring.*', '*-deals', 'club.*'] },
  shop: { title: 'Shops', names: ['shop.*', 'store.*', 'orders.*'] },
  service: { title: 'Customer service', names: ['support.*', 'help.*', 'tickets.*'] },
  billing: { title: 'Invoices', names: ['invoices.*', 'billing.*', 'accounts.*'] },
  people: { title: 'Careers', names: ['careers.*', 'jobs.*', 'people.*'] },
  alumni: { title: 'Forwarded mail', names: ['alumni.*', 'members.*', 'lists.*'] },
  parked: { title: 'Parked', names: ['*s', '*-online', 'my-*', 'get-*', '*-old', 'the-*'] },
} as const satisfies Record<string, Purpose>

/** What a domain of each profile is likely used for. */
const USES: Readonly<Record<ProfileName, readonly Purpose[]>> = {
  enforced: [HOME, PURPOSES.office, PURPOSES.shop, PURPOSES.billing, PURPOSES.service, PURPOSES.people],
  'rolling-out': [HOME, PURPOSES.office, PURPOSES.shop, PURPOSES.service],
  'monitoring-only': [HOME, PURPOSES.office, PURPOSES.news, PURPOSES.people, PURPOSES.service],
  'forwarding-heavy': [PURPOSES.alumni, PURPOSES.office],
  'broken-spf': [PURPOSES.news, PURPOSES.service, PURPOSES.shop],
  'broken-dkim': [PURPOSES.billing, PURPOSES.office, PURPOSES.service],
  'new-esp': [PURPOSES.campaign, PURPOSES.news],
  spoofed: [HOME, PURPOSES.billing],
  parked: [PURPOSES.parked],
  'no-record': [PURPOSES.parked, PURPOSES.people],
  new: [PURPOSES.campaign],
}

/** How many days ago the story of a profile began. */
const BEGINNINGS: Partial<Record<ProfileName, readonly [least: number, most: number]>> = {
  'rolling-out': [0, 120],
  'new-esp': [3, 45],
  spoofed: [2, 25],
}

const GROUP_SIZE = 500

/** How many owners share so many domains. */
const OWNERS: Readonly<Record<Story, (domains: number) => number>> = {
  company: (domains) => Math.max(1, Math.round(Math.sqrt(domains) / 2)),
  agency: (domains) => Math.max(1, Math.round(domains / 6)),
  isp: (domains) => Math.max(1, Math.round(domains / 2)),
  random: (domains) => Math.max(1, Math.round(domains / 3)),
}

/**
 * Invents an account that looks like a real one, with reserved names only. The same options give the same fixture. The
 * shares of the profiles are the published ones, see `POLICY_SHARES`.
 */
export async function generateFixture(options: GeneratorOptions): Promise<Fixture> {
  const { domains: wanted, groups, seed, story, onProgress } = options
  const { faker } = await import('@faker-js/faker/locale/en')
  faker.seed(seed)
  const owners = inventOwners(faker, story, OWNERS[story](wanted))
  const names = new Set<string>()
  const made: InventedDomain[] = []
  while (made.length < wanted) {
    const profile = drawProfile(faker.number.int(999_999))
    const owner = pickOwner(faker, owners)
    const region = story === 'company' ? faker.helpers.arrayElement(REGIONS) : owner.region
    const uses = USES[profile]
    // An owner gets the main domain before any other.
    const fresh = uses[0] !== PURPOSES.parked && !names.has(`${owner.label}.${owner.suffix}`)
    const purpose = fresh ? HOME : faker.helpers.arrayElement(uses)
    const name = inventName(faker, owner, region, purpose, names)
    names.add(name)
    const titles = [owner.title, purpose.title, region]
    made.push({ owner, titles, domain: inventDomain(faker, name, profile, purpose) })
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

function inventOwners(faker: Faker, story: Story, count: number): Owner[] {
  const owners = new Map<string, Owner>()
  while (owners.size < count) {
    const title = inventTitle(faker, story)
    const plain = labelOf(title)
    const label = owners.has(plain) ? `${plain}-${owners.size + 1}` : plain
    owners.set(label, {
      title: label === plain ? title : `${title} ${owners.size + 1}`,
      label,
      region: faker.helpers.arrayElement(REGIONS),
      suffix: faker.helpers.weightedArrayElement(
        SUFFIXES.map((value, index) => ({ value, weight: [60, 25, 6, 5, 4][index] ?? 1 })),
      ),
    })
  }
  return [...owners.values()]
}

function inventTitle(faker: Faker, story: Story): string {
  const surname = faker.person.lastName()
  switch (story) {
    case 'company':
      return `${capital(faker.word.noun({ length: { min: 4, max: 7 } }))}${faker.helpers.arrayElement(['light', 'ware', 'works', 'wave', 'field', 'craft'])}`
    case 'agency':
      return `${surname} ${faker.helpers.arrayElement(['Bakery', 'Legal', 'Dental', 'Motors', 'Travel', 'Interiors', 'Foods', 'Capital', 'Studio', 'Energy'])}`
    case 'isp':
      return faker.helpers.arrayElement([
        `${surname} Family`,
        `${faker.location.city()} Sports Club`,
        `${surname} Photo`,
        `${surname} and Sons`,
      ])
    case 'random':
      return `${capital(faker.word.adjective({ length: { min: 4, max: 8 } }))} ${capital(faker.word.noun({ length: { min: 3, max: 8 } }))}`
  }
}

/** A few owners have many domains, and most owners have few. */
function pickOwner(faker: Faker, owners: readonly Owner[]): Owner {
  const skewed = faker.number.float() * faker.number.float()
  const owner = owners[Math.floor(skewed * owners.length)] ?? owners[0]
  if (owner === undefined) throw new Error('There is at least one owner.')
  return owner
}

function inventName(
  faker: Faker,
  { label, suffix }: Owner,
  region: string,
  purpose: Purpose,
  taken: ReadonlySet<string>,
): string {
  const pattern = faker.helpers.arrayElement(purpose.names)
  const tries = [
    label,
    `${label}-${labelOf(region)}`,
    ...faker.helpers.shuffle(REGIONS).map((each) => `${label}-${labelOf(each)}`),
  ].map((base) => `${pattern.replace('*', base)}.${suffix}`)
  const free = tries.find((name) => !taken.has(name))
  if (free !== undefined) return free
  for (let number = 2; ; number++) {
    const name = `${pattern.replace('*', `${label}${number}`)}.${suffix}`
    if (!taken.has(name)) return name
  }
}

function inventDomain(faker: Faker, name: string, profile: ProfileName, purpose: Purpose): FixtureDomain {
  const beginning = BEGINNINGS[profile]
  const inUse = (purpose === HOME || purpose === PURPOSES.office) && profile !== 'no-record' && faker.number.int(99) < 8
  return {
    name,
    profile,
    added_at: `P${faker.number.int({ min: 150, max: 1500 })}D`,
    ...(beginning !== undefined && { since: `P${faker.number.int({ min: beginning[0], max: beginning[1] })}D` }),
    ...(inUse && { features: [faker.helpers.arrayElement(['mta-sts', 'tls-rpt'])] }),
  }
}

/** Groups by owner, purpose and region, the largest first. When there are not enough of them, batches of domains follow. */
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

function labelOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

/** A fixture as text that people can read and compare: one line for each key, domain and group. */
export function writeFixture(fixture: Fixture): string {
  const fields = Object.entries(fixture).map(([name, value]) => {
    if (!Array.isArray(value) || value.length === 0) return `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`
    return `  ${JSON.stringify(name)}: [\n${value.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
  })
  return `{\n${fields.join(',\n')}\n}\n`
}
