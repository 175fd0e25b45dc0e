import type { DmarcRecord, Policy } from '../domain/dmarc.ts'
import type { Episode, EpisodeKind } from './episodes.ts'
import { eventOf } from './events.ts'

export const SEVERITIES = ['high', 'medium', 'low'] as const
type Severity = (typeof SEVERITIES)[number]

/** Why a domain needs attention. */
interface Finding {
  severity: Severity
  /** In words, for a person. */
  reason: string
  /** The day on which it began, if that is known. */
  since: number | undefined
  /** The messages of the record that fail DMARC; null if there are no reports. */
  messages: number | null
}

/** In per cent of the messages. Less fails wherever mail is forwarded, and needs no action. */
const MUCH = 5

const CAUSES: ReadonlySet<EpisodeKind> = new Set(['attack', 'broken-spf', 'broken-dkim', 'new-sender'])

/**
 * Whether a domain needs attention: it has no DMARC record, or much of its mail fails. If receivers act on the policy,
 * own mail that fails is lost, and forged mail does no harm. If they do not, it is the other way round. `episodes` are
 * those of its mail at the refresh of the record.
 */
export function judgeRecord(
  { count, dmarc, testing }: DmarcRecord,
  policy: Policy | 'missing',
  episodes: readonly Episode[],
): Finding | undefined {
  if (policy === 'missing') {
    const reason = 'No DMARC record: any sender can use its name, and receivers report nothing about it.'
    return { severity: 'low', reason, since: undefined, messages: null }
  }
  const share = 100 - dmarc
  if (count === 0 || share < MUCH) return undefined
  const episode = episodes.find(({ kind }) => CAUSES.has(kind))
  const cause = episode && eventOf(episode)
  const isActive = policy !== 'none' && testing === 'n'
  const severityOfOwn = isActive && share >= 2 * MUCH ? 'high' : 'medium'
  const severityOfForged = isActive ? 'low' : 'high'
  const tested = policy !== 'none' && testing === 'y' ? ', which is only tested' : ''
  const failure = `${share.toFixed(1)} % of its mail fails DMARC under the policy ${policy}${tested}.`
  return {
    severity: cause?.kind === 'attack' ? severityOfForged : severityOfOwn,
    reason: cause === undefined ? failure : `${failure} ${cause.description}`,
    since: cause?.from,
    messages: Math.round(count * (share / 100)),
  }
}
