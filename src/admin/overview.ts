import type { Contract } from '../contract/contract.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import { COUNT_PERIOD, refreshDay, refreshOf } from '../domain/dmarc.ts'
import { writeDay, writeInstant } from '../domain/iso-8601.ts'
import { LIMITS } from '../domain/limits.ts'
import { describeSums, followChanges, type Overview, type Sums, summarise, sumUp } from '../figures/overview.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import { runInTurns, type Work } from '../ground/work.ts'
import { type AccountCall, type AccountHandler, type ControlOutcome, done } from './handler.ts'
import { notFound } from './refusals.ts'
import type { OverviewReport } from './reports.ts'

/** The number of refreshes in a report if the request does not give one. */
const USUAL_DAYS = 90
/** However many domains there are, at least this many refreshes are reported: the newest, and the one before. */
const FEWEST_DAYS = 2
/** The number of account states with a cached overview. An overview takes up to 40 kB. */
export const KEPT_OVERVIEWS = 200

/** A cached overview and the domains that it belongs to. */
interface KeptOverview {
  domains: AccountState['domains']
  contract: Contract
  seed: number
  today: number
  /** The number of refreshes in it. */
  days: number
  overview: Awaitable<Overview>
}

/** By the domains of an account, or by a group. Both are replaced when they change. */
let kept = new WeakMap<AccountState['domains'] | DomainGroup, KeptOverview>()
let keptCount = 0

/** The sums of a version of an account, so that the next version counts only its changes. */
interface KeptSums {
  account: AccountState
  contract: Contract
  sums: Sums
}

/** With fewer domains, all are counted again, which takes only some turns. */
const MANY = 1_000
/** By the origin of an account, which lives as long as the account. */
const keptSums = new WeakMap<AccountState['origin'], KeptSums>()

export const getOverview: AccountHandler<OverviewReport> = (call) => answerOverview(call)

export const getGroupOverview: AccountHandler<OverviewReport> = (call) => {
  const given = call.parameters['group'] ?? ''
  const group = call.account.groups.get(given)
  return group === undefined ? notFound('group', given) : answerOverview(call, group)
}

/** The overview of all domains, or of the members of a group. */
async function answerOverview(call: AccountCall, group?: DomainGroup): Promise<ControlOutcome<OverviewReport>> {
  const { account, contract, now, query, limits } = call
  const { refresh } = contract.settings
  const today = refreshDay(now, refresh)
  const size = group === undefined ? account.domains.size : group.domains.length
  const asked = Number(query['days'] ?? USUAL_DAYS)
  const most = Math.max(FEWEST_DAYS, Math.floor(limits.overviewRecords / Math.max(1, size)))
  // There are no days before 1970.
  const count = Math.min(asked, most, Math.max(1, today + 1))
  const { policies, testing, attention, attentionCount, days } = await overviewOf(call, today, count, group)
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
function overviewOf(
  { account, contract }: AccountCall,
  today: number,
  days: number,
  group: DomainGroup | undefined,
): Awaitable<Overview> {
  const { domains, seed } = account
  const key = group ?? domains
  const last = kept.get(key)
  const isSame =
    last !== undefined &&
    last.domains === domains &&
    last.contract === contract &&
    last.seed === seed &&
    last.today === today
  if (isSame && last.days >= days) return last.overview
  if (last === undefined && ++keptCount > KEPT_OVERVIEWS) {
    kept = new WeakMap()
    keptCount = 1
  }
  const first = today - days + 1
  const members = group?.domains.flatMap((name) => domains.get(name) ?? [])
  const isLarge = members === undefined && domains.size >= MANY
  const overview = runInTurns(
    isLarge ? summariseChanges(account, first, today, contract) : summarise(account, first, today, contract, members),
  )
  kept.set(key, { domains, contract, seed, today, days, overview })
  return overview
}

/** `summarise` for an account of which an earlier version is likely to be known. */
function* summariseChanges(account: AccountState, first: number, today: number, contract: Contract): Work<Overview> {
  const { origin, seed } = account
  const domains = [...account.domains.values()]
  const last = keptSums.get(origin)
  const isSame =
    last !== undefined &&
    last.contract === contract &&
    last.account.seed === seed &&
    last.sums.first === first &&
    last.sums.today === today
  // A version that is counted at the same time must not change the same sums.
  keptSums.delete(origin)
  const isFollowed = isSame && followChanges(last.sums, last.account, account, contract)
  const sums = isFollowed ? last.sums : yield* sumUp(account, first, today, contract, domains)
  account.domains.keep()
  keptSums.set(origin, { account, contract, sums })
  return yield* describeSums(copyOf(sums), account, contract, domains)
}

/** A later version may change the sums while the overview of this one is written. */
function copyOf(sums: Sums): Sums {
  const { messages, passing, sending, policies, found } = sums
  return {
    ...{ ...sums, messages: messages.slice(), passing: passing.slice(), sending: sending.slice() },
    ...{ policies: { ...policies }, found: new Map(found) },
  }
}
