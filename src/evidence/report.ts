import { decideVerdicts } from '../choices/verdicts.ts'
import type { Conclusion } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import type { LineOf } from '../contract/lines.ts'
import { plural } from '../ground/plural.ts'
import { shorten } from '../ground/show.ts'
import {
  type FailOn,
  isCounted,
  isFailure,
  type JudgedDifference,
  type Label,
  type Party,
  partyOf,
} from '../judge/finding.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import { listFacts, tableSection } from '../reports/outline.ts'
import type {
  Check,
  CommandTimes,
  Fact,
  FindingLevel,
  Report,
  Finding as ReportFinding,
  ReportRule,
  Section,
} from '../reports/report.ts'
import type { AnswerCounts } from './answers.ts'
import type { AppliedBaseline, BaselineEntry } from './baseline.ts'
import { findUntold, listUntold, reasonOf, summariseUntold, type Untold } from './untold.ts'

export interface EvidenceReportOptions extends CommandTimes {
  tool: 'check' | 'proxy'
  /** What was looked at, as a short phrase. */
  title: string
  conclusion: Conclusion
  choices: Choices
  answers: AnswerCounts
  /** Whose mistakes fail the run; those of the service by default. The others are shown. */
  failOn?: FailOn | undefined
  /** Absent if there is no baseline. */
  baseline?: AppliedBaseline<JudgedDifference> | undefined
  /** What is missing for a passing result, in sentences. */
  failures?: readonly string[]
  /** Further information for the user about the exchanges, in sentences. */
  warnings?: readonly string[]
  facts?: readonly Fact[]
  lineOf: LineOf
}

/** A finding in the JSON report: the finding of the first exchange, and how many findings have this id. */
interface ReportedFinding extends JudgedDifference {
  /** The party that caused a failure. */
  by?: Party
  /** Only if more than one. */
  count?: number
  /** Why the user has accepted it. */
  accepted?: string
}

/** The JSON report of `check` and `proxy`, as `docs/schemas/check.json` describes it. */
export interface EvidenceReport {
  exchanges: number
  judged: number
  findings: readonly ReportedFinding[]
  assumptions: readonly AssumptionVerdict[]
  /** What the exchanges do not tell. */
  untold?: readonly Untold[]
  /** What is missing for a passing result, in sentences. */
  failures?: readonly string[]
  warnings?: readonly string[]
}

interface FindingKind extends Omit<ReportRule, 'id'> {
  level: FindingLevel
  /** What the user can do. */
  remedy: string
}

const ACCEPT = 'If it is known, --baseline FILE accepts it.'
const SERVICE_REMEDY = `Show this request and its response to the owner of the service. ${ACCEPT}`

const VIOLATIONS: Readonly<Record<Party, FindingKind>> = {
  client: {
    level: 'error',
    name: 'The client violates the contract',
    description: 'Every request obeys openapi.yaml. A service may refuse what does not, or do something else.',
    remedy: `Correct the request of the client. ${ACCEPT}`,
  },
  service: {
    level: 'error',
    name: 'The service violates the contract',
    description: 'Every response obeys openapi.yaml. A client that relies on it does not expect this.',
    remedy: SERVICE_REMEDY,
  },
}

