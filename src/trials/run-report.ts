import { pointerOf } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { VerdictReport } from '../contract/control-plane.ts'
import type { CoverageReport } from '../coverage/report.ts'
import { nameSome, plural } from '../ground/show.ts'
import { type Finding, listFacts, type Report, type ReportRule, type Table } from '../reports/report.ts'
import { exitCodeOf, wordEnd } from './command.ts'
import type { TrialResult } from './trial.ts'

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
const VIOLATION = 'The contract forbids the request'
const IMPOLITE = {
  name: 'The client was impolite',
  description: 'The service asks its clients not to do this. It does not violate the contract.',
}

export function describeRun(run: ReportedRun): Report {
  const { command, startedAt, result, failOn, minCoverage = 0 } = run
  const { end, verdict, coverage } = result
  const own = exitCodeOf(end)
  const isEarly = own !== 0 && verdict.requests === 0
  const ending = `The command ${wordEnd(end)}${isEarly ? ' before it sent a request to the service' : ''}.`
  const { seen, total, percent } = coverage.summary.responses
  const levelOf = (failure: RunFailure) => (failOn.includes(failure) ? 'error' : 'warning')
  const scanty = `The command saw ${percent} % of the responses (${seen} of ${total}), which is less than ${minCoverage} %.`
  const others: Finding[] = [
    ...(verdict.judged > 0 || isEarly
      ? []
      : [
          { rule: IDLE, level: levelOf('idle'), message: verdict.message, remedy: { text: hintFor(verdict) } } as const,
        ]),
    ...(percent >= minCoverage ? [] : [{ rule: SCANTY, level: 'error', message: scanty } as const]),
    ...describeImpoliteness(result, levelOf('impolite')),
  ]
  const violations = describeViolations(result, levelOf('violation'))
  const hint = isEarly && { remedy: { text: hintFor(verdict) } }
  const failure: Finding[] = own === 0 ? [] : [{ rule: FAILED, level: 'error', message: ending, ...hint }]
  const findings = [...failure, ...others, ...violations]
  const exitCode = own === 0 && findings.some(({ level }) => level === 'error') ? 1 : own
  // What else makes the run fail, so that the last line says it.
  const failing = others.filter(({ level }) => level === 'error')
  const reasons = failing.map(({ rule, message }) => (rule === SCANTY ? message : `${rule.name}.`))
  return {
    tool: 'run',
    title: command.join(' '),
    summary: [...new Set([ending, ...(isEarly ? [] : [wordVerdict(verdict)]), ...reasons])].join(' '),
    passed: exitCode === 0,
    exitCode,
    startedAt,
    seconds: end.seconds,
    facts: factsOf(run),
    findings,
    table: tableOf(coverage, violations),
    json: { command, exit_code: exitCode, seconds: end.seconds, verdict, coverage },
  }
}

function wordVerdict({ requests, judged, violations: { count } }: VerdictReport): string {
  if (requests === 0) return 'It sent no request.'
  const sent = `It sent ${plural(requests, 'request')};`
  if (judged === 0) return `${sent} none was checked against the contract.`
  if (requests === 1) return `${sent} it ${count === 0 ? 'keeps' : 'violates'} the contract.`
  const which = count === 0 ? 'none of them' : count === requests ? 'all of them' : `${count} of them`
  return `${sent} ${which} ${count > 1 ? 'violate' : 'violates'} the contract.`
}

/** What helps a client that sends nothing to the service, or nothing that can be checked. */
function hintFor({ requests }: VerdictReport): string {
  const hint =
    requests === 0
      ? 'The command was told where the service is by UNDERSTUDY_BASE_URL, UNDERSTUDY_API_KEY and UNDERSTUDY_ADMIN_URL.'
      : 'Does the client send the key in UNDERSTUDY_API_KEY, as `Authorization: Bearer`, to the address in UNDERSTUDY_BASE_URL? If it has another name for this machine, as in an emulator or a container, --cors http://NAME permits that name.'
  return `${hint} A client that reads other variables gets them by --set-env, such as --set-env API_URL={baseUrl} --set-env API_KEY={apiKey}.`
}

/** The first violations, with corrected requests. The same request sent again is no other one. */
function describeViolations({ verdict, contract }: TrialResult, level: Finding['level']): Finding[] {
  const found = new Map<string, Finding>()
  for (const example of verdict.violations.first) {
    const { request_id: requestId, account, operation, method, path, status, code, message, correction, page } = example
    const id = JSON.stringify([method, path, code, message, correction])
    const known = found.get(id)
    const place = contract.operations.find((each) => each.id === operation)
    const refused =
      code === null ? 'cannot be read as one of the service' : `is refused with ${code}, whatever the account holds`
    const [row, ofAccount] = [operation ?? undefined, account ?? undefined]
    const outcome = { status: status ?? undefined, code: code ?? undefined, page: page ?? undefined }
    const remedy = correction !== null && {
      remedy: { text: 'This request is accepted:', command: withVariables(correction, contract) },
    }
    found.set(id, {
      rule: {
        id: code === null ? 'violation' : `violation/${code}`,
        name: VIOLATION,
        description: `openapi.yaml does not permit the request, which ${refused}.`,
      },
      ...{ level, message, row, ...remedy },
      pointer: place === undefined ? '/paths' : pointerOf(place),
      request: { method, path, requestId, account: ofAccount, operation: row, ...outcome },
      ...known,
      ...(known && { occurrences: (known.occurrences ?? 1) + 1 }),
    })
  }
  return [...found.values()]
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

/** The ways in which the client was impolite. Each finding has the first request, and its message has the others. */
function describeImpoliteness({ verdict, asked }: TrialResult, level: Finding['level']): Finding[] {
  return verdict.politeness.map(({ kind, message, request_ids: [first = '', ...others] }) => {
    const request = asked.get(first)
    const rest = (request === undefined ? [first, ...others] : others).map((id) => {
      const other = asked.get(id)
      return other === undefined ? `request ${id}` : `${other.method} ${other.path}, request ${id}`
    })
    return {
      rule: { id: `impolite/${kind}`, ...IMPOLITE },
      level,
      message: rest.length === 0 ? message : `${message} Also: ${rest.join('; ')}.`,
      request: request && { ...request, requestId: first },
    }
  })
}

const NAMED = 4

function factsOf({ result: { verdict, coverage }, keep, admin }: ReportedRun) {
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

function isCalled({ responses }: CoverageReport['operations'][number]): boolean {
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
