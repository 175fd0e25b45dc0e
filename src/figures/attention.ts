import type { DmarcRecord, Policy } from '../domain/dmarc.ts'
import { RealDate } from '../ground/timers.ts'
import type { Episode, EpisodeKind } from './episodes.ts'

/** The data for the judgement on a domain, as the refresh `today` shows it. */
export interface Situation {
  record: DmarcRecord
  /** The policy for its mail; `missing` if no record applies, `unknown` before its first report. */
  policy: Policy | 'missing' | 'unknown'
  /** The domain above it whose record applies, if the domain has no own record. */
  inheritsFrom: string | undefined
  /** The refresh at which the policy in test mode began, if that is known. */
  testedSince: number | undefined
  /** Whether figures of its record are fixed, so that no cause explains them. */
  isPinned: boolean
  /** The episodes of its mail in the counted days. */
  episodes: readonly Episode[]
  /** The number of forged messages in these days. */
  forged: number
  today: number
  /** How many days before a refresh are counted. */
  period: number
}

export type Severity = 'high' | 'medium' | 'low'

/** What happens to failing messages: RFC 9989 makes a policy one level softer in test mode. */
type Fate = 'rejected' | 'quarantined' | 'delivered'

/** Why a domain needs attention. */
export interface AttentionReason {
  kind: 'forged' | 'broken' | 'failing' | 'unprotected' | 'tested' | 'missing'
  severity: Severity
  /** See `judgeDomain`. */
  damage: number
  /** The messages of the period that fail DMARC. */
  failing: number
  /** The day on which it began; absent if it was always so, or if the day is unknown. */
  since: number | undefined
  fate: Fate
  /** The episode that causes it, if there is one. */
  cause?: Episode | undefined
  /** The mechanism that does not work, if only the figures show it. */
  lasting?: 'SPF' | 'DKIM' | undefined
}

/**
 * The weight of a failing message. Mail of the domain itself that receivers refuse is lost. Forged mail that they
 * deliver deceives people. Mail that fails and is still delivered is an obstacle to an enforced policy. A refused
 * forged message is the purpose of DMARC.
 */
const OWN = { rejected: 3, quarantined: 2, delivered: 1 } as const satisfies Record<Fate, number>
const FORGED = { rejected: 0, quarantined: 1, delivered: 3 } as const satisfies Record<Fate, number>

/** The usual share of the domain's own mail that fails because of forwarding. A lower share needs no action. */
const USUAL = 0.02
/** From this share on, there is a problem. */
const MUCH = 0.05
/** In per cent: a mechanism below `below` is broken if the other one passes for at least `other`. */
const BROKEN = { below: 20, other: 50 } as const

const ORDER = { high: 0, medium: 1, low: 2 } as const satisfies Record<Severity, number>

/** The kinds of episodes that the owner of the domain should end. */
const DEFECTS: ReadonlySet<EpisodeKind> = new Set(['broken-spf', 'broken-dkim', 'new-sender'])

/**
 * The most important reason why a domain needs attention; `undefined` if there is none. The damage of a finding is the
 * number of messages that fail in the period, weighted by what receivers do to them: see `OWN` and `FORGED`. Findings
 * are ordered by severity, then by damage (`compareFindings`). Domains without mail, such as parked ones, need no
 * attention unless they have no record. A cause that has ended is at most `low`.
 */
export function judgeDomain(situation: Situation): AttentionReason | undefined {
  return findAll(situation).toSorted(compareFindings)[0]
}

/** Orders findings, the worst first. */
export function compareFindings(one: AttentionReason, other: AttentionReason): number {
  return ORDER[one.severity] - ORDER[other.severity] || other.damage - one.damage || other.failing - one.failing
}

function findAll(situation: Situation): AttentionReason[] {
  const { record, policy, isPinned, episodes, today } = situation
  if (policy === 'missing') {
    const nothing = { damage: 0, failing: failingOf(record), since: undefined, fate: 'delivered' } as const
    return [{ kind: 'missing', severity: 'low', ...nothing }]
  }
  if (policy === 'unknown' || record.count === 0) return []
  const failing = failingOf(record)
  const fate = fateOf(policy, record.testing === 'y')
  const causes = isPinned ? [] : episodes
  const forged = isPinned ? 0 : Math.min(failing, situation.forged)
  const own = failing - forged
  const share = own / Math.max(1, record.count - forged)
  const common = { failing, fate }
  const findings: AttentionReason[] = []

  const attack = causes.find((each) => each.kind === 'attack' && isActive(each, today))
  if (attack !== undefined && forged > 0 && FORGED[fate] > 0) {
    const severity = fate === 'delivered' ? 'high' : 'low'
    findings.push({
      ...{ kind: 'forged', severity, damage: forged * FORGED[fate] },
      ...{ ...common, since: begin(attack), cause: attack },
    })
  }

  const damage = own * OWN[fate]
  const cause = causes.find((each) => DEFECTS.has(each.kind) && isActive(each, today))
  const lasting = lastingDefect(record)
  if (cause !== undefined || (lasting !== undefined && share >= USUAL)) {
    const isLost = fate !== 'delivered'
    const severity = isLost && share >= MUCH ? 'high' : isLost || share >= MUCH ? 'medium' : 'low'
    findings.push({ kind: 'broken', severity, damage, ...common, since: cause && begin(cause), cause, lasting })
  } else if (fate !== 'delivered' && share >= MUCH) {
    const past = causes.find(({ kind }) => DEFECTS.has(kind))
    // If most failing messages are forged, the policy works as intended.
    const isExplained = past !== undefined || forged > own
    const severity = isExplained ? 'low' : share >= 2 * MUCH ? 'high' : 'medium'
    findings.push({ kind: 'failing', severity, damage, ...common, since: past && begin(past), cause: past })
  }

  if (policy === 'none' && share >= USUAL) {
    const severity = share >= MUCH && failing >= 100 ? 'medium' : 'low'
    findings.push({ kind: 'unprotected', severity, damage, ...common, since: undefined })
  }
  if (policy !== 'none' && record.testing === 'y' && failing > 0) {
    findings.push({ kind: 'tested', severity: 'low', damage, ...common, since: situation.testedSince })
  }
  return findings
}

