import type { ApiKey } from './account.ts'
import { refreshDay, refreshOf } from './dmarc.ts'
import type { Settings } from './settings.ts'

/** The endings on the clock of an account; times in milliseconds since the Unix epoch. */
export interface PendingEndings {
  now: number
  /** The ends of the quota windows with charged requests. */
  windowEnds: readonly number[]
  keys: readonly Pick<ApiKey, 'createdAt'>[]
}

type EndingRules = Pick<Settings, 'refresh' | 'gracePeriod'>

/** The end of a quota window, the daily refresh, and the end of the grace period of a key. */
export type Ending = 'window-end' | 'refresh' | 'grace-end'

/**
 * The instant of the next ending of this kind, at which the window or the period is just over; `undefined` if there is
 * none.
 */
export function nextEnding(
  ending: Ending,
  { now, windowEnds, keys }: PendingEndings,
  { refresh, gracePeriod }: EndingRules,
): number | undefined {
  const instants = {
    'window-end': windowEnds,
    refresh: [refreshOf(refreshDay(now, refresh) + 1, refresh)],
    'grace-end': keys.map(({ createdAt }) => createdAt + gracePeriod * 1000),
  }
  const coming = instants[ending].filter((instant) => instant > now)
  return coming.length === 0 ? undefined : Math.min(...coming)
}
