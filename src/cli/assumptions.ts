import { describeObservability, observabilityOf, reportAssumption } from '../choices/observability.ts'
import { type Assumption, assumptionsOf, type OpenAnswers, overlayFor } from '../contract/assumptions.ts'
import { type Choices, readChoices } from '../contract/choices.ts'
import { readDocument } from '../contract/document.ts'
import { readOverlays } from '../contract/overlay.ts'
import { writeYaml } from '../contract/yaml.ts'
import { type Dependencies, readDependencies } from '../evidence/dependencies.ts'
import { mergeEvidence, readEvidence } from '../evidence/evidence-file.ts'
import { EvidenceError } from '../evidence/evidence-input.ts'
import { describeRisks, writeRiskTable } from '../evidence/risk-report.ts'
import { findForeignIn, findRisks } from '../evidence/risks.ts'
import { shorten, showWritten } from '../ground/show.ts'
import { fileNames, type Options, optIn, type Values } from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { type Execution, execute } from './execution.ts'
import { readOptions, refuseId } from './options.ts'
import { checkFiles, REPORT_OPTIONS } from './reports.ts'
import { warnOfSeveral } from './target-options.ts'

const OPTIONS = {
  evidence: {
    kind: fileNames,
    help: 'Evidence that check, proxy or verify has written. With --dependencies, the risks of the client with this service are printed.',
    default: [],
  },
  dependencies: {
    kind: fileNames,
    help: 'Dependencies of a client: the report of vary (--report json=FILE). With --evidence.',
    default: [],
  },
  json: optIn('Print JSON instead of text.'),
  overlays: COMMAND_LINE_OPTIONS.overlays,
  ...REPORT_OPTIONS,
} as const satisfies Options

export const assumptions: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { values, positionals } = readOptions(OPTIONS, args, terminal.environment)
    if (joinsBothSides(values, positionals)) {
      return execute('assumptions', terminal, (execution) => printRisks(values, execution))
    }
    const { source, extensions } = await readDocument({ overlays: await readOverlays(values.overlays) })
    const all = assumptionsOf(source, extensions)
    const [verb, id, number = '1', ...rest] = positionals
    if (verb === undefined) {
      terminal.print(
        values.json ? JSON.stringify(all.map(reportAssumption), undefined, 2) : all.map(describe).join('\n'),
      )
      return 0
    }
    if (verb !== 'overlay' || rest.length > 0)
      throw new UsageError(`assumptions ${shorten(positionals.join(' '))}: must be overlay ID [N], or nothing`)
    const assumption = all.find((each) => each.id === id)
    if (assumption === undefined) {
      const given = id === undefined ? '' : ` ${showWritten(id)}`
      const ids = all.map((each) => each.id)
      throw new UsageError(`assumptions overlay${given}: ${refuseId(id ?? '', ids)}`)
    }
    if (assumption.alternatives.length === 0) {
      throw new UsageError(`assumptions overlay ${id}: has no alternative. ${assumption.reason}`)
    }
    const alternative = /^\d+$/.test(number) ? assumption.alternatives[Number(number) - 1] : undefined
    if (alternative === undefined) {
      const { length } = assumption.alternatives
      const right = length === 1 ? '1, its only alternative' : `one of its ${length} alternatives, from 1`
      throw new UsageError(`assumptions overlay ${id} ${shorten(number)}: must be ${right}`)
    }
    const { actions } = overlayFor(assumption, alternative, source)
    const document = { overlay: '1.0.0', info: { title: `${id}, alternative ${number}`, version: '1.0.0' }, actions }
    terminal.print(values.json ? JSON.stringify(document, undefined, 2) : (await writeYaml(document)).trimEnd())
    return 0
  },
}

