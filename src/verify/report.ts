import type { Choices } from '../contract/choices.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import type { Check, CommandTimes, Finding, Report, ReportOutcome, ReportRule } from '../reports/report.ts'
import type { Assessment, CheckOutcome, VerifyCheck } from './assessment.ts'
import { CHECK_OUTCOMES } from './assessment.ts'
import { type Cleanup, NOTHING_REMOVED } from './restoration.ts'
import { inWords } from './target-check.ts'
import type { VerifyResult } from './verification.ts'

export interface VerifyReportOptions extends Omit<CommandTimes, 'interruptedWith'> {
  target: string
  result: VerifyResult
  assessment: Assessment
  choices: Choices
  minReached: number
  /** How to ask the rest, or remove what is left: shell command lines. */
  resume: string | undefined
  sweep: string | undefined
  /** The exit code, if a signal stopped the program or the connection was lost. */
  exitCode: number | undefined
}

/** The JSON report, as `docs/schemas/verify.json` describes it. */
interface VerifyJson {
  target: string
  passed: boolean
  /** How many checks have each outcome. */
  outcomes: Readonly<Record<CheckOutcome, number>>
  checks: readonly Omit<VerifyCheck, 'finding'>[]
  assumptions: readonly AssumptionVerdict[]
  quota: readonly {
    path: string
    limit: number
    sent: number
    remaining?: number
    resets_in?: number
  }[]
  cleanup: Cleanup
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
    'A gateway answered, or a connection was cut. A read was sent again, and a write was looked for in a list.',
}
const NOT_ALL: ReportRule = {
  id: 'verify/not-reached',
  name: 'Not everything was asked',
  description: 'Quotas, a signal or a lost connection ended the run before everything of its plan was asked.',
}

/** Describes the result of a run for every output format. */
export function describeVerify(options: VerifyReportOptions): Report {
  const { target, result, assessment, minReached, exitCode, startedAt, seconds } = options
  const { checks, reached } = assessment
  const passed = assessment.passed && exitCode === undefined
  const shown = new Map(checks.flatMap((check) => findingOf(check, options)))
  const notes = [...describeTroubles(options), ...describeEnd(options)]
  return {
    tool: 'verify',
    title: target,
    summary: summarise(options),
    passed,
    exitCode: exitCode ?? (passed ? 0 : 1),
    startedAt,
    seconds,
    facts: [
      { name: 'Requests', value: `${result.requests}, in ${inWords(seconds)}` },
      { name: 'Reached', value: `${reached} % of the checks${minReached > 0 ? ` (at least ${minReached} %)` : ''}` },
      { name: 'Account', value: checks.find(({ id }) => id === 'restoration')?.message ?? '' },
    ],
    findings: [...shown.values(), ...notes],
    checks: checks.map((check) => checkOf(check, shown.get(check))),
    sections: [
      {
        title: 'Quotas',
        blocks: [
          {
            kind: 'table',
            columns: ['path', 'limit', 'sent', 'left for all clients'],
            rows: result.quotas.map(({ path, limit, total, remaining }) => [
              path,
              `${limit}`,
              `${total}`,
              remaining === undefined ? 'not known' : `${remaining}`,
            ]),
          },
        ],
      },
    ],
    json: jsonOf(options, passed),
  }
}

/** Describes a run whose first requests have shown that nothing can be asked. It has created nothing. */
export function describeRefusal(
  target: string,
  reason: string,
  { exitCode, startedAt, seconds }: Pick<Report, 'exitCode' | 'startedAt' | 'seconds'>,
): Report {
  const check: VerifyCheck = { id: 'target', outcome: 'fail', message: reason }
  const finding: Finding = { rule: NO_TARGET, level: 'error', message: reason }
  const json: VerifyJson = {
    ...{ target, passed: false, outcomes: countOutcomes([check]), checks: [check], assumptions: [], quota: [] },
    cleanup: { restored: true, ...NOTHING_REMOVED },
  }
  return {
    ...{ tool: 'verify', title: target, summary: reason, passed: false, exitCode, startedAt, seconds },
    ...{ facts: [], findings: [finding], checks: [checkOf(check, finding)], sections: [], json },
  }
}

function jsonOf({ target, result, assessment }: VerifyReportOptions, passed: boolean): VerifyJson {
  const { checks, assumptions } = assessment
  return {
    target,
    passed,
    outcomes: countOutcomes(checks),
    checks: checks.map(({ finding: _, ...check }) => check),
    assumptions,
    quota: result.quotas.map(({ path, limit, total, remaining, resetsIn }) => ({
      path,
      limit,
      sent: total,
      ...(remaining !== undefined && { remaining }),
      ...(resetsIn !== undefined && { resets_in: resetsIn }),
    })),
    cleanup: result.cleanup,
  }
}

