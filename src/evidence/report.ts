import type { Choices } from '../contract/choices.ts'
import { plural } from '../ground/show.ts'
import type { Untold } from '../judge/answer-counts.ts'
import { type FailOn, isCounted, type JudgedDifference, type Party } from '../judge/finding.ts'
import type { Conclusion } from '../judge/judge.ts'
import { type AssumptionVerdict, decideVerdicts } from '../judge/verdicts.ts'
import {
  type CommandTimes,
  type Fact,
  type FindingLevel,
  listFacts,
  type Report,
  type Finding as ReportFinding,
  type ReportRule,
  type Row,
} from '../reports/report.ts'
import type { AppliedBaseline } from './baseline.ts'
import { type ReportedFinding, reportFinding, showFinding } from './finding-report.ts'

export interface EvidenceReportOptions extends CommandTimes {
  tool: 'check' | 'proxy'
  /** What was looked at, as a short phrase. */
  title: string
  conclusion: Conclusion
  choices: Choices
  /** Whose mistakes fail the run. The others are shown. */
  failOn: FailOn
  baseline: AppliedBaseline
  /** What is missing for a passing result, in sentences. */
  failures?: readonly string[]
  /** Further information for the user about the exchanges, in sentences. */
  warnings?: readonly string[]
  facts?: readonly Fact[]
}

/** The JSON report of `check` and `proxy`. */
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

/** Describes the findings about exchanges for every output format. */
export function describeFindings(options: EvidenceReportOptions): Report {
  const { tool, title, conclusion, choices, baseline, failOn, startedAt, seconds } = options
  const { failures = [], warnings = [] } = options
  const {
    findings,
    answers: { untold },
  } = conclusion
  const counted = findings.filter((each) => isCounted(each, failOn) && !baseline.accepted.has(each.id))
  const verdicts = decideVerdicts(conclusion.observations, choices)
  const missing = conclusion.judged > 0 || failures.length > 0 ? failures : [nothingJudged(options)]
  const passed = counted.length === 0 && missing.length === 0
  const shown = findings.map((finding) => {
    const accepted = baseline.accepted.get(finding.id)
    return { ...showFinding(finding, { accepted, failOn }), row: subjectOf(finding).replace('/', ' ') }
  })
  const broken = findings.filter((_, index) => shown[index]?.level === 'error').map(subjectOf)
  const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted').map(showContradiction)
  const json: EvidenceReport = {
    exchanges: conclusion.exchanges,
    judged: conclusion.judged,
    findings: findings.map((finding) => reportFinding(finding, baseline.accepted.get(finding.id))),
    assumptions: verdicts,
    ...(untold.length > 0 && { untold }),
    ...(missing.length > 0 && { failures: missing }),
    ...(warnings.length > 0 && { warnings }),
  }
  return {
    tool,
    title,
    summary: [...missing, summarise(options)].join(' ').trim(),
    passed,
    exitCode: options.interruptedWith ?? (passed ? 0 : 1),
    startedAt,
    seconds,
    facts: factsOf(options, verdicts),
    findings: [
      ...missing.map(showIncomplete('error')),
      ...shown,
      ...contradicted,
      ...warnings.map(showIncomplete('warning')),
    ],
    table: {
      title: 'What was looked at',
      columns: ['Subject', 'Result'],
      rows: [...rowsOfAnswers(conclusion, broken), ...verdicts.map(rowOfVerdict)],
    },
    json,
  }
}

/** A run that judged nothing is no success. */
function nothingJudged({ conclusion }: EvidenceReportOptions): string {
  const { exchanges, answers } = conclusion
  if (exchanges === 0) return 'There was no exchange with the service, so nothing was judged.'
  const [first] = answers.untold
  const all = exchanges === 1 ? 'The only exchange' : `None of the ${exchanges} exchanges`
  const why = first === undefined ? '' : ` ${first.reason} ${first.remedy}`
  return `${all} ${exchanges === 1 ? 'could not' : 'could'} be judged.${why}`
}