/** The reason in words, for a person: `Enforced policy (reject), SPF broken since 12 January: …`. */
export function describeFinding(
  finding: AttentionReason,
  { record, policy, inheritsFrom, isPinned, forged: allForged, today, period }: Situation,
): string {
  const { kind, failing, since, fate, cause, lasting } = finding
  const forged = isPinned ? 0 : Math.min(failing, allForged)
  const source = inheritsFrom === undefined ? '' : ` of ${inheritsFrom}`
  const head = policy === 'none' ? `Policy none${source}` : `Enforced policy (${policy}${source})`
  const tested = record.testing === 'y' ? ', but only tested' : ''
  const others = forged > failing / 2 ? `, about ${roughly(forged).toLocaleString('en')} of them forged` : ''
  const messages = `${count(failing)} DMARC in ${period} days${others}`
  const outcome = failing === 0 ? 'nothing has failed yet' : `${messages}, and ${doing(fate, failing)}`
  const from = since === undefined ? '' : ` since ${dayName(since, today)}`
  switch (kind) {
    case 'missing':
      return 'No DMARC record: any sender can use its name, and receivers report nothing about it.'
    case 'forged': {
      const daily = roughly((cause?.strength ?? 0) / 30).toLocaleString('en')
      const why = `its policy${source} is ${policy === 'none' ? 'none' : `${policy}${tested}`}`
      return `Forged${from}: others send about ${daily} messages a day in its name, and ${doing(fate)}, because ${why}.`
    }
    case 'broken':
      return `${head}, ${cause === undefined ? `sends without a valid ${lasting}` : `${defect(cause)}${from}`}: ${outcome}.`
    case 'failing':
    case 'unprotected': {
      const past = cause && ` ${defect(cause, 'was')}${from}, until ${dayName(cause.until, today)}.`
      return `${head}: ${outcome}.${past ?? ''}`
    }
    case 'tested':
      return `The policy ${policy}${source} is only tested${from}: ${outcome}.`
  }
}

/** How many messages fail, by the share in the record. The count of an earlier version may be too large to multiply. */
function failingOf({ count, dmarc }: DmarcRecord): number {
  return Math.round((Math.min(count, Number.MAX_SAFE_INTEGER) * (100 - dmarc)) / 100)
}

function lastingDefect({ dkim, spf }: DmarcRecord): 'DKIM' | 'SPF' | undefined {
  if (dkim < BROKEN.below && spf >= BROKEN.other) return 'DKIM'
  return spf < BROKEN.below && dkim >= BROKEN.other ? 'SPF' : undefined
}

function fateOf(policy: Policy, isTested: boolean): Fate {
  if (policy === 'reject') return isTested ? 'quarantined' : 'rejected'
  return policy === 'quarantine' && !isTested ? 'quarantined' : 'delivered'
}

/** Whether the episode includes the last counted day, the day before the refresh. */
function isActive({ from, until }: Episode, today: number): boolean {
  return from < today && until >= today
}

function begin({ from }: Episode): number | undefined {
  return Number.isFinite(from) ? from : undefined
}

function count(messages: number): string {
  return messages === 1 ? '1 message fails' : `${messages.toLocaleString('en')} messages fail`
}

/** A number rounded to two digits. */
function roughly(value: number): number {
  const rounded = Number(value.toPrecision(2))
  return Math.max(1, rounded < 10 ? Math.round(value) : rounded)
}

function doing(fate: Fate, messages = 2): string {
  const what = messages === 1 ? 'it' : 'them'
  if (fate === 'rejected') return `receivers reject ${what}`
  return fate === 'quarantined' ? `receivers put ${what} into spam folders` : `receivers deliver ${what}`
}

function defect({ kind }: Episode, verb: '' | 'was' = ''): string {
  if (kind === 'new-sender')
    return verb === '' ? 'a sender that does not sign its mail' : 'A sender did not sign its mail'
  const mechanism = kind === 'broken-dkim' ? 'DKIM' : 'SPF'
  return verb === '' ? `${mechanism} broken` : `${mechanism} was broken`
}

const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
] as const

/** A day such as `12 January`, with its year if that is not the present year. */
function dayName(day: number, today: number): string {
  const date = new RealDate(day * DAY)
  const year = date.getUTCFullYear()
  const name = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
  return year === new RealDate(today * DAY).getUTCFullYear() ? name : `${name} ${year}`
}

/** In milliseconds. */
const DAY = 86_400_000