const KINDS: Readonly<Record<Exclude<Label, 'contract violation' | 'cannot tell'>, FindingKind>> = {
  'broken rule': {
    level: 'error',
    name: 'The service breaks a rule of the specification',
    description: 'The specification demands it, whatever the account holds.',
    remedy: SERVICE_REMEDY,
  },
  unexplained: {
    level: 'error',
    name: 'The behaviour of the service is unexplained',
    description: 'No alternative that the specification permits and nothing that the account can hold explains it.',
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

/** Describes the findings about exchanges for every output format. */
export function describeFindings(options: EvidenceReportOptions): Report {
  const { tool, title, conclusion, choices, baseline, failures = [], warnings = [], startedAt, seconds } = options
  const { failOn = 'service', lineOf } = options
  const reasons = new Map(baseline?.accepted.map(({ finding, entry }) => [finding.id, entry]))
  const findings = oneOfEach(conclusion.findings)
  const counted = findings.filter((finding) => isCounted(finding, failOn) && !reasons.has(finding.id))
  const verdicts = decideVerdicts(conclusion.observations, choices)
  const untold = findUntold(findings, conclusion.counts, options.answers.reasons)
  const missing = conclusion.judged > 0 || failures.length > 0 ? failures : [nothingJudged(options)]
  const passed = counted.length === 0 && missing.length === 0
  const shown = new Map(findings.map((finding) => [finding.id, showFinding(finding, options, reasons.get(finding.id))]))
  const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted').map(showContradiction)
  const json: EvidenceReport = {
    exchanges: conclusion.exchanges,
    judged: conclusion.judged,
    findings: findings.map((finding) => reportFinding(finding, conclusion, reasons.get(finding.id), lineOf)),
    assumptions: verdicts,
    ...(untold.length > 0 && { untold }),
    ...(missing.length > 0 && { failures: missing }),
    ...(warnings.length > 0 && { warnings }),
  }
  return {
    tool,
    title,
    summary: [...missing, summarise(options, findings, untold)].join(' ').trim(),
    passed,
    exitCode: options.interruptedWith ?? (passed ? 0 : 1),
    startedAt,
    seconds,
    facts: factsOf(options, verdicts, untold),
    findings: [
      ...missing.map(showIncomplete('error')),
      ...shown.values(),
      ...contradicted,
      ...warnings.map(showIncomplete('warning')),
    ],
    checks: [...checkAnswers(options, shown), ...verdicts.map(checkVerdict), ...missing.map(checkMissing)],
    sections: [
      ...decidedSection('Assumptions', 'Evidence', verdicts),
      ...tableSection(
        'Cannot tell',
        ['Reason', 'Times', 'What would tell'],
        untold.map(({ reason, times, remedy }) => [reason, String(times), remedy]),
      ),
    ],
    json,
  }
}

/** The first finding of each id. */
function oneOfEach(findings: readonly JudgedDifference[]): readonly JudgedDifference[] {
  const first = new Map<string, JudgedDifference>()
  for (const finding of findings) if (!first.has(finding.id)) first.set(finding.id, finding)
  return [...first.values()]
}

/** A run that judged nothing is no success. */
function nothingJudged({ conclusion, answers }: EvidenceReportOptions): string {
  const { exchanges } = conclusion
  if (exchanges === 0) return 'There was no exchange with the service, so nothing was judged.'
  const [first] = answers.reasons
  const all = exchanges === 1 ? 'The only exchange' : `None of the ${exchanges} exchanges`
  const why = first === undefined ? '' : ` ${first.reason} ${first.remedy}`
  return `${all} ${exchanges === 1 ? 'could not' : 'could'} be judged.${why}`
}

/** It says how much was judged, and what was not told, because "nothing wrong" is true of the rest alone. */
function summarise(
  { conclusion, baseline, failOn = 'service' }: EvidenceReportOptions,
  findings: readonly JudgedDifference[],
  untold: readonly Untold[],
): string {
  const { exchanges, judged, counts } = conclusion
  if (exchanges === 0) return ''
  const accepted = new Set(baseline?.accepted.map(({ finding }) => finding.id))
  const did = (party: Party) => {
    const own = findings.filter((each) => isCounted(each, party) && !accepted.has(each.id))
    if (own.length === 0) return 'nothing wrong'
    const times = own.reduce((sum, { id }) => sum + (counts[id] ?? 1), 0)
    const hint = own.some((each) => isCounted(each, failOn)) ? '' : ` (--fail-on ${party} would fail)`
    return `${plural(own.length, 'thing', 'things')} wrong, seen ${times === 1 ? 'once' : `${times} times`}${hint}`
  }
  const where =
    judged === 0 ? 'In the messages alone' : `In the ${judged} of ${plural(exchanges, 'exchange')} that could be judged`
  return [
    `${where}, the service did ${did('service')}; its clients did ${did('client')}.`,
    ...summariseUntold(untold),
    ...(accepted.size === 0
      ? []
      : [`${plural(accepted.size, 'finding is', 'findings are')} accepted by the baseline.`]),
  ].join(' ')
}

function factsOf(
  { conclusion, answers, baseline, facts = [] }: EvidenceReportOptions,
  verdicts: readonly AssumptionVerdict[],
  untold: readonly Untold[],
): Fact[] {
  const { exchanges, judged } = conclusion
  const { unasked } = answers
  const decided = (verdict: AssumptionVerdict['verdict']) => verdicts.filter((each) => each.verdict === verdict).length
  const entriesThatAre = (state: string) => baseline?.entries.filter((entry) => entry.state === state).length ?? 0
  const [gone, expired] = [entriesThatAre('fixed'), entriesThatAre('expired')]
  return [
    ...facts,
    ...listFacts({
      Exchanges: `${exchanges}, of which ${judged} were judged`,
      'Cannot tell': untold.length > 0 && listUntold(untold),
      'Not asked':
        judged > 0 && unasked.length > 0 && `${unasked.join(', ')}; a longer recording, or verify, shows them`,
      Assumptions: `${decided('as chosen')} as chosen, ${decided('alternative')} alternative, ${decided('contradicted')} contradicted, ${decided('undecided')} undecided`,
      Baseline:
        gone > 0 &&
        `${gone} of its findings ${gone === 1 ? 'is' : 'are'} gone; --update-baseline removes ${gone === 1 ? 'it' : 'them'}`,
      Expired:
        expired > 0 && `${plural(expired, 'finding of the baseline counts', 'findings of the baseline count')} again`,
    }),
  ]
}

function kindOf(finding: JudgedDifference): FindingKind {
  const { label } = finding
  if (label === 'contract violation') return VIOLATIONS[partyOf(finding)]
  if (label !== 'cannot tell') return KINDS[label]
  const { reason, remedy } = reasonOf(finding)
  return { level: 'note', name: 'It cannot be decided', description: reason, remedy }
}

function ruleOf(finding: JudgedDifference): ReportRule {
  const { label, rule, assumption, alternative } = finding
  const { name, description } = kindOf(finding)
  const side = partyOf(finding) === 'client' ? 'request' : 'response'
  const id = label === 'contract violation' ? `contract-violation/${side}` : label.replaceAll(' ', '-')
  if (rule !== undefined) return { id: rule, name, description }
  return { id: assumption === undefined ? id : `${assumption}/${alternative ?? 0}`, name, description }
}

function showFinding(
  finding: JudgedDifference,
  { conclusion: { counts }, failOn = 'service' }: EvidenceReportOptions,
  accepted: BaselineEntry | undefined,
): ReportFinding {
  const { message, pointer, method, path, request_id: requestId, status, id, asked, answered, overlay } = finding
  const { level, remedy } = kindOf(finding)
  const known = accepted === undefined ? '' : ` Accepted by the baseline: ${accepted.reason}`
  const mild = accepted !== undefined ? 'note' : 'warning'
  return {
    rule: ruleOf(finding),
    level: level === 'error' && (accepted !== undefined || !isCounted(finding, failOn)) ? mild : level,
    message: message + quoteBodies(finding) + known,
    pointer,
    request: { method, path, requestId, status, body: asked },
    occurrences: counts[id] ?? 1,
    details: [
      { kind: 'text', text: `The finding is called ${id}.` },
      ...(answered === undefined ? [] : [{ kind: 'code', title: 'Response', text: answered } as const]),
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

function reportFinding(
  finding: JudgedDifference,
  { counts }: Conclusion,
  accepted: BaselineEntry | undefined,
  lineOf: LineOf,
): ReportedFinding {
  const { pointer, line = pointer === undefined ? undefined : lineOf(pointer), id } = finding
  const count = counts[id] ?? 1
  return {
    ...finding,
    ...(isFailure(finding) && { by: partyOf(finding) }),
    ...(line !== undefined && { line }),
    ...(count > 1 && { count }),
    ...(accepted !== undefined && { accepted: accepted.reason }),
  }
}

function showContradiction({ id, evidence }: AssumptionVerdict): ReportFinding {
  return {
    rule: {
      id,
      name: 'The service contradicts itself',
      description: 'It has shown more than one choice of an assumption.',
    },
    level: 'warning',
    message: `Responses show more than one choice of ${id}: ${evidence.join(', ')}.`,
  }
}

/** Makes a finding of a sentence about what was not looked at. */
export function showIncomplete(level: FindingLevel): (message: string) => ReportFinding {
  return (message) => ({ rule: INCOMPLETE, level, message })
}

const INCOMPLETE: ReportRule = {
  id: 'incomplete',
  name: 'Something is missing',
  description: 'The service may do something else in the part that was not looked at.',
}

/** Makes a check for each operation and each status that it answered with. */
function checkAnswers({ answers }: EvidenceReportOptions, shown: ReadonlyMap<string, ReportFinding>): Check[] {
  const found = new Map<string, [id: string, finding: ReportFinding][]>()
  for (const each of shown) {
    const subject = each[0].split('/').slice(1, 3).join('/')
    found.set(subject, [...(found.get(subject) ?? []), each])
  }
  const subjects = new Set([...answers.counts.keys(), ...found.keys()])
  return [...subjects].toSorted().map((subject) => {
    const [group = '', status = ''] = subject.split('/')
    const own = found.get(subject) ?? []
    const isBroken = own.some(([, { level }]) => level === 'error')
    const times = answers.counts.get(subject) ?? 0
    return {
      id: `answer/${subject}`,
      group,
      name: `${group} ${status}`,
      outcome: isBroken ? 'failed' : 'passed',
      message: `seen ${plural(times, 'time', 'times')}`,
      findings: own.map(([, finding]) => finding),
    }
  })
}

function checkVerdict(found: AssumptionVerdict): Check {
  const { id, verdict, evidence } = found
  const message = wordVerdict(found) + (evidence.length === 0 ? '' : `; see ${evidence.join(', ')}`)
  const outcome = verdict === 'undecided' ? 'skipped' : 'passed'
  return { id: `assumption/${id}`, group: 'assumptions', name: id, outcome, message }
}

/** `alternative 2` */
export function wordVerdict({ verdict, alternative }: Pick<AssumptionVerdict, 'verdict' | 'alternative'>): string {
  return alternative === undefined ? verdict : `${verdict} ${alternative}`
}

function checkMissing(message: string, index: number): Check {
  return {
    id: `incomplete/${index + 1}`,
    group: 'incomplete',
    name: 'Everything was looked at',
    outcome: 'error',
    message,
  }
}

/** The assumptions that are decided or contradicted. `seen` is the title of the column with the exchanges. */
export function decidedSection(title: string, seen: string, verdicts: readonly AssumptionVerdict[]): Section[] {
  const decided = verdicts.filter(({ verdict }) => verdict !== 'undecided')
  const rows = decided.map((each) => [each.id, wordVerdict(each), each.evidence.join(', ')])
  return tableSection(title, ['Assumption', 'Verdict', seen], rows)
}
