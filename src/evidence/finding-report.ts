import { shorten } from '../ground/show.ts'
import { reasonOf } from '../judge/answer-counts.ts'
import {
  type FailOn,
  isCounted,
  isFailure,
  type JudgedDifference,
  type KeptFinding,
  type Label,
  type Party,
  partyOf,
} from '../judge/finding.ts'
import type { FindingLevel, Finding as ReportFinding, ReportRule } from '../reports/report.ts'
import type { BaselineEntry } from './baseline.ts'

/** A finding in the JSON report: the finding of the first exchange, and how many findings have this id. */
export interface ReportedFinding extends JudgedDifference {
  /** The party that caused a failure. */
  by?: Party
  /** Only if more than one. */
  count?: number
  /** Why the user has accepted it. */
  accepted?: string
}

/** What a report knows about a finding besides. */
export interface FindingContext {
  /** The entry of the baseline that accepts it. */
  accepted: BaselineEntry | undefined
  failOn: FailOn
}

/** What a label means, and what the user can do. */
interface FindingKind extends Omit<ReportRule, 'id'> {
  level: FindingLevel
  remedy: string
}

const ACCEPT = 'If it is known, --baseline FILE accepts it.'
const SERVICE_REMEDY = `Show this request and its response to the owner of the service. ${ACCEPT}`

const CLIENT_VIOLATION: FindingKind = {
  level: 'error',
  name: 'The client violates the contract',
  description: 'Every request obeys openapi.yaml. A service may refuse what does not, or do something else.',
  remedy: `Correct the request of the client. ${ACCEPT}`,
}

const KINDS: Readonly<Record<Exclude<Label, 'cannot tell'>, FindingKind>> = {
  'contract violation': {
    level: 'error',
    name: 'The service violates the contract',
    description: 'Every response obeys openapi.yaml. A client that relies on it does not expect this.',
    remedy: SERVICE_REMEDY,
  },
  'broken rule': {
    level: 'error',
    name: 'The service breaks a rule of the specification',
    description: 'The specification demands it, whatever the account holds.',
    remedy: SERVICE_REMEDY,
  },
  unexplained: {
    level: 'error',
    name: 'The behaviour of the service is unexplained',
    description: 'Nothing that the specification permits and nothing that the account can hold leads to it.',
    remedy: SERVICE_REMEDY,
  },
  'another choice': {
    level: 'note',
    name: 'The service makes a choice of its own',
    description: 'The specification leaves it open, and no alternative of openapi.yaml is like it.',
    remedy: 'If a client depends on it, write an overlay that describes it.',
  },
  'decides assumption': {
    level: 'note',
    name: 'The service chooses another alternative',
    description: 'The specification leaves it open, and the service has chosen another alternative than the stand-in.',
    remedy: 'dmarc-understudy calibrate writes an overlay with which the stand-in does the same.',
  },
}

function kindOf(finding: JudgedDifference): FindingKind {
  if (finding.label === 'cannot tell') {
    const { reason: description, remedy } = reasonOf(finding)
    return { level: 'note', name: 'It cannot be decided', description, remedy }
  }
  return partyOf(finding) === 'client' ? CLIENT_VIOLATION : KINDS[finding.label]
}

function ruleOf(finding: JudgedDifference): ReportRule {
  const { label, rule, assumption, alternative } = finding
  const { name, description } = kindOf(finding)
  const side = partyOf(finding) === 'client' ? 'request' : 'response'
  const usual = label === 'contract violation' ? `contract-violation/${side}` : label.replaceAll(' ', '-')
  const choice = assumption === undefined ? undefined : `${assumption}/${alternative ?? 0}`
  return { id: rule ?? choice ?? usual, name, description }
}

/** A finding for a person. */
export function showFinding(finding: KeptFinding, { accepted, failOn }: FindingContext): ReportFinding {
  const { count, message, pointer, method, path, request_id: requestId, status, id, asked, answered, overlay } = finding
  const { level, remedy } = kindOf(finding)
  const known = accepted === undefined ? '' : ` Accepted by the baseline: ${accepted.reason}`
  const mild = accepted !== undefined ? 'note' : 'warning'
  return {
    rule: ruleOf(finding),
    level: level === 'error' && (accepted !== undefined || !isCounted(finding, failOn)) ? mild : level,
    message: message + quoteBodies(finding) + known,
    pointer,
    request: { method, path, requestId, status, body: asked },
    occurrences: count,
    details: [
      { title: 'Id of the finding', text: id },
      ...(answered === undefined ? [] : [{ title: 'Response', text: answered }]),
    ],
    remedy: { text: overlay === undefined ? remedy : `${remedy} It would have to say: ${overlay}` },
  }
}

/** How many characters of a body stand in a message. The details have more. */
const QUOTED = 160

/** The bodies, where the message is about more than a place in one of them. */
function quoteBodies({ label, asked, answered }: JudgedDifference): string {
  if (label === 'contract violation' || label === 'decides assumption') return ''
  const sent = asked === undefined ? '' : ` Sent: ${shorten(asked, QUOTED)}`
  return answered === undefined ? sent : `${sent} Came: ${shorten(answered, QUOTED)}`
}

/** A finding for the JSON report. */
export function reportFinding(
  { count, ...finding }: KeptFinding,
  accepted: BaselineEntry | undefined,
): ReportedFinding {
  return {
    ...finding,
    ...(isFailure(finding) && { by: partyOf(finding) }),
    ...(count > 1 && { count }),
    ...(accepted !== undefined && { accepted: accepted.reason }),
  }
}
