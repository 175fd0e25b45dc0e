import { parseArgs } from 'node:util'
import { isInstant } from '../domain/iso-8601.ts'
import { kebab } from '../domain/settings.ts'
import { UsageError } from './errors.ts'

/** One option of a command. On the command line it is spelt in kebab-case, in the environment in capitals. */
export interface Option<Value> {
  /** How the value is called in the usage; absent for a switch. */
  placeholder?: string
  help: string
  repeatable?: boolean
  /** The value for what was given; `undefined` where nothing was. Throws an Error that says what would be right. */
  read(given: readonly string[] | undefined): Value
}

export type Options = Readonly<Record<string, Option<unknown>>>
export type Values<Table extends Options> = {
  [Name in keyof Table]: Table[Name] extends Option<infer Value> ? Value : never
}

export function text(placeholder: string, help: string): Option<string | undefined> {
  return {
    placeholder,
    help,
    read(given) {
      if (given?.[0] === '') throw new Error('needs a value')
      return given?.[0]
    },
  }
}

export function list(placeholder: string, help: string): Option<readonly string[]> {
  return { placeholder, help: `${help} Repeatable.`, repeatable: true, read: readList }
}

function readList(given: readonly string[] | undefined): readonly string[] {
  if (given?.includes('')) throw new Error('needs a value')
  return given ?? []
}

/** A switch; `undefined` where nothing was said of it. */
export function flag(help: string): Option<boolean | undefined> {
  return {
    help,
    read(given) {
      const value = given?.[0]
      if (value === undefined) return undefined
      if (!['1', 'true', '0', 'false', ''].includes(value)) throw new Error('must be true or false')
      return value === '1' || value === 'true'
    },
  }
}

interface Range {
  lowest?: number
  highest: number
}

/** A whole number; without `fallback`, `undefined` where none was given. */
export function integer(placeholder: string, help: string, range: Range): Option<number | undefined>
export function integer(placeholder: string, help: string, range: Range, fallback: number): Option<number>
export function integer(
  placeholder: string,
  help: string,
  { lowest = 0, highest }: Range,
  fallback?: number,
): Option<number | undefined> {
  return {
    placeholder,
    help: fallback === undefined ? help : `${help} Default: ${fallback}.`,
    read(given) {
      if (given === undefined) return fallback
      const value = Number(given[0])
      if (!/^\d+$/.test(given[0] ?? '') || value < lowest || value > highest) {
        throw new Error(`must be a whole number from ${lowest} to ${highest}`)
      }
      return value
    },
  }
}

export function choice<const Choice extends string>(
  help: string,
  choices: readonly Choice[],
  fallback: Choice,
): Option<Choice> {
  return {
    placeholder: choices.join('|'),
    help: `${help} Default: ${fallback}.`,
    read(given) {
      const value = given === undefined ? fallback : choices.find((each) => each === given[0])
      if (value === undefined) throw new Error(`must be one of ${choices.join(', ')}`)
      return value
    },
  }
}

/** An RFC 3339 instant, kept as it was written. */
export function instant(placeholder: string, help: string): Option<string | undefined> {
  return {
    placeholder,
    help,
    read(given) {
      const value = given?.[0]
      if (value !== undefined && !isInstant(value)) throw new Error('must be an instant such as 2026-01-15T09:00:00Z')
      return value
    },
  }
}

const ENVIRONMENT_PREFIX = 'DMARC_UNDERSTUDY_'

/**
 * Reads a command's options from its arguments or else from the environment, where a repeatable option is separated
 * by commas. `sources` says of each where it came from and as what, for an error that is found later.
 * @throws UsageError
 */
export function readOptions<Table extends Options>(
  table: Table,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): { values: Values<Table>; sources: { [Name in keyof Table]: string }; positionals: string[] } {
  const spelt = new Map(Object.keys(table).map((name) => [kebab(name), name]))
  const { tokens, positionals } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      [...spelt].map(([flag, name]) => [
        flag,
        { type: table[name]?.placeholder === undefined ? 'boolean' : 'string' } as const,
      ]),
    ),
  })
  const given = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const name = spelt.get(token.name)
    const option = name === undefined ? undefined : table[name]
    if (name === undefined || option === undefined) {
      throw new UsageError(
        `${token.rawName} is no option here; there are ${[...spelt.keys()].map((flag) => `--${flag}`).join(', ')}`,
      )
    }
    // `--data --no-admin` forgets a value; one that begins with dashes is given as `--data=--x`.
    const forgotten = token.value === undefined || (token.inlineValue === false && token.value.startsWith('--'))
    if (option.placeholder !== undefined && forgotten) {
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.placeholder}`)
    }
    given.set(name, [...(option.repeatable ? (given.get(name) ?? []) : []), token.value ?? 'true'])
  }
  const values: Record<string, unknown> = {}
  const sources: Record<string, string> = {}
  for (const [flag, name] of spelt) {
    const variable = ENVIRONMENT_PREFIX + flag.toUpperCase().replaceAll('-', '_')
    const fromEnvironment = environment[variable]
    const option = table[name]
    const source = given.has(name) || fromEnvironment === undefined ? `--${flag}` : variable
    const texts =
      given.get(name) ??
      (option?.repeatable ? fromEnvironment?.split(',') : fromEnvironment === undefined ? undefined : [fromEnvironment])
    try {
      values[name] = option?.read(texts)
      sources[name] = `${source} ${texts?.at(-1) ?? values[name] ?? ''}`.trim()
    } catch (error) {
      throw new UsageError(`${source} ${texts?.at(-1) ?? ''}: ${(error as Error).message}`)
    }
  }
  return { values: values as Values<Table>, sources: sources as { [Name in keyof Table]: string }, positionals }
}

/** The options of a table as lines of help. */
export function describeOptions(table: Options): string {
  const rows = Object.entries(table).map(([name, { placeholder, help }]) => {
    const flag = `--${kebab(name)}${placeholder === undefined ? '' : ` ${placeholder}`}`
    return flag.length > 26 ? `  ${flag}\n  ${' '.repeat(26)}  ${help}` : `  ${flag.padEnd(26)}  ${help}`
  })
  return `Options, each also as ${ENVIRONMENT_PREFIX}<OPTION> in the environment:\n${rows.join('\n')}`
}
