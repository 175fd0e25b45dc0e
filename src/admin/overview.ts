import type { OverviewReport } from '../contract/control-plane.ts'
import { COUNT_PERIOD, refreshDay, refreshOf } from '../domain/dmarc.ts'
import { writeDay, writeInstant } from '../domain/iso-8601.ts'
import { LIMITS } from '../domain/limits.ts'
import { overviewOf } from '../figures/overview.ts'
import { type AccountContext, done, type Handlers } from './handler.ts'

const USUAL_DAYS = 90
/** However many domains there are, at least this many refreshes are reported: the newest, and the one before. */
const FEWEST_DAYS = 2
const NAMED = 20

export const overviewHandlers = {
  getOverview: (call) => done(reportOverview(call, call.query.days)),
} satisfies Handlers

function reportOverview({ account, contract, now, limits }: AccountContext, wanted = `${USUAL_DAYS}`): OverviewReport {
  const { refresh } = contract.settings
  const today = refreshDay(now, refresh)
  const { size } = account.domains
  const asked = Number(wanted)
  const most = Math.max(FEWEST_DAYS, Math.floor(limits.overviewRecords / Math.max(1, size)))
  // There are no days before 1970.
  const count = Math.min(asked, most, Math.max(1, today + 1))
  const period = { first: today - count + 1, today }
  const { policies, testing, attention, days } = overviewOf(account, period, contract)
  const { messages = null, passing = null, share = null } = days.at(-1) ?? {}
  const next = refreshOf(today + 1, refresh)
  return {
    now: writeInstant(now),
    refreshed_at: writeInstant(refreshOf(today, refresh)),
    next_refresh_at: next > LIMITS.lastSetting ? null : writeInstant(next),
    period_days: COUNT_PERIOD,
    ...{ messages, passing, share },
    domains: size,
    ...{ policies, testing },
    attention: attention.slice(0, NAMED).map(({ since, ...rest }) => ({
      ...rest,
      since: since === undefined ? null : writeDay(since),
    })),
    attention_count: attention.length,
    days: days.map(({ day, ...figures }) => ({ date: writeDay(day), ...figures })),
    days_omitted: asked - count,
  }
}
