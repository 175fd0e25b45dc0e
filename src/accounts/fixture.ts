import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AccountOrigin } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import { parseJson } from '../ground/json.ts'
import { findViolation, type Violation } from '../ground/schema.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/')

/** The fixtures that come with the package. */
export const FIXTURE_NAMES = ['demo', 'empty', 'edge-cases', 'agency'] as const

/** The ready-made fixture of this name. */
type FixtureName = (typeof FIXTURE_NAMES)[number]

/** A fixture, and where it came from. */
export interface LoadedFixture extends Fixture {
  /** The name of the fixture in error messages. */
  file?: string
  /** What the accounts that are made of it remember; by default everything except the secrets. */
  origin?: AccountOrigin['fixture']
}

/** A fixture that cannot be used: file, JSON pointer and reason in one sentence. */
export class FixtureError extends Error {
  override name = 'FixtureError'

  constructor(file: string, pointer: string, reason: string) {
    super(`${file}${pointer === '' ? '' : `#${pointer}`}: ${reason}`)
  }
}

/** An error about the part of a fixture at a JSON pointer. */
export function errorIn({ file = 'fixture' }: LoadedFixture, pointer: string, reason: string): FixtureError {
  return new FixtureError(file, pointer, reason)
}

/**
 * Converts a moment of a fixture, see `Fixture`, to milliseconds since the Unix epoch. `now` is when the account is
 * created.
 */
export function readMoment(moment: string, now: number): number {
  const before = parseDuration(moment)
  return before === undefined ? Date.parse(moment) : now - before
}

let fixtureSchema: Promise<object> | undefined
const readyMade = new Map<FixtureName, Promise<LoadedFixture>>()

/**
 * Loads a ready-made fixture by name, a file by path, or a fixture as an object, and checks it against the schema. `file`
 * is the name of such an object in error messages. @throws FixtureError
 */
export async function loadFixture(source: string | Fixture, file = 'fixture'): Promise<LoadedFixture> {
  if (typeof source !== 'string') return checkFixture(source, file)
  const name = FIXTURE_NAMES.find((each) => each === source)
  if (name === undefined) return checkFixture(parseFixture(readSource(source, source), source), source)
  const loaded = readyMade.get(name) ?? loadReadyMade(name)
  readyMade.set(name, loaded)
  return loaded
}

async function loadReadyMade(name: FixtureName): Promise<LoadedFixture> {
  const file = `fixtures/${name}.json`
  const text = readSource(`${FOLDER}${name}.json`, file)
  // A test has checked these against the schema; to compile the schema would cost more than to read them.
  return { ...(parseFixture(text, file) as Fixture), file, origin: name }
}

function parseFixture(text: string, file: string): unknown {
  return parseJson(text, (reason) => new FixtureError(file, '', reason))
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

/** Where a value violates the schema of fixtures. */
export async function findFixtureViolation(fixture: unknown): Promise<Violation | undefined> {
  // Read once, so that it is also compiled only once, which costs more than all the rest of a start.
  fixtureSchema ??= readFile(`${FOLDER}fixture.schema.json`, 'utf8').then((text) => JSON.parse(text) as object)
  return findViolation(await fixtureSchema, fixture)
}

async function checkFixture(fixture: unknown, file: string): Promise<LoadedFixture> {
  const violation = await findFixtureViolation(fixture)
  if (violation) throw new FixtureError(file, violation.pointer, `The value ${violation.reason}.`)
  return { ...(fixture as Fixture), file }
}
