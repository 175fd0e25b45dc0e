import type { Settings } from './settings.ts'

/** The `x-quota` of a path: requests per window of so many seconds. The setting `grace` multiplies it for a new key. */
export interface Quota {
  limit: number
  window: number
  grace: number
}

/** The charged requests in the current window. */
export interface Hits {
  /** Milliseconds since the Unix epoch, on the account's clock. */
  startedAt: number
  used: number
}

export interface Charge {
  limit: number
  /** Seconds. */
  window: number
  start: 'aligned' | 'first-request'
  /** Whether a request over the limit is refused. If not, requests are only counted. */
  enforced: boolean
}

/** The name of the counter for the requests of a key to a path. The keys of an account may share it. */
export function bucketOf(keyHash: string, path: string, scope: Settings['quotaScope']): string {
  return scope === 'key' ? `${keyHash} ${path}` : path
}

/** The maximum number of requests per key and window. Source: "higher rate limits" in the week of grace of new keys. */
export function limitOf({ limit, grace }: Quota, inGrace: boolean): number {
  return inGrace ? Math.floor(limit * grace) : limit
}

/** The hash of the key that this counter belongs to; `undefined` if the keys share it. */
export function keyHashOf(bucket: string): string | undefined {
  const end = bucket.indexOf(' ')
  return end < 0 ? undefined : bucket.slice(0, end)
}

export interface Allowance {
  allowed: boolean
  limit: number
  remaining: number
  /** The end of the window, in Unix seconds. */
  resetAt: number
}

/**
 * Charges one request at `now` (milliseconds). A refused request is not charged. A clock that was set back starts a new
 * window. Source: "Exceeding a rate limit gives error rate_limited."
 */
export function chargeQuota(
  hits: Hits | undefined,
  { limit, window, start, enforced }: Charge,
  now: number,
): { hits: Hits; allowance: Allowance } {
  const { startedAt, used } = currentHits(hits, { window, start }, now)
  const allowed = used < limit || !enforced
  const after = { startedAt, used: allowed ? used + 1 : used }
  return { hits: after, allowance: whatIsLeft(after, limit, window, allowed) }
}

/** The charged requests in the window that contains `now`. */
export function currentHits(
  hits: Hits | undefined,
  { window, start }: Pick<Charge, 'window' | 'start'>,
  now: number,
): Hits {
  const length = window * 1000
  if (hits !== undefined && now >= hits.startedAt && now < hits.startedAt + length) return hits
  return { startedAt: start === 'aligned' ? Math.floor(now / length) * length : now, used: 0 }
}

export function whatIsLeft({ startedAt, used }: Hits, limit: number, window: number, allowed = true): Allowance {
  return { allowed, limit, remaining: Math.max(0, limit - used), resetAt: Math.ceil(startedAt / 1000 + window) }
}
