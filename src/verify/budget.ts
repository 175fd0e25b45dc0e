import type { Contract } from '../contract/contract.ts'
import type { SeenHeaders } from '../exchanges/exchange.ts'
import { type Clock, RealDate } from '../ground/timers.ts'

/** What is known of the quota of one path. */
export interface Spending {
  path: string
  /** The requests that the contract allows in a window. */
  limit: number
  /** The length of a window in seconds. */
  window: number
  /** Requests of this run in the present window, as far as its start is known. */
  sent: number
  /** All requests of this run. */
  total: number
  /** What the last response said is left for all clients together; absent if no response said it in this window. */
  remaining: number | undefined
  /** When the window ends, in milliseconds on the clock of the run; until a response says it, as late as it can be. */
  endsAt: number | undefined
}

const NEW_WINDOW = { sent: 0, remaining: undefined, endsAt: undefined }

/**
 * The requests that may still be sent to each path: the quota of the contract minus the requests of this run. It is
 * never more than the last response said is left, because other clients with the same key also spend.
 */
export class RequestBudget {
  readonly #paths = new Map<string, Spending>()
  readonly #reserve: number
  readonly #now: Clock

  /** `reserve`: how many requests of each path are left to other clients. */
  constructor({ operations }: Pick<Contract, 'operations'>, reserve: number, now: Clock) {
    this.#reserve = reserve
    this.#now = now
    for (const { path, quota } of operations) {
      if (quota !== undefined) this.#paths.set(path, { path, ...quota, total: 0, ...NEW_WINDOW })
    }
  }

  /** The quota of a path; `undefined` if it has none. After the end of a window, nothing of it counts. */
  of(path: string): Readonly<Spending> | undefined {
    return this.#at(path)
  }

  get all(): readonly Readonly<Spending>[] {
    return [...this.#paths.keys()].flatMap((path) => this.#at(path) ?? [])
  }

  /** How many more requests may be sent to the path, the reserve excluded; infinite if it has no quota. */
  left(path: string): number {
    return Math.max(0, this.leftForCleanup(path) - this.#reserve)
  }

  /** The same with the reserve: to leave items behind would be worse for other clients than to spend their requests. */
  leftForCleanup(path: string): number {
    const spending = this.#at(path)
    if (spending === undefined) return Number.POSITIVE_INFINITY
    const { limit, sent, remaining = limit } = spending
    return Math.max(0, Math.min(limit - sent, remaining))
  }

  /** Counts a request before it is sent. */
  spend(path: string): void {
    const spending = this.#at(path)
    if (spending === undefined) return
    spending.sent++
    spending.total++
    if (spending.remaining) spending.remaining--
    spending.endsAt ??= this.#now() + spending.window * 1000
  }

  /** Updates the quota of a path from a response. `headers` by lower-case name. */
  believe(path: string, headers: SeenHeaders, isRefused: boolean): void {
    const spending = this.#at(path)
    if (spending === undefined) return
    const { window } = spending
    spending.remaining = isRefused ? 0 : (readCount(headers['x-ratelimit-remaining']) ?? spending.remaining)
    const seconds = readReset(headers) ?? (isRefused ? (readCount(headers['retry-after']) ?? window) : undefined)
    if (seconds !== undefined) spending.endsAt = this.#now() + Math.min(Math.max(1, seconds), window) * 1000
  }

  /** Milliseconds until the window of the path ends. */
  untilReset(path: string): number {
    return Math.max(0, (this.#at(path)?.endsAt ?? 0) - this.#now())
  }

  /** Begins a new window of the path, although nothing says that the present one is over. */
  renew(path: string): void {
    Object.assign(this.#paths.get(path) ?? {}, NEW_WINDOW)
  }

  #at(path: string): Spending | undefined {
    const spending = this.#paths.get(path)
    if (spending?.endsAt !== undefined && spending.endsAt <= this.#now()) Object.assign(spending, NEW_WINDOW)
    return spending
  }
}

/** A number from this on is a Unix timestamp: as a number of seconds, it would be more than thirty years. */
const LEAST_TIMESTAMP = 1_000_000_000

/** The seconds until a quota is renewed, by X-RateLimit-Reset, whose form the specification does not show. */
function readReset(headers: SeenHeaders): number | undefined {
  const number = readCount(headers['x-ratelimit-reset'])
  if (number === undefined || number < LEAST_TIMESTAMP) return number
  // Without the clock of the service, a time says nothing about how long to wait.
  const date = RealDate.parse(headers['date'] ?? '')
  return Number.isNaN(date) ? undefined : number - Math.floor(date / 1000)
}

/** A whole number of at most 15 digits. */
function readCount(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** `90 s`, `12 min`. */
export function inWords(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
