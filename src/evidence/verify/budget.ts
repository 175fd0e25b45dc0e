import type { Contract } from '../../contract/contract.ts'
import { elapsed } from '../../ground/clock.ts'

/** What is known of the quota of one path. */
export interface QuotaView {
  path: string
  /** What the contract allows in a window. */
  limit: number
  /** Requests of this run in the present window, as far as it is known when it began. */
  sent: number
  /** What the last response said is left, for all clients together; absent where none has said it in this window. */
  remaining: number | undefined
  /** Seconds until the window ends, as responses said; absent where none has said it. */
  resetsIn: number | undefined
  /** How many more requests may be sent so that the reserve is left. */
  left: number
}

interface Account {
  limit: number
  window: number
  sent: number
  total: number
  remaining: number | undefined
  /** On the clock of `elapsed`. */
  endsAt: number | undefined
}

/**
 * What may still be sent to each path. It is the quota of the contract less what this run has sent, and never more than
 * what the last response said is left, because other clients with the same key spend beside it.
 */
export class Budget {
  readonly #paths = new Map<string, Account>()
  readonly #reserve: number
  readonly #now: () => number

  /** `reserve` is how many requests of each path are left to others. `now` counts milliseconds. */
  constructor(contract: Contract, reserve: number, now: () => number = elapsed) {
    this.#reserve = reserve
    this.#now = now
    for (const { path, quota } of contract.operations) {
      if (quota === undefined) continue
      const { limit, window } = quota
      this.#paths.set(path, { limit, window, sent: 0, total: 0, remaining: undefined, endsAt: undefined })
    }
  }

  /** The paths that have a quota. */
  get paths(): readonly string[] {
    return [...this.#paths.keys()]
  }

  /** How many more requests may be sent to the path; infinite where it has no quota. */
  left(path: string): number {
    const account = this.#find(path)
    if (account === undefined) return Number.POSITIVE_INFINITY
    const { limit, sent, remaining = Number.POSITIVE_INFINITY } = account
    return Math.max(0, Math.min(limit - sent, remaining) - this.#reserve)
  }

  /** Counts a request before it is sent. */
  spend(path: string): void {
    const account = this.#find(path)
    if (account === undefined) return
    account.sent++
    account.total++
    if (account.remaining !== undefined) account.remaining = Math.max(0, account.remaining - 1)
  }

  /** Takes over what a response says of the quota of its path. `headers` by lower-case name. */
  believe(path: string, headers: Readonly<Record<string, string>>, code: string | undefined): void {
    const account = this.#find(path)
    if (account === undefined) return
    const remaining = readCount(headers['x-ratelimit-remaining'])
    if (remaining !== undefined) account.remaining = remaining
    if (code === 'rate_limited') account.remaining = 0
    const seconds = secondsUntilReset(headers) ?? (code === 'rate_limited' ? account.window : undefined)
    if (seconds !== undefined) account.endsAt = this.#now() + Math.min(seconds, account.window) * 1000
  }

  /** Milliseconds until the window of the path ends; that of a whole window where no response has said it. */
  untilReset(path: string): number {
    const account = this.#find(path)
    if (account === undefined) return 0
    return Math.max(0, (account.endsAt ?? this.#now() + account.window * 1000) - this.#now())
  }

  /** What the path has in a window when nobody else spends. */
  whole(path: string): number {
    const account = this.#paths.get(path)
    return account === undefined ? Number.POSITIVE_INFINITY : Math.max(0, account.limit - this.#reserve)
  }

  /** A new window has begun, as somebody knows who has waited for it. */
  renew(path: string): void {
    const account = this.#find(path)
    if (account === undefined) return
    Object.assign(account, { sent: 0, remaining: undefined, endsAt: undefined })
  }

  get views(): (QuotaView & { total: number })[] {
    return [...this.#paths.keys()].map((path) => {
      const account = this.#find(path)
      const endsAt = account?.endsAt
      return {
        path,
        limit: account?.limit ?? 0,
        sent: account?.sent ?? 0,
        total: account?.total ?? 0,
        remaining: account?.remaining,
        resetsIn: endsAt === undefined ? undefined : Math.max(0, Math.ceil((endsAt - this.#now()) / 1000)),
        left: this.left(path),
      }
    })
  }

  /** Begins a new window where the old one has passed. */
  #find(path: string): Account | undefined {
    const account = this.#paths.get(path)
    if (account?.endsAt !== undefined && this.#now() >= account.endsAt) {
      Object.assign(account, { sent: 0, remaining: undefined, endsAt: undefined })
    }
    return account
  }
}

function readCount(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** A number above this is a Unix timestamp, not a number of seconds: it is a day in 1970, or thirty years. */
const LEAST_TIMESTAMP = 1_000_000_000

/** Seconds until the reset that a response names, by the clock of the service; at least one. */
function secondsUntilReset(headers: Readonly<Record<string, string>>): number | undefined {
  const reset = readCount(headers['x-ratelimit-reset'])
  if (reset === undefined) return undefined
  if (reset < LEAST_TIMESTAMP) return Math.max(1, reset)
  const date = Date.parse(headers['date'] ?? '')
  return Number.isNaN(date) ? undefined : Math.max(1, reset - Math.floor(date / 1000))
}
