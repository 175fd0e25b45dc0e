import type { ReadExchange } from '../exchanges/reading.ts'

/** What the header fields of a response say about a quota. Times are in seconds. */
export interface QuotaFields {
  limit: number
  remaining: number
  /** As it was sent. */
  reset: number
  /** The end of the window, in Unix seconds, and its length. */
  end: number
  window: number
  /** Whether the response tells the end as a time, and not as the seconds that are left. */
  isTime: boolean
  /** Whether it is neither a time within the window nor the seconds that are left of it. */
  isStrange: boolean
  /** When the response was sent, and whether that is by the clock of the service. */
  now: number
  isDated: boolean
  /** How far that clock is ahead of the clock of the recorder. */
  ahead: number
}

/** How far the clocks of a service may differ from each other, in seconds. */
export const SKEW = 120
/** How far the times of one service may differ because they are rounded, in seconds. */
export const TOLERANCE = 2
/** So many requests of other clients may be refused at the same time and get their charge back. */
export const IN_FLIGHT = 3

/**
 * The quota fields of a response, also of one for a method that its path does not have. `undefined` if they are absent or
 * not well-formed, which is judged elsewhere.
 */
export function readQuotaFields(reading: ReadExchange): QuotaFields | undefined {
  const { operation, route, exchange, response, sentAt } = reading
  const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
  const limit = readNumber(response.headers['x-ratelimit-limit'])
  const remaining = readNumber(response.headers['x-ratelimit-remaining'])
  const reset = readNumber(response.headers['x-ratelimit-reset'])
  if (quota === undefined || !(remaining <= limit) || Number.isNaN(reset)) return undefined
  const { window } = quota
  // A window that starts within a second ends after that second.
  const isTime = reset > window + 1
  const isDated = sentAt !== undefined
  if (!isTime && !isDated) return undefined
  const now = (sentAt ?? exchange.until) / 1000
  const isNear = !isDated || (reset >= now - SKEW && reset <= now + window + SKEW)
  const end = isTime ? reset : now + reset
  const ahead = now - exchange.until / 1000
  return { limit, remaining, reset, end, isTime, isStrange: isTime && !isNear, now, isDated, ahead, window }
}

function readNumber(text = ''): number {
  return /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
}
