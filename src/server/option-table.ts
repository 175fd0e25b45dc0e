import { FIXTURE_NAMES } from '../accounts/fixture.ts'
import type { Open, Plan } from '../contract/names.ts'
import { DEFAULT_SEED } from '../domain/account.ts'
import type { Fixture } from '../domain/fixture.ts'
import { LIMITS } from '../domain/limits.ts'
import { type Log, SILENT } from '../ground/log.ts'
import { type Clock, systemClock } from '../ground/timers.ts'
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
  type ProgramOptions,
  secret,
  text,
  texts,
  textThat,
  toggle,
  wholeNumber,
} from './option.ts'
import { maskStoreUrl, readStoreUrl, STORE_REMEDY } from './store-url.ts'

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
 * the types and checks of the library come from these tables.
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
    default: 'dmarc-understudy',
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
    help: 'Maximum number of accounts. To make room, the sandbox that was idle for longest is deleted.',
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
  /** Listen on a port. Without one, the service is reached by its method `fetch`. */
  listen: { kind: toggle, default: true },
  /** Logger of requests and problems; those of pino fit. */
  log: { kind: log, default: SILENT },
  /** Clock that the clocks of all accounts follow, in milliseconds since the Unix epoch. */
  clock: { kind: clock, default: systemClock },
  /** Signal that stops the server when it is aborted. A start that is under way then rejects with its reason. */
  signal: { kind: signal },
} as const satisfies ProgramOptions

/** The options of the tests of vitest and node:test, beside the stand-in's. */
export const TEST_OPTIONS = {
  /** A test fails if it violates the contract: if it sends a request that is refused whatever the account holds. */
  failOnViolation: { kind: toggle, default: false },
} as const satisfies ProgramOptions

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
