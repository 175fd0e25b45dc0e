import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AccountOrigin, AccountState, MonitoredDomain } from '../domain/account.ts'
import { clockAt } from '../domain/clock.ts'
import { contradictionIn, refreshDay } from '../domain/dmarc.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { faultId } from '../domain/faults.ts'
import type { Fixture, FixtureDomain, FixtureKey } from '../domain/fixture.ts'
import type { GroupIds, IdFormat } from '../domain/group-ids.ts'
import { createGroup } from '../domain/groups.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import type { ApiKey } from '../domain/keys.ts'
import { PersistentMap } from '../domain/persistent-map.ts'
import type { Settings } from '../domain/settings.ts'
import { findFault } from '../ground/schema.ts'
import { deriveKey, hashKey, identify, identityOf } from '../ground/secrets.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/')
/** How long before the account's creation its keys and domains were made, unless the fixture says otherwise. */
const KEY_AGE = 'P30D'
const DOMAIN_AGE = 'P400D'
/** Of an account for which nobody chose one. */
export const DEFAULT_SEED = 42

/** The fixtures that come with the package. */
export const FIXTURE_NAMES = ['demo', 'empty', 'edge-cases', 'agency'] as const

/** The ready-made fixture of this name. */
export type FixtureName = (typeof FIXTURE_NAMES)[number]

/** A fixture, and where it came from. */
export interface LoadedFixture extends Fixture {
  /** Under which name errors speak of it. */
  file?: string
  /** What accounts made of it remember; by default, all of it but the secrets. */
  origin?: AccountOrigin['fixture']
}

/** A fixture that cannot be used: file, JSON pointer and reason in one sentence. */
export class FixtureError extends Error {
  override name = 'FixtureError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}

/** What makes an account lawful; the contract says it. */
export interface AccountRules {
  settings: Settings
  groupIds: GroupIds
  canonicalHostname(text: string): string | undefined
}

/** What a new account is given beside its fixture; each goes before what the fixture says. */
export interface AccountBirth {
  id: string
  /** What the machine's clock shows, in milliseconds since the Unix epoch. */
  real: number
  seed?: number | undefined
  /** RFC 3339. */
  now?: string | undefined
  frozen?: boolean | undefined
  plan?: string | undefined
  /** The secret of the account's first key, or what is kept of it; derived from the seed by default. */
  apiKey?: string | AccountOrigin['key'] | undefined
  faults?: AccountOrigin['faults'] | undefined
}

let fixtureSchema: Promise<object> | undefined
const readyFixtures = new Map<FixtureName, Promise<LoadedFixture>>()

/**
 * Takes a ready-made fixture by name, a file by path, or a fixture as it is; and checks it. `file` is under which name
 * errors speak of the latter. @throws FixtureError
 */
export async function loadFixture(source: string | Fixture, file = 'fixture'): Promise<LoadedFixture> {
  if (typeof source !== 'string') return checkFixture(source, file)
  const ready = FIXTURE_NAMES.find((name) => name === source)
  if (ready === undefined) return checkFixture(parseFixture(readSource(source, source), source), source)
  const known = readyFixtures.get(ready) ?? loadReady(ready)
  readyFixtures.set(ready, known)
  return known
}

async function loadReady(ready: FixtureName): Promise<LoadedFixture> {
  const file = `fixtures/${ready}.json`
  // A test has proved those that come with the package; compiling the schema would cost more than reading them.
  return {
    ...(parseFixture(readSource(`${FOLDER}${ready}.json`, file), file) as Fixture),
    file,
    origin: ready,
  }
}

function parseFixture(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new FixtureError(file, '', `This is not valid JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}.`)
  }
}

function readSource(path: string, file: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = `give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file`
    throw new FixtureError(file, '', `The fixture cannot be read (${code}); ${remedy}.`)
  }
}

async function checkFixture(fixture: unknown, file: string): Promise<LoadedFixture> {
  // Read once: compiling it costs more than all the rest of a start.
  fixtureSchema ??= readFile(`${FOLDER}fixture.schema.json`, 'utf8').then((text) => JSON.parse(text) as object)
  const fault = await findFault(await fixtureSchema, fixture)
  if (fault) throw new FixtureError(file, fault.pointer, `The value ${fault.reason}.`)
  return { ...(fixture as Fixture), file }
}

