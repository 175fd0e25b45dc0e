import { inspect } from 'node:util'
import type { Fixture } from '../domain/fixture.ts'
import { isInstant } from '../domain/iso-8601.ts'
import type { Settings } from '../domain/settings.ts'
import type { Clock } from '../ground/clock.ts'
import { nearestName } from '../ground/edit-distance.ts'
import type { Log } from '../http/log.ts'
import type { ResponseValidation } from '../http/reply.ts'
import type { Durability } from '../store/folder/atomic-file.ts'
import type { Store } from '../store/store.ts'

/** How a stand-in is to be; every option has a default. */
export interface ServerOptions {
  /** 0, the default, takes any free port. */
  port?: number | undefined
  /** 127.0.0.1 by default. */
  host?: string | undefined
  /** Folder that keeps the accounts; without it they live in memory. */
  data?: string | undefined
  /**
   * What an acknowledged change in that folder survives: `rename` (default) the death of the process, `fsync` also that
   * of the machine.
   */
  durability?: Durability | undefined
  /** Whether a damaged account in that folder is left out, with a warning, instead of stopping the start; false by default. */
  skipDamaged?: boolean | undefined
  /** A store of your own instead of the two; it is closed at the stop. */
  store?: Store | undefined
  /**
   * What new accounts hold: `demo` (default), `empty`, `edge-cases`, `agency`, the path of a fixture file, or a fixture.
   */
  fixture?: string | Fixture | undefined
  /** What all chance derives from; the fixture's or else 42 by default. */
  seed?: number | undefined
  /** RFC 3339 instant at which the clock of a new account starts; the fixture's or else the machine's by default. */
  now?: string | undefined
  /** Whether the clock of a new account stands still; false by default. */
  frozen?: boolean | undefined
  /** Key of the `default` account; without it, one that derives from the seed. */
  apiKey?: string | undefined
  /** Plan of a new account. */
  plan?: string | undefined
  /** Fault rules that every new account has: names of ready-made sets, paths of files, or `FILE#NAME`. */
  faults?: readonly string[] | undefined
  /** Whether the control plane answers; true by default. */
  admin?: boolean | undefined
  /** Token of the control plane; needed on any host but a loopback address. */
  adminToken?: string | undefined
  /** How many accounts there may be; 10,000 by default. The sandbox that was idle longest makes room for a new account. */
  maxAccounts?: number | undefined
  /** Whether a key `sandbox_…` opens an account of its own on first use; true by default. */
  sandboxKeys?: boolean | undefined
  /** Whether `Prefer: code=…, delay=…` on a request is honoured; true by default. */
  prefer?: boolean | undefined
  /** Whether domains under understudy.test say how they want to be treated; true by default. */
  simulator?: boolean | undefined
  /** How many requests of each account are remembered; 1,000 by default, 0 for none. */
  journal?: number | undefined
  /** Whether a request over its quota is refused; true by default. */
  enforceQuotas?: boolean | undefined
  /** Paths of OpenAPI Overlay files. */
  overlays?: readonly string[] | undefined
  /** What happens to a response that violates the contract; `error` by default. */
  responseValidation?: ResponseValidation | undefined
  /** Where each request is logged; pino's loggers fit. Nowhere by default. */
  log?: Log | undefined
  /** The machine's clock; what it shows, the clocks of accounts go by. */
  clock?: Clock | undefined
}

/** An option that cannot be, with what would be right. */
export class OptionError extends Error {
  override name = 'OptionError'
  readonly option: keyof ServerOptions
  readonly remedy: string

  constructor(option: keyof ServerOptions, value: unknown, remedy: string) {
    super(`${option} ${show(value)}: ${remedy}${remedy.endsWith('?') ? '' : '.'}`)
    this.option = option
    this.remedy = remedy
  }
}

const SHOWN = 100

