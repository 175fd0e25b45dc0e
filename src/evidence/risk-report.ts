import { describeQuestion } from '../choices/observability.ts'
import type { Assumption } from '../contract/assumptions.ts'
import { printable } from '../ground/show.ts'
import { foldToWidth, widthOf } from '../reports/columns.ts'
import { listFacts } from '../reports/outline.ts'
import type { Block, Check, Finding, Report } from '../reports/report.ts'
import { type ClientSide, RISK_RESULTS, type Risk, type RiskResult } from './risks.ts'

export interface RiskReportOptions extends Pick<Report, 'startedAt' | 'seconds'> {
  risks: readonly Risk[]
  assumptions: readonly Assumption[]
  /** The origins of the observed services. */
  targets: readonly string[]
  /** The clients, as their commands. */
  commands: readonly (readonly string[])[]
  /** Further information for the user, in sentences. */
  warnings: readonly string[]
}

/** Describes the risks of a client with a service for every output format. */
export function describeRisks(options: RiskReportOptions): Report {
  const { risks, targets, commands, warnings, assumptions, startedAt, seconds } = options
  const places = new Map(assumptions.map(({ id, place }) => [id, place]))
  const findings = new Map(risks.map((risk) => [risk, findingOf(risk, places.get(risk.id))]))
  const count = (result: RiskResult) => risks.filter((each) => each.result === result).length
  const passed = count('contradicted') === 0
  // As docs/schemas/risks.json describes it.
  const json = { targets, commands, risks, ...(warnings.length > 0 && { warnings }) }
  return {
    tool: 'assumptions',
    title: commands.map((words) => words.join(' ')).join(', '),
    summary: summarise(count),
    passed,
    exitCode: passed ? 0 : 1,
    startedAt,
    seconds,
    facts: listFacts({ Service: targets.length > 0 && targets.join(', ') }),
    findings: [
      ...[...findings.values()].filter((each) => each !== undefined),
      ...warnings.map((message): Finding => ({ rule: WARNING, level: 'warning', message })),
    ],
    checks: risks.map((risk): Check => {
      const finding = findings.get(risk)
      return {
        id: risk.id,
        group: 'assumptions',
        name: risk.id,
        outcome: OUTCOMES[risk.result],
        message: risk.reason,
        ...(finding !== undefined && { findings: [finding] }),
      }
    }),
    sections: [{ title: 'Risks', blocks: [tableOf(risks)] }],
    json,
  }
}

const OUTCOMES = { contradicted: 'failed', unknown: 'skipped', confirmed: 'passed' } as const
const WARNING = {
  id: 'risks/warning',
  name: 'The table may be incomplete',
  description: 'The joined files do not fit together completely.',
}

function summarise(count: (result: RiskResult) => number): string {
  const [bad, open, good] = RISK_RESULTS.map(count)
  const first =
    bad === 0
      ? 'Nothing that the service was seen to do breaks the client.'
      : `The service was seen to do ${bad === 1 ? 'something' : `${bad} things`} with which the client fails.`
  return `${first} ${open} of the assumptions are unknown, ${good} are confirmed.`
}

function findingOf(risk: Risk, place: string | undefined): Finding | undefined {
  const { id, result, spec, reason, decide_with: question } = risk
  if (result === 'confirmed') return undefined
  const isBroken = result === 'contradicted'
  const request = risk.clients.find((side) => side.request !== undefined)?.request
  return {
    rule: {
      id,
      name: isBroken ? 'The client fails with what the service does' : 'It is not known whether the client works',
      description: `The specification leaves this open: ${spec}`,
    },
    level: isBroken ? 'error' : 'note',
    message: `${id}: ${reason}`,
    pointer: place,
    ...(request !== undefined && {
      request: { method: request.method, path: request.path, requestId: request.request_id },
    }),
    details: detailsOf(risk).map((text) => ({ kind: 'text', text })),
    ...(question !== undefined && { remedy: { text: `This would settle it: ${describeQuestion(question)}.` } }),
  }
}