/** The account that a fixture describes, at the moment of its creation. @throws FixtureError for what breaks a rule. */
export function createAccount(fixture: LoadedFixture, birth: AccountBirth, rules: AccountRules): AccountState {
  const { settings } = rules
  const seed = birth.seed ?? fixture.seed ?? DEFAULT_SEED
  const start = birth.now ?? fixture.clock?.now
  const now = start === undefined ? birth.real : Date.parse(start)
  const plan = birth.plan ?? fixture.plan ?? settings.plans.lowest
  if (!settings.plans.order.includes(plan)) {
    throw failure(fixture, '/plan', `There is no plan ${plan}; there are ${settings.plans.order.join(', ')}.`)
  }
  const { contents, origin } = prepareFixture(fixture, rules)
  const { apiKey = deriveKey(seed, birth.id), faults = [] } = birth
  const key = typeof apiKey === 'string' ? identityOf(apiKey) : apiKey
  const empty: AccountState = {
    id: birth.id,
    plan,
    seed,
    origin: { fixture: origin, ...chosen(birth), key },
    createdAt: now,
    clock: clockAt(now, birth.real, birth.frozen ?? fixture.clock?.frozen ?? false),
    keys: keysOf(fixture, key, now),
    domains: PersistentMap.of(
      contents.domains.map((domain) => [domain.name, domainAt(domain, now, settings)] as const),
    ),
    groups: PersistentMap.of(),
    groupNames: PersistentMap.of(),
    groupsCreated: 0,
    keysCreated: 0,
    faults: faults.map((fault, index) => ({ id: faultId(index + 1), createdAt: now, ...fault })),
    faultsCreated: faults.length,
  }
  return withGroups(empty, fixture, contents, rules)
}

/** The account once more, as it was born; `chosen` goes before what was chosen then. */
export async function recreateAccount(
  { id, origin }: AccountState,
  chosen: Pick<AccountBirth, 'real' | 'seed' | 'now' | 'frozen' | 'plan'> & { fixture?: LoadedFixture | undefined },
  rules: AccountRules,
): Promise<AccountState> {
  const { fixture: first, key, ...rest } = origin
  const { fixture = await reloadFixture(first), ...given } = chosen
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return createAccount(fixture, { ...rest, real: chosen.real, ...known, id, apiKey: key }, rules)
}

const reloaded = new WeakMap<Fixture, LoadedFixture>()

async function reloadFixture(origin: AccountOrigin['fixture']): Promise<LoadedFixture> {
  if (typeof origin === 'string') return loadFixture(origin)
  // The same object each time, because its preparation is remembered by it.
  const fixture = reloaded.get(origin) ?? { ...origin, file: 'fixture', origin }
  reloaded.set(origin, fixture)
  return fixture
}

function chosen({ seed, now, frozen, plan, faults }: AccountBirth): Omit<AccountOrigin, 'fixture' | 'key'> {
  return {
    ...(seed !== undefined && { seed }),
    ...(now !== undefined && { now }),
    ...(frozen !== undefined && { frozen }),
    ...(plan !== undefined && { plan }),
    ...(faults !== undefined && faults.length > 0 && { faults }),
  }
}

/** What a fixture says of any account that is made of it, checked once. */
interface PreparedFixture {
  rules: AccountRules
  contents: Contents
  /** What accounts remember of it: its name, or all of it but the secrets. */
  origin: AccountOrigin['fixture']
}

interface Contents {
  domains: readonly FixtureDomain[]
  groups: readonly { id?: string; name: string; domains: readonly string[] }[]
}

const prepared = new WeakMap<Fixture, PreparedFixture>()

function prepareFixture(fixture: LoadedFixture, rules: AccountRules): PreparedFixture {
  const ready = prepared.get(fixture)
  if (ready?.rules === rules) return ready
  const { file: _, origin: known, ...document } = fixture
  const origin = known ?? { ...document, ...(document.keys && { keys: document.keys.map(withoutSecret) }) }
  const fresh = { rules, contents: contentsOf(fixture, rules), origin }
  prepared.set(fixture, fresh)
  return fresh
}

