import type { Contract } from '../contract/contract.ts'
import type { SeenHeaders } from '../exchanges/exchange.ts'
import { readCount, readReset } from '../exchanges/reset.ts'
import { elapsed } from '../ground/clock.ts'

/** What is known of the quota of one path. */
export interface QuotaView {
  path: string
  /** The requests that the contract allows in a window. */
  limit: number
  /** Requests of this run in the present window, as far as its start is known. */
  sent: number
  /** All requests of this run. */
  total: number
  /** What the last response said is left for all clients together; absent if no response said it in this window. */
  remaining: number | undefined
  /** Seconds until the window ends, by the responses; absent if no response said it. */
  resetsIn: number | undefined
  /** How many more requests may be sent without using the reserve. */
  left: number
}

/** How many requests of a path are left to other clients. */
export type Reserve = (path: string) => number

interface Spending {
  limit: number
  window: number
  sent: number
  total: number
  remaining: number | undefined
  /** On the clock of `elapsed`. */
  endsAt: number | undefined
  /** Requests of this run to other paths since the last response of this one. */
  elsewhere: number
}

const NEW_WINDOW = { sent: 0, remaining: undefined, endsAt: undefined }
/** So many responses that left less by the requests to other paths show that the paths share one quota. */
const ENOUGH_SIGNS = 2

/**
 * The requests that may still be sent to each path: the quota of the contract minus the requests of this run. It is
 * never more than the last response said is left, because other clients with the same key also spend.
 */
export class RequestBudget {
  readonly #paths = new Map<string, Spending>()
  readonly #reserve: Reserve
  readonly #now: () => number
  #signsOfSharing = 0

  /** `now` counts milliseconds. */
  constructor(contract: Contract, reserve: Reserve, now: () => number = elapsed) {
    this.#reserve = reserve
    this.#now = now
    for (const { path, quota } of contract.operations) {
      if (quota === undefined) continue
      const { limit, window } = quota
      this.#paths.set(path, { limit, window, total: 0, elsewhere: 0, ...NEW_WINDOW })
    }
  }

  /** The paths that have a quota. */
  get paths(): readonly string[] {
    return [...this.#paths.keys()]
  }

  /** Whether a request to one path was seen to lower what is left of the others, against the specification. */
  get isShared(): boolean {
    return this.#signsOfSharing >= ENOUGH_SIGNS
  }

  /** How many more requests may be sent to the path, the reserve excluded; infinite if it has no quota. */
  left(path: string): number {
    return Math.max(0, this.leftForCleanup(path) - this.#reserve(path))
  }

  /** The same with the reserve: to leave items behind would be worse for other clients than to spend their requests. */
  leftForCleanup(path: string): number {
    const account = this.#find(path)
    if (account === undefined) return Number.POSITIVE_INFINITY
    const { limit, sent, remaining = Number.POSITIVE_INFINITY } = account
    return Math.max(0, Math.min(limit - sent, remaining))
  }

  /** Counts a request before it is sent. */
  spend(path: string): void {
    for (const [each, account] of this.#paths) {
      if (each === path) {
        this.#find(path)
        account.sent++
        account.total++
      } else account.elsewhere++
      if ((each === path || this.isShared) && account.remaining !== undefined)
        account.remaining = Math.max(0, account.remaining - 1)
    }
  }

  /** Updates the quota of a path from a response. `headers` by lower-case name. */
  believe(path: string, headers: SeenHeaders, code: string | undefined): void {
    const account = this.#find(path)
    if (account === undefined) return
    const remaining = readCount(headers['x-ratelimit-remaining'])
    if (remaining !== undefined) {
      if (!this.isShared && account.remaining !== undefined && account.elsewhere > 0) {
        const isSign = account.remaining - remaining === account.elsewhere
        this.#signsOfSharing = isSign ? this.#signsOfSharing + 1 : Number.NEGATIVE_INFINITY
      }
      account.remaining = remaining
      account.elsewhere = 0
    }
    if (code === 'rate_limited') account.remaining = 0
    const seconds = secondsUntilReset(headers) ?? (code === 'rate_limited' ? account.window : undefined)
    if (seconds !== undefined) account.endsAt = this.#now() + Math.min(seconds, account.window) * 1000
  }

  /** Milliseconds until the window of the path ends; the length of a window if no response said it. */
  untilReset(path: string): number {
    const account = this.#find(path)
    if (account === undefined) return 0
    return Math.max(0, (account.endsAt ?? this.#now() + account.window * 1000) - this.#now())
  }

  /** The quota of the path in a window if no other client spends. */
  whole(path: string): number {
    const account = this.#paths.get(path)
    return account === undefined ? Number.POSITIVE_INFINITY : Math.max(0, account.limit - this.#reserve(path))
  }

  /** The length of a window in seconds; 0 if the path has no quota. */
  windowOf(path: string): number {
    return this.#paths.get(path)?.window ?? 0
  }

  /** Begins a new window. The caller has waited for it. */
  renew(path: string): void {
    const account = this.#paths.get(path)
    if (account !== undefined) Object.assign(account, NEW_WINDOW)
  }

  get views(): QuotaView[] {
    return [...this.#paths].map(([path, spending]) => {
      const { limit, sent, total, remaining, endsAt } = this.#find(path) ?? spending
      return {
        ...{ path, limit, sent, total, remaining },
        resetsIn: endsAt === undefined ? undefined : Math.max(0, Math.ceil((endsAt - this.#now()) / 1000)),
        left: this.left(path),
      }
    })
  }

  /** Finds the path, and begins a new window if the old one is over. */
  #find(path: string): Spending | undefined {
    const account = this.#paths.get(path)
    if (account?.endsAt !== undefined && this.#now() >= account.endsAt) this.renew(path)
    return account
  }
}

/** Seconds until the reset by the clock of the service; at least one. */
function secondsUntilReset(headers: SeenHeaders): number | undefined {
  const seconds = readReset(headers)?.seconds
  return seconds === undefined ? undefined : Math.max(1, seconds)
}
