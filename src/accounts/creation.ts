import type { Contract } from '../contract/contract.ts'
import { type AccountOrigin, type AccountState, DEFAULT_SEED, type MonitoredDomain } from '../domain/account.ts'
import { clockAt } from '../domain/clock.ts'
import { contradictionIn, firstRefresh, refreshDay } from '../domain/dmarc.ts'
import { faultId } from '../domain/faults.ts'
import type { Fixture, FixtureDomain } from '../domain/fixture.ts'
import { givenFields } from '../domain/given-fields.ts'
import type { GroupToCreate } from '../domain/groups.ts'
import { ImmutableMap, OrderedMap } from '../domain/immutable.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Settings } from '../domain/settings.ts'
import { usualBeginning } from '../figures/profiles.ts'
import { deriveKey, identityOf } from '../ground/secrets.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { encodeAccount } from '../store/record.ts'
import { checkScenes, createKeys, errorIn, type LoadedFixture, loadFixture, originOf, readMoment } from './fixture.ts'
import { findContradiction, placeGroups } from './validation.ts'

/** The age of a domain when its account is created, if the fixture does not give another. */
const DOMAIN_AGE = 'P400D'

/** The choices for a new account. Each one takes precedence over the fixture. */
export interface AccountParameters {
  id: string
  /** The time of the machine's clock, in milliseconds since the Unix epoch. */
  real: number
  seed?: number | undefined
  /** RFC 3339. */
  now?: string | undefined
  /** The instant that the durations of the fixture are subtracted from, in RFC 3339; by default `now`. */
  countedFrom?: string | undefined
  frozen?: boolean | undefined
  plan?: string | undefined
  /** The secret of the account's first key, or its id and hash; derived from the seed by default. */
  apiKey?: string | AccountOrigin['key'] | undefined
  faults?: AccountOrigin['faults'] | undefined
}

/** The account that a fixture describes, at the moment of its creation. @throws FixtureError for a broken rule. */
export function createAccount(fixture: LoadedFixture, parameters: AccountParameters, contract: Contract): AccountState {
  const { settings, document } = contract
  const { id, real, faults = [] } = parameters
  const seed = parameters.seed ?? fixture.seed ?? DEFAULT_SEED
  const start = parameters.now ?? fixture.clock?.now
  const now = start === undefined ? real : RealDate.parse(start)
  const created = parameters.countedFrom === undefined ? now : RealDate.parse(parameters.countedFrom)
  const plan = parameters.plan ?? fixture.plan ?? settings.plans.lowest
  if (!settings.plans.order.includes(plan)) {
    throw errorIn(fixture, '/plan', `There is no plan ${plan}; there are ${settings.plans.order.join(', ')}.`)
  }
  const contents = readContents(fixture, contract)
  const { apiKey = deriveKey(seed, id) } = parameters
  const key = typeof apiKey === 'string' ? identityOf(apiKey) : apiKey
  const ungrouped: AccountState = {
    id,
    plan,
    seed,
    origin: { fixture: contents.origin, ...choicesIn(parameters), key },
    createdAt: now,
    clock: clockAt(now, real, parameters.frozen ?? fixture.clock?.frozen ?? false),
    keys: createKeys(fixture, key, now),
    domains: OrderedMap(
      contents.domains.map((domain) => [domain.name, createDomain(domain, { now, created }, settings)] as const),
    ),
    groups: OrderedMap(),
    groupNames: ImmutableMap(),
    groupsCreated: 0,
    keysCreated: 0,
    faults: faults.map((fault, index) => ({ id: faultId(index + 1), createdAt: now, ...fault })),
    faultsCreated: faults.length,
  }
  const grouped = placeGroups(ungrouped, contents.groups, contract)
  if ('pointer' in grouped) throw errorIn(fixture, grouped.pointer, `The value ${grouped.reason}.`)
  const { groupsCreated } = grouped
  const account = { ...grouped, groupsCreated: Math.max(groupsCreated, fixture.groups_created ?? 0) }
  // This check is not needed for the contract of the package: it permits everything that a fixture can say.
  const problem = document.isChanged ? findContradiction(encodeAccount(account), contract, real) : undefined
  if (problem === undefined) return account
  throw errorIn(fixture, problem.pointer.replace(/^(\/domains\/\d+)\/pin/, '$1/record'), `The value ${problem.reason}.`)
}

