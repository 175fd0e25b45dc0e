import type { Choices } from '../contract/choices.ts'
import type { CommandTimes, Fact, Finding, Report, ReportRule, Row, Table } from '../reports/report.ts'
import { type Assessment, CHECK_OUTCOMES, type CheckOutcome, type VerifyCheck } from './checks.ts'
import { isAsBefore, NOTHING_REMOVED } from './cleanup.ts'
import type { VerifyResult } from './run.ts'
import { inWords } from './target.ts'

export interface VerifyReportOptions extends Omit<CommandTimes, 'interruptedWith'> {
  target: string
  result: VerifyResult
  assessment: Assessment
  choices: Choices
  minReached: number
  /** How to remove what is left: a shell command line. */
  sweep: string | undefined
  /** The exit code, if a signal stopped the program or the connection was lost. */
  exitCode: number | undefined
}

const FAILED: ReportRule = {
  id: 'verify/failed',
  name: 'The service does something else',
  description: 'The service was seen to do what neither the contract nor any alternative of its assumptions permits.',
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
const TROUBLE: ReportRule = {
  id: 'verify/trouble',
  name: 'Some answers were not those of the service',
  description:
    'A gateway answered, or a connection was cut. A read was sent again; a question with a write counts as not asked.',
}
const NOT_ALL: ReportRule = {
  id: 'verify/not-reached',
  name: 'Not everything was asked',
  description: 'Quotas, a signal or a lost connection ended the run before everything of its plan was asked.',
}

/** Describes the result of a run for every output format. */
export function describeVerify(options: VerifyReportOptions): Report {
  const { target, result, assessment, minReached, exitCode, startedAt, seconds } = options
  const { checks, assumptions, reached, verdict } = assessment
  const passed = verdict === 'passed'
  const isInconclusive = verdict === 'inconclusive'
  const failed = checks.filter(({ outcome }) => outcome === 'fail')
  const account = checks.find(({ id }) => id === 'restoration')?.message ?? ''
  return {
    ...{ tool: 'verify', title: target, summary: summarise(options), passed, isInconclusive, startedAt, seconds },
    exitCode: exitCode ?? (passed ? 0 : 1),
    facts: [
      { name: 'Requests', value: `${result.requests}, in ${inWords(seconds)}` },
      { name: 'Reached', value: `${reached} % of the checks${minReached > 0 ? ` (at least ${minReached} %)` : ''}` },
      { name: 'Account', value: account },
      ...result.quotas.map(describeQuota),
    ],
    findings: [
      ...failed.map((check) => findingOf(check, options)),
      ...describeTroubles(options),
      ...describeEnd(options),
    ],
    table: tableOf(checks),
    json: jsonOf(target, verdict, { ...result, checks, assumptions }),
  }
}

/** Describes a run whose first requests have shown that nothing can be asked. It has created nothing. */
export function describeRefusal(
  target: string,
  reason: string,
  times: Pick<Report, 'exitCode' | 'startedAt' | 'seconds'>,
): Report {
  const check: VerifyCheck = { id: 'target', outcome: 'fail', message: reason }
  const finding: Finding = { rule: NO_TARGET, level: 'error', message: reason }
  const cleanup = { restored: true, ...NOTHING_REMOVED }
  return {
    ...{ tool: 'verify', title: target, summary: reason, passed: false, facts: [], ...times },
    findings: [finding],
    json: jsonOf(target, 'failed', { checks: [check], assumptions: [], quotas: [], cleanup }),
  }
}

type Results = Pick<VerifyResult, 'quotas' | 'cleanup'> & Pick<Assessment, 'checks' | 'assumptions'>

/** The JSON report. */
function jsonOf(target: string, verdict: Assessment['verdict'], results: Results): object {
  const { checks, assumptions, quotas, cleanup } = results
  const { lost, gained, ...rest } = cleanup
  return {
    ...{ target, passed: verdict === 'passed', inconclusive: verdict === 'inconclusive' },
    ...{ outcomes: countOutcomes(checks), assumptions },
    cleanup: { ...rest, restored: isAsBefore(cleanup), changes: [...lost, ...gained] },
    checks: checks.map(({ finding: _, ...check }) => check),
    quota: quotas.map(({ path, limit, total, remaining, resetsIn }) => ({
      ...{ path, limit, sent: total },
      ...(remaining !== undefined && { remaining }),
      ...(resetsIn !== undefined && { resets_in: resetsIn }),
    })),
  }
}

function describeQuota({ path, limit, total, remaining }: VerifyResult['quotas'][number]): Fact {
  return {
    name: `Quota of ${path}`,
    value: `${total} of ${limit} sent, ${remaining ?? 'an unknown number'} left for all clients`,
  }
}

function countOutcomes(checks: readonly VerifyCheck[]): Record<CheckOutcome, number> {
  const count = (wanted: CheckOutcome) => checks.filter(({ outcome }) => outcome === wanted).length
  return Object.fromEntries(CHECK_OUTCOMES.map((outcome) => [outcome, count(outcome)])) as Record<CheckOutcome, number>
}

function summarise({ assessment: { checks, assumptions, lacks } }: VerifyReportOptions): string {
  const counts = countOutcomes(checks)
  const decided = assumptions.filter(({ verdict }) => verdict === 'as chosen' || verdict === 'alternative')
  const alternative = decided.filter(({ verdict }) => verdict === 'alternative').length
  const first =
    counts.fail === 0
      ? `Nothing was seen that the contract forbids; ${counts.pass} checks passed.`
      : `${counts.fail} of ${counts.pass + counts.fail} checks failed.`
  const choices = `${decided.length} of ${assumptions.length} assumptions are decided${alternative === 0 ? '' : `; in ${alternative} of them, the service takes an alternative`}.`
  const rest = `${counts['not reached']} checks were not reached, ${counts.undecidable} cannot be decided from outside or by these answers.`
  const known = counts.baselined === 0 ? [] : [`${counts.baselined} findings are known and do not count.`]
  return [...lacks, first, choices, rest, ...known].join(' ')
}

/** What the user should read about a failed check. */
function findingOf({ id, message = '', curl, finding }: VerifyCheck, { sweep }: VerifyReportOptions): Finding {
  if (finding === undefined) {
    const remedy = sweep === undefined ? undefined : { text: 'What is left can be removed:', command: sweep }
    return { rule: NOT_RESTORED, level: 'error', message, remedy }
  }
  const { method, path, request_id: requestId, status, pointer } = finding
  return {
    ...{ rule: { ...FAILED, id }, level: 'error', message, pointer },
    request: { method, path, requestId, status },
    remedy: curl === undefined ? undefined : { text: 'The request can be sent again:', command: curl },
  }
}

/** How many troubles are shown in full. */
const SHOWN_TROUBLES = 3

/** What went wrong on the way to the service. It is no failure, because other answers took the place. */
function describeTroubles({ result: { troubles } }: VerifyReportOptions): Finding[] {
  if (troubles.length === 0) return []
  const more = troubles.length - SHOWN_TROUBLES
  const shown = [...troubles.slice(0, SHOWN_TROUBLES), ...(more > 0 ? [`There were ${more} more.`] : [])]
  return [{ rule: TROUBLE, level: 'note', message: shown.join(' ') }]
}

/** Why the run did not ask everything, one finding for each reason, and how to ask the rest. */
function describeEnd({ result: { ended, probes } }: VerifyReportOptions): Finding[] {
  const wanted = probes.filter(({ barrier }) => barrier === undefined)
  const byReason = new Map<string, string[]>()
  for (const { probe, isAsked, reason = '' } of wanted) {
    if (!isAsked) byReason.set(reason, [...(byReason.get(reason) ?? []), probe.id])
  }
  return [...byReason].map(([reason, open]) => {
    const names = open.slice(0, 5)
    const what = `${names.join(', ')}${open.length > names.length ? ` and ${open.length - names.length} more` : ''}`
    const isLate = reason === ended?.reason
    const remedy = isLate && ended?.kind === 'quota' ? ' With --wait, the run goes on when the quotas are reset.' : ''
    return {
      rule: NOT_ALL,
      level: isLate && ended?.kind !== 'quota' ? 'warning' : 'note',
      message: `${open.length} of ${wanted.length} questions ${open.length === 1 ? 'was' : 'were'} not asked, because ${reason}: ${what}.${remedy}`,
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
  const rows = checks.map(({ id, outcome, message, expected, received }) => {
    const said = message ?? (id.startsWith('assumption/') ? received : expected) ?? ''
    return { outcome: OUTCOME_OF[outcome], cells: [id, outcome, said] }
  })
  return { title: 'Checks', columns: ['Check', 'Outcome', 'Why'], rows }
}
