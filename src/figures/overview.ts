import type { MonitoredDomain } from '../domain/account.ts'
import {
  COUNT_PERIOD,
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
const NAMED = 20

/** What the overview of some domains is made of. Each domain has added its part, and can take it back. */
export interface Sums {
  /** The refreshes that are counted. */
  first: number
  today: number
  /** By refresh: messages, passing messages times 100 times the steps of a per cent, and the domains with messages. */
  messages: number[]
  passing: number[]
  sending: number[]
  policies: Overview['policies']
  testing: number
  /** By the name of the domain. */
  found: Map<string, AttentionReason>
}

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
  return yield* describeSums(yield* sumUp(account, first, today, rules, domains), account, rules, domains)
}

export function* sumUp(
  account: Monitoring,
  first: number,
  today: number,
  rules: FigureRules,
  domains: readonly MonitoredDomain[],
): Work<Sums> {
  const none = Array.from({ length: today - first + 1 }, () => 0)
  const sums: Sums = {
    ...{ first, today, messages: none, passing: none.slice(), sending: none.slice() },
    ...{ policies: { reject: 0, quarantine: 0, none: 0, missing: 0 }, testing: 0, found: new Map() },
  }
  for (const domain of domains) {
    count(sums, account, domain, rules, 1)
    yield
  }
  return sums
}

/**
 * Brings the sums of an earlier version of an account up to date. This counts only the domains that have changed and
 * those below them, whose records may be inherited. Answers false if that would not save much or would not be exact;
 * the sums are of no use then.
 */
export function followChanges(sums: Sums, earlier: Monitoring, account: Monitoring, rules: FigureRules): boolean {
  const changes = account.domains.changesSince(earlier.domains)
  if (changes === undefined || changes.length > MOST_CHANGES) return false
  const names = new Set(changes.map(([name]) => name))
  for (const name of account.domains.keys()) {
    for (let dot = name.indexOf('.'); dot >= 0 && !names.has(name); dot = name.indexOf('.', dot + 1)) {
      if (names.has(name.slice(dot + 1))) names.add(name)
    }
  }
  if (names.size > 2 * MOST_CHANGES || !areExact(sums)) return false
  for (const name of names) {
    const [before, after] = [earlier.domains.get(name), account.domains.get(name)]
    if (before !== undefined) count(sums, earlier, before, rules, -1)
    if (after !== undefined) count(sums, account, after, rules, 1)
  }
  return areExact(sums)
}

/** Fixed values may be so large that their sum is no exact number. Then it depends on the order. */
function areExact({ passing }: Sums): boolean {
  return passing.every((each) => each <= Number.MAX_SAFE_INTEGER)
}

/** How many changed domains are followed in one turn. */
const MOST_CHANGES = 20

/** Adds the part of a domain to the sums (1), or takes it back (-1). */
function count(sums: Sums, account: Monitoring, domain: MonitoredDomain, rules: FigureRules, sign: 1 | -1): void {
  const { first, today, messages, passing, sending, policies, found } = sums
  const steps = stepsOf(rules)
  const earliest = Math.max(first, Math.min(today, firstRefresh(domain, rules.settings)))
  const records = recordsFrom(account, domain, earliest, today, rules)
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === undefined || record.count === 0) continue
    const place = earliest - first + index
    // An account of an earlier version may have counts too large for a sum.
    const all = sign * Math.min(record.count, Number.MAX_SAFE_INTEGER)
    sending[place] = (sending[place] ?? 0) + sign
    messages[place] = (messages[place] ?? 0) + all
    passing[place] = (passing[place] ?? 0) + all * Math.round(record.dmarc * steps)
  }
  const record = records.at(-1)
  const situation = record && situationOf(account, domain, record, today, rules)
  policies[situation === undefined ? 'missing' : countedPolicy(situation.policy, situation.record)] += sign
  if (record?.testing === 'y') sums.testing += sign
  const finding = situation && judgeDomain(situation)
  if (sign < 0) found.delete(domain.name)
  else if (finding !== undefined) found.set(domain.name, finding)
}

