import { Account, type Key } from './account.ts'
import { type Expected, type Quota, refusal } from './expected.ts'
import { type Body, operate } from './operations.ts'
import { ACCOUNTS, BEGINNING } from './pool.ts'

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
const WEEK = 7 * 24 * HOUR

const PATHS: Readonly<Record<string, { methods: readonly string[]; limit: number }>> = {
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
    Object.entries(ACCOUNTS).map(([id, account]) => [id, new Account(account)]),
  )

  accountOf(authorization: string | undefined): Account | undefined {
    return [...this.accounts.values()].find(({ keys }) => keys.has(authorization ?? ''))
  }

  /** Plays a request and says what it must be answered. */
  play(request: Request): Expected {
    const { method, path, authorization } = request
    const endpoint = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined
    if (endpoint === undefined) return refusal('not_found')
    // HEAD is GET without the body.
    const verb = method === 'HEAD' ? 'GET' : method
    if (!endpoint.methods.includes(verb)) {
      return { ...refusal('not_found'), status: 405, allow: ['HEAD', ...endpoint.methods] }
    }

    const account = this.accountOf(authorization)
    const key = account?.keys.get(authorization ?? '')
    if (account === undefined || key === undefined || key.disabled) return refusal('unauthorized')
    if (!account.hasAccess) return { ...refusal('unauthorized'), status: 403 }

    const now = account.clock(this.now)
    const { allowed, quota } = charge(key, path, endpoint.limit, now)
    if (!allowed) return { ...refusal('rate_limited'), quota }
    const [id] = request.ids
    return { ...operate(account, { method: verb, path, id, body: request.body }, now), quota }
  }
}

/** "/dmarc: 10 requests per hour", each key for itself, in hours of the clock. */
function charge(key: Key, path: string, limit: number, now: number): { allowed: boolean; quota: Quota } {
  const hour = Math.floor(now / HOUR)
  const last = key.windows.get(path)
  const window = last?.hour === hour ? last : { hour, used: 0 }
  key.windows.set(path, window)
  const granted = now - key.createdAt < WEEK ? limit * GRACE_FACTOR : limit
  const allowed = window.used < granted
  if (allowed) window.used += 1
  const remaining = Math.max(0, granted - window.used)
  return { allowed, quota: { limit: granted, remaining, reset: ((hour + 1) * HOUR) / SECOND } }
}
