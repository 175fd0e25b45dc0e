import { plural } from '../ground/plural.ts'
import { GATEWAY, type Untold, type UntoldReason } from '../judge/answer-counts.ts'
import type { JudgedDifference } from '../judge/finding.ts'

/** By the end of the id of a finding. */
const REASONS: Readonly<Record<string, UntoldReason>> = {
  gateway: GATEWAY,
  changed: {
    reason: 'Another client may have changed the account.',
    remedy: 'Give --sole-writer if no other client did.',
  },
  overlap: {
    reason: 'The request overlapped with one that may change the account, so their order is not known.',
    remedy: 'Send such requests one after the other.',
  },
}
const ANY_REASON: UntoldReason = {
  reason: 'It depends on what is not known of the account, or of the choices of the service.',
  remedy: 'A longer recording, or dmarc-understudy verify, can show which.',
}

/** Why a finding `cannot tell` does not tell, and what would. */
export function reasonOf({ id }: Pick<JudgedDifference, 'id'>): UntoldReason {
  return REASONS[id.slice(id.lastIndexOf('/') + 1)] ?? ANY_REASON
}

/**
 * Everything that exchanges do not tell, the most frequent reason first. Each id occurs once in `findings`; `reasons`
 * are those that single exchanges have.
 */
export function findUntold(
  findings: readonly JudgedDifference[],
  counts: Readonly<Record<string, number>>,
  reasons: readonly Untold[],
): readonly Untold[] {
  const untold = new Map(reasons.map((each) => [each.reason, each]))
  for (const finding of findings.filter(({ label }) => label === 'cannot tell')) {
    const { reason, remedy } = reasonOf(finding)
    // The exchanges of such findings are counted already.
    if (reasons.some((each) => each.reason === reason)) continue
    const times = (untold.get(reason)?.times ?? 0) + (counts[finding.id] ?? 1)
    untold.set(reason, { reason, remedy, times })
  }
  return [...untold.values()].toSorted((one, other) => other.times - one.times)
}

/** A sentence with the most frequent reason, if there is any. */
export function summariseUntold(untold: readonly Untold[]): string[] {
  const [first] = untold
  if (first === undefined) return []
  const total = untold.reduce((sum, { times }) => sum + times, 0)
  const most = total === first.times ? '' : 'most often '
  return [`${plural(total, 'thing')} cannot be told, ${most}because: ${first.reason} ${first.remedy}`]
}

/** How many reasons fit into a line. */
const NAMED = 3

/** `18: Another client … 2: The request …` */
export function listUntold(untold: readonly Untold[]): string {
  const named = untold.slice(0, NAMED).map(({ reason, times, remedy }) => `${times}: ${reason} ${remedy}`)
  return [...named, ...(untold.length > NAMED ? ['…'] : [])].join(' ')
}
