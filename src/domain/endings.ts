import { refreshDay, refreshOf } from './dmarc.ts'
import type { ApiKey } from './keys.ts'
import type { Settings } from './settings.ts'

/** What can end on the clock of an account; times in milliseconds since the Unix epoch. */
export interface Pending {
  now: number
  /** The ends of quota windows in which requests were charged. */
  windowEnds: readonly number[]
  keys: readonly Pick<ApiKey, 'createdAt'>[]
}

type EndingRules = Pick<Settings, 'refresh' | 'gracePeriod'>

/** The instants of an ending, past ones too. Each is the first at which what ends is over. */
const INSTANTS = {
  'window-end': ({ windowEnds }: Pending) => windowEnds,
  refresh: ({ now }: Pending, { refresh }: EndingRules) => [refreshOf(refreshDay(now, refresh) + 1, refresh)],
  'grace-end': ({ keys }: Pending, { gracePeriod }: EndingRules) =>
    keys.map(({ createdAt }) => createdAt + gracePeriod * 1000),
} as const

/** The end of a quota window, the daily refresh, and the end of the grace period of a key. */
export type Ending = keyof typeof INSTANTS

/** When the next ending of this kind is; `undefined` where there is none to come. */
export function nextEnding(ending: Ending, pending: Pending, rules: EndingRules): number | undefined {
  const coming = INSTANTS[ending](pending, rules).filter((instant) => instant > pending.now)
  return coming.length === 0 ? undefined : coming.reduce((first, instant) => Math.min(first, instant))
}
