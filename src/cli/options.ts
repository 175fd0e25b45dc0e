import { parseArgs } from 'node:util'
import { whatBecameOf } from '../contract/settings.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { shorten, showWritten } from '../ground/show.ts'
import {
  flagOf,
  flagsOf,
  helpOf,
  isSwitch,
  type Option,
  type Options,
  PREFIX,
  placeholderOf,
  readTexts,
  remedyFor,
  turnsOff,
  usageOf,
  type Values,
  variableFor,
} from '../server/option.ts'

/** A mistake in the command line. The message is one line with the option, the value and a correct alternative. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A start that failed for a reason that the user can fix. */
export class StartError extends Error {
  override name = 'StartError'
}

/**
 * What a cluster or a link of containers adds to the names of a service that has our name, such as
 * `DMARC_UNDERSTUDY_SERVICE_HOST` and `DMARC_UNDERSTUDY_PORT_4010_TCP_ADDR`.
 * Source: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables.
 */
const LINKED = /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z\d_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_[A-Z]+)?$/
/** The value of `DMARC_UNDERSTUDY_PORT`, which is an option, too. */
const LINK = /^(?:tcp|udp|sctp):\/\//

/** The variables with our prefix that are options. */
function ownVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isOwn = ([name, value = '']: [string, string | undefined]) =>
    name.startsWith(PREFIX) && !LINKED.test(name) && !LINK.test(value)
  return Object.fromEntries(Object.entries(environment).filter(isOwn))
}

/** The options and arguments that a user gave to a command. */
export interface ReadOptions<Table extends Options> {
  /** The values of all options, with defaults applied. */
  values: Values<Table>
  /** The options that were given as arguments or in the environment. */
  given: ReadonlySet<keyof Table>
  /** Each option as the user wrote it, such as `--port 80` or `DMARC_UNDERSTUDY_PORT 80`. Later errors quote it. */
  sources: Readonly<Record<keyof Table, string>>
  positionals: readonly string[]
}

/** A text that was given for a flag, and where: `--port` or `DMARC_UNDERSTUDY_PORT`. */
interface Written {
  text: string
  flag: string
  source: string
}

/**
 * Reads each option of a command from its arguments, or from the environment if the arguments lack it. In the
 * environment, commas separate the values of a repeatable option. @throws UsageError
 */
export function readOptions<const Table extends Options>(
  table: Table,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): ReadOptions<Table> {
  const { written, positionals } = readArguments(table, args)
  const variables = ownVariables(environment)
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  const given = new Set<keyof Table>()
  for (const [name, option] of Object.entries(table)) {
    const read = readWritten(option, written.get(name) ?? inEnvironment(name, option, variables))
    const { default: usual } = option
    values[name] = read === undefined ? usual : read.value
    if (read !== undefined) given.add(name)
    const shown = typeof usual === 'string' || typeof usual === 'number' ? ` ${usual}` : ''
    sources[name] = read?.source ?? `--${flagOf(name, option)}${shown}`
  }
  return { values: values as Values<Table>, given, sources: sources as Record<keyof Table, string>, positionals }
}

/**
 * The value of what was written, and where; `undefined` if nothing was. A flag that turns a switch off and has the value
 * false says nothing: it does not turn the switch on. @throws UsageError
 */
function readWritten(
  option: Option<unknown>,
  written: readonly Written[],
): { value: unknown; source: string } | undefined {
  const last = written.at(-1)
  if (last === undefined) return undefined
  const counting = option.kind.repeatable ? written : [last]
  const result = readTexts(
    option,
    counting.map(({ text }) => text),
  )
  if ('wrong' in result) {
    const { wrong } = result
    throw new UsageError(`${shownAs({ ...last, text: wrong }, option)}: ${remedyFor(option.kind, wrong)}`)
  }
  const source = shownAs(last, option).trim()
  if (!isSwitch(option) || !turnsOff(last.flag)) return { value: result.value, source }
  return result.value === true ? { value: false, source } : undefined
}

/** An option with its value for an error message. A secret value is left out. */
function shownAs({ text, source }: Written, { kind }: Option<unknown>): string {
  const shown = kind.shows === undefined ? text : kind.shows(text)
  return shown === undefined ? source : `${source} ${showWritten(shown)}`
}

/** What the environment gives for an option. */
function inEnvironment(name: string, option: Option<unknown>, variables: NodeJS.ProcessEnv): Written[] {
  for (const flag of flagsOf(name, option)) {
    const source = variableFor(flag)
    const text = variables[source]
    if (text === undefined) continue
    return (option.kind.repeatable ? text.split(',') : [text]).map((each) => ({ text: each, flag, source }))
  }
  return []
}

