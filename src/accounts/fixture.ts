import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AccountOrigin } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { parseDuration } from '../domain/iso-8601.ts'
import { isObject, parseJson } from '../ground/json.ts'
import { findViolation, type Violation } from '../ground/schema.ts'
import { Turns } from '../ground/turns.ts'

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

/** How many API keys an account may have, with the one that every account has. A test compares it with the control plane. */
export const KEYS_PER_ACCOUNT = 1_000

/** A fixture by which an account would have too many keys. */
export class TooManyKeysError extends FixtureError {
  constructor({ file = 'fixture' }: LoadedFixture, count: number) {
    super(file, '/keys', `There are ${count} keys, and an account may have ${KEYS_PER_ACCOUNT}, its own included.`)
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
  return findViolationInTurns(await fixtureSchema, fixture)
}

async function checkFixture(fixture: unknown, file: string): Promise<LoadedFixture> {
  // Before anything is done with the keys.
  const keys = isObject(fixture) ? fixture['keys'] : undefined
  if (Array.isArray(keys) && keys.length > KEYS_PER_ACCOUNT) throw new TooManyKeysError({ file }, keys.length)
  const violation = await findFixtureViolation(fixture)
  if (violation) throw new FixtureError(file, violation.pointer, `The value ${violation.reason}.`)
  return { ...(fixture as Fixture), file }
}

/** The lists of a fixture that may be long. */
const LISTS = ['domains', 'former_domains', 'groups'] as const
/** How many items of a list are checked at a time. */
const SLICE = 1_000

/** The first violation. Long lists are checked after the rest, in slices, so that others need not wait for all of it. */
async function findViolationInTurns(schema: object, fixture: unknown): Promise<Violation | undefined> {
  const lists = isObject(fixture) ? fixture : {}
  const long = LISTS.filter((name) => Array.isArray(lists[name]) && lists[name].length > SLICE)
  if (long.length === 0) return findViolation(schema, fixture)
  const rest = { ...lists, ...Object.fromEntries(long.map((name) => [name, []])) }
  const violation = await findViolation(schema, rest)
  if (violation !== undefined) return violation
  const turns = new Turns()
  for (const name of long) {
    const list = lists[name] as readonly unknown[]
    for (let first = 0; first < list.length; first += SLICE) {
      if (turns.isOver()) await turns.next()
      const found = await findViolation(schema, { [name]: list.slice(first, first + SLICE) })
      if (found === undefined) continue
      const pointer = found.pointer.replace(/\d+/, (index) => String(first + Number(index)))
      return { ...found, pointer }
    }
  }
  return undefined
}
