/** The `x-quota` of a path: requests per window of so many seconds; `grace` multiplies the limit of a new key. */
export interface Quota {
  limit: number
  window: number
  grace: number
}

/** The requests charged in the current window. */
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
  /** Whether a request over the limit is refused; without it, requests are only counted. */
  enforced: boolean
}

export interface Allowance {
  allowed: boolean
  limit: number
  remaining: number
  /** The end of the window, in Unix seconds. */
  resetAt: number
}

/**
 * Charges one request at `now` (milliseconds). A refused one is not charged, and a clock that was set back starts a
 * new window. Source: "Exceeding a rate limit gives error rate_limited."
 */
export function chargeQuota(
  hits: Hits | undefined,
  { limit, window, start, enforced }: Charge,
  now: number,
): { hits: Hits; allowance: Allowance } {
  const length = window * 1000
  const current = hits !== undefined && now >= hits.startedAt && now < hits.startedAt + length ? hits : undefined
  const startedAt = current?.startedAt ?? (start === 'aligned' ? Math.floor(now / length) * length : now)
  const used = current?.used ?? 0
  const allowed = used < limit || !enforced
  const after = { startedAt, used: allowed ? used + 1 : used }
  return {
    hits: after,
    allowance: {
      allowed,
      limit,
      remaining: Math.max(0, limit - after.used),
      resetAt: Math.ceil((startedAt + length) / 1000),
    },
  }
}
