import { showFinding } from '../evidence/finding-report.ts'
import type { CommandTimes, Fact, Finding, Report, ReportRule, Row, Table } from '../reports/report.ts'
import { inWords } from './budget.ts'
import { type Assessment, CHECK_OUTCOMES, type CheckOutcome, type VerifyCheck } from './checks.ts'
import { isAsBefore, NOTHING_DONE } from './cleanup.ts'
import type { VerifyResult } from './run.ts'

export interface VerifyReportOptions extends Omit<CommandTimes, 'interruptedWith'> {
  target: string
  result: VerifyResult
  assessment: Assessment
  minReached: number
  /** How to remove what is left: a shell command line. */
  sweep: string | undefined
  /** The exit code, if a signal stopped the program or the connection was lost. */
  exitCode: number | undefined
}

const NOT_RESTORED: ReportRule = {
  id: 'verify/not-restored',
  name: 'The account is not as before',
  description: 'A run removes at its end what it has made, and two lists show that. This run has not shown it.',
}
const NO_TARGET: ReportRule = {
  id: 'verify/target',
  name: 'Nothing could be asked',
  description: 'The first requests did not reach the service, or it refused the key, or something else answered.',
}
const NOT_ALL: ReportRule = {
  id: 'verify/not-reached',
  name: 'Not everything was asked',
  description: 'Quotas, a signal or a lost connection ended the run before everything of its plan was asked.',
}

/** Describes the result of a run for every output format. */
export function describeVerify(options: VerifyReportOptions): Report {
  const { target, result, assessment, minReached, exitCode, startedAt, seconds } = options
  const { checks, reached, verdict } = assessment
  const passed = verdict === 'passed'
  const [restoration] = checks
  return {
    ...{ tool: 'verify', title: target, summary: summarise(assessment), passed, startedAt, seconds },
    isInconclusive: verdict === 'inconclusive',
    exitCode: exitCode ?? (passed ? 0 : 1),
    facts: [
      { name: 'Requests', value: `${result.requests}, in ${inWords(seconds)}` },
      { name: 'Reached', value: `${reached} % of the checks${minReached > 0 ? ` (at least ${minReached} %)` : ''}` },
      { name: 'Account', value: restoration?.message ?? '' },
      ...result.quotas.map(describeQuota),
    ],
    findings: [
      ...checks.filter(({ outcome }) => outcome === 'fail').map((check) => findingOf(check, options.sweep)),
      ...describeEnd(result),
    ],
    table: tableOf(checks),
    json: jsonOf(target, assessment, result),
  }
}

/** Describes a run whose first requests have shown that nothing can be asked. It has created nothing. */
export function describeRefusal(
  target: string,
  reason: string,
  times: Pick<Report, 'exitCode' | 'startedAt' | 'seconds'>,
): Report {
  const checks: VerifyCheck[] = [{ id: 'target', outcome: 'fail', message: reason }]
  return {
    ...{ tool: 'verify', title: target, summary: reason, passed: false, facts: [], ...times },
    findings: [{ rule: NO_TARGET, level: 'error', message: reason }],
    json: jsonOf(target, { checks, assumptions: [], verdict: 'failed' }, { quotas: [], cleanup: NOTHING_DONE }),
  }
}

/** The JSON report. */
function jsonOf(
  target: string,
  { checks, assumptions, verdict }: Pick<Assessment, 'checks' | 'assumptions' | 'verdict'>,
  { quotas, cleanup }: Pick<VerifyResult, 'quotas' | 'cleanup'>,
): object {
  const { lost, gained, ...rest } = cleanup
  return {
    ...{ target, passed: verdict === 'passed', inconclusive: verdict === 'inconclusive' },
    ...{ outcomes: countOutcomes(checks), assumptions },
    cleanup: { ...rest, restored: isAsBefore(cleanup), changes: [...lost, ...gained] },
    checks: checks.map(({ finding: _, ...check }) => check),
    quota: quotas.map(({ path, limit, total, remaining }) => ({ path, limit, sent: total, remaining })),
  }
}

