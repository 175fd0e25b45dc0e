import type { Choices } from '../../contract/choices.ts'
import type { AlternativeReport, FirstDifference, ShownResponse } from '../../evidence/dependencies.ts'
import { plural } from '../../ground/plural.ts'
import { writeShellLine } from '../../ground/shell-word.ts'
import { listFacts } from '../../reports/outline.ts'
import type { Block, Check, Finding, FindingLevel, Report } from '../../reports/report.ts'
import type { VaryResult } from './vary.ts'

export interface VaryReportOptions extends Pick<Report, 'startedAt' | 'seconds'> {
  result: VaryResult
  choices: Pick<Choices, 'alternatives'>
  /** How many trials could run at the same time here, and how many this machine supports. */
  jobs: number
  processors: number
  /** The options with which `run` starts the same server, as words for a shell. */
  sameOptions: readonly string[]
}

/** If the trials take longer than this in total, in seconds, the report suggests to run them in parallel. */
const LONG = 10

/** The report of `vary` for all formats. */
export function describeVary(options: VaryReportOptions): Report {
  const { result, startedAt, seconds } = options
  const { dependencies, notes } = result
  const { command, alternatives } = dependencies
  const findings = new Map(alternatives.map((each) => [each, findingOf(each, options)]))
  const broken = alternatives.filter(({ verdict, accepted }) => verdict === 'depends' && accepted !== true)
  const passed = broken.length === 0
  return {
    tool: 'vary',
    title: command.join(' '),
    summary: summarise(alternatives),
    passed,
    exitCode: passed ? 0 : 1,
    startedAt,
    seconds,
    command,
    facts: factsOf(options),
    findings: [
      ...[...findings.values()].filter((each) => each !== undefined),
      ...undecidedIn(alternatives),
      ...notes.map(noteOf),
    ],
    checks: alternatives.map((each) => checkOf(each, findings.get(each))),
    sections: [],
    json: dependencies,
  }
}

function summarise(alternatives: readonly AlternativeReport[]): string {
  const counted = (verdict: string) => alternatives.filter((each) => each.verdict === verdict).length
  const depends = counted('depends')
  const accepted = alternatives.filter((each) => each.accepted).length
  const of = `${alternatives.length} ways in which the service may differ, because the specification leaves them open`
  const first = depends === 0 ? `The command depends on none of ${of}.` : `The command depends on ${depends} of ${of}.`
  const rest = [
    ...(accepted > 0 ? [`${accepted} of these ${accepted === 1 ? 'is' : 'are'} accepted`] : []),
    `it tolerates ${counted('tolerates')}`,
    `${counted('not reached')} are not reached`,
    ...(counted('flaky') > 0 ? [`${counted('flaky')} are flaky`] : []),
    ...(counted('inconclusive') > 0 ? [`${counted('inconclusive')} are not decided`] : []),
  ]
  const [begin = '', ...more] = rest
  return `${first} ${[begin.charAt(0).toUpperCase() + begin.slice(1), ...more].join('; ')}.`
}

function factsOf({ result, jobs, processors }: VaryReportOptions): Report['facts'] {
  const { dependencies, trialSeconds } = result
  const { runs, baseline } = dependencies
  const wouldHelp = jobs === 1 && processors > 1 && trialSeconds > LONG
  return listFacts({
    Runs: `${plural(runs, 'start')} of the command, of ${baseline.seconds} s by itself`,
    Requests: `${baseline.requests} in one run`,
    Faster: wouldHelp && `--jobs ${processors} runs trials at the same time, if the command allows it`,
  })
}

/** The finding about an alternative: the command depends on it, or is flaky with it. */
function findingOf(report: AlternativeReport, options: VaryReportOptions): Finding | undefined {
  const { verdict, accepted, first_difference: difference } = report
  if (verdict !== 'depends' && verdict !== 'flaky') return undefined
  const { alternatives } = options.choices
  const known = alternatives.find(({ id, number }) => id === report.id && number === report.alternative)
  return {
    rule: ruleOf(report),
    level: levelOf(verdict, accepted),
    message: messageOf(report),
    pointer: known?.assumption.place,
    ...(difference !== undefined && { request: requestOf(difference) }),
    details: detailsOf(report),
    remedy: { text: 'To see it yourself:', command: replayOf(report, options) },
  }
}

function levelOf(verdict: 'depends' | 'flaky', accepted: true | undefined): FindingLevel {
  if (verdict === 'flaky') return 'warning'
  return accepted ? 'note' : 'error'
}

function requestOf({ request, received }: FirstDifference): Finding['request'] {
  const { method, path, request_id: requestId, body } = request
  return { method, path, requestId, status: received.status, body }
}

function ruleOf({ id, alternative, spec }: AlternativeReport): Finding['rule'] {
  return {
    id: `${id}/${alternative}`,
    name: `The command depends on ${id}`,
    description: `The specification leaves this open: ${spec} A client should work with each choice.`,
  }
}

