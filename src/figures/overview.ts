import type { MonitoredDomain } from '../domain/account.ts'
import {
  type DmarcRecord,
  firstRefresh,
  firstReportingDay,
  type Policy,
  pinTags,
  type RecordPin,
} from '../domain/dmarc.ts'
import { pinOn } from '../domain/pins.ts'
import type { Work } from '../ground/work.ts'
import {
  type AttentionReason,
  compareFindings,
  describeFinding,
  judgeDomain,
  type Severity,
  type Situation,
} from './attention.ts'
import { episodesOf, stepOn } from './character.ts'
import {
  characterIn,
  countedDays,
  type FigureRules,
  type Monitoring,
  recordsFrom,
  reportsOn,
  sourceOf,
} from './figures.ts'
import { countForged } from './messages.ts'

/** The figures of all domains of an account at one refresh. */
interface DayFigures {
  day: number
  /** Null if there were no reports about any domain. */
  messages: number | null
  /** Messages that pass DMARC. */
  passing: number | null
  /** The percentage of the messages; null if there are none. */
  share: number | null
}

/** A domain that needs attention. */
interface Attention {
  domain: string
  severity: Severity
  /** The reason in words. */
  reason: string
  /** The day on which it began, if that is known. */
  since: number | undefined
  /** Messages of the period that fail DMARC; null if there are no reports. */
  messages: number | null
}

/** The overview of an account at a refresh. */
export interface Overview {
  /** The number of domains by their policy at the newest refresh. */
  policies: Record<Policy | 'missing', number>
  /** The number of domains with a policy in test mode. */
  testing: number
  /** The worst first; the list may be incomplete. */
  attention: Attention[]
  attentionCount: number
  /** The oldest first; the last one is the newest refresh. */
  days: DayFigures[]
}

/** How many of the domains that need attention are listed. */
export const NAMED = 20

/**
 * The figures of an account at the refreshes from `first` up to `today`, and the findings at `today`. A share is that
 * of the messages in the records of GET /dmarc, each with its share there, so both agree. No record is kept.
 */
export function* summarise(
  account: Monitoring,
  first: number,
  today: number,
  rules: FigureRules,
  // A copy, because an iterator would show later changes after a pause.
  domains: readonly MonitoredDomain[] = [...account.domains.values()],
): Work<Overview> {
  const { settings, percentageStep } = rules
  // Sums of whole numbers do not depend on the order. A share is a whole number of steps.
  const steps = Math.round(1 / percentageStep)
  const messages: number[] = Array.from({ length: today - first + 1 }, () => 0)
  const passing = messages.slice()
  const isReported = messages.map(() => false)
  const policies = { reject: 0, quarantine: 0, none: 0, missing: 0 }
  const found: { finding: AttentionReason; situation: Situation }[] = []
  let testing = 0
  for (const domain of domains) {
    const earliest = Math.max(first, Math.min(today, firstRefresh(domain, settings)))
    const records = recordsFrom(account, domain, earliest, today, rules)
    for (const [index, record] of records.entries()) {
      if (record === undefined) continue
      const place = earliest - first + index
      // An account of an earlier version may have counts too large for a sum.
      const count = Math.min(record.count, Number.MAX_SAFE_INTEGER)
      isReported[place] ||= count > 0 || hasReports(account, domain, first + place, rules)
      messages[place] = (messages[place] ?? 0) + count
      passing[place] = (passing[place] ?? 0) + count * Math.round(record.dmarc * steps)
    }
    const record = records.at(-1)
    const situation = record && situationOf(account, domain, record, today, rules)
    policies[situation === undefined ? 'missing' : countedPolicy(situation.policy, situation.record)] += 1
    if (record?.testing === 'y') testing += 1
    const finding = situation && judgeDomain(situation)
    if (situation !== undefined && finding !== undefined) found.push({ finding, situation })
    yield
  }
  found.sort((one, other) => compareFindings(one.finding, other.finding) || byName(one.situation, other.situation))
  return {
    policies,
    testing,
    attention: found.slice(0, NAMED).map(({ finding, situation }) => ({
      domain: situation.record.domain,
      severity: finding.severity,
      reason: describeFinding(finding, situation),
      since: finding.since,
      messages: finding.kind === 'missing' && !situation.isPinned ? null : finding.failing,
    })),
    attentionCount: found.length,
    days: messages.map((all, index): DayFigures => {
      if (!isReported[index]) return { day: first + index, messages: null, passing: null, share: null }
      const parts = (passing[index] ?? 0) / (100 * steps)
      const share = all === 0 ? null : Math.round((parts / all) * 100 * steps) / steps
      // Beyond exact numbers, the passing messages could exceed all messages.
      return { day: first + index, messages: all, passing: Math.min(all, Math.round(parts)), share }
    }),
  }
}

function hasReports(account: Monitoring, domain: MonitoredDomain, day: number, rules: FigureRules): boolean {
  const state = reportsOn(account, domain, day, rules)
  return state === 'received' || state === 'fixed'
}

/** The data for the judgement on a domain, at the refresh `today`. */
function situationOf(
  account: Monitoring,
  domain: MonitoredDomain,
  record: DmarcRecord,
  today: number,
  rules: FigureRules,
): Situation {
  const { settings } = rules
  const pin = pinOn(domain, today, settings.refresh) ?? {}
  const character = characterIn(account.seed, domain)
  const source = sourceOf(account, domain, character, today, settings)
  const isReported = today >= firstReportingDay(domain, settings)
  const days = source && countedDays(domain, source, today, settings)
  const begin = days === undefined ? today : Math.max(days.first, Math.floor(days.since))
  const isOwn = source === domain && pin.p === undefined && pin.testing === undefined
  return {
    record,
    policy: policyOf(pin, record, source, isReported, rules),
    inheritsFrom: source === domain ? undefined : source?.name,
    testedSince: isOwn && record.testing === 'y' ? stepOn(character, today)?.from : undefined,
    isPinned: [pin.dmarc, pin.dkim, pin.spf, pin.count].some((each) => each !== undefined),
    ...(days === undefined || begin >= today
      ? { episodes: [], forged: 0 }
      : {
          episodes: episodesOf(character, begin, today),
          forged: countForged(character, days.first, today, days.since),
        }),
    ...{ today, period: settings.countPeriod },
  }
}

/** The policy for the mail of a domain, also if GET /dmarc does not show the origin of the policy. */
function policyOf(
  pin: RecordPin,
  { p }: DmarcRecord,
  source: MonitoredDomain | undefined,
  isReported: boolean,
  { settings }: FigureRules,
): Situation['policy'] {
  const shown = p === '' ? 'unknown' : p
  if (pinTags(undefined, pin) !== undefined) return shown
  if (!isReported && settings.policyBeforeRefresh === 'none') return 'unknown'
  if (source === undefined) return 'missing'
  return shown
}

/** The policy under which a domain is counted: that of its record in GET /dmarc, if it is based on a DNS record. */
function countedPolicy(policy: Situation['policy'], { p }: DmarcRecord): Policy | 'missing' {
  if (policy === 'missing' || p === '') return 'missing'
  return p
}

function byName(one: Situation, other: Situation): number {
  return one.record.domain < other.record.domain ? -1 : 1
}
