import { expect } from 'vitest'
import { type Fixture, type FixtureDomain, fixtureOf } from './fixtures.ts'
import { type AccountOfPool, BEGINNING, keptForm, secretOf } from './pool.ts'

export interface Group {
  id: string
  name: string
  domains: readonly string[]
}

export interface Domain {
  addedAt: number
  /** Monitoring features that use it. */
  features: readonly string[]
  /** Fixed fields of its record. */
  pin?: Pin
  /** What was said about the domain itself. It stays when the domain is removed. */
  nature?: Nature
}

export interface Nature {
  profile?: string
  /** The day on which the story of the profile began, as an instant. */
  since?: string
  /** Tags that it publishes. */
  policy?: Pin
}

export type Pin = Readonly<Record<string, unknown>>

export interface Key {
  id: string
  label: string | null
  createdAt: number
  disabled: boolean
}

export interface Fault {
  /** Empty until the service told. */
  id: string
  createdAt: number
  rule: FaultRule
  matched: number
  hits: number
}

export interface FaultRule {
  match?: { operation?: string; method?: string; path?: string; key?: string }
  skip?: number
  times?: number
  phase?: 'before' | 'after'
  respond: { error: string; status?: number }
  expires_after?: string
}

/** What an account was made of. */
export interface Origin {
  fixture: Fixture
  /** Of a ready-made fixture. */
  name: string | null
  seed?: number
  now?: string
  frozen?: boolean
  /** The secret of its first key. */
  key: string
}

/** All that a snapshot keeps. */
export interface Contents {
  origin: Origin
  plan: string
  seed: number
  createdAt: number
  clock: { ahead: number } | { frozenAt: number }
  /** By the value of the header Authorization. */
  keys: Map<string, Key>
  /** By the same and path. */
  windows: Map<string, { hour: number; used: number }>
  domains: Map<string, Domain>
  /** The natures of domains that were removed. */
  former: Map<string, Nature>
  /** Another one whenever the answer of GET /dmarc may be another one. */
  version: number
  groups: Group[]
  groupsCreated: number
  keysCreated: number
  faults: Fault[]
}

const DAY = 86_400_000
let versions = 0

/** A number for a state of domains that there was not before. */
export function nextVersion(): number {
  versions += 1
  return versions
}

/** One account as the specification has it. */
export class Account {
  readonly id: string
  contents: Contents
  readonly snapshots = new Map<string, { takenAt: number; contents: Contents }>()
  /** Ids of groups, of which some are no more. */
  readonly knownIds = new Set<string>()
  /** The last state that was exported. */
  exported: Fixture | undefined
  /** How often it began. */
  beginnings = 1
  /** How many requests were made with its keys since it began. */
  requests = 0

  constructor(id: string, pool: AccountOfPool) {
    this.id = id
    const { seed, ahead, keys } = pool
    const beginning = ahead === 0 ? {} : { now: instant(BEGINNING + ahead) }
    const key = secretOf(keys[0].name)
    this.contents = beginAnew({ fixture: fixtureOf(pool), name: null, seed, key, ...beginning }, BEGINNING)
  }

  get hasAccess(): boolean {
    return this.contents.plan !== 'below-stone'
  }

  get keys(): Contents['keys'] {
    return this.contents.keys
  }

  get domains(): Contents['domains'] {
    return this.contents.domains
  }

  get groups(): Group[] {
    return this.contents.groups
  }

  get formerIds(): string[] {
    return [...this.knownIds].filter((id) => this.groups.every((group) => group.id !== id))
  }

  get frozen(): boolean {
    return 'frozenAt' in this.contents.clock
  }

  /** What the account's clock shows while the machine's shows `machine`. */
  clock(machine: number): number {
    const { clock } = this.contents
    return 'frozenAt' in clock ? clock.frozenAt : machine + clock.ahead
  }

  setClock(now: number, frozen: boolean, machine: number): void {
    this.contents.clock = frozen ? { frozenAt: now } : { ahead: now - machine }
  }

