import { readPackageFile } from '../ground/files.ts'
import { shorten, showWritten } from '../ground/show.ts'
import { flagOf, type Options, placeholderOf } from '../server/option.ts'
import { type ReadOptions, readOptions, UsageError } from './options.ts'
import type { DiscreetTerminal } from './terminal.ts'

export interface Command {
  options: Options
  /** Resolves to the exit code: 0 success, 1 violations or failed checks, 2 wrong usage, 3 could not start. */
  run(args: readonly string[], terminal: DiscreetTerminal): Promise<number>
}

export interface Reading<Table extends Options> extends ReadOptions<Table> {
  /** The options as they were written. */
  words: readonly string[]
  /** What comes after `--`, of a command that runs a command. */
  command: readonly string[]
}

type Takes = 'nothing' | 'operands' | 'a command'

/** Makes a command whose work gets its options already read. */
export function defineCommand<const Table extends Options>(
  name: string,
  options: Table,
  work: (reading: Reading<Table>, terminal: DiscreetTerminal) => Promise<number>,
  takes: Takes = 'nothing',
): Command {
  return {
    options,
    async run(args, terminal) {
      const parts = takes === 'a command' ? splitCommand(name, args) : { words: args, command: [] }
      const reading = readOptions(options, parts.words, terminal.environment)
      const [operand] = takes === 'operands' ? [] : reading.positionals
      if (operand === undefined) return work({ ...reading, ...parts }, terminal)
      if (takes === 'nothing') throw new UsageError(`${name} takes no argument, but was given ${showWritten(operand)}`)
      throw new UsageError(
        `${name}: ${shorten(operand)} is no option; the command comes after --: ${name} [options] -- COMMAND`,
      )
    },
  }
}

/** @throws UsageError without a command */
function splitCommand(name: string, args: readonly string[]): Pick<Reading<Options>, 'words' | 'command'> {
  const end = args.indexOf('--')
  const command = end < 0 ? [] : args.slice(end + 1)
  if (command[0]) return { words: args.slice(0, end), command }
  throw new UsageError(`${name}: needs a command after --, such as npx dmarc-understudy ${name} -- npm test`)
}

/** The words of a command line without the options of this table and their values. */
export function withoutOptions(words: readonly string[], table: Options): string[] {
  const rows = new Map(Object.entries(table).map(([name, option]) => [flagOf(name, option), option]))
  const kept: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const [, flag = '', value] = /^--([a-z-]+)(=)?/.exec(word) ?? []
    const option = rows.get(flag)
    if (option === undefined) kept.push(word)
    else if (value === undefined && placeholderOf(option) !== undefined) index++
  }
  return kept
}

export function readVersion(): string {
  return (JSON.parse(readPackageFile('package.json').toString()) as { version: string }).version
}
