import { readFile } from 'node:fs/promises'
import { type AccountState, type MonitoredDomain, openAccount } from '../domain/account.ts'
import { clockAt } from '../domain/clock.ts'
import { contradictionIn, type RecordPin, refreshDay } from '../domain/dmarc.ts'
import type { ErrorCode } from '../domain/errors.ts'
import { comparedName, createGroup, type IdFormat } from '../domain/groups.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import type { ApiKey } from '../domain/keys.ts'
import type { ProfileName } from '../domain/profile.ts'
import type { Settings } from '../domain/settings.ts'
import { findFault } from '../schema.ts'
import { apiKeyOf, deriveKey } from './secrets.ts'

const FOLDER = new URL('../../fixtures/', import.meta.url)
/** How long before the account's creation its keys and domains were made, unless the fixture says otherwise. */
const KEY_AGE = 'P30D'
const DOMAIN_AGE = 'P400D'
/** Of an account for which nobody chose one. */
export const DEFAULT_SEED = 42

/** The fixtures that come with the package. */
export const FIXTURE_NAMES = ['demo', 'empty', 'edge-cases', 'agency'] as const

/** A domain of a fixture. `added_at` and `since` are moments, see `Fixture`. */
export interface FixtureDomain {
  name: string
  features?: readonly string[]
  added_at?: string
  profile?: ProfileName
  since?: string
  volume?: number
  record?: RecordPin
}

/**
 * An account as a person writes it down; `fixtures/fixture.schema.json` describes every field. A moment is an RFC 3339
 * instant or, as an ISO 8601 duration, how long before the account's creation it lies.
 */
export interface Fixture {
  /** Under which name errors speak of it. */
  file?: string
  title?: string
  description?: string
  plan?: string
  seed?: number
  clock?: { now: string; frozen?: boolean }
  keys?: readonly { label?: string; key?: string; disabled?: boolean; created_at?: string }[]
  domains?: readonly (string | FixtureDomain)[]
  groups?: readonly { name: string; domains?: readonly string[] }[]
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
  groupIds: IdFormat
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
  /** The secret of the account's first key; derived from the seed by default. */
  apiKey?: string | undefined
}

let fixtureSchema: Promise<object> | undefined

/** Takes a ready-made fixture by name, a file by path, or a fixture as it is; and checks it. @throws FixtureError */
export async function loadFixture(source: string | Fixture): Promise<Fixture> {
  if (typeof source !== 'string') {
    const { file = 'fixture', ...fixture } = source
    return checkFixture(fixture, file)
  }
  const { file, text, ready } = await readSource(source)
  let fixture: unknown
  try {
    fixture = JSON.parse(text)
  } catch (error) {
    throw new FixtureError(file, '', `This is not valid JSON: ${(error as Error).message.replaceAll(/\s+/g, ' ')}.`)
  }
  // A test has proved those that come with the package; compiling the schema would cost more than reading them.
  return ready ? { ...(fixture as Fixture), file } : checkFixture(fixture, file)
}

async function readSource(nameOrPath: string): Promise<{ file: string; text: string; ready: boolean }> {
  const ready = (FIXTURE_NAMES as readonly string[]).includes(nameOrPath)
  const file = ready ? `fixtures/${nameOrPath}.json` : nameOrPath
  try {
    return { file, text: await readFile(ready ? new URL(`${nameOrPath}.json`, FOLDER) : nameOrPath, 'utf8'), ready }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = `give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file`
    throw new FixtureError(file, '', `The fixture cannot be read (${code}); ${remedy}.`)
  }
}

async function checkFixture(fixture: unknown, file: string): Promise<Fixture> {
  // Read once: compiling it costs more than all the rest of a start.
  fixtureSchema ??= readFile(new URL('fixture.schema.json', FOLDER), 'utf8').then((text) => JSON.parse(text) as object)
  const fault = findFault(await fixtureSchema, fixture)
  if (fault) throw new FixtureError(file, fault.pointer, `The value ${fault.reason}.`)
  return { ...(fixture as Fixture), file }
}

