import { refreshDay, refreshOf } from './dmarc.ts'
import type { ApiKey } from './keys.ts'
import type { Settings } from './settings.ts'

/** The endings on the clock of an account; times in milliseconds since the Unix epoch. */
export interface PendingEndings {
  now: number
  /** The ends of the quota windows with charged requests. */
  windowEnds: readonly number[]
  keys: readonly Pick<ApiKey, 'createdAt'>[]
}

type EndingRules = Pick<Settings, 'refresh' | 'gracePeriod'>

/** The instants of an ending, including past ones. At each instant, the window or the period is just over. */
const INSTANTS = {
  'window-end': ({ windowEnds }: PendingEndings) => windowEnds,
  refresh: ({ now }: PendingEndings, { refresh }: EndingRules) => [refreshOf(refreshDay(now, refresh) + 1, refresh)],
  'grace-end': ({ keys }: PendingEndings, { gracePeriod }: EndingRules) =>
    keys.map(({ createdAt }) => createdAt + gracePeriod * 1000),
} as const

/** The end of a quota window, the daily refresh, and the end of the grace period of a key. */
export type Ending = keyof typeof INSTANTS

/** The instant of the next ending of this kind; `undefined` if there is none. */
export function nextEnding(ending: Ending, pending: PendingEndings, rules: EndingRules): number | undefined {
  const coming = INSTANTS[ending](pending, rules).filter((instant) => instant > pending.now)
  return coming.length === 0 ? undefined : coming.reduce((first, instant) => Math.min(first, instant))
}
