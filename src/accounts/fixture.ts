import type { AccountOrigin, ApiKey } from '../domain/account.ts'
import { type Fixture, type FixtureKey, SCENE_OPERATIONS, type SceneOperation, type Story } from '../domain/fixture.ts'
import { givenFields } from '../domain/given-fields.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import { clamp, LIMITS } from '../domain/limits.ts'
import { readInput, readPackageFile } from '../ground/files.ts'
import { isObject, type Json, parseJson } from '../ground/json.ts'
import { findViolation, type Violation } from '../ground/schema.ts'
import { hashKey, identify, identityOf } from '../ground/secrets.ts'
import { RealDate } from '../ground/timers.ts'

/** The fixtures that come with the package. */
export const FIXTURE_NAMES = ['demo', 'empty', 'edge-cases', 'agency'] as const

type FixtureName = (typeof FIXTURE_NAMES)[number]

/** The age of a key when its account is created, if the fixture does not give another. */
const KEY_AGE = 'P30D'

/** A fixture, and where it came from. */
export interface LoadedFixture extends Fixture {
  /** The name of the fixture in error messages. */
  file?: string
  /** The part that its accounts remember; by default everything except the secrets. */
  origin?: AccountOrigin['fixture']
}

/** A fixture cannot be used. The message has the file, the JSON pointer and the reason, in one sentence. */
export class FixtureError extends Error {
  override name = 'FixtureError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}

/** A fixture would give an account too many keys. */
export class TooManyKeysError extends FixtureError {
  constructor({ file = 'fixture' }: LoadedFixture, count: number) {
    super(file, '/keys', `There are ${count} keys, and an account may have ${LIMITS.keys}, its own included.`)
  }
}

/** An error about the part of a fixture at a JSON pointer. */
export function errorIn({ file = 'fixture' }: LoadedFixture, pointer: string, reason: string): FixtureError {
  return new FixtureError(file, pointer, reason)
}

/**
 * Converts a moment of a fixture, see `Fixture`, to milliseconds since the Unix epoch. `now` is the creation of the
 * account. An instant before 1970 becomes the beginning of 1970, because no earlier instant can be written.
 */
export function readMoment(moment: string, now: number): number {
  const before = parseDuration(moment)
  return clamp(before === undefined ? RealDate.parse(moment) : now - before, LIMITS.firstInstant, LIMITS.lastInstant)
}

let fixtureSchema: Json | undefined
const readyMade = new Map<FixtureName, LoadedFixture>()

/** Loads a ready-made fixture by name, a file by path, or an object, which errors call `file`. @throws FixtureError */
export async function loadFixture(source: string | Fixture, file = 'fixture'): Promise<LoadedFixture> {
  if (typeof source !== 'string') return checkFixture(source, file)
  const name = FIXTURE_NAMES.find((each) => each === source)
  if (name !== undefined) return loadReadyMade(name)
  const remedy = `give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file`
  const fail = (reason: string) => new FixtureError(source, '', reason)
  return checkFixture(parseJson(await readInput(source, { content: 'fixture', remedy, fail }), fail), source)
}

function loadReadyMade(name: FixtureName): LoadedFixture {
  const known = readyMade.get(name)
  if (known !== undefined) return known
  const file = `fixtures/${name}.json`
  // A test checks the ready-made fixtures against the schema. Compiling the schema costs more than reading them.
  const fixture = { ...(JSON.parse(readPackageFile(file).toString()) as Fixture), file, origin: name }
  readyMade.set(name, fixture)
  return fixture
}

/** The first violation of the schema of fixtures. The schema is read once and so compiled once, because both take long. */
export async function findFixtureViolation(fixture: unknown): Promise<Violation | undefined> {
  fixtureSchema ??= JSON.parse(readPackageFile('fixtures/fixture.schema.json').toString()) as Json
  return findViolation(fixtureSchema, fixture)
}

async function checkFixture(fixture: unknown, file: string): Promise<LoadedFixture> {
  // The number of keys is checked before any work on the keys.
  const keys = isObject(fixture) ? fixture['keys'] : undefined
  if (Array.isArray(keys) && keys.length > LIMITS.keys) throw new TooManyKeysError({ file }, keys.length)
  const violation = await findFixtureViolation(fixture)
  if (violation) throw new FixtureError(file, violation.pointer, `The value ${violation.reason}.`)
  return { ...(fixture as Fixture), file }
}

/** A key that is created with its account. It is old enough to be past its grace period. `now` is in milliseconds. */
export function establishedKey({ id, hash }: AccountOrigin['key'], now: number): ApiKey {
  // A copy of all properties would make a shape of its own in the engine for each key: 300 bytes.
  return { id, hash, createdAt: readMoment(KEY_AGE, now), disabled: false }
}

/** The keys of a new account, created at `now`: its own and those of the fixture. @throws FixtureError */
export function createKeys(fixture: LoadedFixture, own: AccountOrigin['key'], now: number): ApiKey[] {
  const keys = new Map<string, ApiKey>()
  for (const [index, entry] of (fixture.keys ?? []).entries()) {
    const { label, disabled = false, created_at = KEY_AGE } = entry
    const { id, hash } = entry.key === undefined ? entry : identityOf(entry.key)
    const key = {
      // A key without a given secret gets one with a line break. No HTTP header can contain it, so no client can use it.
      ...identify(hash ?? hashKey(`${own.hash}\n${index}`), id),
      createdAt: readMoment(created_at, now),
      disabled,
      ...(label !== undefined && { label }),
    }
    if (keys.has(key.hash)) throw errorIn(fixture, `/keys/${index}/key`, 'The key is the same as one before it.')
    keys.set(key.hash, key)
  }
  keys.delete(own.hash)
  if (keys.size >= LIMITS.keys) throw new TooManyKeysError(fixture, keys.size + 1)
  return [establishedKey(own, now), ...keys.values()]
}

/** The secrets of the fixture's keys, as far as the fixture contains them. */
export function secretsOf(fixture: LoadedFixture | undefined): string[] {
  return (fixture?.keys ?? []).flatMap(({ key }) => key ?? [])
}

/** The part of a fixture that accounts remember: its name, or everything except the secrets of its keys. */
export function originOf({ file: _, origin, ...document }: LoadedFixture): AccountOrigin['fixture'] {
  return origin ?? { ...document, ...(document.keys && { keys: document.keys.map(withoutSecret) }) }
}

function withoutSecret({ key, ...rest }: FixtureKey): FixtureKey {
  return key === undefined ? rest : { ...rest, ...identityOf(key) }
}

/** The story of an account: the one of the last import, or the one of its original fixture. */
export async function findStory({ story, fixture }: AccountOrigin): Promise<Story> {
  return story ?? storyOf(typeof fixture === 'string' ? await loadFixture(fixture) : fixture) ?? { scenes: [] }
}

/** The story of a fixture, if it has scenes. */
export function storyOf({ title, description, scenes = [] }: Fixture): Story | undefined {
  return scenes.length === 0 ? undefined : givenFields({ title, description, scenes })
}

/**
 * Checks that each call of a scene has the parts of its operation. What is in them is checked when the call is sent.
 * @throws FixtureError
 */
export function checkScenes(fixture: LoadedFixture): void {
  for (const [index, { calls = [] }] of (fixture.scenes ?? []).entries()) {
    for (const [position, call] of calls.entries()) {
      const { operation } = call
      const known: SceneOperation = SCENE_OPERATIONS[operation]
      const refuse = (part: string, reason: string) =>
        errorIn(fixture, `/scenes/${index}/calls/${position}/${part}`, `${operation} ${reason}.`)
      for (const part of ['parameters', 'query'] as const) {
        const [given, allowed = []] = [Object.keys(call[part] ?? {}), known[part]]
        const missing = part === 'query' ? undefined : allowed.find((name) => !given.includes(name))
        if (missing !== undefined) throw refuse(`${part}/${missing}`, 'needs it')
        const strange = given.find((name) => !allowed.includes(name))
        if (strange !== undefined) throw refuse(`${part}/${strange}`, 'has no such parameter')
      }
      if (isObject(call.body) !== (known.body ?? false)) {
        throw refuse('body', known.body ? 'needs a body' : 'takes no body')
      }
    }
  }
}
