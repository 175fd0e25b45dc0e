import type { MonitoredDomain } from '../domain/account.ts'
import { type DmarcRecord, firstRefresh, type Policy } from '../domain/dmarc.ts'
import { judgeRecord, SEVERITIES } from './attention.ts'
import { episodesOf } from './character.ts'
import { characterIn, type FigureRules, type Monitoring, policyOn, recordsFrom, reportsOn } from './figures.ts'

/** The figures of some domains at one refresh. */
interface DayFigures {
  day: number
  /** Null if there were no reports about any domain. */
  messages: number | null
  /** Messages that pass DMARC. */
  passing: number | null
  /** The percentage of the messages; null if there are none. */
  share: number | null
}

/** A domain that needs attention, see `judgeRecord`. */
type Attention = { domain: string } & NonNullable<ReturnType<typeof judgeRecord>>

/** The overview of the domains of an account. */
interface Overview {
  /** The number of domains by their policy at the newest refresh. */
  policies: Record<Policy | 'missing', number>
  /** The number of domains with a policy in test mode. */
  testing: number
  /** The worst first. */
  attention: Attention[]
  /** The oldest first; the last one is the newest refresh. */
  days: DayFigures[]
}

/** The sums of a day. `passing` counts passing messages times 100 times the steps of a per cent, so it is a whole number. */
interface DaySums {
  messages: number
  passing: number
  isReported: boolean
}

interface Period {
  first: number
  today: number
}

/** By the domains of an account, which are replaced when they change. */
const overviews = new WeakMap<object, { basis: readonly unknown[]; overview: Overview }>()

/** `summarise`, of which the last one is kept, because a page asks for the same one every few seconds. */
export function overviewOf(account: Monitoring, period: Period, rules: FigureRules): Overview {
  const { domains, seed } = account
  const basis = [rules, seed, period.first, period.today]
  const last = overviews.get(domains)
  if (last?.basis.every((each, index) => each === basis[index])) return last.overview
  const overview = summarise(account, period, rules)
  overviews.set(domains, { basis, overview })
  return overview
}

/**
 * The figures of the domains at the refreshes from `first` up to `today`, and the findings at `today`. A share is that
 * of the messages in the records of GET /dmarc, each with its share there, so both agree.
 */
function summarise(account: Monitoring, { first, today }: Period, rules: FigureRules): Overview {
  const length = today - first + 1
  const sums = Array.from({ length }, (): DaySums => ({ messages: 0, passing: 0, isReported: false }))
  const policies = { reject: 0, quarantine: 0, none: 0, missing: 0 }
  let testing = 0
  const attention: Attention[] = []
  const steps = Math.round(1 / rules.percentageStep)
  for (const domain of account.domains.values()) {
    const earliest = Math.max(first, Math.min(today, firstRefresh(domain, rules.settings)))
    const records = recordsFrom(account, domain, earliest, today, rules)
    for (const [index, record] of records.entries()) {
      const day = earliest + index
      const sum = sums[day - first]
      if (record === undefined || sum === undefined) continue
      // An account of an earlier version may have a count that is too large for a sum.
      const count = Math.min(record.count, Number.MAX_SAFE_INTEGER)
      sum.messages += count
      sum.passing += count * Math.round(record.dmarc * steps)
      sum.isReported ||= count > 0 || ['received', 'fixed'].includes(reportsOn(account, domain, day, rules))
    }
    const record = records.at(-1)
    const policy = policyAt(account, domain, record, today, rules)
    policies[policy] += 1
    if (record?.testing === 'y') testing += 1
    // Where figures are fixed, no cause explains them.
    const isReal = reportsOn(account, domain, today, rules) === 'received'
    const causes = isReal ? episodesOf(characterIn(account.seed, domain), today - 1, today) : []
    const finding = record && judgeRecord(record, policy, causes)
    if (finding !== undefined) attention.push({ domain: domain.name, ...finding })
  }
  const days = sums.map((sum, index) => describeDay(first + index, sum, steps))
  return { policies, testing, attention: attention.toSorted(compareAttention), days }
}

function describeDay(day: number, { messages, passing, isReported }: DaySums, steps: number): DayFigures {
  if (!isReported) return { day, messages: null, passing: null, share: null }
  const passed = passing / (100 * steps)
  const share = messages === 0 ? null : Math.round((passed / messages) * 100 * steps) / steps
  return { day, messages, passing: Math.min(messages, Math.round(passed)), share }
}

/** The policy in the record, if a DNS record is behind it. */
function policyAt(
  account: Monitoring,
  domain: MonitoredDomain,
  record: DmarcRecord | undefined,
  day: number,
  rules: FigureRules,
): Policy | 'missing' {
  if (record === undefined || record.p === '') return 'missing'
  return policyOn(account, domain, day, rules) === undefined ? 'missing' : record.p
}

function compareAttention(one: Attention, other: Attention): number {
  return (
    SEVERITIES.indexOf(one.severity) - SEVERITIES.indexOf(other.severity) ||
    (other.messages ?? 0) - (one.messages ?? 0) ||
    (one.domain < other.domain ? -1 : 1)
  )
}