  /** Gives a group that was created the id that the service chose: always another one, and the same once more. */
  nameGroup(group: Group, id: string, chosen: Map<string, string[]>): void {
    const source = `${this.id} ${this.contents.seed}`
    const ids = chosen.get(source) ?? []
    chosen.set(source, ids)
    const ordinal = this.contents.groupsCreated++
    expect(id).toMatch(/^[0-9A-Za-z]{8}$/)
    ids[ordinal] ??= id
    expect(ids[ordinal], `The id of group ${ordinal} of ${source}`).toBe(id)
    const others = [...chosen].flatMap(([other, given]) => (other === source ? [] : given))
    expect(others, 'Another account or seed gives the id').not.toContain(id)
    expect(ids.indexOf(id), `The id ${id} was used before`).toBe(ordinal)
    group.id = id
    this.knownIds.add(id)
  }
}

/** The contents of an account that begins. */
export function beginAnew(origin: Origin, machine: number): Contents {
  const { fixture } = origin
  const start = origin.now ?? fixture.clock?.now
  const now = start === undefined ? machine : Date.parse(start)
  const frozen = origin.frozen ?? fixture.clock?.frozen ?? false
  const own = { id: idOf(origin.key), label: null, createdAt: now - 30 * DAY, disabled: false }
  const later = [...keysOf(fixture, now)].filter(([key]) => key !== `Bearer ${origin.key}`)
  return {
    origin,
    plan: fixture.plan ?? 'stone',
    seed: origin.seed ?? fixture.seed ?? 42,
    createdAt: now,
    clock: frozen ? { frozenAt: now } : { ahead: now - machine },
    keys: new Map([[`Bearer ${origin.key}`, own], ...later]),
    windows: new Map(),
    ...monitored(fixture, now),
    keysCreated: 0,
    faults: [],
  }
}

/** The keys of a fixture that somebody can present. */
export function keysOf({ keys = [] }: Fixture, now: number): Map<string, Key> {
  return new Map(
    keys.flatMap(({ key, label = null, created_at = 'P30D', disabled = false }) =>
      key === undefined
        ? []
        : [[`Bearer ${key}`, { id: idOf(key), label, createdAt: moment(created_at, now), disabled }] as const],
    ),
  )
}

/** What a fixture says of domains and groups. The ids of its groups are open unless it has them. */
export function monitored(
  { domains = [], former_domains = [], groups = [], groups_created = 0 }: Fixture,
  now: number,
): Pick<Contents, 'domains' | 'former' | 'groups' | 'groupsCreated' | 'version'> {
  return {
    domains: new Map(
      domains.map((domain) => {
        const { name, added_at = 'P400D', features = [], record, ...rest } = asObject(domain)
        const nature = natureOf(rest, now)
        const added = { addedAt: moment(added_at, now), features }
        return [String(keptForm(name)), { ...added, ...(record && { pin: record }), ...(nature && { nature }) }]
      }),
    ),
    former: new Map(
      former_domains.flatMap(({ name, ...rest }) => {
        const nature = natureOf(rest, now)
        return nature === undefined ? [] : [[String(keptForm(name)), nature] as const]
      }),
    ),
    groups: groups.map(({ id = '', name, domains: members = [] }) => {
      return { id, name, domains: [...new Set(members.map((member) => String(keptForm(member))))] }
    }),
    groupsCreated: groups_created,
    version: nextVersion(),
  }
}

function asObject(domain: string | FixtureDomain): FixtureDomain {
  return typeof domain === 'string' ? { name: domain } : domain
}

function natureOf({ profile, since, policy }: Omit<FixtureDomain, 'name'>, now: number): Nature | undefined {
  const nature = {
    ...(profile !== undefined && { profile, since: beginning(profile, now) }),
    ...(since !== undefined && { since: instant(startOfDay(moment(since, now))) }),
    ...(policy !== undefined && { policy }),
  }
  return Object.keys(nature).length === 0 ? undefined : nature
}

/** How many days before it is chosen the story of a profile began. */
const AGES: Readonly<Record<string, number>> = { 'rolling-out': 30, 'new-esp': 10, spoofed: 7, new: 5 }

/** "When the story of its profile began; by default some days ago." */
export function beginning(profile: string, now: number): string {
  return instant(startOfDay(now) - (AGES[profile] ?? 0) * DAY)
}

function startOfDay(time: number): number {
  return Math.floor(time / DAY) * DAY
}

/** The part of a key that is safe to show. */
export function idOf(secret: string): string {
  return secret.slice(0, 'key_00000000'.length)
}

export function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}

function moment(text: string, now: number): number {
  const days = /^P(\d+)D$/.exec(text)?.[1]
  return days === undefined ? Date.parse(text) : now - Number(days) * DAY
}