function describeQuota({ path, limit, total, remaining }: VerifyResult['quotas'][number]): Fact {
  const left = `${remaining ?? 'an unknown number'} left for all clients`
  return { name: `Quota of ${path}`, value: `${total} of ${limit} sent, ${left}` }
}

function countOutcomes(checks: readonly VerifyCheck[]): Record<CheckOutcome, number> {
  const count = (wanted: CheckOutcome) => checks.filter(({ outcome }) => outcome === wanted).length
  return Object.fromEntries(CHECK_OUTCOMES.map((outcome) => [outcome, count(outcome)])) as Record<CheckOutcome, number>
}

function summarise({ checks, assumptions, lacks }: Assessment): string {
  const counts = countOutcomes(checks)
  const count = (wanted: string) => assumptions.filter(({ verdict }) => verdict === wanted).length
  const alternatives = count('alternative')
  const taken = alternatives === 0 ? '' : `; in ${alternatives} of them, the service takes an alternative`
  return [
    ...lacks,
    counts.fail === 0
      ? `Nothing was seen that the contract forbids; ${counts.pass} checks passed.`
      : `${counts.fail} of ${counts.pass + counts.fail} checks failed.`,
    `${count('as chosen') + alternatives} of ${assumptions.length} assumptions are decided${taken}.`,
    `${counts['not reached']} checks were not reached, ${counts.undecidable} cannot be decided from outside or by these answers.`,
    ...(counts.baselined === 0 ? [] : [`${counts.baselined} findings are known and do not count.`]),
  ].join(' ')
}

/** What the user should read about a failed check. */
function findingOf({ id, message = '', curl, finding }: VerifyCheck, sweep: string | undefined): Finding {
  if (finding === undefined) {
    const remedy = sweep === undefined ? undefined : { text: 'What is left can be removed:', command: sweep }
    return { rule: NOT_RESTORED, level: 'error', message, remedy }
  }
  const shown = showFinding({ ...finding, count: 1 }, { accepted: undefined, failOn: 'service' })
  const remedy = curl === undefined ? undefined : { text: 'The request can be sent again:', command: curl }
  return { ...shown, remedy, row: id }
}

/** Why the run did not ask everything, one finding for each reason, and how to ask the rest. */
function describeEnd({ ended, probes }: VerifyResult): Finding[] {
  const wanted = probes.filter(({ barrier }) => barrier === undefined)
  const byReason = new Map<string, string[]>()
  for (const { probe, isAsked, reason = '' } of wanted) {
    if (!isAsked) byReason.set(reason, [...(byReason.get(reason) ?? []), probe.id])
  }
  return [...byReason].map(([reason, open]) => {
    const names = `${open.slice(0, 5).join(', ')}${open.length > 5 ? ` and ${open.length - 5} more` : ''}`
    const isLate = reason === ended?.reason
    const remedy = isLate && ended?.kind === 'quota' ? ' With --wait, the run goes on when the quotas are reset.' : ''
    return {
      rule: NOT_ALL,
      level: isLate && ended?.kind !== 'quota' ? 'warning' : 'note',
      message: `${open.length} of ${wanted.length} questions ${open.length === 1 ? 'was' : 'were'} not asked, because ${reason}: ${names}.${remedy}`,
    }
  })
}

const OUTCOME_OF: Readonly<Record<CheckOutcome, NonNullable<Row['outcome']>>> = {
  pass: 'passed',
  fail: 'failed',
  'not reached': 'skipped',
  undecidable: 'skipped',
  baselined: 'skipped',
}

function tableOf(checks: readonly VerifyCheck[]): Table {
  const rows = checks.map(({ id, outcome, message = '' }) => {
    return { outcome: OUTCOME_OF[outcome], cells: [id, outcome, message] }
  })
  return { title: 'Checks', columns: ['Check', 'Outcome', 'Why'], rows }
}
