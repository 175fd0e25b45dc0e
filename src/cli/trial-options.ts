import { isObject } from '../ground/json.ts'
import { shorten } from '../ground/show.ts'
import {
  flagOf,
  type OptionKind,
  type Options,
  placeholderOf,
  readDuration,
  timeLimit,
  wholeNumber,
} from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { type EnvironmentVariable, isTemplate, PLACEHOLDERS } from '../trials/trial.ts'
import { UsageError } from './errors.ts'
import { type ReadOptions, readOptions } from './options.ts'

const VARIABLE = /^([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s

const variables: OptionKind<readonly EnvironmentVariable[]> = {
  remedy: `must be NAME=TEMPLATE, where the template may have ${PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`,
  placeholder: 'NAME=TEMPLATE',
  repeatable: true,
  fits: (value): value is readonly EnvironmentVariable[] => Array.isArray(value) && value.every(isVariable),
  read(written) {
    const [, name, template] = VARIABLE.exec(written) ?? []
    return { name, template }
  },
}

function isVariable(value: unknown): boolean {
  return isObject(value) && typeof value['template'] === 'string' && isTemplate(value['template'])
}

/** The options of every command that runs a command of the user: the options of a server, and how the command runs. */
export const TRIAL_OPTIONS = {
  ...COMMAND_LINE_OPTIONS,
  port: { ...COMMAND_LINE_OPTIONS.port, help: 'Port of the service; 0 takes any free port.', default: 0 },
  logLevel: { ...COMMAND_LINE_OPTIONS.logLevel, default: 'silent' },
  setEnv: {
    kind: variables,
    help: 'Variable of the environment of the command, beside UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY and UNDERSTUDY_ADMIN_URL.',
    default: [],
  },
  timeout: { kind: timeLimit, help: 'Time limit of the command.', defaultText: 'no limit' },
} as const satisfies Options

const {
  data: _data,
  durability: _durability,
  store: _store,
  storePrefix: _storePrefix,
  readyFile: _readyFile,
  ...separate
} = TRIAL_OPTIONS
/** The options of every command that gives each trial a new server. */
export const SEPARATE_TRIAL_OPTIONS = separate

const OWN_ACCOUNT = 'each trial has an account of its own in memory, so that trials do not affect each other'
/** Why a command has no such option, by flag. */
const REASONS: Readonly<Record<string, string>> = {
  data: OWN_ACCOUNT,
  durability: 'nothing is kept, because each trial has an account of its own in memory',
  store: OWN_ACCOUNT,
  'store-prefix': OWN_ACCOUNT,
  'ready-file': 'each trial has a server of its own; the command reads its address in UNDERSTUDY_BASE_URL',
}

/** The option of every command that runs many trials. */
export const JOBS = {
  jobs: {
    kind: wholeNumber(1, 1_000),
    help: 'Number of trials at the same time. More than one is for a command that shares no file and no port with itself.',
    default: 1,
  },
} as const satisfies Options

/** The option that shortens quota windows. */
export const WINDOW = {
  window: {
    kind: timeLimit,
    help: 'Length of a quota window, for a client that waits for the reset by its own clock.',
    defaultText: 'that of the contract',
  },
} as const satisfies Options

/** The length of a shortened quota window, in seconds, if it is given. @throws UsageError for less than a second */
export function windowOf(written: string | undefined, source: string): number | undefined {
  if (written === undefined) return undefined
  const seconds = readDuration(written) / 1000
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new UsageError(`${source}: must be whole seconds such as 3s, because a reset is told in seconds`)
  }
  return seconds
}

/** What `name [options] -- COMMAND` was given. `words` are the options as they were written. */
export interface ReadTrial<Table extends Options> extends ReadOptions<Table> {
  words: readonly string[]
  command: readonly string[]
}

/** Reads `name [options] -- COMMAND`. @throws UsageError */
export function readTrial<const Table extends Options>(
  name: string,
  table: Table,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): ReadTrial<Table> {
  const end = args.indexOf('--')
  const command = end < 0 ? [] : args.slice(end + 1)
  if (command[0] === undefined || command[0] === '') {
    throw new UsageError(`${name}: needs a command after --, such as dmarc-understudy ${name} -- npm test`)
  }
  const words = args.slice(0, end)
  refuseOptions(name, table, words)
  const reading = readOptions(table, words, environment)
  const [operand] = reading.positionals
  if (operand !== undefined) {
    throw new UsageError(
      `${name}: ${shorten(operand)} is no option; the command comes after --: ${name} [options] -- COMMAND`,
    )
  }
  return { ...reading, words, command }
}

/** @throws UsageError if an option of `serve` has no meaning for the command */
function refuseOptions(name: string, table: Options, words: readonly string[]): void {
  const known = new Set(Object.entries(table).map(([each, option]) => flagOf(each, option)))
  for (const word of words) {
    const flag = /^--([a-z-]+)/.exec(word)?.[1] ?? ''
    const reason = known.has(flag) || !Object.hasOwn(REASONS, flag) ? undefined : REASONS[flag]
    if (reason !== undefined) throw new UsageError(`--${flag}: cannot be used with ${name}; ${reason}`)
  }
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

/** The milliseconds of a duration, if it is given. */
export function millisecondsOf(written: string | undefined): number | undefined {
  return written === undefined ? undefined : readDuration(written)
}
