import type { AssumptionVerdict } from '../choices/verdict.ts'
import { decideVerdicts } from '../choices/verdicts.ts'
import { isFailure, type JudgedDifference, type Label, type Party, partyOf } from '../conformance/finding.ts'
import type { Conclusion } from '../conformance/investigation.ts'
import type { Choices } from '../contract/choices.ts'
import type { LineOf } from '../contract/lines.ts'
import { plural } from '../ground/plural.ts'
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

export interface EvidenceReportOptions extends CommandTimes {
  tool: 'check' | 'proxy'
  /** What was looked at, as a short phrase. */
  title: string
  conclusion: Conclusion
  choices: Choices
  answers: AnswerCounts
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
  /** What is missing for a passing result, in sentences. */
  failures?: readonly string[]
  warnings?: readonly string[]
}

interface FindingKind extends Omit<ReportRule, 'id'> {
  level: FindingLevel
}

const VIOLATIONS: Readonly<Record<Party, FindingKind>> = {
  client: {
    level: 'error',
    name: 'The client violates the contract',
    description: 'Every request obeys openapi.yaml. A service may refuse what does not, or do something else.',
  },
  service: {
    level: 'error',
    name: 'The service violates the contract',
    description: 'Every response obeys openapi.yaml. A client that relies on it does not expect this.',
  },
}

const LABELS: Readonly<Record<Exclude<Label, 'contract violation'>, FindingKind>> = {
  'broken rule': {
    level: 'error',
    name: 'The service breaks a rule of the specification',
    description: 'The specification demands it, whatever the account holds.',
  },
  unexplained: {
    level: 'error',
    name: 'The behaviour of the service is unexplained',
    description: 'No alternative that the specification permits and nothing that the account can hold explains it.',
  },
  'cannot tell': {
    level: 'note',
    name: 'It cannot be decided',
    description:
      'What the account held is not known, another client may have changed it, or the recording lacks a part.',
  },
  'decides assumption': {
    level: 'note',
    name: 'The service chooses another alternative',
    description: 'The specification leaves it open, and the service has chosen another alternative than the stand-in.',
  },
  'another choice': {
    level: 'note',
    name: 'The service makes a choice of its own',
    description: 'The specification leaves it open, and no alternative of openapi.yaml is like it.',
  },
}

