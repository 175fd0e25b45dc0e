import { parseArgs } from 'node:util'
import { whatBecameOf } from '../contract/settled-choices.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { shorten, showWritten } from '../ground/show.ts'
import {
  commandLineDefaultOf,
  commandLineHelpOf,
  flagOf,
  flagsOf,
  type Option,
  type Options,
  oppositeFlagOf,
  PREFIX,
  placeholderOf,
  readTexts,
  usageOf,
  type Values,
  variableFor,
} from '../server/option.ts'
import { UsageError } from './errors.ts'
import { ownVariables } from './own-variables.ts'

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

/**
 * Reads each option of a command from its arguments, or from the environment if the arguments lack it. In the
 * environment, commas separate the values of a repeatable option. @throws UsageError
 */
export function readOptions<const Table extends Options>(
  table: Table,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): ReadOptions<Table> {
  const { texts, positionals } = readArguments(table, args)
  const variables = ownVariables(environment)
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  const given = new Set<keyof Table>()
  for (const [name, option] of Object.entries(table)) {
    const variable = variableFor(flagOf(name, option))
    const written = texts.get(name) ?? split(variables[variable], option) ?? readOpposite(name, option, variables)
    const source = written === undefined || texts.has(name) ? `--${flagOf(name, option)}` : variable
    if (written === undefined) {
      const usual = commandLineDefaultOf(option)
      values[name] = usual
      sources[name] = typeof usual === 'string' || typeof usual === 'number' ? `${source} ${usual}` : source
      continue
    }
    const result = readTexts(option, written)
    if ('wrong' in result) {
      const remedy = option.kind.remedyFor?.(result.wrong) ?? option.kind.remedy
      throw new UsageError(`${shownAs(source, result.wrong, option)}: ${remedy}`)
    }
    values[name] = result.value
    sources[name] = shownAs(source, written.at(-1) ?? '', option).trim()
    given.add(name)
  }
  return {
    values: values as Values<Table>,
    given,
    sources: sources as Record<keyof Table, string>,
    positionals,
  }
}

/** An option with its value for an error message. A secret value is left out. */
function shownAs(source: string, written: string, { kind }: Option<unknown>): string {
  const shown = kind.shows === undefined ? written : kind.shows(written)
  return shown === undefined ? source : `${source} ${showWritten(shown)}`
}

/** The value of a switch whose opposite flag is set in the environment. @throws UsageError */
function readOpposite(name: string, option: Option<unknown>, environment: NodeJS.ProcessEnv): string[] | undefined {
  const flag = oppositeFlagOf(name, option)
  if (flag === undefined) return undefined
  const variable = variableFor(flag)
  const written = environment[variable]
  return written === undefined ? undefined : turnOff(option, variable, written)
}

/** The value of a switch whose opposite flag has this text. @throws UsageError */
function turnOff({ kind }: Option<unknown>, source: string, written: string): string[] | undefined {
  const value = kind.read?.(written)
  if (!kind.fits(value)) throw new UsageError(`${source} ${showWritten(written)}: ${kind.remedy}`)
  // An opposite flag with the value false changes nothing. It does not turn the switch on.
  return value === true ? ['false'] : undefined
}

/** The texts of each option in the arguments, and the positional arguments. @throws UsageError */
function readArguments(
  table: Options,
  args: readonly string[],
): { texts: ReadonlyMap<string, string[]>; positionals: string[] } {
  const names = new Map<string, string>()
  for (const [name, option] of Object.entries(table)) {
    for (const flag of flagsOf(name, option)) names.set(flag, name)
  }
  const { tokens, positionals } = parseArgs({
    args: args.map((argument, index) => withValue(argument, args[index + 1], table)),
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(table).map(([name, option]) => [
        flagOf(name, option),
        { type: placeholderOf(option) === undefined ? 'boolean' : 'string' } as const,
      ]),
    ),
  })
  const texts = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const name = names.get(token.name)
    const option = name === undefined ? undefined : table[name]
    if (name === undefined || option === undefined) {
      const flags = [...names.keys()].map((flag) => `--${flag}`)
      throw new UsageError(`${shorten(token.rawName)} is no option here; ${suggest(token.rawName, flags, '--')}`)
    }
    // `--data --no-admin` lacks a value. A value that begins with dashes must be written as `--data=--x`.
    const isMissing = token.value === undefined || (token.inlineValue === false && token.value.startsWith('--'))
    if (placeholderOf(option) !== undefined && isMissing) {
      throw new UsageError(`${token.rawName} needs a value: ${usageOf(name, option)}`)
    }
    const text = token.value ?? 'true'
    if (token.name === oppositeFlagOf(name, option)) {
      const turned = turnOff(option, token.rawName, text)
      if (turned !== undefined) texts.set(name, turned)
      continue
    }
    texts.set(name, [...(option.kind.repeatable ? (texts.get(name) ?? []) : []), text])
  }
  return { texts, positionals }
}

/**
 * Suggests the nearest of `names` for an unknown name, or lists them all. All names begin with `prefix`, so the
 * comparison ignores it.
 */
export function suggest(given: string, names: readonly string[], prefix = ''): string {
  const bare = (name: string) => (name.startsWith(prefix) ? name.slice(prefix.length) : name)
  const nearest = nearestName(bare(given), names.map(bare))
  return nearest === undefined ? `there are ${names.join(', ')}` : `did you mean ${prefix}${nearest}?`
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
function withValue(argument: string, next: string | undefined, table: Options): string {
  if (next !== undefined && !next.startsWith('-')) return argument
  const row = Object.entries(table).find(([name, option]) => argument === `--${flagOf(name, option)}`)
  const bare = row?.[1].kind.bare
  return bare === undefined ? argument : `${argument}=${bare}`
}

function split(variable: string | undefined, { kind }: Option<unknown>): string[] | undefined {
  if (variable === undefined) return undefined
  return kind.repeatable ? variable.split(',') : [variable]
}

/** @throws UsageError if a command without positional arguments gets one */
export function refuseOperands(command: string, [first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`${command} takes no argument, but was given ${showWritten(first)}`)
}

const FLAG_WIDTH = 26

/** Formats the options of a table as lines of help. */
export function describeOptions(table: Options): string {
  const rows = Object.entries(table).map(([name, option]) => {
    const usage = usageOf(name, option).padEnd(FLAG_WIDTH)
    const gap = usage.length > FLAG_WIDTH ? `\n${' '.repeat(FLAG_WIDTH + 4)}` : '  '
    return `  ${usage}${gap}${commandLineHelpOf(option)}`
  })
  return `Options, each also as DMARC_UNDERSTUDY_<OPTION> in the environment:\n${rows.join('\n')}`
}
