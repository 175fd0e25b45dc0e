import { type Choices, nameOf } from '../../contract/choices.ts'
import { type CommandTimes, type Finding, listFacts, type Report, type Row } from '../../reports/report.ts'
import type { FirstDifference, ShownResponse } from './first-difference.ts'
import type { VaryResult } from './vary.ts'
import type { AlternativeReport } from './verdict.ts'

export interface VaryReportOptions extends CommandTimes {
  result: VaryResult
  choices: Pick<Choices, 'assumptions'>
  /** The options with which `run` starts the same server, as words for a shell. */
  sameOptions: readonly string[]
  /** The line of a shell that starts this program with these words, without secrets. */
  writeCommandLine(words: readonly string[]): string
}

export function describeVary(options: VaryReportOptions): Report {
  const { result, startedAt, seconds, interruptedWith } = options
  const { dependencies, notes, cutBy } = result
  const { command, alternatives, runs, baseline } = dependencies
  const broken = alternatives.filter(({ verdict, accepted }) => verdict === 'depends' && accepted !== true)
  const [first] = broken
  // What was not decided, for lack of time or another reason, may be a dependency.
  const isCut = cutBy !== undefined || interruptedWith !== undefined
  const passed = broken.length === 0 && !isCut
  return {
    tool: 'vary',
    title: command.join(' '),
    summary: [isCut && 'Not everything was decided.', summarise(alternatives), first && acceptHint(first)]
      .filter(Boolean)
      .join(' '),
    passed,
    exitCode: interruptedWith ?? (passed ? 0 : 1),
    startedAt,
    seconds,
    facts: listFacts({
      Runs: `${runs} of your command, about ${baseline.seconds.toFixed(1)} s each`,
      Requests: `${baseline.requests} in one run`,
    }),
    findings: [
      ...alternatives.flatMap((each) => findingOf(each, options) ?? []),
      ...undecidedIn(alternatives, options),
      ...notes.map((message): Finding => ({ rule: CERTAINTY, level: 'warning', message })),
    ],
    table: { title: 'Alternatives', columns: ['Alternative', 'Verdict', 'Why'], rows: alternatives.map(rowOf) },
    json: dependencies,
  }
}

const CERTAINTY = {
  id: 'vary/certainty',
  name: 'How certain the verdicts are',
  description: 'A command that does the same each time is judged faster, and with more certainty.',
}
const UNDECIDED = {
  id: 'vary/undecided',
  name: 'Not decided',
  description: 'Whether the command depends on it is not known.',
}

function acceptHint(report: AlternativeReport): string {
  return `What you accept does not count: --accept ${nameOfReport(report)}, or --accept ${report.id} for each alternative.`
}

function summarise(alternatives: readonly AlternativeReport[]): string {
  const counted = (verdict: string) => alternatives.filter((each) => each.verdict === verdict).length
  const depends = counted('depends')
  const accepted = alternatives.filter((each) => each.accepted).length
  const of = `the ${alternatives.length} alternatives, in which the service may differ because the specification leaves them open`
  const rest = [
    ...(accepted > 0 ? [`${accepted} of these ${accepted === 1 ? 'is' : 'are'} accepted`] : []),
    `it tolerates ${counted('tolerates')}`,
    `${counted('not reached')} are not reached`,
    ...(counted('flaky') > 0 ? [`${counted('flaky')} are flaky`] : []),
    ...(counted('inconclusive') > 0 ? [`${counted('inconclusive')} are not decided`] : []),
  ].join('; ')
  return `The command depends on ${depends === 0 ? 'none' : depends} of ${of}. ${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`
}

/** The finding about an alternative: the command depends on it, or is flaky with it. */
function findingOf(report: AlternativeReport, options: VaryReportOptions): Finding | undefined {
  const { id, spec, verdict, accepted, chosen, value, output, first_difference: difference } = report
  if (verdict !== 'depends' && verdict !== 'flaky') return undefined
  const answers = difference && [
    { title: 'The first response that differed, with our choice', text: write(difference.expected) },
    { title: 'With the alternative', text: write(difference.received) },
  ]
  const { method, path, request_id: requestId, body } = difference?.request ?? {}
  const request = method && path && { method, path, requestId, status: difference?.received.status, body }
  return {
    rule: {
      id: nameOfReport(report),
      name: `The command depends on ${id}`,
      description: `The specification leaves this open: ${spec} A client should work with each choice.`,
    },
    level: verdict === 'flaky' ? 'warning' : accepted ? 'note' : 'error',
    message: messageOf(report),
    pointer: placeOf(report, options),
    ...(request && { request }),
    details: [
      { title: 'Our choice', text: JSON.stringify(chosen) },
      { title: 'The alternative', text: JSON.stringify(value) },
      ...(answers ?? []),
      ...(output === undefined ? [] : [{ title: 'What the command wrote last', text: output }]),
    ],
    remedy: { text: 'To see it yourself:', command: replayOf(report, options) },
  }
}