function messageOf(report: AlternativeReport): string {
  const { verdict, spec, first_difference: difference, tests = [] } = report
  const how = verdict === 'flaky' ? 'sometimes fails' : 'fails'
  const which = tests.length === 0 ? '' : ` Failed: ${tests.join(', ')}.`
  return `The command ${how} if the real service ${whatIsOtherwise(difference, report)}. ${spec}${which}`
}

/** `answers 201 instead of 200 to POST /domaingroups` */
function whatIsOtherwise(difference: FirstDifference | undefined, report: AlternativeReport): string {
  const choice = choiceIn(report)
  if (difference === undefined) return choice ?? `chooses ${JSON.stringify(report.value)}`
  const { request, expected, received } = difference
  const to = `${request.method} ${request.path}`
  const [name, field] = Object.entries(received.headers ?? {})[0] ?? []
  const isSameBody = received.body === undefined && expected.body === undefined
  let answer = `answers ${to} with another body`
  if (expected.status !== received.status) {
    answer = `answers ${received.status ?? 'nothing'} instead of ${expected.status ?? 'nothing'} to ${to}`
  } else if (isSameBody && name !== undefined) answer = `sends ${name}: ${field} in the response to ${to}`
  return choice === undefined ? answer : `${choice} and so ${answer}`
}

/** The choice of the service if it is a single value: `has "alphabetical" instead of "addition" as domain-order`. */
function choiceIn({ id, chosen, value }: AlternativeReport): string | undefined {
  const { value: other, ...more } = value
  if (other === undefined || typeof other === 'object' || Object.keys(more).length > 0) return undefined
  return `has ${JSON.stringify(other)} instead of ${JSON.stringify(chosen['value'])} as ${id}`
}

function detailsOf(report: AlternativeReport): Block[] {
  const { first_difference: difference, chosen, value, output } = report
  const details: Block[] = [
    {
      kind: 'comparison',
      expected: JSON.stringify(chosen),
      received: JSON.stringify(value),
      titles: ['Our choice', 'The alternative'],
    },
  ]
  if (difference !== undefined) {
    details.push({
      kind: 'comparison',
      expected: write(difference.expected),
      received: write(difference.received),
      titles: ['The first response that differed, with our choice', 'With the alternative'],
    })
  }
  if (output !== undefined) details.push({ kind: 'code', text: output, title: 'What the command wrote last' })
  return details
}

function write({ status, headers = {}, body }: ShownResponse): string {
  const fields = Object.entries(headers).map(([name, field]) => `${name}: ${field}`)
  return [status ?? 'no response', ...fields, ...(body === undefined ? [] : [body])].join('\n')
}

/** A command line that runs the command with the alternative. */
function replayOf({ id, alternative }: AlternativeReport, { result, sameOptions }: VaryReportOptions): string {
  const file = `${id}-${alternative}.yaml`
  const overlay = writeShellLine(['dmarc-understudy', 'assumptions', 'overlay', id, `${alternative}`])
  const { command } = result.dependencies
  const run = writeShellLine(['dmarc-understudy', 'run', ...sameOptions, '--overlay', file, '--', ...command])
  return `${overlay} > ${file} && ${run}`
}

/** One finding for all alternatives that were undecided for the same reason. */
function undecidedIn(alternatives: readonly AlternativeReport[]): Finding[] {
  const undecided = alternatives.filter(({ verdict }) => verdict === 'inconclusive')
  const reasons = [...new Set(undecided.map(({ reason = '' }) => reason))]
  return reasons.map((reason) => {
    const names = undecided
      .filter((each) => (each.reason ?? '') === reason)
      .map((each) => `${each.id}/${each.alternative}`)
    const some = names.length === 1 ? (names[0] ?? '') : plural(names.length, 'alternative')
    return {
      rule: {
        id: 'vary/undecided',
        name: 'Not decided',
        description: 'Whether the command depends on it is not known.',
      },
      level: 'warning',
      message: `${some} ${names.length === 1 ? 'is' : 'are'} not decided. ${reason}`,
      details: [{ kind: 'list', items: names }],
    } as const
  })
}

function noteOf(message: string): Finding {
  return {
    rule: {
      id: 'vary/certainty',
      name: 'How certain the verdicts are',
      description: 'A command that does the same each time is judged faster, and with more certainty.',
    },
    level: 'warning',
    message,
  }
}

function checkOf(report: AlternativeReport, finding: Finding | undefined): Check {
  const { id, alternative, verdict, reason, accepted, seconds } = report
  const outcome =
    verdict === 'depends' && !accepted ? 'failed' : verdict === 'tolerates' || accepted ? 'passed' : 'skipped'
  return {
    id: `${id}/${alternative}`,
    group: id,
    name: `${id}/${alternative}`,
    outcome,
    message: reason ?? (accepted ? 'depends, which is accepted' : verdict),
    ...(finding !== undefined && { findings: [finding] }),
    seconds,
  }
}
