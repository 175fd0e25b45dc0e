import type { Contract } from '../contract/contract.ts'
import {
  type AccountOrigin,
  type AccountState,
  DEFAULT_SEED,
  type DomainNature,
  type MonitoredDomain,
} from '../domain/account.ts'
import { clockAt } from '../domain/clock.ts'
import { firstRefresh, refreshDay } from '../domain/dmarc.ts'
import { faultId } from '../domain/faults.ts'
import type { Fixture, FixtureNature } from '../domain/fixture.ts'
import { givenFields } from '../domain/given-fields.ts'
import type { IdFormat } from '../domain/group-ids.ts'
import { nameProblems } from '../domain/group-names.ts'
import { createGroup, membersBeside } from '../domain/groups.ts'
import { ImmutableMap, OrderedMap } from '../domain/immutable.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Settings } from '../domain/settings.ts'
import { usualBeginning } from '../figures/profiles.ts'
import { deriveKey, identityOf } from '../ground/secrets.ts'
import { show } from '../ground/show.ts'
import { RealDate } from '../ground/timers.ts'
import { encodeAccount } from '../store/record.ts'
import { errorIn, type LoadedFixture, loadFixture, readMoment } from './fixture.ts'
import { type FixtureContents, readContents } from './fixture-contents.ts'
import { createKeys } from './fixture-keys.ts'
import { because, findContradiction } from './validation.ts'

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
  const { settings } = contract
  const { id, real } = parameters
  const seed = parameters.seed ?? fixture.seed ?? DEFAULT_SEED
  const start = parameters.now ?? fixture.clock?.now
  const now = start === undefined ? real : RealDate.parse(start)
  const created = parameters.countedFrom === undefined ? now : RealDate.parse(parameters.countedFrom)
  const plan = parameters.plan ?? fixture.plan ?? settings.plans.lowest
  if (!settings.plans.order.includes(plan)) {
    throw errorIn(fixture, '/plan', `There is no plan ${plan}; there are ${settings.plans.order.join(', ')}.`)
  }
  const contents = readContents(fixture, contract)
  const { apiKey = deriveKey(seed, id), faults = [] } = parameters
  const key = typeof apiKey === 'string' ? identityOf(apiKey) : apiKey
  const domains = contents.domains.map((domain): [string, MonitoredDomain] => [
    domain.name,
    createDomain(domain, { now, created }, settings),
  ])
  const ungrouped: AccountState = {
    id,
    plan,
    seed,
    origin: { fixture: contents.origin, ...originOf(parameters), key },
    createdAt: now,
    clock: clockAt(now, real, parameters.frozen ?? fixture.clock?.frozen ?? false),
    keys: createKeys(fixture, key, now),
    domains: OrderedMap(domains),
    groups: OrderedMap(),
    groupNames: ImmutableMap(),
    groupsCreated: 0,
    keysCreated: 0,
    faults: faults.map((fault, index) => ({ id: faultId(index + 1), createdAt: now, ...fault })),
    faultsCreated: faults.length,
  }
  const account = addGroups(ungrouped, fixture, contents, contract)
  // This check is not needed for the validated contract of the package: it permits everything that a fixture can say.
  if (!contract.document.validated) refuseContradiction(account, fixture, contract, real)
  return account
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
  const { fixture = await reloadFixture(first), ...parameters } = chosen
  // A new fixture does not use the moment that the durations of the old fixture were counted from.
  const moments = chosen.fixture === undefined ? {} : { countedFrom: undefined }
  const all = { ...rest, ...moments, ...givenFields(parameters), id, apiKey: key }
  return createAccount(fixture, all, contract)
}

const reloaded = new WeakMap<Fixture, LoadedFixture>()

async function reloadFixture(origin: AccountOrigin['fixture']): Promise<LoadedFixture> {
  if (typeof origin === 'string') return loadFixture(origin)
  // The cache returns the same object each time, because the contents of a fixture are remembered by its object.
  const fixture = reloaded.get(origin) ?? { ...origin, file: 'fixture', origin }
  reloaded.set(origin, fixture)
  return fixture
}

/** The choices that the account remembers for a reset. */
function originOf(parameters: AccountParameters): Omit<AccountOrigin, 'fixture' | 'key'> {
  const { seed, now, countedFrom, frozen, plan, faults = [] } = parameters
  return givenFields({ seed, now, countedFrom, frozen, plan, faults: faults.length === 0 ? undefined : faults })
}

/** In milliseconds: durations are subtracted from `created`, and `now` is the beginning of the account. */
function createDomain(
  domain: FixtureContents['domains'][number],
  { now, created }: { now: number; created: number },
  settings: Settings,
): MonitoredDomain {
  const { name, features = [], added_at = DOMAIN_AGE, record, record_since } = domain
  const monitored: MonitoredDomain = { name, addedAt: readMoment(added_at, created), features }
  if (settings.spelling === 'as-sent' && domain.spelling !== undefined) monitored.spelling = domain.spelling
  Object.assign(monitored, createNature(domain, created, settings))
  const shownFrom = Math.min(refreshDay(created, settings.refresh), firstRefresh(monitored, settings))
  if (shownFrom > refreshDay(now, settings.refresh)) monitored.shownFrom = shownFrom
  if (record !== undefined) monitored.pin = record
  if (record_since !== undefined) monitored.pinnedAt = readMoment(record_since, created)
  return monitored
}

