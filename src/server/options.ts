import type { Settings } from '../domain/settings.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { isLoopback } from '../ground/hosts.ts'
import { show } from '../ground/show.ts'
import { type ProgramOption, type ProgramOptions, remedyFor, type Values } from './option.ts'
import { type COMMAND_LINE_OPTIONS, LIBRARY_OPTIONS, TEST_OPTIONS } from './option-table.ts'
import { maskStoreUrl } from './store-url.ts'

type LibraryValues = Values<typeof LIBRARY_OPTIONS>
type OptionName = keyof LibraryValues | keyof typeof TEST_OPTIONS

/** The options of a server. Each of them may be left out. `dmarc-understudy serve --help` describes them. */
export type ServerOptions = { [Name in keyof LibraryValues]?: LibraryValues[Name] | undefined }

/** The options of `createTest` and of `shareUnderstudy`: those of the stand-in, and those of the tests. */
export type TestOptions = ServerOptions & {
  [Name in keyof typeof TEST_OPTIONS]?: Values<typeof TEST_OPTIONS>[Name] | undefined
}

/** Options of a server after their check, with defaults. */
export type CompleteOptions = LibraryValues & { sandboxKeys: boolean }

/** The spelling of an option in a remedy, such as `--admin-token TOKEN`. */
type Spell = (option: OptionName) => string

/** An option whose value is refused, with a remedy. */
export class OptionError extends Error {
  override name = 'OptionError'
  readonly option: OptionName
  readonly remedy: string
  readonly #remedy: string

  /** In the remedy, other options are in braces: `{adminToken}` or `{admin: false}`. */
  constructor(option: OptionName, value: unknown, remedy: string) {
    const said = remedy.replaceAll(OTHER_OPTION, '$1$2')
    super(`${option} ${show(value)}: ${said}${said.endsWith('?') ? '' : '.'}`)
    this.option = option
    this.remedy = said
    this.#remedy = remedy
  }

  /** The remedy in another spelling of options. */
  remedyAs(spell: Spell): string {
    return this.#remedy.replaceAll(OTHER_OPTION, (_, name: OptionName) => spell(name))
  }
}

const OTHER_OPTION = /\{(\w+)(: false)?\}/g

/** The options for the server among the options of a command. */
export function pickServerOptions(values: Partial<Values<typeof COMMAND_LINE_OPTIONS>>): ServerOptions {
  return Object.fromEntries(Object.entries(values).filter(([name]) => Object.hasOwn(LIBRARY_OPTIONS, name)))
}

/** Whether keys open sandboxes. If other machines can reach the server, the default is no. */
export function opensSandboxes({ sandboxKeys, host }: Pick<LibraryValues, 'sandboxKeys' | 'host'>): boolean {
  return sandboxKeys ?? isLoopback(host)
}

/**
 * Checks options, and applies the defaults to missing ones.
 * @throws OptionError for the first refused or unknown option; TypeError for a value that holds no options
 */
export function completeOptions(options: ServerOptions): CompleteOptions {
  const complete = completeBy(LIBRARY_OPTIONS, options)
  return { ...complete, sandboxKeys: opensSandboxes(complete) }
}

/** The same for the options of tests. */
export function completeTestOptions(options: TestOptions) {
  return completeBy({ ...LIBRARY_OPTIONS, ...TEST_OPTIONS }, options)
}

function completeBy<const Rows extends ProgramOptions>(rows: Rows, options: object): Values<Rows> {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`Options must be an object such as { fixture: 'empty' }, which ${show(options)} is not.`)
  }
  // Includes inherited properties, because a program may expect them to be options.
  for (const name in options) {
    if (Object.hasOwn(rows, name)) continue
    const names = Object.keys(rows)
    const meant = nearestName(name, names)
    const hint = meant === undefined ? `there are ${names.join(', ')}` : `did you mean ${meant}?`
    throw new OptionError(name as OptionName, Reflect.get(options, name), `is no option; ${hint}`)
  }
  const entries = Object.entries<ProgramOption<unknown>>(rows).map(([name, { kind, default: usual }]) => {
    // Read once, and including inherited properties, so that each used value is a checked one.
    const value: unknown = Reflect.get(options, name)
    if (value === undefined || kind.fits(value)) return [name, value ?? usual]
    const shown = name === 'store' && typeof value === 'string' ? maskStoreUrl(value) : value
    throw new OptionError(name as OptionName, shown, remedyFor(kind, value))
  })
  return Object.fromEntries(entries) as Values<Rows>
}

/** Options that mean nothing beside others, and what to do about it. */
const CONTRADICTIONS: readonly {
  readonly names: readonly (keyof ServerOptions)[]
  holds(values: ServerOptions): boolean
  readonly remedy: string
}[] = [
  {
    names: ['port', 'host'],
    holds: ({ listen }) => listen === false,
    remedy: 'is for a port; leave it out, or leave out {listen: false}',
  },
  {
    names: ['storePrefix'],
    holds: ({ store }) => store === undefined,
    remedy: 'needs the URL of a store; give {store}',
  },
  {
    names: ['data', 'durability'],
    holds: ({ store }) => store !== undefined,
    remedy: 'is for accounts that this server keeps alone; leave it out, or leave out {store}',
  },
  {
    names: ['clock'],
    holds: ({ store }) => store !== undefined,
    remedy: 'must be left out, because the clocks of all accounts follow the store',
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
  const names = Object.keys(LIBRARY_OPTIONS) as (keyof ServerOptions)[]
  const rows: ProgramOptions = LIBRARY_OPTIONS
  return new Set(names.filter((name) => values[name] !== undefined && values[name] !== rows[name]?.default))
}

/** @throws OptionError if the contract has no such plan */
export function checkPlan(plan: string | undefined, { plans }: Settings): void {
  if (plan !== undefined && !plans.order.includes(plan))
    throw new OptionError('plan', plan, `must be one of ${plans.order.join(', ')}`)
}
