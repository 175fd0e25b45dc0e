import { givenFields } from '../domain/given-fields.ts'
import { ControlError } from '../library/control-error.ts'
import { fetchFrom } from './fetch.ts'
import { flagOf, type Option } from './option.ts'
import { COMMAND_LINE_OPTIONS } from './option-table.ts'
import {
  completeOptions,
  completeTestOptions,
  findUnusual,
  OptionError,
  type ServerOptions,
  type TestOptions,
} from './options.ts'
import { startUnderstudy, type Understudy } from './understudy.ts'

/** The server of `run`, `vary` or `explore`, if this process is part of their command. */
interface TrialServer {
  /** The name of the trial. */
  trial: string
  baseUrl: string | undefined
  /** Absent if it has no control plane. */
  adminUrl: string | undefined
  /** Whether the command keeps it after the tests. */
  kept: boolean
}

function findTrialServer({ env } = process): TrialServer | undefined {
  const { UNDERSTUDY_TRIAL: trial, UNDERSTUDY_BASE_URL: baseUrl, UNDERSTUDY_ADMIN_URL: adminUrl, UNDERSTUDY_KEPT } = env
  return trial === undefined || trial === ''
    ? undefined
    : { trial, baseUrl, adminUrl, kept: UNDERSTUDY_KEPT === 'true' }
}

/** What an option of the tests means for the server of a trial. All others are refused, because they cannot be kept. */
const MEANINGS = {
  // They are given to each account.
  ...{ fixture: 'account', seed: 'account', now: 'account', frozen: 'account', plan: 'account', apiKey: 'account' },
  // They concern the process of the tests.
  ...{ adminToken: 'process', signal: 'process', listen: 'process' },
  // No answer depends on them.
  ...{ log: 'unused', durability: 'unused', maxAccounts: 'unused', journal: 'unused' },
} as const satisfies { readonly [Name in keyof ServerOptions]?: 'account' | 'process' | 'unused' }

/**
 * Separates the options of the stand-in, whose accounts are empty by default, from those of the tests.
 * @throws OptionError for an option that does not exist or is refused, and under `run`, `vary` or `explore` for one that
 * their server cannot have
 */
export function divideTestOptions(options: TestOptions): { server: ServerOptions; failOnViolation: boolean } {
  const { failOnViolation } = completeTestOptions(options)
  const { failOnViolation: _, ...server } = options
  refuseTrialOptions(server)
  return { server: { ...server, fixture: server.fixture ?? 'empty' }, failOnViolation }
}

/** Refuses options that the server of a trial cannot have, because the trial has chosen them. @throws OptionError */
function refuseTrialOptions(options: ServerOptions): void {
  const server = findTrialServer()
  if (server === undefined) return
  completeOptions(options)
  for (const name of findUnusual(options) as ReadonlySet<keyof ServerOptions>) {
    if (Object.hasOwn(MEANINGS, name)) continue
    const value = options[name]
    if (Array.isArray(value) && value.length === 0) continue
    throw new OptionError(
      name,
      value,
      `cannot be chosen here, because ${usesTrial(server)}; leave it out and ${insteadOf(name)}`,
    )
  }
}

function usesTrial({ trial }: TrialServer): string {
  return `the tests use the server of their command (UNDERSTUDY_TRIAL=${trial})`
}

/** What the user can do in place of an option of the tests. */
function insteadOf(name: keyof ServerOptions): string {
  const options: Readonly<Record<string, Option<unknown>>> = COMMAND_LINE_OPTIONS
  const option = options[name]
  const own = 'start a server of your own with startUnderstudy()'
  return option === undefined ? own : `give --${flagOf(name, option)} to the command, or ${own}`
}

/**
 * The stand-in of a file of tests: under `run`, `vary` and `explore` that of their command, which judges the requests, and
 * else a new one, as `startUnderstudy` starts it. For runners of tests without fixtures of this package, such as Jest.
 * `file` is the path of the file, from which the keys of its accounts derive.
 * @throws OptionError for an option that the server of the command has chosen; otherwise as `startUnderstudy`
 */
export async function startTestUnderstudy(options: ServerOptions = {}, file?: string): Promise<Understudy> {
  refuseTrialOptions(options)
  return openTestService(options, () => file ?? process.argv[1] ?? 'node')
}

/**
 * The stand-in of the tests: that of the trial, or else a new one. `nameFile` returns the path of the file whose tests
 * use it. @throws ControlError if the server of the trial cannot be used; errors of `startUnderstudy`
 */
export async function openTestService(options: ServerOptions, nameFile: () => string): Promise<Understudy> {
  const server = findTrialServer()
  if (server === undefined) return startUnderstudy(options)
  const { trial, baseUrl, adminUrl, kept: lasts } = server
  if (baseUrl === undefined || adminUrl === undefined) {
    const missing = baseUrl === undefined ? 'UNDERSTUDY_BASE_URL' : 'UNDERSTUDY_ADMIN_URL'
    const remedy = 'run the command without --no-admin, or the tests without UNDERSTUDY_TRIAL'
    const reason = `The tests cannot use the server of their command (UNDERSTUDY_TRIAL=${trial})`
    throw new ControlError('unavailable', `${reason}, because ${missing} is not set; ${remedy}.`, [])
  }
  const unused = [...findUnusual(options)].filter((name) => MEANINGS[name as keyof typeof MEANINGS] === 'unused')
  if (unused.length > 0) {
    process.emitWarning(`${unused.join(', ')}: no effect, because the tests use the server of their command.`)
  }
  const { fixture, seed, now, frozen, plan, apiKey, adminToken: token, signal } = options
  signal?.throwIfAborted()
  const { attach } = await import('../library/attachment.ts')
  const { library, instance, detach } = await attach({
    ...{ baseUrl, apiKey, lasts },
    // The same on every machine, because a plan of `explore` names the keys of the accounts, which derive from it.
    nameUser: () => nameFile().replace(process.cwd(), '').replaceAll('\\', '/'),
    address: { url: adminUrl.replace(/\/+$/, ''), token },
    accounts: givenFields({ fixture, seed, now, frozen, plan }),
  })
  const { fetch, close } = fetchFrom(baseUrl)
  let stopped: Promise<void> | undefined
  const stop = () => {
    signal?.removeEventListener('abort', abort)
    stopped ??= detach().finally(close)
    return stopped
  }
  // The server goes on, and its end is the end of all accounts, too.
  const abort = () => void stop().catch(() => {})
  signal?.addEventListener('abort', abort, { once: true })
  const understudy = {
    ...{ ...library, baseUrl, adminUrl, instance, stop, [Symbol.asyncDispose]: stop },
    fetch,
    ...{ kept: false, exposed: [] },
  }
  const other = (what: string) => {
    throw new ControlError('unavailable', `${what} is not known here, because ${usesTrial(server)}.`, [])
  }
  // They are not enumerable, so that a copy of the object can be made.
  return Object.defineProperties(understudy, {
    contract: { get: () => other('The contract') },
    app: { get: () => other('The application') },
  }) as typeof understudy & Pick<Understudy, 'contract' | 'app'>
}
