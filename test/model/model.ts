import { Account, type Key } from './account.ts'
import { type Expected, type Quota, refusal } from './expected.ts'
import { inject, stateOf, strike } from './faults.ts'
import { type Body, operate } from './operations.ts'
import { ACCOUNTS, BEGINNING, secretOf } from './pool.ts'

/** One request as the model sees it. */
export interface Request {
  method: string
  /** Below the base URL, without the query. */
  path: string
  /** The values of the query parameter `id`, in order. */
  ids: readonly string[]
  /** The value of the header Authorization, if it is sent. */
  authorization: string | undefined
  body: Body
}

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR
const WEEK = 7 * DAY

export const PATHS: Readonly<Record<string, { methods: readonly string[]; limit: number }>> = {
  '/dmarc': { methods: ['GET'], limit: 10 },
  '/domains': { methods: ['GET', 'POST', 'DELETE'], limit: 30 },
  '/domaingroups': { methods: ['GET', 'POST', 'PATCH', 'DELETE'], limit: 100 },
}
const GRACE_FACTOR = 10

/** The service as the specification has it, and beside it what was decided where the specification is silent. */
export class Model {
  /** The machine's clock, in milliseconds since the Unix epoch. */
  now = BEGINNING
  readonly accounts: ReadonlyMap<string, Account> = new Map(
    Object.entries(ACCOUNTS).map(([id, account]) => [id, new Account(id, account)]),
  )
  /** Keys whose secrets the service chose, by the value of the header Authorization. */
  readonly laterKeys: string[] = []
  /** Ids of groups in the order in which an account gives them while it has a seed, by account and seed. */
  readonly groupIds = new Map<string, string[]>()
  /** Secrets of keys by account, seed and ordinal. */
  readonly secrets = new Map<string, string>()

  accountOf(authorization: string | undefined): Account | undefined {
    return [...this.accounts.values()].find(({ keys }) => keys.has(authorization ?? ''))
  }

  /** Plays a request and says what it must be answered. */
  play(request: Request): Expected {
    const { method, path, authorization = '' } = request
    const endpoint = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined
    if (endpoint === undefined) return refusal('not_found')
    // HEAD is GET without the body.
    const verb = method === 'HEAD' ? 'GET' : method
    if (!endpoint.methods.includes(verb)) {
      return { ...refusal('not_found'), status: 405, allow: ['HEAD', ...endpoint.methods] }
    }

    const account = this.accountOf(authorization)
    const key = account?.keys.get(authorization)
    if (account === undefined || key === undefined || key.disabled) return refusal('unauthorized')
    account.requests += 1
    const ordinal = account.requests
    if (!account.hasAccess) return { ...refusal('unauthorized'), status: 403, ordinal }

    const now = account.clock(this.now)
    const { allowed, quota } = charge(account, authorization, path, now)
    if (!allowed) return { ...refusal('rate_limited'), quota, ordinal }
    const fault = strike(account, { method, path, key: key.id }, now)
    const operation = { method: verb, path, id: request.ids[0], body: request.body }
    const isBefore = fault !== undefined && fault.rule.phase !== 'after'
    const meant = isBefore ? undefined : operate(account, operation, now)
    if (fault === undefined) return { ...(meant ?? refusal('internal_error')), quota, ordinal }
    const injected = inject(fault, meant)
    // "An injected rate_limited carries coherent quota headers"; a 401, 403 or 500 carries none.
    if (injected.code === 'rate_limited') return { ...injected, quota: { ...quota, remaining: 0 }, ordinal }
    return { ...injected, ...(injected.status !== 500 && injected.code !== 'unauthorized' && { quota }), ordinal }
  }

  /** The service is closed and opened again. The account `default` always has its key. */
  reopen({ keepsSnapshots }: { keepsSnapshots: boolean }): void {
    if (!keepsSnapshots) for (const account of this.accounts.values()) account.snapshots.clear()
    const account = this.accounts.get('default')
    const [{ name }] = ACCOUNTS.default.keys
    const key = `Bearer ${secretOf(name)}`
    if (account === undefined || account.keys.has(key)) return
    const createdAt = account.clock(this.now) - 30 * DAY
    account.keys.set(key, { id: secretOf(name).slice(0, 12), label: null, createdAt, disabled: false })
  }

  /** Whether a rule may strike: then it matters which of several requests comes first. */
  isUnderFaults(authorization: string | undefined): boolean {
    const account = this.accountOf(authorization)
    if (account === undefined) return false
    return account.contents.faults.some((fault) => stateOf(fault, account.clock(this.now)) === 'active')
  }
}

/** How many requests a key may make in an hour. "New keys have a one-week grace period with higher rate limits." */
export function limitOf(key: Key, path: string, now: number): number {
  const { limit = 0 } = PATHS[path] ?? {}
  return isInGrace(key, now) ? limit * GRACE_FACTOR : limit
}

export function isInGrace({ createdAt }: Key, now: number): boolean {
  return now - createdAt < WEEK
}

/** The requests of a key to a path in the hour of `now`, to be counted on. */
export function windowOf(
  { contents }: Account,
  key: string,
  path: string,
  now: number,
): { hour: number; used: number } {
  const hour = Math.floor(now / HOUR)
  const last = contents.windows.get(`${key} ${path}`)
  return last?.hour === hour ? last : { hour, used: 0 }
}

/** What is left of the quota of a key; with the end of the hour. */
export function quotaOf(account: Account, authorization: string, path: string, now: number): Quota {
  const key = account.keys.get(authorization)
  const limit = key === undefined ? 0 : limitOf(key, path, now)
  const { hour, used } = windowOf(account, authorization, path, now)
  return { limit, remaining: Math.max(0, limit - used), reset: ((hour + 1) * HOUR) / SECOND }
}

/** "/dmarc: 10 requests per hour", each key for itself, in hours of the clock. */
function charge(account: Account, key: string, path: string, now: number): { allowed: boolean; quota: Quota } {
  const window = windowOf(account, key, path, now)
  account.contents.windows.set(`${key} ${path}`, window)
  const allowed = quotaOf(account, key, path, now).remaining > 0
  if (allowed) window.used += 1
  // With the first request of an hour, what was counted in other hours is forgotten.
  const { windows } = account.contents
  if (allowed && window.used === 1)
    for (const [name, { hour }] of windows) if (hour !== window.hour) windows.delete(name)
  return { allowed, quota: quotaOf(account, key, path, now) }
}
