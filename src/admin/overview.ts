import type { AccountState, DomainGroup } from '../domain/account.ts'
import { COUNT_PERIOD, refreshDay, refreshOf } from '../domain/dmarc.ts'
import { writeDay, writeInstant } from '../domain/iso-8601.ts'
import { LIMITS } from '../domain/limits.ts'
import { type Overview, summarise } from '../figures/overview.ts'
import { type AccountCall, type AccountHandler, type ControlOutcome, done } from './handler.ts'
import { notFound } from './refusals.ts'
import type { OverviewReport } from './reports.ts'

/** The number of refreshes in a report if the request does not give one. */
const USUAL_DAYS = 90
/** However many domains there are, at least this many refreshes are reported: the newest, and the one before. */
const FEWEST_DAYS = 2
/** How many of the domains that need attention are listed. */
const NAMED = 20

export const getOverview: AccountHandler<OverviewReport> = (call) => answerOverview(call)

export const getGroupOverview: AccountHandler<OverviewReport> = (call) => {
  const given = call.parameters['group'] ?? ''
  const group = call.account.groups.get(given)
  return group === undefined ? notFound('group', given) : answerOverview(call, group)
}

/** The overview of all domains, or of the members of a group. */
function answerOverview(call: AccountCall, group?: DomainGroup): ControlOutcome<OverviewReport> {
  const { account, contract, now, query, limits } = call
  const { refresh } = contract.settings
  const today = refreshDay(now, refresh)
  const size = group === undefined ? account.domains.size : group.domains.length
  const asked = Number(query['days'] ?? USUAL_DAYS)
  const most = Math.max(FEWEST_DAYS, Math.floor(limits.overviewRecords / Math.max(1, size)))
  // There are no days before 1970.
  const count = Math.min(asked, most, Math.max(1, today + 1))
  const { policies, testing, attention, days } = overviewOf(call, today, count, group)
  const { messages = null, passing = null, share = null } = days.at(-1) ?? {}
  const next = refreshOf(today + 1, refresh)
  return done({
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
  })
}

/** By the domains of an account, or by a group. Both are replaced when they change. */
const overviews = new WeakMap<
  AccountState['domains'] | DomainGroup,
  { basis: readonly unknown[]; overview: Overview }
>()

/** The overview of the `count` refreshes up to `today`. A page asks for the same one every few seconds. */
function overviewOf({ account, contract }: AccountCall, today: number, count: number, group?: DomainGroup): Overview {
  const { domains, seed } = account
  const basis = [domains, contract, seed, today, count]
  const last = overviews.get(group ?? domains)
  if (last?.basis.every((each, index) => each === basis[index])) return last.overview
  const counted = group === undefined ? domains.values() : group.domains.flatMap((name) => domains.get(name) ?? [])
  const overview = summarise(account, counted, { first: today - count + 1, today }, contract)
  overviews.set(group ?? domains, { basis, overview })
  return overview
}
