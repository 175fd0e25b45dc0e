import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import type { Open, Plan } from '../contract/names.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { LIMITS } from '../domain/limits.ts'
import type { Settings } from '../domain/settings.ts'
import { type Clock, systemClock } from '../ground/clock.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { isLoopback } from '../ground/hosts.ts'
import { type Log, SILENT } from '../ground/log.ts'
import { show } from '../ground/show.ts'
import { JOURNAL_LIMITS } from '../journal/journal.ts'
import {
  fileName,
  fileNames,
  hostName,
  instant,
  type OptionKind,
  type Options,
  oneOf,
  origins,
  type ProgramOption,
  type ProgramOptions,
  remedyFor,
  secret,
  text,
  texts,
  textThat,
  toggle,
  type Values,
  wholeNumber,
} from './option.ts'
import { OptionError, type Spell } from './option-error.ts'
import type { ServerOptions } from './options.ts'
import { maskStoreUrl, readStoreUrl, STORE_REMEDY } from './store-url.ts'

/** The default beginning of keys in a store. */
const DEFAULT_STORE_PREFIX = 'dmarc-understudy'

const fixture: OptionKind<string | Fixture> = {
  remedy: 'must be the name of a ready-made fixture, the path of a file, or a fixture',
  fits: (value): value is string | Fixture =>
    typeof value === 'object' ? value !== null && !Array.isArray(value) : text.fits(value),
  read: (written) => written,
}

/** An overlay can have other plans, so the plan is checked later, against the contract of the server. */
const plan: OptionKind<Open<Plan>> = text

const clock: OptionKind<Clock> = {
  remedy: 'must be a function that returns milliseconds as a number',
  fits: (value): value is Clock => typeof value === 'function' && Number.isFinite(value()),
}

const signal: OptionKind<AbortSignal> = {
  remedy: 'must be the signal of an AbortController',
  fits: (value): value is AbortSignal => value instanceof AbortSignal,
}

const log: OptionKind<Log> = {
  remedy: 'must be an object with the methods info, warn, error',
  fits: (value): value is Log => LOG_METHODS.every((name) => typeof Object(value)[name] === 'function'),
}
const LOG_METHODS = ['info', 'warn', 'error'] as const satisfies readonly (keyof Log)[]

/** The URL of a store for many replicas. */
const store: OptionKind<string> = {
  remedy: STORE_REMEDY,
  shows: maskStoreUrl,
  placeholder: 'URL',
  fits: (value): value is string => typeof value === 'string' && readStoreUrl(value) !== undefined,
  read: (written) => written,
}

/** The beginning of keys in a store. A brace would be part of a hash tag; a pattern would match many prefixes. */
const keyPrefix = textThat(
  (written) => /^[\w.:-]{1,64}$/.test(written),
  'must be 1 to 64 letters, digits, dots, colons, hyphens or underscores',
  'NAME',
)

/**
 * Every option of a server, once: its check, its names, its help and its default. The command line, the environment and
 * the checks of the library read these tables. `options.ts` says the same as types.
 */
