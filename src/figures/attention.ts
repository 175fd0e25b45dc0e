import type { DmarcRecord, Policy } from '../domain/dmarc.ts'
import type { Episode, EpisodeKind } from './episodes.ts'

/** What the judgement on a domain is made from, all of it as the refresh `today` shows it. */
export interface Situation {
  record: DmarcRecord
  /** The policy that applies to its mail; `missing` where no record does, `unknown` before its first report. */
  policy: Policy | 'missing' | 'unknown'
  /** The domain above it whose record applies, where it has none of its own. */
  inheritsFrom: string | undefined
  /** The refresh at which the policy in test mode began, where that is known. */
  testedSince: number | undefined
  /** Whether figures of its record are fixed, so that no cause explains them. */
  isPinned: boolean
  /** What makes its mail unusual in the days that are counted. */
  episodes: readonly Episode[]
  /** How many of its messages others have forged in these days. */
  forged: number
  today: number
  /** How many days are counted before a refresh. */
  period: number
}

export type Severity = 'high' | 'medium' | 'low'

/** What happens to the messages that fail: RFC 9989 makes a policy one level softer while it is tested. */
type Fate = 'rejected' | 'quarantined' | 'delivered'

/** Why a domain needs attention. */
export interface Finding {
  kind: 'forged' | 'broken' | 'failing' | 'unprotected' | 'tested' | 'missing'
  severity: Severity
  /** See `judgeDomain`. */
  damage: number
  /** The messages of the period that fail DMARC. */
  failing: number
  /** The day on which it began; absent if it was always so, or nobody knows. */
  since: number | undefined
  fate: Fate
  /** What is behind it, where an episode is. */
  cause?: Episode | undefined
  /** What does not work, where nothing but the figures says so. */
  lasting?: 'SPF' | 'DKIM' | undefined
}

/**
 * How much a failing message counts. Mail of the domain's own that receivers refuse is lost; forged mail that they
 * deliver deceives people. What fails and is delivered anyway stands between the domain and an enforced policy. A
 * forged message that is refused is what DMARC is for.
 */
const OWN = { rejected: 3, quarantined: 2, delivered: 1 } as const satisfies Record<Fate, number>
const FORGED = { rejected: 0, quarantined: 1, delivered: 3 } as const satisfies Record<Fate, number>

/** The share of the domain's own mail that fails everywhere, because of forwarding: below it, nobody needs to act. */
const USUAL = 0.02
/** From this share on, something is wrong. */
const MUCH = 0.05
/** In per cent: a mechanism that passes for less does not work, where the other one passes for at least as much. */
const BROKEN = { below: 20, other: 50 } as const

const ORDER = { high: 0, medium: 1, low: 2 } as const satisfies Record<Severity, number>

/** The kinds of episodes that somebody should end. */
const DEFECTS: ReadonlySet<EpisodeKind> = new Set(['broken-spf', 'broken-dkim', 'new-sender'])

/**
 * Why a domain needs attention most; `undefined` if it does not. The damage of a finding is the number of its messages
 * that fail in the period, weighted by what receivers do to them: see `OWN` and `FORGED`. Findings are ordered by
 * severity, then by damage (`compareFindings`). Domains without mail, such as parked ones, need none unless no record
 * protects them. A cause that is over is at most `low`.
 */
export function judgeDomain(situation: Situation): Finding | undefined {
  return findAll(situation).toSorted(compareFindings)[0]
}

/** The worst first. */
export function compareFindings(one: Finding, other: Finding): number {
  return ORDER[one.severity] - ORDER[other.severity] || other.damage - one.damage || other.failing - one.failing
}

function findAll(situation: Situation): Finding[] {
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
  const findings: Finding[] = []

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
    // Where most of what fails is forged, the policy does its work.
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
  finding: Finding,
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
      return 'No DMARC record: anybody can send mail in its name, and nobody reports it.'
    case 'forged': {
      const daily = roughly((cause?.strength ?? 0) / 30).toLocaleString('en')
      const why = `its policy${source} is ${policy === 'none' ? 'none' : `${policy}${tested}`}`
      return `Forged${from}: others send about ${daily} messages a day in its name, and ${doing(fate)}, because ${why}.`
    }
    case 'broken':
      return `${head}, ${cause === undefined ? `sends without a valid ${lasting}` : `${defect(cause)}${from}`}: ${outcome}.`
    case 'failing': {
      if (cause === undefined) return `${head}: ${outcome}.`
      return `${head}: ${outcome}. ${defect(cause, 'was')}${from}, until ${dayName(cause.until, today)}.`
    }
    case 'unprotected':
      return `${head}: ${outcome}.`
    case 'tested':
      return `The policy ${policy}${source} is only tested${from}: ${outcome}.`
  }
}

/** How many messages fail, by the share as the record has it. */
function failingOf({ count: messages, dmarc }: DmarcRecord): number {
  return Math.round((messages * (100 - dmarc)) / 100)
}

function lastingDefect({ dkim, spf }: DmarcRecord): 'DKIM' | 'SPF' | undefined {
  if (dkim < BROKEN.below && spf >= BROKEN.other) return 'DKIM'
  return spf < BROKEN.below && dkim >= BROKEN.other ? 'SPF' : undefined
}

function fateOf(policy: Policy, isTested: boolean): Fate {
  if (policy === 'reject') return isTested ? 'quarantined' : 'rejected'
  return policy === 'quarantine' && !isTested ? 'quarantined' : 'delivered'
}

/** Whether it went on at the refresh, of which the last day before is counted. */
function isActive({ from, until }: Episode, today: number): boolean {
  return from < today && until >= today
}

function begin({ from }: Episode): number | undefined {
  return Number.isFinite(from) ? from : undefined
}

function count(messages: number): string {
  return messages === 1 ? '1 message fails' : `${messages.toLocaleString('en')} messages fail`
}

/** A number of which two digits are enough. */
function roughly(value: number): number {
  return Math.max(1, Number(value.toPrecision(2)) < 10 ? Math.round(value) : Number(value.toPrecision(2)))
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

/** A day such as `12 January`, with its year where that is not the year of today. */
function dayName(day: number, today: number): string {
  const date = new Date(day * DAY)
  const year = date.getUTCFullYear()
  const name = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
  return year === new Date(today * DAY).getUTCFullYear() ? name : `${name} ${year}`
}

/** In milliseconds. */
const DAY = 86_400_000