function contentsOf(fixture: LoadedFixture, { canonicalHostname }: AccountRules): Contents {
  const seen = new Set<string>()
  const domains = (fixture.domains ?? []).map((entry, index) => {
    const domain: FixtureDomain = typeof entry === 'string' ? { name: entry } : entry
    const pointer = `/domains/${index}`
    const name = canonicalHostname(domain.name)
    const place = typeof entry === 'string' ? pointer : `${pointer}/name`
    if (name === undefined) throw failure(fixture, place, `${JSON.stringify(domain.name)} is not a valid hostname.`)
    if (seen.has(name)) throw failure(fixture, place, `${name} is named more than once.`)
    seen.add(name)
    const contradiction = contradictionIn(domain.record ?? {})
    if (contradiction) throw failure(fixture, `${pointer}/record`, `The record ${contradiction}.`)
    return { ...domain, name }
  })
  const groups = (fixture.groups ?? []).map((group) => {
    return { ...group, domains: (group.domains ?? []).map((member) => canonicalHostname(member) ?? member) }
  })
  return { domains, groups }
}

/** A key that an account comes with: old enough to have left its grace period. `now` in milliseconds. */
export function establishedKey(identity: AccountOrigin['key'], now: number): ApiKey {
  return { ...identity, createdAt: momentBefore(now, KEY_AGE), disabled: false }
}

function withoutSecret({ key, ...rest }: FixtureKey): FixtureKey {
  return key === undefined ? rest : { ...rest, ...identityOf(key) }
}

function keysOf(fixture: LoadedFixture, own: AccountOrigin['key'], now: number): ApiKey[] {
  const keys = new Map<string, ApiKey>()
  for (const [index, entry] of (fixture.keys ?? []).entries()) {
    const { label, disabled = false, created_at = KEY_AGE } = entry
    // No header can carry a line break, so nobody can present a key that has no secret of its own.
    const { id, hash } = entry.key === undefined ? entry : identityOf(entry.key)
    const identity = identify(hash ?? hashKey(`${own.hash}\n${index}`), id)
    const key = {
      ...identity,
      createdAt: momentBefore(now, created_at),
      disabled,
      ...(label !== undefined && { label }),
    }
    if (keys.has(key.hash)) throw failure(fixture, `/keys/${index}/key`, 'The key is the same as one before it.')
    keys.set(key.hash, key)
  }
  keys.delete(own.hash)
  return [establishedKey(own, now), ...keys.values()]
}

function domainAt(domain: FixtureDomain, now: number, { refresh }: Settings): MonitoredDomain {
  const { name, features = [], added_at = DOMAIN_AGE, profile, since, volume, record } = domain
  const monitored: MonitoredDomain = { name, addedAt: momentBefore(now, added_at), features }
  if (profile !== undefined) monitored.profile = profile
  if (since !== undefined) monitored.since = refreshDay(momentBefore(now, since), refresh)
  if (volume !== undefined) monitored.volume = volume
  if (record !== undefined) monitored.pin = record
  return monitored
}

const GROUP_FAULTS: Partial<Record<ErrorCode, string>> = {
  duplicate_name: 'is the name of another group',
  not_monitored: 'is not among the domains of this fixture',
  invalid_domain: 'is named more than once',
}

function withGroups(
  account: AccountState,
  fixture: LoadedFixture,
  { groups }: Contents,
  { settings, groupIds }: AccountRules,
): AccountState {
  let state = account
  for (const [index, group] of groups.entries()) {
    const { id } = group
    if (id !== undefined && !isGroupId(id, groupIds)) {
      const remedy = `must be ${groupIds.length} characters of ${groupIds.alphabet}`
      throw failure(fixture, `/groups/${index}/id`, `${JSON.stringify(id)} ${remedy}.`)
    }
    if (id !== undefined && state.groups.has(id)) {
      throw failure(fixture, `/groups/${index}/id`, `"${id}" is the id of a group before it.`)
    }
    const decision = createGroup(state, group, groupIds, settings)
    if (!decision.ok) {
      const [{ code, field, value }] = decision.problems
      throw failure(fixture, `/groups/${index}${field}`, `${JSON.stringify(value)} ${GROUP_FAULTS[code] ?? code}.`)
    }
    state = decision.state
  }
  return { ...state, groupsCreated: Math.max(state.groupsCreated, fixture.groups_created ?? 0) }
}

function isGroupId(id: string, { alphabet, length }: IdFormat): boolean {
  return id.length === length && [...id].every((character) => alphabet.includes(character))
}

/** A moment of a fixture in milliseconds since the Unix epoch. */
function momentBefore(now: number, moment: string): number {
  const before = parseDuration(moment)
  return before === undefined ? Date.parse(moment) : now - before
}

function failure({ file = 'fixture' }: LoadedFixture, pointer: string, reason: string): FixtureError {
  return new FixtureError(file, pointer, reason)
}