/** It says how much was judged, and what was not told, because "nothing wrong" is true of the rest alone. */
function summarise({ conclusion, baseline: { accepted }, failOn, failures = [] }: EvidenceReportOptions): string {
  const { exchanges, judged, findings, answers } = conclusion
  if (exchanges === 0) return ''
  const did = (party: Party) => {
    const own = findings.filter((each) => isCounted(each, party) && !accepted.has(each.id))
    if (own.length === 0) return 'nothing wrong'
    const times = own.reduce((sum, { count }) => sum + count, 0)
    const hint = own.some((each) => isCounted(each, failOn)) ? '' : ` (--fail-on ${party} would fail)`
    return `${plural(own.length, 'thing')} wrong, seen ${times === 1 ? 'once' : `${times} times`}${hint}`
  }
  // `nothingJudged` has said it.
  const saysWhy = judged === 0 && failures.length === 0
  const where =
    judged === 0 ? 'In the messages alone' : `In the ${judged} of ${plural(exchanges, 'exchange')} that could be judged`
  return [
    `${where}, the service did ${did('service')}; its clients did ${did('client')}.`,
    ...(saysWhy ? [] : summariseUntold(answers.untold)),
    ...(accepted.size === 0
      ? []
      : [`${plural(accepted.size, 'finding is', 'findings are')} accepted by the baseline.`]),
  ].join(' ')
}

function factsOf(
  { conclusion, choices, baseline, facts = [] }: EvidenceReportOptions,
  verdicts: readonly AssumptionVerdict[],
): Fact[] {
  const { exchanges, judged, answers } = conclusion
  const { untold } = answers
  const asked = new Set([...answers.counts.keys()].map((answer) => answer.split('/')[0]))
  const unasked = choices.contract.operations.map(({ id }) => id).filter((id) => !asked.has(id))
  const entriesThatAre = (state: string) => baseline.entries.filter((entry) => entry.state === state).length
  const [gone, expired] = [entriesThatAre('fixed'), entriesThatAre('expired')]
  return [
    ...facts,
    ...listFacts({
      Exchanges: `${exchanges}, of which ${judged} ${judged === 1 ? 'was' : 'were'} judged`,
      'Cannot tell': untold.length > 0 && listUntold(untold),
      'Not asked':
        judged > 0 && unasked.length > 0 && `${unasked.join(', ')}; a longer recording, or verify, shows them`,
      Assumptions: countVerdicts(verdicts),
      Baseline:
        gone > 0 &&
        `${gone} of its findings ${gone === 1 ? 'is' : 'are'} gone; --update-baseline removes ${gone === 1 ? 'it' : 'them'}`,
      Expired:
        expired > 0 && `${plural(expired, 'finding of the baseline counts', 'findings of the baseline count')} again`,
    }),
  ]
}

/** A sentence with the most frequent reason, if there is any. */
function summariseUntold(untold: readonly Untold[]): string[] {
  const [first] = untold
  if (first === undefined) return []
  const total = untold.reduce((sum, { times }) => sum + times, 0)
  const most = total === first.times ? '' : 'most often '
  return [`${plural(total, 'thing')} cannot be told, ${most}because: ${first.reason} ${first.remedy}`]
}

/** How many reasons fit into a line. */
const NAMED = 3

/** `18: Another client … 2: The request …` */
function listUntold(untold: readonly Untold[]): string {
  const named = untold.slice(0, NAMED).map(({ reason, times, remedy }) => `${times}: ${reason} ${remedy}`)
  return [...named, ...(untold.length > NAMED ? ['…'] : [])].join(' ')
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

/** A row for each operation and each status that it answered with. */
function rowsOfAnswers({ answers }: Conclusion, broken: readonly string[]): Row[] {
  const subjects = new Set([...answers.counts.keys(), ...broken])
  return [...subjects].toSorted().map((subject) => ({
    outcome: broken.includes(subject) ? 'failed' : 'passed',
    cells: [subject.replace('/', ' '), `seen ${plural(answers.counts.get(subject) ?? 0, 'time')}`],
  }))
}

/** `addDomains/200`, of which a finding is. */
function subjectOf({ id }: Pick<JudgedDifference, 'id'>): string {
  return id.split('/').slice(1, 3).join('/')
}

const OUTCOMES = { undecided: 'skipped', contradicted: 'failed', 'as chosen': 'passed', alternative: 'passed' } as const

/** A row for an assumption: `alternative 2, seen in r-1`. */
export function rowOfVerdict({ id, verdict, alternative, evidence }: AssumptionVerdict): Row {
  const word = alternative === undefined ? verdict : `${verdict} ${alternative}`
  const seen = evidence.length === 0 ? '' : `, seen in ${evidence.join(', ')}`
  return { outcome: OUTCOMES[verdict], cells: [id, word + seen] }
}

/** `12 as chosen, 1 alternative, 0 contradicted, 52 undecided` */
export function countVerdicts(verdicts: readonly AssumptionVerdict[]): string {
  const all = ['as chosen', 'alternative', 'contradicted', 'undecided'] as const
  return all.map((each) => `${verdicts.filter(({ verdict }) => verdict === each).length} ${each}`).join(', ')
}