/** The account that a fixture describes, at the moment of its creation. @throws FixtureError for what breaks a rule. */
export function createAccount(fixture: Fixture, birth: AccountBirth, rules: AccountRules): AccountState {
  const { settings } = rules
  const seed = birth.seed ?? fixture.seed ?? DEFAULT_SEED
  const start = birth.now ?? fixture.clock?.now
  const now = start === undefined ? birth.real : Date.parse(start)
  const plan = birth.plan ?? fixture.plan ?? settings.plans.lowest
  if (!settings.plans.order.includes(plan)) {
    throw failure(fixture, '/plan', `There is no plan ${plan}; there are ${settings.plans.order.join(', ')}.`)
  }
  const empty = openAccount(
    {
      id: birth.id,
      plan,
      seed,
      createdAt: now,
      clock: clockAt(now, birth.real, birth.frozen ?? fixture.clock?.frozen ?? false),
      keys: keysOf(fixture, birth.apiKey ?? deriveKey(seed, birth.id), now),
      domains: domainsOf(fixture, now, rules),
      groups: [],
      groupsCreated: 0,
    },
    (name) => comparedName(name, settings.nameComparison),
  )
  return withGroups(empty, fixture, rules)
}

/** A key that an account comes with: old enough to have left its grace period. `now` in milliseconds. */
export function establishedKey(secret: string, now: number): ApiKey {
  return apiKeyOf(secret, momentBefore(now, KEY_AGE))
}

function keysOf(fixture: Fixture, apiKey: string, now: number): ApiKey[] {
  const keys = new Map<string, ApiKey>()
  const first = establishedKey(apiKey, now)
  for (const [index, entry] of (fixture.keys ?? []).entries()) {
    // No header can carry a line break, so nobody can present a key that has no secret of its own.
    const { key: secret = `${apiKey}\n${index}`, label, disabled = false, created_at = KEY_AGE } = entry
    const key = { ...apiKeyOf(secret, momentBefore(now, created_at), label), disabled }
    if (keys.has(key.hash)) throw failure(fixture, `/keys/${index}/key`, 'The key is the same as one before it.')
    keys.set(key.hash, key)
  }
  keys.delete(first.hash)
  return [first, ...keys.values()]
}

function domainsOf(fixture: Fixture, now: number, { settings, canonicalHostname }: AccountRules): MonitoredDomain[] {
  const seen = new Set<string>()
  const longAgo = momentBefore(now, DOMAIN_AGE)
  return (fixture.domains ?? []).map((entry, index) => {
    const domain: FixtureDomain = typeof entry === 'string' ? { name: entry } : entry
    const pointer = `/domains/${index}`
    const name = canonicalHostname(domain.name)
    const place = typeof entry === 'string' ? pointer : `${pointer}/name`
    if (name === undefined) throw failure(fixture, place, `${JSON.stringify(domain.name)} is not a valid hostname.`)
    if (seen.has(name)) throw failure(fixture, place, `${name} is named more than once.`)
    seen.add(name)
    const contradiction = contradictionIn(domain.record ?? {})
    if (contradiction) throw failure(fixture, `${pointer}/record`, `The record ${contradiction}.`)
    return {
      name,
      addedAt: domain.added_at === undefined ? longAgo : momentBefore(now, domain.added_at),
      features: domain.features ?? [],
      ...(domain.profile !== undefined && { profile: domain.profile }),
      ...(domain.since !== undefined && { since: refreshDay(momentBefore(now, domain.since), settings.refresh) }),
      ...(domain.volume !== undefined && { volume: domain.volume }),
      ...(domain.record !== undefined && { pin: domain.record }),
    }
  })
}

const GROUP_FAULTS: Partial<Record<ErrorCode, string>> = {
  duplicate_name: 'is the name of another group',
  not_monitored: 'is not among the domains of this fixture',
  invalid_domain: 'is named more than once',
}

function withGroups(
  account: AccountState,
  fixture: Fixture,
  { settings, groupIds, canonicalHostname }: AccountRules,
): AccountState {
  return (fixture.groups ?? []).reduce((state, { name, domains = [] }, index) => {
    const members = domains.map((member) => canonicalHostname(member) ?? member)
    const decision = createGroup(state, { name, domains: members }, groupIds, settings)
    if (decision.ok) return decision.state
    const [{ code, field, value }] = decision.problems
    throw failure(fixture, `/groups/${index}${field}`, `${JSON.stringify(value)} ${GROUP_FAULTS[code] ?? code}.`)
  }, account)
}

/** A moment of a fixture in milliseconds since the Unix epoch. */
function momentBefore(now: number, moment: string): number {
  const before = parseDuration(moment)
  return before === undefined ? Date.parse(moment) : now - before
}

function failure({ file = 'fixture' }: Fixture, pointer: string, reason: string): FixtureError {
  return new FixtureError(file, pointer, reason)
}