/** The observations on both sides, with the ids of the requests. */
function detailsOf({ service, clients }: Risk): string[] {
  const { evidence } = service
  return [
    ...(evidence.length > 0 ? [`The service showed it in ${evidence.join(', ')}.`] : []),
    ...clients.map((side) => `${sideInWords(side)}.`),
  ]
}

function sideInWords({ alternative, verdict, command, reason, request }: ClientSide): string {
  const what = verdict === 'depends' ? 'fails with' : `is ${verdict} with`
  const where = request === undefined ? '' : `, first at ${request.method} ${request.path} (${request.request_id})`
  return `${command} ${what} alternative ${alternative}${where}${reason === undefined ? '' : `: ${reason.replace(/\.$/, '')}`}`
}

function tableOf(risks: readonly Risk[]): Block {
  return {
    kind: 'table',
    columns: ['Result', 'Assumption', 'Why', 'Seen of the service', 'Seen of the client', 'What would settle it'],
    rows: inOrder(risks).map((risk) => [
      risk.result,
      risk.id,
      risk.reason,
      risk.service.evidence.join(', '),
      risk.clients.map(sideInWords).join('; '),
      risk.decide_with === undefined ? '' : describeQuestion(risk.decide_with),
    ]),
  }
}

/** The most severe risks come first. */
function inOrder(risks: readonly Risk[]): Risk[] {
  return risks.toSorted((one, other) => RISK_RESULTS.indexOf(one.result) - RISK_RESULTS.indexOf(other.result))
}

/** Terminals with fewer columns are not supported. */
const NARROWEST = 40
const GAP = 2

/**
 * The table for the user, as lines with at most `columns` columns. Assumptions that are no risk for the client are only
 * counted.
 */
export function writeRiskTable(risks: readonly Risk[], columns: number): string[] {
  const shown = inOrder(risks).filter(
    ({ result, service }) => result !== 'confirmed' || service.verdict !== 'undecided',
  )
  const idle = risks.length - shown.length
  const rows = shown.map((risk) => ({ head: [risk.result, risk.id] as const, texts: textsOf(risk) }))
  const widths = [0, 1].map((index) =>
    Math.max(...rows.map(({ head }) => widthOf(head[index] ?? '')), HEAD[index]?.length ?? 0),
  )
  const indent = widths.reduce((sum, width) => sum + width + GAP, 0)
  const width = Math.max(columns, NARROWEST)
  // On a narrow terminal, the result is below the name.
  const isWide = width - indent >= NARROWEST
  const margin = isWide ? indent : GAP
  const begin = (head: readonly string[]) => head.map((text, index) => text.padEnd((widths[index] ?? 0) + GAP)).join('')
  const lines = rows.flatMap(({ head, texts }) => {
    const folded = texts.flatMap((text) => foldToWidth(printable(text), width - margin))
    const [first = '', ...rest] = folded
    const below = (line: string) => ' '.repeat(margin) + line
    return isWide ? [begin(head) + first, ...rest.map(below)] : [begin(head).trimEnd(), ...folded.map(below)]
  })
  const fine = `${idle} more are confirmed: the client works with everything that the service may do.`
  const rest = idle === 0 ? [] : ['', ...foldToWidth(fine, width)]
  if (rows.length === 0) return rest.slice(1)
  return [(begin(HEAD) + (isWide ? 'what was found' : '')).trimEnd(), ...lines, ...rest]
}

const HEAD = ['result', 'assumption'] as const

function textsOf(risk: Risk): string[] {
  const { reason, decide_with: question, result, service } = risk
  if (result === 'confirmed') {
    const [first, ...others] = service.evidence
    const more = others.length === 0 ? '' : ` and ${others.length} more`
    return [first === undefined ? reason : `${reason} Seen in ${first}${more}.`]
  }
  return [
    reason,
    ...detailsOf(risk),
    ...(question === undefined ? [] : [`To settle it: ${describeQuestion(question)}.`]),
  ]
}