const SERVER_OPTIONS = {
  port: {
    kind: wholeNumber(0, 65_535),
    placeholder: 'PORT',
    help: 'Port to listen on; 0 takes any free port.',
    default: 0,
  },
  host: { kind: hostName, help: 'Address to listen on.', default: '127.0.0.1' },
  data: {
    kind: text,
    placeholder: 'DIR',
    help: 'Folder that keeps the accounts, one JSON file each.',
    defaultText: 'accounts are kept in memory',
  },
  durability: {
    kind: oneOf(['rename', 'fsync']),
    help: 'Failure that a change in the data folder survives: the end of the process (rename), or also a power cut (fsync).',
    default: 'rename',
  },
  store: {
    kind: store,
    help: 'Redis or Valkey that any number of servers share, such as redis://127.0.0.1:6379.',
    defaultText: 'accounts are kept in memory',
  },
  storePrefix: {
    kind: keyPrefix,
    help: 'Beginning of every key in the store. Servers with different prefixes share nothing.',
    default: DEFAULT_STORE_PREFIX,
  },
  fixture: {
    kind: fixture,
    placeholder: 'NAME|FILE',
    help: `Content of a new account: ${FIXTURE_NAMES.join(', ')}, or a fixture file.`,
    default: 'demo',
  },
  seed: {
    kind: wholeNumber(0, LIMITS.seed),
    placeholder: 'SEED',
    help: 'Number from which everything random is derived.',
    defaultText: `the fixture's, else ${DEFAULT_SEED}`,
  },
  now: {
    kind: instant,
    help: 'Instant at which the clock of a new account starts, such as 2026-01-15T09:00:00Z.',
    defaultText: "the fixture's, else the current time",
  },
  frozen: {
    kind: toggle,
    help: 'Stop the clock of a new account at its start.',
    defaultText: 'as the fixture says, else the clock runs',
  },
  apiKey: {
    kind: secret,
    placeholder: 'KEY',
    help: 'API key of the default account.',
    defaultText: 'derived from the seed on a loopback address, else random',
  },
  plan: {
    kind: plan,
    placeholder: 'PLAN',
    help: 'Plan of a new account.',
    defaultText: "the fixture's, else the lowest plan with access",
  },
  faults: {
    kind: texts,
    placeholder: 'SET|FILE[#SET]',
    help: 'Fault rules of every new account: flaky, quota-storm, lossy-writes, slow, or a file of fault sets.',
    default: [],
  },
  adminToken: {
    kind: secret,
    placeholder: 'TOKEN',
    help: 'Token that the control plane asks for. It is required on any address but a loopback address.',
  },
  maxAccounts: {
    kind: wholeNumber(1, 10_000_000),
    help: 'Maximum number of accounts. To make room, the sandbox is deleted that was idle for longest.',
    default: 10_000,
  },
  journal: {
    kind: wholeNumber(0, 1_000_000),
    help: 'Number of requests of each account in the journal; 0 for none.',
    default: JOURNAL_LIMITS.entries,
  },
  sandboxKeys: {
    kind: toggle,
    help: 'Open a new account for each key that begins with sandbox_, on its first use.',
    defaultText: 'only on a loopback address; --no-sandbox-keys opens none',
  },
  prefer: {
    kind: toggle,
    help: 'Ignore the request header Prefer, such as code=rate_limited, delay=500.',
    default: true,
  },
  simulator: {
    kind: toggle,
    help: 'Treat domains under understudy.test like any other domain.',
    default: true,
  },
  admin: {
    kind: toggle,
    help: 'Do not serve the control plane.',
    default: true,
  },
  cors: {
    kind: origins,
    default: [],
    help: 'Origin whose pages may use the service from a browser; without an origin, any. The control plane stays closed to them.',
  },
  enforceQuotas: {
    kind: toggle,
    flag: 'no-quotas',
    help: 'Count requests, but refuse none that is over its quota.',
    default: true,
  },
  overlays: {
    kind: fileNames,
    flag: 'overlay',
    default: [],
    help: 'OpenAPI Overlay that changes an assumption; the command assumptions lists all assumptions.',
  },
  responseValidation: {
    kind: oneOf(['error', 'warn', 'off']),
    help: 'A response that violates the contract becomes a 500 (error), is logged (warn), or is sent unchanged (off).',
    default: 'error',
  },
} as const satisfies Options

/** The options of `startUnderstudy`. */
export const LIBRARY_OPTIONS = {
  ...SERVER_OPTIONS,
  listen: { kind: toggle, default: true },
  log: { kind: log, default: SILENT },
  clock: { kind: clock, default: systemClock },
  signal: { kind: signal },
} as const satisfies { readonly [Name in keyof ServerOptions]-?: ProgramOption<NonNullable<ServerOptions[Name]>> }

/** The options of `serve`, and of every other command that starts a server. */
export const COMMAND_LINE_OPTIONS = {
  ...SERVER_OPTIONS,
  port: { ...SERVER_OPTIONS.port, default: 4010 },
  logLevel: {
    kind: oneOf(['info', 'warn', 'error', 'silent']),
    help: 'Lowest level of the log on standard error.',
    default: 'info',
  },
  logFormat: {
    kind: oneOf(['pretty', 'json']),
    help: 'Format of the log: one short line each for a person (pretty), or one JSON object each for a program (json).',
    defaultText: 'pretty on a terminal, else json',
  },
  readyFile: {
    kind: fileName,
    help: 'JSON file with base_url, admin_url, api_key, pid and instance. It exists while the server answers.',
  },
  exitWith: {
    kind: wholeNumber(1, 2 ** 31 - 1),
    placeholder: 'PID',
    help: 'Stop when the process with this id has ended, such as that of the tests.',
  },
} as const satisfies Options