/** The account as it was created. `chosen` takes precedence over the original choices. */
export async function recreateAccount(
  { id, origin }: AccountState,
  chosen: Pick<AccountParameters, 'real' | 'seed' | 'now' | 'frozen' | 'plan'> & {
    fixture?: LoadedFixture | undefined
  },
  contract: Contract,
): Promise<AccountState> {
  const { fixture: first, key, story: _, ...rest } = origin
  const { fixture, ...parameters } = chosen
  const former = typeof first === 'string' ? await loadFixture(first) : { ...first, origin: first }
  // A new fixture does not use the moment that the durations of the old fixture were counted from.
  const moments = fixture === undefined ? {} : { countedFrom: undefined }
  const all = { ...rest, ...moments, ...givenFields(parameters), id, apiKey: key }
  return createAccount(fixture ?? former, all, contract)
}

/** The choices that the account remembers for a reset. */
function choicesIn(parameters: AccountParameters): Omit<AccountOrigin, 'fixture' | 'key'> {
  const { seed, now, countedFrom, frozen, plan, faults = [] } = parameters
  return givenFields({ seed, now, countedFrom, frozen, plan, faults: faults.length === 0 ? undefined : faults })
}

/** The contents of a fixture for every account that is created from it. All domains are canonical and unique. */
interface FixtureContents {
  domains: readonly (FixtureDomain & { spelling?: string })[]
  groups: readonly GroupToCreate[]
  origin: AccountOrigin['fixture']
}

/** This is cached because thousands of accounts are created from the same few fixtures. */
const prepared = new WeakMap<Fixture, FixtureContents & Pick<Contract, 'canonicalHostname'>>()

/** Reads and checks the contents of a fixture, once for each fixture and contract. @throws FixtureError */
function readContents(fixture: LoadedFixture, { canonicalHostname }: Contract): FixtureContents {
  const known = prepared.get(fixture)
  if (known?.canonicalHostname === canonicalHostname) return known
  const names = new Set<string>()
  const domains = (fixture.domains ?? []).map((entry, index) => {
    const domain: FixtureDomain = typeof entry === 'string' ? { name: entry } : entry
    const pointer = `/domains/${index}`
    const place = typeof entry === 'string' ? pointer : `${pointer}/name`
    const name = canonicalHostname(domain.name)
    if (name === undefined) throw errorIn(fixture, place, `${show(domain.name)} is not a valid hostname.`)
    if (names.has(name)) throw errorIn(fixture, place, `${name} is named more than once.`)
    names.add(name)
    const contradiction = contradictionIn(domain.record ?? {})
    if (contradiction) throw errorIn(fixture, `${pointer}/record`, `The record ${contradiction}.`)
    return name === domain.name ? domain : { ...domain, name, spelling: domain.name }
  })
  const groups = (fixture.groups ?? []).map((group) => {
    return { ...group, domains: (group.domains ?? []).map((member) => canonicalHostname(member) ?? member) }
  })
  checkScenes(fixture)
  const contents = { domains, groups, origin: originOf(fixture), canonicalHostname }
  prepared.set(fixture, contents)
  return contents
}

/** In milliseconds: durations are subtracted from `created`, and `now` is the beginning of the account. */
function createDomain(
  domain: FixtureContents['domains'][number],
  { now, created }: { now: number; created: number },
  settings: Settings,
): MonitoredDomain {
  const { spelling, refresh } = settings
  const { name, features = [], added_at = DOMAIN_AGE, profile, since, volume, policy, record, record_since } = domain
  const monitored: MonitoredDomain = { name, addedAt: readMoment(added_at, created), features }
  if (spelling === 'as-sent' && domain.spelling !== undefined) monitored.spelling = domain.spelling
  if (profile !== undefined) {
    monitored.profile = profile
    // `readMoment` returns no instant before 1970.
    const first = refreshDay(LIMITS.firstInstant, refresh)
    monitored.since = Math.max(first, usualBeginning(profile, refreshDay(created, refresh)))
  }
  if (since !== undefined) monitored.since = refreshDay(readMoment(since, created), refresh)
  if (volume !== undefined) monitored.volume = volume
  if (policy !== undefined) monitored.policy = policy
  const shownFrom = Math.min(refreshDay(created, refresh), firstRefresh(monitored, settings))
  if (shownFrom > refreshDay(now, refresh)) monitored.shownFrom = shownFrom
  if (record !== undefined) monitored.pin = record
  if (record_since !== undefined) monitored.pinnedAt = readMoment(record_since, created)
  return monitored
}
