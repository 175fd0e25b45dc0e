import type { Contract } from '../contract/contract.ts'
import type { SeenHeaders } from '../exchanges/exchange.ts'
import type { Clock } from '../ground/clock.ts'
import { RealDate } from '../ground/timers.ts'

/** What is known of the quota of one path. */
interface Spending {
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
  /** When the window ends, in milliseconds on the clock of the run; absent if no response said it. */
  endsAt: number | undefined
}

export interface QuotaView extends Spending {
  /** Seconds until the window ends. */
  resetsIn: number | undefined
  /** How many more requests may be sent without using the reserve. */
  left: number
}

/** How many requests of a path are left to other clients. */
export type Reserve = (path: string) => number

const NEW_WINDOW = { sent: 0, remaining: undefined, endsAt: undefined }

/**
 * The requests that may still be sent to each path: the quota of the contract minus the requests of this run. It is
 * never more than the last response said is left, because other clients with the same key also spend.
 */
export class RequestBudget {
  readonly #paths = new Map<string, Spending>()
  readonly #reserve: Reserve
  readonly #now: Clock

  constructor({ operations }: Pick<Contract, 'operations'>, reserve: Reserve, now: Clock) {
    this.#reserve = reserve
    this.#now = now
    for (const { path, quota } of operations) {
      if (quota !== undefined) this.#paths.set(path, { path, ...quota, total: 0, ...NEW_WINDOW })
    }
  }

  /** How many more requests may be sent to the path, the reserve excluded; infinite if it has no quota. */
  left(path: string): number {
    return Math.max(0, this.leftForCleanup(path) - this.#reserve(path))
  }

  /** The same with the reserve: to leave items behind would be worse for other clients than to spend their requests. */
  leftForCleanup(path: string): number {
    const spending = this.#find(path)
    if (spending === undefined) return Number.POSITIVE_INFINITY
    const { limit, sent, remaining = limit } = spending
    return Math.max(0, Math.min(limit - sent, remaining))
  }

  /** Counts a request before it is sent. */
  spend(path: string): void {
    const spending = this.#find(path)
    if (spending === undefined) return
    spending.sent++
    spending.total++
    if (spending.remaining !== undefined) spending.remaining = Math.max(0, spending.remaining - 1)
  }

  /** Updates the quota of a path from a response. `headers` by lower-case name. */
  believe(path: string, headers: SeenHeaders, isRefused: boolean): void {
    const spending = this.#find(path)
    if (spending === undefined) return
    spending.remaining = isRefused ? 0 : (readCount(headers['x-ratelimit-remaining']) ?? spending.remaining)
    const seconds = readReset(headers)?.seconds ?? (isRefused ? spending.window : undefined)
    if (seconds === undefined) return
    spending.endsAt = this.#now() + Math.min(Math.max(1, seconds), spending.window) * 1000
  }

  /** Milliseconds until the window of the path ends; the length of a window if no response said it. */
  untilReset(path: string): number {
    const spending = this.#find(path)
    if (spending === undefined) return 0
    return Math.max(0, (spending.endsAt ?? this.#now() + spending.window * 1000) - this.#now())
  }

  /** The quota of the path in a window if no other client spends. */
  whole(path: string): number {
    const spending = this.#paths.get(path)
    return spending === undefined ? Number.POSITIVE_INFINITY : Math.max(0, spending.limit - this.#reserve(path))
  }

  /** The length of a window in seconds; 0 if the path has no quota. */
  windowOf(path: string): number {
    return this.#paths.get(path)?.window ?? 0
  }

  /** Begins a new window of all paths whose windows end within this time, in milliseconds. The caller waits for it. */
  renewAfter(wait: number): () => void {
    const renewed = [...this.#paths].filter(([path]) => this.untilReset(path) <= wait)
    return () => {
      for (const [, spending] of renewed) Object.assign(spending, NEW_WINDOW)
    }
  }

  get views(): QuotaView[] {
    return [...this.#paths.keys()].flatMap((path) => this.viewOf(path) ?? [])
  }

  /** `undefined` for a path without a quota. */
  viewOf(path: string): QuotaView | undefined {
    const spending = this.#find(path)
    if (spending === undefined) return undefined
    const { endsAt } = spending
    const resetsIn = endsAt === undefined ? undefined : Math.ceil((endsAt - this.#now()) / 1000)
    return { ...spending, resetsIn, left: this.left(path) }
  }

  /** After the end of a window, nothing of it counts. */
  #find(path: string): Spending | undefined {
    const spending = this.#paths.get(path)
    if (spending?.endsAt !== undefined && spending.endsAt <= this.#now()) Object.assign(spending, NEW_WINDOW)
    return spending
  }
}

/** When a quota is renewed, as a response tells it. */
interface ToldReset {
  /** Seconds until then by the clock of the service; absent where it tells a time, and not its own. */
  seconds: number | undefined
  /** In seconds since the Unix epoch, where the service tells a time. */
  instant: number | undefined
}

/** A number from this on is a Unix timestamp: as a number of seconds, it would be more than thirty years. */
const LEAST_TIMESTAMP = 1_000_000_000

/** Reads X-RateLimit-Reset, whose form the specification does not show, or a field of the same meaning. */
export function readReset(headers: SeenHeaders, name = 'x-ratelimit-reset'): ToldReset | undefined {
  const number = readCount(headers[name])
  if (number === undefined) return undefined
  if (number < LEAST_TIMESTAMP) return { seconds: number, instant: undefined }
  const date = RealDate.parse(headers['date'] ?? '')
  return { seconds: Number.isNaN(date) ? undefined : number - Math.floor(date / 1000), instant: number }
}

/** A whole number of at most 15 digits. */
function readCount(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
