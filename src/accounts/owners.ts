import type { Faker } from '@faker-js/faker'

export const STORIES = ['company', 'agency', 'isp', 'random'] as const
export type StoryName = (typeof STORIES)[number]

export interface DomainPurpose {
  /** The name of a group of domains with this purpose. */
  title: string
  /** Patterns of hostnames, in which `*` stands for the owner's label. */
  names: readonly string[]
}

export const HOME: DomainPurpose = { title: 'Main domains', names: ['*'] }
export const PURPOSES = {
  office: { title: 'Staff mail', names: ['mail.*', 'office.*', 'team.*'] },
  news: { title: 'Newsletters', names: ['news.*', 'newsletter.*', 'mailing.*'] },
  campaign: { title: 'Campaigns', names: ['offers.*', 'club.*', '*-sale', '*-deals'] },
  shop: { title: 'Shops', names: ['shop.*', 'orders.*', 'store.*'] },
  service: { title: 'Customer service', names: ['support.*', 'help.*', 'service.*'] },
  billing: { title: 'Invoices', names: ['invoices.*', 'billing.*'] },
  people: { title: 'Careers', names: ['careers.*', 'jobs.*'] },
  web: { title: 'Web sites', names: ['www.*', 'blog.*'] },
  systems: { title: 'Notifications', names: ['status.*', 'alerts.*', 'notifications.*'] },
  members: { title: 'Forwarded mail', names: ['members.*', 'alumni.*', 'lists.*'] },
  booking: { title: 'Bookings', names: ['booking.*', 'tickets.*'] },
  parked: { title: 'Parked', names: ['*-online', 'get-*', '*-old', 'my-*'] },
} as const satisfies Record<string, DomainPurpose>

const { office, news, campaign, shop, service, billing, people, web, systems, members, booking, parked } = PURPOSES

/** A kind of owner: its names, the purposes of its domains, and its volume of mail. */
interface OwnerKind {
  /** The name of a group of the domains of such owners. */
  title: string
  name(faker: Faker): string
  purposes: readonly DomainPurpose[]
  /** Messages in an ordinary month of the main domain: the median, and the factor for a large owner. */
  volume: readonly [median: number, spread: number]
  /** Whether the owner has offices in several regions. */
  isInternational?: true
}

/** The owner of domains: a brand, a client, a customer. */
export interface Owner {
  title: string
  label: string
  region: string
  suffix: string
  kind: OwnerKind
  /** Messages in an ordinary month of its main domain. */
  size: number
}

/** These suffixes are reserved by RFC 2606 and RFC 6761, so no generated name belongs to a real domain. */
const SUFFIXES = ['example', 'test'] as const
export const REGIONS = ['Nordics', 'Benelux', 'Iberia', 'DACH', 'UK', 'USA', 'APAC', 'Alps'] as const

const BRANDS = words(`
  Alder Amber Arbor Aspen Bright Cedar Clear Coral Crest Delta Ember Fern Frost Glen Granite Harbour Haven Indigo Juniper
  Laurel Linden Lunar Maple Meridian North Opal Orchard Pebble Pine Quartz River Sage Silver Solar Summit Tide Vale
  Willow Winter`)
const ENDINGS = words('field works light craft bridge line port mill wood stone way forge')
const TRADES = words(
  'Bakery Bikes Carpentry Catering Dental Design Florist Garage Gardens Joinery Motors Optics Pharmacy Photo Physio Plumbing Printing Roofing Studio Travel',
)
const PROFESSIONS = words(
  'Architects Bakery Capital Consulting Dental Energy Foods Hotels Interiors Legal Logistics Motors Outdoor Pharma Properties Schools Studio Travel',
)
const SPORTS = ['Rowing Club', 'Football Club', 'Tennis Club', 'Choir', 'Chess Club', 'Cycling Club', 'Theatre Group']