/** A value in a few characters, whatever it is. */
function show(value: unknown): string {
  const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: SHOWN })
  const json = typeof value === 'string' ? JSON.stringify(value) : text
  return json.length > SHOWN ? `${json.slice(0, SHOWN)}…` : json
}

interface Demand {
  fits(value: unknown): boolean
  remedy: string
}

const flag: Demand = { fits: (value) => typeof value === 'boolean', remedy: 'must be true or false' }
const text: Demand = { fits: (value) => typeof value === 'string' && value !== '', remedy: 'must be a text' }
const texts: Demand = {
  fits: (value) => Array.isArray(value) && value.every((each) => typeof each === 'string' && each !== ''),
  remedy: 'must be an array of texts',
}
const secret: Demand = {
  fits: (value) => typeof value === 'string' && /^[!-~]{1,200}$/.test(value),
  remedy: 'must be 1 to 200 visible ASCII characters without spaces',
}

function withMethods(...names: readonly string[]): Demand {
  return {
    fits: (value) => names.every((name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function'),
    remedy: `must be an object with the methods ${names.join(', ')}`,
  }
}

function integer(lowest: number, highest: number): Demand {
  return {
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= lowest && Number(value) <= highest,
    remedy: `must be a whole number from ${lowest} to ${highest}`,
  }
}

/** What each option must be; those who do not write TypeScript learn of it too. */
const DEMANDS: Readonly<Record<keyof ServerOptions, Demand>> = {
  port: integer(0, 65_535),
  host: text,
  data: text,
  durability: {
    fits: (value) => value === 'rename' || value === 'fsync',
    remedy: 'must be one of rename, fsync',
  },
  skipDamaged: flag,
  store: withMethods('has', 'read', 'update', 'close'),
  fixture: {
    fits: (value) =>
      typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null && !Array.isArray(value),
    remedy: 'must be the name of a ready-made fixture, the path of a file, or a fixture',
  },
  seed: integer(0, Number.MAX_SAFE_INTEGER),
  now: {
    fits: (value) => typeof value === 'string' && isInstant(value),
    remedy: 'must be an instant such as 2026-01-15T09:00:00Z',
  },
  frozen: flag,
  apiKey: secret,
  plan: text,
  faults: texts,
  admin: flag,
  adminToken: secret,
  maxAccounts: integer(1, 10_000_000),
  sandboxKeys: flag,
  prefer: flag,
  simulator: flag,
  journal: integer(0, 1_000_000),
  enforceQuotas: flag,
  overlays: texts,
  responseValidation: {
    fits: (value) => value === 'error' || value === 'warn' || value === 'off',
    remedy: 'must be one of error, warn, off',
  },
  log: withMethods('info', 'warn', 'error'),
  clock: { fits: (value) => typeof value === 'function', remedy: 'must be a function that returns milliseconds' },
}

/** @throws OptionError for the first option that cannot be, or is none; TypeError for what are no options. */
export function checkOptions(options: ServerOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError(`Options must be an object such as { fixture: 'empty' }, which ${show(options)} is not.`)
  }
  for (const [name, value] of Object.entries(options)) {
    const option = name as keyof ServerOptions
    const demand = Object.hasOwn(DEMANDS, name) ? DEMANDS[option] : undefined
    if (demand === undefined) {
      const meant = nearestName(name, Object.keys(DEMANDS))
      const hint = meant === undefined ? `there are ${Object.keys(DEMANDS).join(', ')}` : `did you mean ${meant}?`
      throw new OptionError(option, value, `is no option; ${hint}`)
    }
    if (value !== undefined && !demand.fits(value)) throw new OptionError(option, value, demand.remedy)
  }
}

/** @throws OptionError when the contract knows no such plan. */
export function checkPlan(plan: string | undefined, { plans }: Settings): void {
  if (plan !== undefined && !plans.order.includes(plan))
    throw new OptionError('plan', plan, `must be one of ${plans.order.join(', ')}`)
}