function countOutcomes(checks: readonly VerifyCheck[]): Record<CheckOutcome, number> {
  const count = (wanted: CheckOutcome) => checks.filter(({ outcome }) => outcome === wanted).length
  return Object.fromEntries(CHECK_OUTCOMES.map((outcome) => [outcome, count(outcome)])) as Record<CheckOutcome, number>
}

function summarise({ result, assessment, minReached }: VerifyReportOptions): string {
  const { checks, assumptions, reached } = assessment
  const counts = countOutcomes(checks)
  const decided = assumptions.filter(({ verdict }) => verdict === 'as chosen' || verdict === 'alternative')
  const alternative = decided.filter(({ verdict }) => verdict === 'alternative').length
  // The reason for an early end comes first, because it explains the failure.
  const { ended, reason } = result
  const end = ended === undefined || ended === 'quota' ? [] : [`${capitalise(reason ?? ended)}.`]
  const first =
    counts.fail === 0
      ? `Nothing was seen that the contract forbids; ${counts.pass} checks passed.`
      : `${counts.fail} of ${counts.pass + counts.fail} checks failed.`
  const choices = `${decided.length} of ${assumptions.length} assumptions are decided${alternative === 0 ? '' : `; in ${alternative} of them, the service takes an alternative`}.`
  const rest = `${counts['not reached']} checks were not reached, ${counts.undecidable} cannot be decided from outside or by these answers.`
  const known = counts.baselined === 0 ? [] : [`${counts.baselined} findings are known and do not count.`]
  const few =
    reached < minReached
      ? [`Only ${reached} % of the checks were reached; --min-reached asks for ${minReached} %.`]
      : []
  const cleanup = result.cleanup.restored ? [] : ['It is not shown that the account is as before.']
  return [...end, first, choices, rest, ...known, ...few, ...cleanup].join(' ')
}

/** The first thing that the user should read about a failed check. */
function findingOf(check: VerifyCheck, { sweep }: VerifyReportOptions): [VerifyCheck, Finding][] {
  if (check.outcome !== 'fail') return []
  const { id, message = '', curl, expected, received, finding } = check
  const isRestoration = id === 'restoration'
  return [
    [
      check,
      {
        rule: isRestoration ? NOT_RESTORED : { ...FAILED, id },
        level: 'error',
        message,
        pointer: finding?.pointer,
        ...(finding !== undefined && {
          request: {
            method: finding.method,
            path: finding.path,
            requestId: finding.request_id,
            status: finding.status,
          },
        }),
        ...(expected !== undefined &&
          received !== undefined && { details: [{ kind: 'comparison', expected, received }] }),
        ...(curl !== undefined && { remedy: { text: 'The request can be sent again:', command: curl } }),
        ...(isRestoration &&
          sweep !== undefined && { remedy: { text: 'What is left can be removed:', command: sweep } }),
      },
    ],
  ]
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

/** Why the run did not ask everything, one finding for each reason, and how to ask what an early end has prevented. */
function describeEnd({ result, resume }: VerifyReportOptions): Finding[] {
  const { ended, reason: end } = result
  const probes = result.probes.filter(({ probe: { barrier } }) => barrier === undefined)
  const byReason = new Map<string, string[]>()
  for (const { probe, state, reason = 'the run ended before' } of probes) {
    if (state !== 'asked') byReason.set(reason, [...(byReason.get(reason) ?? []), probe.id])
  }
  return [...byReason].map(([reason, open]) => {
    const names = open.slice(0, 5)
    const what = `${names.join(', ')}${open.length > names.length ? ` and ${open.length - names.length} more` : ''}`
    const was = open.length === 1 ? 'was' : 'were'
    const isLate = reason === end
    const when = ended === 'quota' ? 'When the quotas are reset, they can be asked:' : 'They can be asked:'
    return {
      rule: NOT_ALL,
      level: isLate && ended !== 'quota' ? 'warning' : 'note',
      message: `${open.length} of ${probes.length} questions ${was} not asked, because ${reason}: ${what}.`,
      ...(isLate && resume !== undefined && { remedy: { text: when, command: resume } }),
    }
  })
}

const OUTCOME_OF: Readonly<Record<CheckOutcome, ReportOutcome>> = {
  pass: 'passed',
  fail: 'failed',
  'not reached': 'skipped',
  undecidable: 'skipped',
  baselined: 'skipped',
}

function checkOf(check: VerifyCheck, finding: Finding | undefined): Check {
  const { id, outcome, message, expected, received } = check
  const [group = '', ...rest] = id.split('/')
  const said = message ?? (id.startsWith('assumption/') ? received : expected)
  return {
    id,
    group,
    name: rest.length === 0 ? group : rest.join('/'),
    outcome: OUTCOME_OF[outcome],
    ...(said !== undefined && { message: outcome === 'pass' || outcome === 'fail' ? said : `${outcome}: ${said}` }),
    ...(finding !== undefined && { findings: [finding] }),
  }
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