/** Whether the command line asks for the risks. @throws UsageError if it gives only one of the two required parts */
function joinsBothSides(
  { evidence, dependencies, report }: Values<typeof OPTIONS>,
  positionals: readonly string[],
): boolean {
  if (evidence.length === 0 && dependencies.length === 0) {
    if (report.length > 0)
      throw new UsageError('--report: needs --evidence and --dependencies, of which it is a report')
    return false
  }
  if (dependencies.length === 0) {
    throw new UsageError('--evidence: needs --dependencies FILE, which vary --report json=FILE writes')
  }
  if (evidence.length === 0) {
    throw new UsageError(
      '--dependencies: needs --evidence FILE, which check, proxy and verify write with --evidence FILE',
    )
  }
  if (positionals.length > 0) {
    throw new UsageError(
      `assumptions ${shorten(positionals.join(' '))}: cannot be used with --evidence and --dependencies`,
    )
  }
  return true
}

/** Prints the risks of a client with a service. Resolves to the exit code. */
async function printRisks(values: Values<typeof OPTIONS>, execution: Execution): Promise<number> {
  const { terminal } = execution
  await checkFiles(values.report, [
    ...values.evidence.map((file) => ({ source: `--evidence ${shorten(file)}`, file, isRead: true })),
    ...values.dependencies.map((file) => ({ source: `--dependencies ${shorten(file)}`, file, isRead: true })),
  ])
  const choices = await readChoices(await readOverlays(values.overlays))
  const files = await Promise.all(
    values.evidence.map(async (file) => ({ file, evidence: await readEvidence(file, choices) })),
  )
  const evidence = mergeEvidence(files, choices)
  const clients = await Promise.all(values.dependencies.map((file) => readClient(file, choices)))
  execution.signal.throwIfAborted()
  const risks = findRisks(evidence.verdicts, clients, choices)
  const targets = evidence.targets ?? []
  const report = describeRisks({
    risks,
    assumptions: choices.assumptions,
    targets,
    commands: clients.map(({ command }) => command),
    warnings: [
      ...warnOfSeveral(targets),
      ...clients
        .filter(({ baseline }) => !baseline.steady)
        .map(({ command }) => `${shorten(command.join(' '))} does not do the same each time, so less is known of it.`),
      ...(evidence.verdicts.filter(({ verdict }) => verdict === 'alternative').length > 1 ? [TOGETHER] : []),
    ],
    ...execution.times,
  })
  if (values.json) terminal.print(JSON.stringify(report.json, undefined, 2))
  else for (const line of writeRiskTable(risks, terminal.screen.size?.columns ?? USUAL_COLUMNS)) terminal.print(line)
  return execution.deliver(report, values.report)
}

/** The width of the output if it goes to a file or a pipe. */
const USUAL_COLUMNS = 120
const TOGETHER =
  'vary tries each alternative alone, and the service has chosen several. Run the client with all of them: calibrate writes their overlay for run --overlay.'

/** @throws EvidenceError if the file is not a report of `vary`, or is a report about another contract */
async function readClient(file: string, choices: Choices): Promise<Dependencies> {
  const client = await readDependencies(file)
  const foreign = findForeignIn(client, choices)
  if (foreign === undefined) return client
  const remedy = 'Run vary with the same overlays, and this version of the program.'
  throw new EvidenceError(file, '', `This is about another contract. ${foreign} ${remedy}`)
}

function describe(assumption: Assumption): string {
  const { id, place, spec, choice, alternatives, open, reason } = assumption
  const rows = [
    `  stands at    ${place}`,
    `  left open    ${spec}`,
    `  our choice   ${JSON.stringify(choice)}`,
    ...alternatives.map((alternative, index) => `  ${`or ${index + 1}`.padEnd(11)}  ${JSON.stringify(alternative)}`),
    ...(open === undefined ? [] : [`  also open    ${describeOpen(open)}`]),
    ...(reason === undefined
      ? [`  observable   ${describeObservability(observabilityOf(assumption))}`]
      : [`  no other     ${reason}`]),
  ]
  return `${id}\n${rows.join('\n')}\n`
}

/** `the codes invalid_domain, not_monitored; any content of a success` */
function describeOpen({ codes, success }: OpenAnswers): string {
  const said = success === true ? ['any content of a success'] : []
  return [...(codes === undefined ? [] : [`the codes ${codes.join(', ')}`]), ...said].join('; ')
}
