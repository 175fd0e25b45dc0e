import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import { refreshDay, refreshOf } from '../domain/dmarc.ts'
import { writeDay, writeInstant } from '../domain/iso-8601.ts'
import { LIMITS } from '../domain/limits.ts'
import { type Overview, summarise } from '../figures/overview.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { runInTurns } from '../ground/work.ts'
import { type AccountCall, type AccountHandler, done } from './handler.ts'
import type { OverviewReport } from './reports.ts'

/** The number of refreshes in a report if the request does not give one. */
const USUAL_DAYS = 90
/** However many domains there are, at least this many refreshes are reported: the newest, and the one before. */
const FEWEST_DAYS = 2
/** The number of account states with a cached overview. An overview takes up to 40 kB. */
export const KEPT_OVERVIEWS = 200

/** A cached overview and the domains that it belongs to. */
interface KeptOverview {
  contract: Contract
  seed: number
  today: number
  /** The number of refreshes in it. */
  days: number
  overview: Awaitable<Overview>
}

let kept = new WeakMap<AccountState['domains'], KeptOverview>()
let keptCount = 0

export const getOverview: AccountHandler<OverviewReport> = async (call) => {
  const { account, contract, now, query, limits } = call
  const { refresh, countPeriod } = contract.settings
  const today = refreshDay(now, refresh)
  const asked = Number(query['days'] ?? USUAL_DAYS)
  const most = Math.max(FEWEST_DAYS, Math.floor(limits.overviewRecords / Math.max(1, account.domains.size)))
  // There are no days before 1970.
  const count = Math.min(asked, most, Math.max(1, today + 1))
  const { policies, testing, attention, attentionCount, days } = await overviewOf(call, today, count)
  const { messages = 0, passing = 0, share = null } = days.at(-1) ?? {}
  const next = refreshOf(today + 1, refresh)
  return done({
    now: writeInstant(now),
    refreshed_at: writeInstant(refreshOf(today, refresh)),
    next_refresh_at: next > LIMITS.lastSetting ? null : writeInstant(next),
    period_days: countPeriod,
    ...{ messages, passing, share },
    domains: account.domains.size,
    ...{ policies, testing },
    attention: attention.map(({ since, ...rest }) => ({
      ...rest,
      since: since === undefined ? null : writeDay(since),
    })),
    attention_count: attentionCount,
    days: days.slice(-count).map(({ day, ...figures }) => ({ date: writeDay(day), ...figures })),
    days_omitted: asked - count,
  })
}

/**
 * The overview at the refresh `today`, with at least `days` refreshes. A page requests it every few seconds. So the
 * result for the same domains and the same day is cached.
 */
function overviewOf({ account, contract }: AccountCall, today: number, days: number): Awaitable<Overview> {
  const { domains, seed } = account
  const last = kept.get(domains)
  const isSame = last !== undefined && last.contract === contract && last.seed === seed && last.today === today
  if (isSame && last.days >= days) return last.overview
  if (last === undefined && ++keptCount > KEPT_OVERVIEWS) {
    kept = new WeakMap()
    keptCount = 1
  }
  const overview = runInTurns(summarise(account, today - days + 1, today, contract))
  kept.set(domains, { contract, seed, today, days, overview })
  return overview
}