/** Describes the findings about exchanges for every output format. */
export function describeFindings(options: EvidenceReportOptions): Report {
  const { tool, title, conclusion, choices, baseline, failures = [], warnings = [], startedAt, seconds } = options
  const reasons = new Map(baseline?.accepted.map(({ finding, entry }) => [finding.id, entry]))
  const findings = oneOfEach(conclusion.findings)
  const counted = findings.filter((finding) => isFailure(finding) && !reasons.has(finding.id))
  const verdicts = decideVerdicts(conclusion.observations, choices)
  const missing = conclusion.judged > 0 || failures.length > 0 ? failures : [nothingJudged(options)]
  const passed = counted.length === 0 && missing.length === 0
  const shown = new Map(
    findings.map((finding) => [finding.id, showFinding(finding, conclusion, reasons.get(finding.id))]),
  )
  const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted').map(showContradiction)
  const json: EvidenceReport = {
    exchanges: conclusion.exchanges,
    judged: conclusion.judged,
    findings: findings.map((finding) => reportFinding(finding, conclusion, reasons.get(finding.id), options.lineOf)),
    assumptions: verdicts,
    ...(missing.length > 0 && { failures: missing }),
    ...(warnings.length > 0 && { warnings }),
  }
  return {
    tool,
    title,
    summary: [...missing, summarise(options, counted)].join(' ').trim(),
    passed,
    exitCode: options.interruptedWith ?? (passed ? 0 : 1),
    startedAt,
    seconds,
    facts: factsOf(options, verdicts),
    findings: [
      ...missing.map(showIncomplete('error')),
      ...shown.values(),
      ...contradicted,
      ...warnings.map(showIncomplete('warning')),
    ],
    checks: [...checkAnswers(options, shown, reasons), ...verdicts.map(checkVerdict), ...missing.map(checkMissing)],
    sections: sectionsOf(options, verdicts),
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
  const [[reason] = ['']] = answers.reasons
  const all = exchanges === 1 ? 'The only exchange' : `None of the ${exchanges} exchanges`
  return `${all} ${exchanges === 1 ? 'could not' : 'could'} be judged. ${reason}`.trim()
}

function summarise({ conclusion, baseline }: EvidenceReportOptions, counted: readonly JudgedDifference[]): string {
  const { exchanges, judged, counts } = conclusion
  if (exchanges === 0) return ''
  const wrong = (party: Party) => {
    const own = counted.filter((finding) => partyOf(finding) === party)
    if (own.length === 0) return 'did nothing wrong'
    const times = own.reduce((sum, { id }) => sum + (counts[id] ?? 1), 0)
    return `did ${plural(own.length, 'thing', 'things')} wrong, seen ${times === 1 ? 'once' : `${times} times`}`
  }
  const found =
    counted.length === 0
      ? 'The service and its clients did nothing wrong'
      : `The service ${wrong('service')}; its clients ${wrong('client')}`
  const accepted = baseline?.accepted.length ?? 0
  const known = accepted === 0 ? '' : ` ${plural(accepted, 'finding is', 'findings are')} accepted by the baseline.`
  return `${found}. ${judged} of ${plural(exchanges, 'exchange was', 'exchanges were')} judged.${known}`
}

function factsOf(
  { conclusion, answers, baseline, facts = [] }: EvidenceReportOptions,
  verdicts: readonly AssumptionVerdict[],
): Fact[] {
  const { exchanges, judged } = conclusion
  const decided = (verdict: AssumptionVerdict['verdict']) => verdicts.filter((each) => each.verdict === verdict).length
  const gone = baseline?.entries.filter(({ state }) => state === 'fixed').length ?? 0
  const expired = baseline?.entries.filter(({ state }) => state === 'expired').length ?? 0
  return [
    ...facts,
    ...listFacts({
      Exchanges: `${exchanges}, of which ${judged} were judged`,
      'Not judged': exchanges > judged && answers.reasons.length > 0 && listReasons(answers),
      Assumptions: `${decided('as chosen')} as chosen, ${decided('alternative')} alternative, ${decided('contradicted')} contradicted, ${decided('undecided')} undecided`,
      Baseline:
        gone > 0 &&
        `${gone} of its findings ${gone === 1 ? 'is' : 'are'} gone; --update-baseline removes ${gone === 1 ? 'it' : 'them'}`,
      Expired:
        expired > 0 && `${plural(expired, 'finding of the baseline counts', 'findings of the baseline count')} again`,
    }),
  ]
}

/** How many reasons fit into a line. */
const NAMED = 3

function listReasons({ reasons }: AnswerCounts): string {
  const named = reasons.slice(0, NAMED).map(([reason, times]) => `${times}: ${reason}`)
  return [...named, ...(reasons.length > NAMED ? ['…'] : [])].join(' ')
}

function kindOf(finding: JudgedDifference): FindingKind {
  return finding.label === 'contract violation' ? VIOLATIONS[partyOf(finding)] : LABELS[finding.label]
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
  { counts }: Conclusion,
  accepted: BaselineEntry | undefined,
): ReportFinding {
  const { message, pointer, method, path, request_id: requestId, status, id } = finding
  const { level } = kindOf(finding)
  const known = accepted === undefined ? '' : ` Accepted by the baseline: ${accepted.reason}`
  return {
    rule: ruleOf(finding),
    level: accepted !== undefined && level === 'error' ? 'note' : level,
    message: message + known,
    pointer,
    request: { method, path, requestId, status },
    occurrences: counts[id] ?? 1,
    details: [{ kind: 'text', text: `The finding is called ${id}.` }],
  }
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

function showIncomplete(level: FindingLevel): (message: string) => ReportFinding {
  return (message) => ({ rule: INCOMPLETE, level, message })
}

const INCOMPLETE: ReportRule = {
  id: 'incomplete',
  name: 'Something is missing',
  description: 'What was not looked at may be wrong.',
}

/** Makes a check for each operation and each status that it answered with. */
function checkAnswers(
  { answers }: EvidenceReportOptions,
  shown: ReadonlyMap<string, ReportFinding>,
  accepted: ReadonlyMap<string, BaselineEntry>,
): Check[] {
  const found = new Map<string, [id: string, finding: ReportFinding][]>()
  for (const each of shown) {
    const subject = each[0].split('/').slice(1, 3).join('/')
    found.set(subject, [...(found.get(subject) ?? []), each])
  }
  const subjects = new Set([...answers.counts.keys(), ...found.keys()])
  return [...subjects].toSorted().map((subject) => {
    const [group = '', status = ''] = subject.split('/')
    const own = found.get(subject) ?? []
    const isBroken = own.some(([id, { level }]) => level === 'error' && !accepted.has(id))
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

function sectionsOf({ answers }: EvidenceReportOptions, verdicts: readonly AssumptionVerdict[]): Section[] {
  const reasons = answers.reasons.map(([reason, times]) => [reason, String(times)])
  return [
    ...decidedSection('Assumptions', 'Evidence', verdicts),
    ...tableSection('Not judged', ['Reason', 'Exchanges'], reasons),
  ]
}

/** The assumptions that are decided or contradicted. `seen` is the title of the column with the exchanges. */
export function decidedSection(title: string, seen: string, verdicts: readonly AssumptionVerdict[]): Section[] {
  const decided = verdicts.filter(({ verdict }) => verdict !== 'undecided')
  const rows = decided.map((each) => [each.id, wordVerdict(each), each.evidence.join(', ')])
  return tableSection(title, ['Assumption', 'Verdict', seen], rows)
}