function placeOf({ id }: AlternativeReport, { choices }: VaryReportOptions): string | undefined {
  return choices.assumptions.find((each) => each.id === id)?.place
}

function nameOfReport({ id, alternative }: AlternativeReport): string {
  return nameOf({ id, number: alternative })
}

function messageOf(report: AlternativeReport): string {
  const { verdict, spec, reason, accepted, tests = [], first_difference: difference } = report
  const choice = choiceIn(report)
  const answer = difference && otherAnswer(difference)
  const otherwise = [choice, answer].filter(Boolean).join(' and so ') || `chooses ${JSON.stringify(report.value)}`
  const how = verdict === 'flaky' ? 'sometimes fails' : 'fails'
  const which = tests.length > 0 && `Failed: ${tests.join(', ')}.`
  const more = [which, reason, accepted && 'This is accepted.'].filter(Boolean).join(' ')
  return `The command ${how} if the real service ${otherwise}. ${spec} ${more}`.trimEnd()
}

/** `answers 201 instead of 200 to POST /domaingroups` */
function otherAnswer({ request, expected, received, body_difference: body }: FirstDifference): string {
  const to = `${request.method} ${request.path}`
  if (expected.status !== received.status) {
    return `answers ${received.status ?? 'nothing'} instead of ${expected.status ?? 'nothing'} to ${to}`
  }
  if (body !== undefined) return `answers ${to} ${body}`
  const [name = ''] = Object.keys({ ...received.headers, ...expected.headers })
  const [one, other] = [expected, received].map(({ headers }) => headers?.[name])
  const field = other === undefined ? `no ${name}` : `${name}: ${other}`
  return `sends ${field} ${one === undefined ? '' : `instead of ${one} `}in the response to ${to}`
}

/** The choice of the service if it is a single value: `has "alphabetical" instead of "addition" as domain-order`. */
function choiceIn({ id, chosen, value }: AlternativeReport): string | undefined {
  const { value: other, ...more } = value
  if (other === undefined || typeof other === 'object' || Object.keys(more).length > 0) return undefined
  return `has ${JSON.stringify(other)} instead of ${JSON.stringify(chosen['value'])} as ${id}`
}

function write({ status, headers = {}, body }: ShownResponse): string {
  const fields = Object.entries(headers).map(([name, field]) => `${name}: ${field}`)
  return [status ?? 'no response', ...fields, ...(body === undefined ? [] : [body])].join('\n')
}

/** A command line that runs the command with the alternative. */
function replayOf(
  { id, alternative }: AlternativeReport,
  { result, sameOptions, writeCommandLine }: VaryReportOptions,
): string {
  const file = `${id}-${alternative}.yaml`
  const overlay = writeCommandLine(['assumptions', 'overlay', id, `${alternative}`])
  const { command } = result.dependencies
  const run = writeCommandLine(['run', ...sameOptions, '--overlay', file, '--', ...command])
  return `${overlay} > ${file} && ${run}`
}

/** One finding for all alternatives that were undecided for the same reason. */
function undecidedIn(alternatives: readonly AlternativeReport[], options: VaryReportOptions): Finding[] {
  const undecided = alternatives.filter(({ verdict }) => verdict === 'inconclusive')
  return [...new Set(undecided.map(({ reason = '' }) => reason))].map((reason): Finding => {
    const same = undecided.filter((each) => each.reason === reason)
    const [only] = same.length === 1 ? same : []
    const names = same.map(nameOfReport)
    return {
      rule: UNDECIDED,
      level: reason === options.result.cutBy ? 'error' : 'warning',
      message: `${only === undefined ? `${names.length} alternatives are` : `${names[0]} is`} not decided. ${reason}`,
      pointer: only && placeOf(only, options),
      details: [{ title: 'Alternatives', text: names.join('\n') }],
    }
  })
}

function rowOf(report: AlternativeReport): Row {
  const { verdict, reason = '', accepted } = report
  const outcome =
    verdict === 'depends' && !accepted ? 'failed' : verdict === 'tolerates' || accepted ? 'passed' : 'skipped'
  return { outcome, cells: [nameOfReport(report), verdict, reason] }
}
