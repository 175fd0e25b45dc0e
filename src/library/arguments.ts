import { show } from '../ground/show.ts'
import { ControlError, refuseArgument } from './control-error.ts'

/** A copy through JSON, as over HTTP. Neither side can change an object of the other. @throws ControlError */
export function copyArgument(value: unknown): unknown {
  return asJson(() => JSON.parse(JSON.stringify(value, refuseUnsaid) ?? 'null'))
}

/** JSON omits functions and symbols silently. */
function refuseUnsaid(_: string, value: unknown): unknown {
  if (typeof value !== 'function' && typeof value !== 'symbol') return value
  throw new ControlError('invalid_json', `The argument must be JSON, which ${show(value)} is not.`, [])
}

/** The fields of an options object; none for `undefined`. @throws ControlError for any other value. */
export function readFields(value: unknown): Record<string, unknown> {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw refuseArgument('', `An object was expected here, which ${show(value)} is not.`)
  }
  return asJson(() => ({ ...value }))
}

/** An options object as query parameters. Those that are `undefined` are left out. @throws ControlError */
export function readParameters(value: unknown): Record<string, string> {
  const given = Object.entries(readFields(value ?? undefined)).filter(([, each]) => each !== undefined)
  for (const [name, each] of given) {
    if (typeof each === 'string' || typeof each === 'number' || typeof each === 'boolean') continue
    throw refuseArgument(name, `\`${name}\` must be a text, a number, true or false, which ${show(each)} is not.`)
  }
  return Object.fromEntries(given.map(([name, each]) => [name, String(each)]))
}

/** A list of names as one parameter. Other values stay unchanged. @throws ControlError for a list with other items. */
export function joinNames(parameter: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value
  for (const name of value) {
    if (typeof name === 'string') continue
    throw refuseArgument(parameter, `\`${parameter}\` must have only texts, which ${show(name)} is not.`)
  }
  return value.join(',')
}

/** Refuses an id or a name that is no text. @throws ControlError */
export function refuseOtherThanTexts(parameters: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(parameters)) {
    if (typeof value !== 'string')
      throw refuseArgument(name, `\`${name}\` must be a text, which ${show(value)} is not.`)
  }
}

/** The result of `read`. An object may have a field that throws when it is read. @throws ControlError */
function asJson<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof ControlError) throw error
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n')
    throw new ControlError('invalid_json', `The argument must be JSON: ${reason}.`, [])
  }
}

/** What an option must be: in words, and as a test. */
interface ExpectedOption {
  words: string
  fits(value: unknown): boolean
}

/** The options of a method. @throws ControlError for an unknown option, and for a value that does not fit */
export function readOptions<Name extends string>(
  method: string,
  given: unknown,
  known: Readonly<Record<Name, ExpectedOption>>,
): Readonly<Partial<Record<Name, unknown>>> {
  const options = readFields(given)
  const names = Object.keys(known)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(known, name)) {
      const others = `there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`
      throw refuseArgument(name, `\`${name}\` is no option of ${method}(); ${others}.`)
    }
    const { words, fits } = known[name as Name]
    if (value === undefined || fits(value)) continue
    throw refuseArgument(name, `\`${name}\` must be ${words}, which ${show(value)} is not.`)
  }
  return options as Partial<Record<Name, unknown>>
}