/** The options for the server among the options of a command. */
export function pickServerOptions(values: Partial<Values<typeof COMMAND_LINE_OPTIONS>>): ServerOptions {
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(LIBRARY_OPTIONS, name)))
}

/** Options of a server after their check, with defaults. */
export type CompleteOptions = Values<typeof LIBRARY_OPTIONS> & { sandboxKeys: boolean }

/** Whether keys open sandboxes. If other machines can reach the server, the default is no. */
export function opensSandboxes({
  sandboxKeys,
  host,
}: Pick<Values<typeof SERVER_OPTIONS>, 'sandboxKeys' | 'host'>): boolean {
  return sandboxKeys ?? isLoopback(host)
}

/**
 * Checks options, and applies the defaults to missing ones.
 * @throws OptionError for the first refused or unknown option; TypeError for a value that holds no options
 */
export function completeOptions(options: ServerOptions): CompleteOptions {
  refuseUnknownOptions(options, LIBRARY_OPTIONS)
  const entries = Object.entries<ProgramOption<unknown>>(LIBRARY_OPTIONS).map(([name, option]) => {
    // Read once, and including inherited properties, so that each used value is a checked one.
    const value: unknown = options[name as keyof ServerOptions]
    const { kind } = option
    if (value !== undefined && !kind.fits(value)) {
      const shown = kind === store && typeof value === 'string' ? maskStoreUrl(value) : value
      throw new OptionError(name as keyof ServerOptions, shown, remedyFor(kind, value))
    }
    return [name, value ?? option.default]
  })
  const complete = Object.fromEntries(entries) as Values<typeof LIBRARY_OPTIONS>
  return { ...complete, sandboxKeys: opensSandboxes(complete) }
}

/** @throws OptionError for the first option that is in none of the rows; TypeError for a value that holds no options */
export function refuseUnknownOptions(options: ServerOptions, rows: ProgramOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`Options must be an object such as { fixture: 'empty' }, which ${show(options)} is not.`)
  }
  // Includes inherited properties, because a program may expect them to be options.
  for (const name in options) {
    if (Object.hasOwn(rows, name)) continue
    const names = Object.keys(rows)
    const meant = nearestName(name, names)
    const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`
    const option = name as keyof ServerOptions
    throw new OptionError(option, options[option], `is no option; ${hint}`)
  }
}

/** Options that mean nothing beside others, and what to do about it. */
const CONTRADICTIONS: readonly {
  readonly names: readonly (keyof ServerOptions)[]
  holds(values: ServerOptions): boolean
  remedy(spell: Spell): string
}[] = [
  {
    names: ['port', 'host'],
    holds: ({ listen }) => listen === false,
    remedy: (spell) => `is for a port; leave it out, or leave out ${spell('listen', false)}`,
  },
  {
    names: ['storePrefix'],
    holds: ({ store }) => store === undefined,
    remedy: (spell) => `needs the URL of a store; give ${spell('store')}`,
  },
  {
    names: ['data', 'durability'],
    holds: ({ store }) => store !== undefined,
    remedy: (spell) => `is for accounts that this server keeps alone; leave it out, or leave out ${spell('store')}`,
  },
  {
    names: ['clock'],
    holds: ({ store }) => store !== undefined,
    remedy: () => 'must be left out, because the clocks of all accounts follow the store',
  },
]

/**
 * Refuses options that contradict each other. `given` are the explicitly given ones; a default contradicts no option.
 * @throws OptionError for the option that must be removed
 */
export function refuseContradictions(values: ServerOptions, given = findUnusual(values)): void {
  for (const { names, holds, remedy } of CONTRADICTIONS) {
    const name = names.find((each) => given.has(each))
    if (name !== undefined && holds(values)) throw new OptionError(name, values[name], remedy)
  }
}

/** The options whose values differ from their defaults. */
export function findUnusual(values: ServerOptions): ReadonlySet<string> {
  const rows = Object.entries<ProgramOption<unknown>>(LIBRARY_OPTIONS)
  return new Set(
    rows.flatMap(([name, { default: usual }]) => {
      const value = values[name as keyof ServerOptions]
      return value === undefined || value === usual ? [] : [name]
    }),
  )
}

/** @throws OptionError if the contract has no such plan */
export function checkPlan(plan: string | undefined, { plans }: Settings): void {
  if (plan !== undefined && !plans.order.includes(plan))
    throw new OptionError('plan', plan, `must be one of ${plans.order.join(', ')}`)
}
