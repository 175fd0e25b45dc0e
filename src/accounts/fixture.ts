import type { AccountOrigin } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import { clamp, LIMITS } from '../domain/limits.ts'
import { readInput } from '../ground/input-file.ts'
import { isObject, type Json, parseJson } from '../ground/json.ts'
import { readPackageFile } from '../ground/package-files.ts'
import { findViolation, type Violation } from '../ground/schema.ts'
import { RealDate } from '../ground/timers.ts'

/** The fixtures that come with the package. */
export const FIXTURE_NAMES = ['demo', 'empty', 'edge-cases', 'agency'] as const

type FixtureName = (typeof FIXTURE_NAMES)[number]

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
const readyMade = new Map<FixtureName, Promise<LoadedFixture>>()

/** Loads a ready-made fixture by name, a file by path, or an object, which errors call `file`. @throws FixtureError */
export async function loadFixture(source: string | Fixture, file = 'fixture'): Promise<LoadedFixture> {
  if (typeof source !== 'string') return checkFixture(source, file)
  const name = FIXTURE_NAMES.find((each) => each === source)
  if (name === undefined) return checkFixture(parseFixture(await readSource(source), source), source)
  const loaded = readyMade.get(name) ?? loadReadyMade(name)
  readyMade.set(name, loaded)
  return loaded
}

async function loadReadyMade(name: FixtureName): Promise<LoadedFixture> {
  const file = `fixtures/${name}.json`
  const text = readPackageFile(file).toString()
  // A test checks the ready-made fixtures against the schema. Compiling the schema costs more than reading them.
  return { ...(parseFixture(text, file) as Fixture), file, origin: name }
}

function parseFixture(text: string, file: string): unknown {
  return parseJson(text, (reason) => new FixtureError(file, '', reason))
}

function readSource(file: string): Promise<string> {
  const remedy = `give ${FIXTURE_NAMES.join(', ')} or the path of a JSON file`
  return readInput(file, { content: 'fixture', remedy, fail: (reason) => new FixtureError(file, '', reason) })
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