/** What the arguments give for each option, and the positional arguments. @throws UsageError */
function readArguments(
  table: Options,
  args: readonly string[],
): { written: ReadonlyMap<string, readonly Written[]>; positionals: string[] } {
  const rows = Object.entries(table).flatMap(([name, option]) =>
    flagsOf(name, option).map((flag) => [flag, { name, option }] as const),
  )
  const byFlag = new Map(rows)
  const { tokens, positionals } = parseArgs({
    args: args.map((argument, index) => withValue(argument, args[index + 1], byFlag.get(argument.slice(2))?.option)),
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      rows.map(([flag, { option }]) => [flag, { type: isSwitch(option) ? 'boolean' : 'string' } as const]),
    ),
  })
  const written = new Map<string, Written[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const row = byFlag.get(token.name)
    if (row === undefined) {
      const flags = Object.entries(table).map(([name, option]) => `--${flagOf(name, option)}`)
      throw new UsageError(`${shorten(token.rawName)} is no option here; ${suggest(token.rawName, flags, '--')}`)
    }
    const { name, option } = row
    // `--data --no-admin` lacks a value. A value that begins with dashes must be written as `--data=--x`.
    const isMissing = token.value === undefined || (token.inlineValue === false && token.value.startsWith('--'))
    if (placeholderOf(option) !== undefined && isMissing) {
      throw new UsageError(`${token.rawName} needs a value: ${usageOf(name, option)}`)
    }
    written.set(name, [
      ...(written.get(name) ?? []),
      { text: token.value ?? 'true', flag: token.name, source: token.rawName },
    ])
  }
  return { written, positionals }
}

/** How many names fit into a line that a person reads. */
const MOST_LISTED = 15

/**
 * Suggests the nearest of `names` for an unknown name, or lists them all if they are few. All names begin with `prefix`,
 * so the comparison ignores it.
 */
export function suggest(given: string, names: readonly string[], prefix = ''): string {
  const bare = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)
  const nearest = nearestName(bare(given), names.map(bare))
  if (nearest !== undefined) return `did you mean ${prefix}${nearest}?`
  return names.length > MOST_LISTED ? 'none has a name like that; --help lists them' : `there are ${names.join(', ')}`
}

/** The end of a refusal of an unknown assumption. There are too many to list them. */
export function refuseId(given: string, ids: readonly string[]): string {
  const became = whatBecameOf(given)
  if (became !== undefined) return became
  const nearest = nearestName(given, ids)
  const remedy = nearest === undefined ? 'the command assumptions lists them' : `did you mean ${nearest}?`
  return `must be the id of an assumption; ${remedy}`
}

/**
 * Refuses a variable with our prefix that sets no option of `own` or of another command. The tables of the other
 * commands are loaded only if they are needed. @throws UsageError
 */
export async function refuseUnknownVariables(
  environment: NodeJS.ProcessEnv,
  own: Options,
  loadOthers: () => Promise<readonly Options[]>,
): Promise<void> {
  const given = Object.keys(ownVariables(environment))
  const ownNames = variablesOf(own)
  if (given.every((name) => ownNames.includes(name))) return
  const names = [...new Set([...ownNames, ...(await loadOthers()).flatMap(variablesOf)])]
  const unknown = given.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new UsageError(
      `${shorten(unknown)} is in the environment, but is no option; ${suggest(unknown, names, PREFIX)}`,
    )
}

function variablesOf(table: Options): string[] {
  return Object.entries(table).flatMap(([name, option]) => flagsOf(name, option).map(variableFor))
}

/** Adds the value that a flag has when it stands alone. */
function withValue(argument: string, next: string | undefined, option: Option<unknown> | undefined): string {
  const isFollowed = next !== undefined && !next.startsWith('-')
  const bare = isFollowed || !argument.startsWith('--') ? undefined : option?.kind.bare
  return bare === undefined ? argument : `${argument}=${bare}`
}

const FLAG_WIDTH = 26

/** Formats the options of a table as lines of help. */
export function describeOptions(table: Options): string {
  const rows = Object.entries(table).map(([name, option]) => {
    const usage = usageOf(name, option).padEnd(FLAG_WIDTH)
    const gap = usage.length > FLAG_WIDTH ? `\n${' '.repeat(FLAG_WIDTH + 4)}` : '  '
    return `  ${usage}${gap}${helpOf(option)}`
  })
  return `Options, each also as DMARC_UNDERSTUDY_<OPTION> in the environment:\n${rows.join('\n')}`
}
