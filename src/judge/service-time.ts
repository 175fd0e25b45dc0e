import type { ReadExchange } from '../exchanges/reading.ts'
import { memoize } from '../ground/memo.ts'
import { RealDate } from '../ground/timers.ts'

/**
 * When a response was sent by the clock of the service, in milliseconds, if it says so in its Date field (RFC 9110
 * §6.6.1). That field has whole seconds.
 */
export function serviceTime({ response: { headers } }: Pick<ReadExchange, 'response'>): number | undefined {
  return headers['date'] === undefined ? undefined : timeOf(headers['date'])
}

/** Exchanges of one second have the same text. */
const timeOf = memoize(
  (text) => {
    const date = RealDate.parse(text)
    return Number.isNaN(date) ? undefined : date
  },
  { limit: 10, longest: 50 },
)

/** The end of a quota's window, in Unix seconds, and the form in which a response tells it. */
export interface ToldReset {
  end: number
  /** In seconds. */
  window: number
  now: number
  isTime: boolean
}

/** How far the clocks of a service may differ, in seconds. */
const SKEW = 120

/** What X-RateLimit-Reset says: the end of the window in Unix seconds, and its form; `undefined` if that is not clear. */
export function resetOf(reading: ReadExchange): ToldReset | undefined {
  const { operation, route, response } = reading
  const { quota } = operation ?? (route.ok ? undefined : route.neighbour) ?? {}
  const text = response.headers['x-ratelimit-reset'] ?? ''
  const date = serviceTime(reading)
  if (quota === undefined || date === undefined || !/^\d{1,15}$/.test(text)) return undefined
  const { window } = quota
  const [reset, now] = [Number(text), date / 1000]
  // A window that starts within a second ends after that second.
  if (reset <= window + 1) return { end: now + reset, window, now, isTime: false }
  const isTime = reset >= now - SKEW && reset <= now + window + SKEW
  return isTime ? { end: reset, window, now, isTime } : undefined
}