const COMPANY: OwnerKind = {
  title: 'Brands',
  name: brandOf,
  purposes: [office, news, campaign, shop, service, billing, people, web, systems, members, booking, parked],
  volume: [20_000, 1],
  isInternational: true,
}
const CLIENT: OwnerKind = {
  title: 'Clients',
  name: (faker) => `${faker.person.lastName()} ${faker.helpers.arrayElement(PROFESSIONS)}`,
  purposes: [office, news, campaign, shop, service, billing, people, web, systems, booking, parked],
  volume: [4000, 12],
}
const FAMILY: OwnerKind = {
  title: 'Families',
  name: (faker) => {
    const [one, other] = faker.helpers.uniqueArray(() => faker.person.lastName(), 2)
    return faker.number.int(2) === 0 ? `${one} Family` : `${one} and ${other}`
  },
  purposes: [
    { title: 'Family mail', names: ['mail.*', 'post.*'] },
    { title: 'Web sites', names: ['photos.*', 'blog.*', 'www.*'] },
    { ...parked, names: ['*-home', '*-online'] },
  ],
  volume: [90, 4],
}
const CLUB: OwnerKind = {
  title: 'Clubs',
  name: (faker) => `${faker.location.city()} ${faker.helpers.arrayElement(SPORTS)}`,
  purposes: [news, members, booking, web, { ...parked, names: ['*-online', '*-old'] }],
  volume: [260, 5],
}
const BUSINESS: OwnerKind = {
  title: 'Small businesses',
  name: (faker) => {
    const place = faker.number.int(1) === 0 ? faker.person.lastName() : faker.location.city()
    return `${place} ${faker.helpers.arrayElement(TRADES)}`
  },
  purposes: [office, news, shop, booking, service, web, { ...parked, names: ['*-online', '*-old', 'my-*'] }],
  volume: [500, 8],
}

const KINDS: Readonly<Record<StoryName, readonly (readonly [kind: OwnerKind, weight: number])[]>> = {
  company: [[COMPANY, 1]],
  agency: [[CLIENT, 1]],
  isp: [
    [FAMILY, 45],
    [CLUB, 15],
    [BUSINESS, 40],
  ],
  random: [
    [COMPANY, 10],
    [CLIENT, 40],
    [BUSINESS, 30],
    [CLUB, 20],
  ],
}

/** The number of owners for a number of domains. */
const OWNERS: Readonly<Record<StoryName, (domains: number) => number>> = {
  company: (domains) => Math.round(Math.sqrt(domains) / 2),
  agency: (domains) => Math.round(domains / 6),
  isp: (domains) => Math.round(domains / 2),
  random: (domains) => Math.round(domains / 4),
}

/** The number of names that are tried for an owner. After that, a number is appended to the name. */
const TRIES = 50

/** Generates the owners of a number of domains, the most important first. */
export function inventOwners(faker: Faker, story: StoryName, domains: number): Owner[] {
  const count = Math.max(1, OWNERS[story](domains))
  const owners = new Map<string, Owner>()
  const parent = story === 'company' ? brandOf(faker) : undefined
  while (owners.size < count) {
    const kind = faker.helpers.weightedArrayElement(KINDS[story].map(([value, weight]) => ({ value, weight })))
    const name = () => (parent === undefined ? kind.name(faker) : brandBelow(faker, parent, owners.size))
    let title = name()
    for (let tries = 0; tries < TRIES && owners.has(labelOf(title)); tries++) title = name()
    // Only the largest accounts have more owners than there are names.
    if (owners.has(labelOf(title))) title = `${title} ${owners.size + 1}`
    const [median, spread] = kind.volume
    const factor = spread ** (2 * faker.number.float() - 1)
    owners.set(labelOf(title), {
      title,
      label: labelOf(title),
      region: faker.helpers.arrayElement(REGIONS),
      suffix: faker.number.int(99) < 70 ? SUFFIXES[0] : SUFFIXES[1],
      kind,
      // A company with more domains is larger, and its first brand is the largest.
      size: parent === undefined ? median * factor : (median + 600 * domains) / (owners.size + 1),
    })
  }
  return [...owners.values()]
}

function brandOf(faker: Faker): string {
  return `${faker.helpers.arrayElement(BRANDS)}${faker.helpers.arrayElement(ENDINGS)}`
}

/** A name for the parent itself, a division of it, or a brand that it has bought. */
function brandBelow(faker: Faker, parent: string, ordinal: number): string {
  if (ordinal === 0) return parent
  return faker.number.int(99) < 60 ? `${parent} ${faker.commerce.department()}` : brandOf(faker)
}

/** Converts a text to a label of a hostname. */
export function labelOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll("'", '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
