import { isObject } from '../ground/json.ts'
import { type OptionKind, type Options, readDuration, timeLimit, wholeNumber } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { type EnvironmentVariable, isTemplate, PLACEHOLDERS } from '../trials/trial.ts'
import { UsageError } from './options.ts'

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

const { data: _1, durability: _2, store: _3, storePrefix: _4, readyFile: _5, ...separate } = TRIAL_OPTIONS
/** The options of every command that gives each of many trials a new server, with an account in memory. */
export const SEPARATE_TRIAL_OPTIONS = separate

/** The option of every command that runs many trials. */
export const JOBS = {
  jobs: {
    kind: wholeNumber(1, 1_000),
    help: 'Number of trials at the same time. More than one is for a command that shares no file and no port with itself.',
    default: 1,
  },
} as const satisfies Options

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

export function millisecondsOf(written: string | undefined): number | undefined {
  return written === undefined ? undefined : readDuration(written)
}