/** Sums of whole numbers do not depend on the order. A share is a whole number of steps. */
function stepsOf({ percentageStep }: FigureRules): number {
  return Math.round(1 / percentageStep)
}

/** The overview of these domains, from their sums. */
export function* describeSums(
  { first, today, messages, passing, sending, policies, testing, found }: Sums,
  account: Monitoring,
  rules: FigureRules,
  domains: readonly MonitoredDomain[],
): Work<Overview> {
  const steps = stepsOf(rules)
  const worst = [...found].sort(([oneName, one], [otherName, other]) => {
    return compareFindings(one, other) || (oneName < otherName ? -1 : 1)
  })
  yield
  const days: DayFigures[] = []
  for (const [index, all] of messages.entries()) {
    const day = first + index
    if (sending[index] === 0 && !(yield* isReported(account, domains, day, today, rules))) {
      days.push({ day, messages: null, passing: null, share: null })
      continue
    }
    const parts = (passing[index] ?? 0) / (100 * steps)
    const share = all === 0 ? null : Math.round((parts / all) * 100 * steps) / steps
    // Beyond exact numbers, the passing messages could exceed all messages.
    days.push({ day, messages: all, passing: Math.min(all, Math.round(parts)), share })
  }
  const named = new Set(worst.slice(0, NAMED).map(([name]) => name))
  const situations = new Map<string, Situation>()
  for (const domain of domains) {
    if (!named.has(domain.name)) continue
    const [record] = recordsFrom(account, domain, today, today, rules)
    if (record !== undefined) situations.set(domain.name, situationOf(account, domain, record, today, rules))
  }
  return {
    policies: { ...policies },
    testing,
    attention: worst.slice(0, NAMED).flatMap(([domain, finding]): Attention[] => {
      const situation = situations.get(domain)
      if (situation === undefined) return []
      const isUnknown = finding.kind === 'missing' && !situation.isPinned
      const { severity, since, failing } = finding
      const reason = describeFinding(finding, situation)
      return [{ domain, severity, reason, since, messages: isUnknown ? null : failing }]
    }),
    attentionCount: found.size,
    days,
  }
}

/** Whether there are reports about one of the domains, none of which has messages at this refresh. */
function* isReported(
  account: Monitoring,
  domains: readonly MonitoredDomain[],
  day: number,
  today: number,
  rules: FigureRules,
): Work<boolean> {
  for (const domain of domains) {
    yield
    if (day < Math.min(today, firstRefresh(domain, rules.settings)) || !hasReports(account, domain, day, rules))
      continue
    if (recordsFrom(account, domain, day, day, rules)[0] !== undefined) return true
  }
  return false
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
    policy: policyOf(pin, record, source, isReported),
    inheritsFrom: source === domain ? undefined : source?.name,
    testedSince: isOwn && record.testing === 'y' ? stepOn(character, today)?.from : undefined,
    isPinned: [pin.dmarc, pin.dkim, pin.spf, pin.count].some((each) => each !== undefined),
    ...(days === undefined || begin >= today
      ? { episodes: [], forged: 0 }
      : {
          episodes: episodesOf(character, begin, today),
          forged: countForged(character, days.first, today, days.since),
        }),
    ...{ today, period: COUNT_PERIOD },
  }
}

/** The policy for the mail of a domain, also if GET /dmarc does not show the origin of the policy. */
function policyOf(
  pin: RecordPin,
  { p }: DmarcRecord,
  source: MonitoredDomain | undefined,
  isReported: boolean,
): Situation['policy'] {
  const shown = p === '' ? 'unknown' : p
  if (pinTags(undefined, pin) !== undefined) return shown
  if (!isReported) return 'unknown'
  if (source === undefined) return 'missing'
  return shown
}

/** The policy under which a domain is counted: that of its record in GET /dmarc, if it is based on a DNS record. */
function countedPolicy(policy: Situation['policy'], { p }: DmarcRecord): Policy | 'missing' {
  if (policy === 'missing' || p === '') return 'missing'
  return p
}
