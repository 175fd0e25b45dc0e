import { pointerOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { VerdictReport } from '../contract/control-plane.ts'
import type { CoverageReport } from '../coverage/report.ts'
import { nameSome, plural } from '../ground/plural.ts'
import {
  type Fact,
  type Finding,
  type FindingLevel,
  listFacts,
  type Report,
  type ReportRule,
  type Table,
} from '../reports/report.ts'
import { exitCodeOf, wordEnd } from './command.ts'
import type { TrialResult } from './trial.ts'

/** The reasons that can make a run fail although the command succeeds. */
export const FAILURES = ['violation', 'idle', 'impolite'] as const
type RunFailure = (typeof FAILURES)[number]

interface ReportedRun extends Pick<Report, 'startedAt'> {
  command: readonly string[]
  result: TrialResult
  failOn: readonly RunFailure[]
  /** Per cent of the responses. */
  minCoverage: number | undefined
  /** Whether the server stays after the command. */
  keep: boolean
  /** Whether the server has a dashboard. */
  admin: boolean
}

/** The report of a run. */
export function describeRun(run: ReportedRun): Report {
  const { command, startedAt, result } = run
  const { end, verdict, coverage } = result
  const own = exitCodeOf(end)
  const failures = describeEnd(run)
  const idleness = describeIdleness(run)
  const gaps = describeCoverage(run)
  const violations = describeViolations(run)
  const impoliteness = describeImpoliteness(run)
  const findings = [...failures, ...idleness, ...gaps, ...violations, ...impoliteness]
  const failed = findings.some(({ level }) => level === 'error')
  const exitCode = own === 0 && failed ? 1 : own
  return {
    tool: 'run',
    title: command.join(' '),
    summary: [describeExit(run), describeVerdict(verdict), ...otherReasons(idleness, gaps, impoliteness)].join(' '),
    passed: exitCode === 0,
    exitCode,
    startedAt,
    seconds: end.seconds,
    facts: describeFacts(run),
    findings,
    table: tableOf(coverage, violations),
    json: { command, exit_code: exitCode, seconds: end.seconds, verdict, coverage },
  }
}

const FAILED: ReportRule = {
  id: 'command/failed',
  name: 'The command failed',
  description: 'The command ended with an exit code other than 0, was ended by a signal, or took too long.',
}
const IDLE: ReportRule = {
  id: 'idle',
  name: 'Nothing was checked',
  description:
    'No request of the command was checked against the contract, so it is not known whether the client keeps it.',
}
const SCANTY: ReportRule = {
  id: 'coverage/too-little',
  name: 'Too little was covered',
  description: 'The command saw less of the responses that a client can bring about than --min-coverage asks for.',
}

function describeEnd(run: ReportedRun): Finding[] {
  if (exitCodeOf(run.result.end) === 0) return []
  return [{ rule: FAILED, level: 'error', message: describeExit(run) }]
}

function describeExit({ result: { end } }: ReportedRun): string {
  return `The command ${wordEnd(end)}.`
}

function describeVerdict({ requests, judged, violations: { count } }: VerdictReport): string {
  if (requests === 0) return 'It sent no request.'
  const which =
    requests === 1 ? 'it' : count === 0 ? 'none of them' : count === requests ? 'all of them' : `${count} of them`
  const what = count === 0 && requests === 1 ? 'keeps' : count > 1 && requests > 1 ? 'violate' : 'violates'
  const some = judged === 0 ? 'none was checked against the contract' : `${which} ${what} the contract`
  return `It sent ${plural(requests, 'request')}; ${some}.`
}

/** What else makes the run fail, so that the last line says it. */
function otherReasons(...findings: readonly (readonly Finding[])[]): string[] {
  const failing = findings.flat().filter(({ level }) => level === 'error')
  return [...new Set(failing.map(({ rule, message }) => (rule === SCANTY ? message : `${rule.name}.`)))]
}

/** The first violations. The same request sent again is no other one. */
function describeViolations({ result: { verdict, contract }, failOn }: ReportedRun): Finding[] {
  const found = new Map<string, Finding>()
  for (const example of verdict.violations.first) {
    const { method, path, code, message, correction } = example
    const id = JSON.stringify([method, path, code, message, correction])
    const known = found.get(id)
    const repeated = known && { ...known, occurrences: (known.occurrences ?? 1) + 1 }
    found.set(id, repeated ?? describeViolation(example, contract, levelOf('violation', failOn)))
  }
  return [...found.values()]
}

/** A violation with the corrected request. */
function describeViolation(
  example: VerdictReport['violations']['first'][number],
  contract: Contract,
  level: FindingLevel,
): Finding {
  const { request_id, account, operation, method, path, status, code, message, correction, page } = example
  return {
    rule: violationRule(code),
    level,
    message,
    pointer: pointerTo(operation, contract),
    row: operation ?? undefined,
    request: {
      method,
      path,
      requestId: request_id,
      account: account ?? undefined,
      operation: operation ?? undefined,
      status: status ?? undefined,
      code: code ?? undefined,
      page: page ?? undefined,
    },
    ...(correction !== null && {
      remedy: { text: 'This request is accepted:', command: withVariables(correction, contract) },
    }),
  }
}

/**
 * Makes a command independent of the server. The variables of `run` replace the address, which is gone later. They also
 * replace the key, which must not be in a report. The shell expands variables in double quotes.
 */
function withVariables(commands: string, { basePath }: Contract): string {
  const url = new RegExp(`('?)https?://[^/'\\s]+${basePath}(?=[/'\\s]|$)`, 'g')
  return commands
    .replace(
      /-H (?:'Authorization: Bearer [^']*'|"Authorization: Bearer \$API_KEY")/g,
      `-H "Authorization: Bearer $UNDERSTUDY_API_KEY"`,
    )
    .replace(url, '"$UNDERSTUDY_BASE_URL"$1')
}

function violationRule(code: string | null): ReportRule {
  const refused =
    code === null ? 'cannot be read as one of the service' : `is refused with ${code}, whatever the account holds`
  return {
    id: code === null ? 'violation' : `violation/${code}`,
    name: 'The contract forbids the request',
    description: `openapi.yaml does not permit the request, which ${refused}.`,
  }
}

/** The place of the operation in openapi.yaml. Without an operation, it is the beginning of the paths. */
function pointerTo(id: string | null, { operations }: Contract): string {
  const operation = operations.find((each) => each.id === id)
  return operation === undefined ? '/paths' : pointerOf(operation)
}

function describeIdleness({ result: { verdict }, failOn }: ReportedRun): Finding[] {
  if (verdict.judged > 0) return []
  const hint =
    verdict.requests === 0
      ? 'The command was told where the service is by UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY and UNDERSTUDY_ADMIN_URL.'
      : 'Does the client send the key in UNDERSTUDY_API_KEY, as `Authorization: Bearer`, to the address in UNDERSTUDY_BASE_URL? If it has another name for this machine, as in an emulator or a container, --cors http://NAME permits that name.'
  const text = `${hint} A client that reads other variables gets them by --set-env, such as --set-env API_URL={baseUrl} --set-env API_KEY={apiKey}.`
  return [{ rule: IDLE, level: levelOf('idle', failOn), message: verdict.message, remedy: { text } }]
}

function describeCoverage({ result: { coverage }, minCoverage = 0 }: ReportedRun): Finding[] {
  const { seen, total, percent } = coverage.summary.responses
  if (percent >= minCoverage) return []
  const message = `The command saw ${percent} % of the responses (${seen} of ${total}), which is less than ${minCoverage} %.`
  return [{ rule: SCANTY, level: 'error', message }]
}

/** The ways in which the client was impolite. Each finding has the first request, and its message has the others. */
function describeImpoliteness({ result: { verdict, asked }, failOn }: ReportedRun): Finding[] {
  const level = levelOf('impolite', failOn)
  return verdict.politeness.map(({ kind, message, request_ids }) => {
    const [first = '', ...others] = request_ids
    const request = asked.get(first)
    const rest = (request === undefined ? request_ids : others).map((id) => {
      const other = asked.get(id)
      return other === undefined ? `request ${id}` : `${other.method} ${other.path}, request ${id}`
    })
    return {
      rule: {
        id: `impolite/${kind}`,
        name: 'The client was impolite',
        description: 'The service asks its clients not to do this. It does not violate the contract.',
      },
      level,
      message: rest.length === 0 ? message : `${message} Also: ${rest.join('; ')}.`,
      request: request && { ...request, requestId: first },
    }
  })
}

function levelOf(failure: RunFailure, failOn: readonly RunFailure[]): FindingLevel {
  return failOn.includes(failure) ? 'error' : 'warning'
}

/** The most operations that a message names. */
const NAMED = 4

function describeFacts({ result: { verdict, coverage }, keep, admin }: ReportedRun): Fact[] {
  const { requests, judged, injected, violations } = verdict
  const { operations, responses } = coverage.summary
  const codes = Object.entries(violations.by_code).map(([code, count]) => `${count} ${code}`)
  const never = coverage.operations.filter((each) => !isCalled(each)).map(({ operation }) => operation)
  return listFacts({
    Requests: `${requests}, ${judged} checked against the contract${injected > 0 ? `, ${injected} answered by a fault` : ''}`,
    Violations: violations.count > 0 && `${violations.count}: ${codes.join(', ')}`,
    Covered: `${responses.percent} % of the responses (${responses.seen} of ${responses.total}), ${operations.seen} of ${operations.total} operations`,
    'See more':
      violations.count > 0 &&
      admin &&
      !keep &&
      'with --keep, the server stays, and its dashboard explains each request',
    'Never called': never.length > 0 && nameSome(never, NAMED),
  })
}

type ReportedCoverage = CoverageReport['operations'][number]

function isCalled({ responses }: ReportedCoverage): boolean {
  return responses.some(({ genuine, injected }) => genuine + injected > 0)
}

/** A row for each operation: correct, violated, or never called. */
function tableOf({ operations }: CoverageReport, violations: readonly Finding[]): Table {
  const rows = operations.map((each) => {
    const { operation, method, path, responses } = each
    const seen = responses.filter(({ genuine }) => genuine > 0)
    const names = seen.map(({ status, code }) => [status, code].filter(Boolean).join(' '))
    const isBroken = violations.some(({ level, row }) => level === 'error' && row === operation)
    const outcome = isBroken ? 'failed' : isCalled(each) ? 'passed' : 'skipped'
    const cells = [operation, `${method} ${path}`, `${seen.length} of ${responses.length}`, names.join(', ')]
    return { outcome, cells } as const
  })
  return { title: 'Coverage', columns: ['Operation', 'Request', 'Responses', 'Seen'], rows }
}
