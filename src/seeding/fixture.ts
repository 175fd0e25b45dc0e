import { readFile } from 'node:fs/promises'
import { type AccountState, openAccount } from '../domain/account.ts'
import { comparedName, createGroup, type IdFormat } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'
import { apiKeyOf } from './secrets.ts'

const DAY = 86_400_000
/** How long before the account's creation its keys and domains were made, unless the fixture says otherwise. */
const KEY_AGE = 30 * DAY
const DOMAIN_AGE = 400 * DAY
const FOLDER = new URL('../../fixtures/', import.meta.url)

/** The fixtures that come with the package. */
export const FIXTURE_NAMES = ['demo', 'empty'] as const

/** An account as a person writes it down; `fixtures/fixture.schema.json` describes every field. */
export interface Fixture {
  /** Under which name errors speak of it. */
  file?: string
  plan?: string
  keys?: readonly { label?: string; key?: string; disabled?: boolean; created_at?: string }[]
  domains?: readonly (string | { name: string; features?: readonly string[]; added_at?: string })[]
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

export interface AccountBirth {
  id: string
  seed: number
  /** Milliseconds since the Unix epoch, on the account's clock. */
  now: number
  clock: AccountState['clock']
  /** Instead of the fixture's. */
  plan?: string
  /** The secret of the account's first key. */
  apiKey: string
}

/** Takes a ready-made fixture by name, a file by path, or a fixture as it is; and checks it. @throws FixtureError */
export async function loadFixture(source: string | Fixture): Promise<Fixture> {
  if (typeof source !== 'string') return checkFixture(source, 'fixture')
  const { file, text } = await readSource(source)
  try {
    return await checkFixture(JSON.parse(text), file)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new FixtureError(file, '', `This is not valid JSON: ${error.message}.`)
  }
}

async function readSource(nameOrPath: string): Promise<{ file: string; text: string }> {
  const ready = (FIXTURE_NAMES as readonly string[]).includes(nameOrPath)
  const file = ready ? `fixtures/${nameOrPath}.json` : nameOrPath
  try {
    return { file, text: await readFile(ready ? new URL(`${nameOrPath}.json`, FOLDER) : nameOrPath, 'utf8') }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw new FixtureError(
      file,
      '',
      `The fixture cannot be read (${code}); give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file.`,
    )
  }
}

async function checkFixture(fixture: unknown, file: string): Promise<Fixture> {
  const { Ajv2020 } = await import('ajv/dist/2020.js')
  const schema = JSON.parse(await readFile(new URL('fixture.schema.json', FOLDER), 'utf8'))
  const formats = { 'date-time': (instant: string) => INSTANT.test(instant) && !Number.isNaN(Date.parse(instant)) }
  const validate = new Ajv2020({ strictTypes: false, formats }).compile(schema)
  if (!validate(fixture)) {
    const error = validate.errors?.[0]
    const { additionalProperty } = error?.params ?? {}
    const detail = additionalProperty === undefined ? error?.message : `has no field ${additionalProperty}`
    throw new FixtureError(file, error?.instancePath ?? '', `The value ${detail}.`)
  }
  return { ...(fixture as object), file }
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/

/** The account that a fixture describes, at the moment of its creation. @throws FixtureError for what breaks a rule. */
export function createAccount(
  fixture: Fixture,
  birth: AccountBirth,
  { settings, groupIds, canonicalHostname }: AccountRules,
): AccountState {
  const { id, seed, now, clock, apiKey } = birth
  const fail = (pointer: string, reason: string) => new FixtureError(fixture.file ?? 'fixture', pointer, reason)
  const plan = birth.plan ?? fixture.plan ?? settings.plans.lowest
  if (!settings.plans.order.includes(plan))
    throw fail('/plan', `There is no plan ${plan}; there are ${settings.plans.order.join(', ')}.`)

  function canonical(name: string, pointer: string): string {
    const hostname = canonicalHostname(name)
    if (hostname === undefined) throw fail(pointer, `${JSON.stringify(name)} is not a valid hostname.`)
    return hostname
  }
  const seen = new Set<string>()
  const domains = (fixture.domains ?? []).map((entry, index) => {
    const domain = typeof entry === 'string' ? { name: entry } : entry
    const pointer = `/domains/${index}${typeof entry === 'string' ? '' : '/name'}`
    const name = canonical(domain.name, pointer)
    if (seen.has(name)) throw fail(pointer, `${name} is named more than once.`)
    seen.add(name)
    return { name, addedAt: instant(domain.added_at) ?? now - DOMAIN_AGE, features: domain.features ?? [] }
  })
  const keys = (fixture.keys ?? []).map((entry, index) => {
    const secret = entry.key ?? `${apiKey} ${index}`
    return {
      ...apiKeyOf(secret, instant(entry.created_at) ?? now - KEY_AGE, entry.label),
      disabled: entry.disabled ?? false,
    }
  })
  const first = apiKeyOf(apiKey, now - KEY_AGE)
  const others = keys.filter(({ hash }) => hash !== first.hash)
  let state = openAccount(
    { id, plan, seed, createdAt: now, clock, keys: [first, ...others], domains, groups: [], groupsCreated: 0 },
    (name) => comparedName(name, settings.nameComparison),
  )
  for (const [index, { name, domains: members = [] }] of (fixture.groups ?? []).entries()) {
    const names = members.map((member, place) => canonical(member, `/groups/${index}/domains/${place}`))
    const decision = createGroup(state, { name, domains: names }, groupIds, settings)
    if (!decision.ok) {
      const [{ code, field, value }] = decision.problems
      const reason =
        code === 'duplicate_name' ? 'is the name of another group' : 'is not among the domains of this fixture'
      throw fail(`/groups/${index}${field}`, `${JSON.stringify(value)} ${reason}.`)
    }
    state = decision.state
  }
  return state
}

function instant(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text)
}