function createNature(
  { profile, since, volume, policy }: FixtureNature,
  now: number,
  settings: Settings,
): DomainNature {
  const { refresh } = settings
  const nature: DomainNature = {}
  if (profile !== undefined) {
    nature.profile = profile
    // `readMoment` returns no instant before 1970.
    const first = refreshDay(LIMITS.firstInstant, refresh)
    nature.since = Math.max(first, usualBeginning(profile, refreshDay(now, refresh)))
  }
  if (since !== undefined) nature.since = refreshDay(readMoment(since, now), refresh)
  if (volume !== undefined) nature.volume = volume
  if (policy !== undefined) nature.policy = policy
  return nature
}

/** By reason, or without a reason by code: the rest of a sentence about the value, and the setting that decides. */
const GROUP_PROBLEMS: Readonly<Record<string, [text: string, setting?: string]>> = {
  duplicate_name: ['is the name of another group'],
  not_monitored: ['is not among the domains of this fixture'],
  grouped: ['is a member of another group', 'shared-domains'],
}

/** @throws FixtureError for an account that the overlays forbid. */
function refuseContradiction(account: AccountState, fixture: LoadedFixture, contract: Contract, real: number): void {
  const contradiction = findContradiction(encodeAccount(account), contract, real)
  if (contradiction === undefined) return
  const { pointer, reason } = contradiction
  const [, index = ''] = /^\/domains\/(\d+)/.exec(pointer) ?? []
  const entry = fixture.domains?.[Number(index)]
  const place = typeof entry === 'string' ? `/domains/${index}` : pinPlaceIn(pointer)
  throw errorIn(fixture, index === '' ? pointer : place, `The value ${reason}.`)
}

/** The place in a fixture of fixed values in an account. */
function pinPlaceIn(pointer: string): string {
  return pointer.replace(/^(\/domains\/\d+)\/pin/, '$1/record')
}

function addGroups(
  account: AccountState,
  fixture: LoadedFixture,
  { groups }: FixtureContents,
  { settings, groupIds, nameLimit }: Contract,
): AccountState {
  let state = account
  // A fixture may not move a domain from one group to another.
  const strict = settings.sharedDomains === 'moved' ? { ...settings, sharedDomains: 'refused' as const } : settings
  const members = membersBeside(undefined, state, strict)
  for (const [index, group] of groups.entries()) {
    const { id } = group
    if (id !== undefined && !isGroupId(id, groupIds)) {
      const remedy = `must be ${groupIds.length} characters of ${groupIds.alphabet}`
      throw errorIn(fixture, `/groups/${index}/id`, `${show(id)} ${remedy}.`)
    }
    if (id !== undefined && state.groups.has(id)) {
      throw errorIn(fixture, `/groups/${index}/id`, `"${id}" is the id of a group before it.`)
    }
    if ([...group.name].length > nameLimit) {
      const reason = `The value is ${show(group.name)} but must have at most ${nameLimit} characters (/components/schemas/DomainGroupName).`
      throw errorIn(fixture, `/groups/${index}/name`, reason)
    }
    if (nameProblems(group.name).length > 0) {
      throw errorIn(fixture, `/groups/${index}/name`, `${show(group.name)} is no name of a group.`)
    }
    const domains = readMembers(state, group.domains, fixture, `/groups/${index}/domains`)
    const decision = createGroup(state, { ...group, domains }, groupIds, strict, members)
    if (!decision.ok) {
      const [{ code, reason = code, field, value }] = decision.problems
      const [text = reason, setting] = GROUP_PROBLEMS[reason] ?? []
      throw errorIn(fixture, `/groups/${index}${field}`, `${show(value)} ${text}${because(setting, settings)}.`)
    }
    state = decision.state
    if (members !== undefined) for (const member of domains) members.add(member)
  }
  return { ...state, groupsCreated: Math.max(state.groupsCreated, fixture.groups_created ?? 0) }
}

/** The members of a group, each once. One member that is not monitored is enough for a refusal. @throws FixtureError */
function readMembers(
  { domains }: AccountState,
  given: readonly string[],
  fixture: LoadedFixture,
  pointer: string,
): string[] {
  const members = new Set<string>()
  for (let index = 0; index < given.length; index++) {
    const member = given[index] ?? ''
    if (!domains.has(member)) {
      throw errorIn(fixture, `${pointer}/${index}`, `${show(member)} ${GROUP_PROBLEMS['not_monitored']?.[0]}.`)
    }
    members.add(member)
  }
  return [...members]
}

function isGroupId(id: string, { alphabet, length }: IdFormat): boolean {
  return id.length === length && [...id].every((character) => alphabet.includes(character))
}
