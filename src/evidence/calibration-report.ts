import type { Choices } from '../contract/choices.ts'
import { describeQuestion } from '../judge/observability.ts'
import { isMixed } from '../judge/verdicts.ts'
import { type CommandTimes, type Finding, listFacts, type Report, type Row } from '../reports/report.ts'
import type { CalibratedAssumption, Calibration } from './calibration.ts'
import type { SeenChoices } from './evidence-file.ts'
import { rowOfVerdict, showIncomplete } from './report.ts'

export interface CalibrationReportOptions extends CommandTimes {
  /** What was looked at, as a short phrase. */
  title: string
  evidence: SeenChoices
  calibration: Calibration
  choices: Pick<Choices, 'assumptions'>
  /** Further information for the user, in sentences. */
  warnings: readonly string[]
}

const NOTHING_SEEN = 'There is no evidence in what was given: no exchange with the service could be judged.'

/** Describes the result of a calibration for every output format. */
export function describeCalibration(options: CalibrationReportOptions): Report {
  const { title, evidence, calibration, choices, warnings, startedAt, seconds, interruptedWith } = options
  const { exchanges, judged, targets } = evidence
  const { assumptions, messages, chosen } = calibration
  const isEmpty = judged === 0 && evidence.observations.length === 0
  const contradicted = assumptions.filter(({ verdict }) => verdict === 'contradicted')
  const passed = contradicted.length === 0 && !isEmpty
  return {
    tool: 'calibrate',
    ...{ title, summary: summarise(calibration, isEmpty), passed, startedAt, seconds },
    exitCode: interruptedWith ?? (passed ? 0 : 1),
    facts: listFacts({
      Service: targets.length > 0 && targets.join(', '),
      Exchanges: `${exchanges}, of which ${judged} were judged`,
      'In the overlay': chosen.length > 0 && chosen.map(({ id, number }) => `${id}/${number}`).join(', '),
      Messages: messages.length > 0 && messages.map(({ of }) => of).join(', '),
    }),
    findings: [
      ...(isEmpty ? [showIncomplete('error')(NOTHING_SEEN)] : []),
      ...contradicted.map((each) => showContradiction(each, choices)),
      ...warnings.map(showIncomplete('warning')),
    ],
    table: {
      title: 'Assumptions',
      columns: ['Assumption', 'Verdict', 'What would decide it'],
      rows: assumptions.map(rowOf),
    },
    json: {
      ...{ targets, exchanges, judged, assumptions },
      messages: messages.map(({ of, text }) => ({ of, text })),
      ...(warnings.length > 0 && { warnings }),
    },
  }
}

function summarise({ assumptions, chosen }: Calibration, isEmpty: boolean): string {
  if (isEmpty) return 'No exchange with the service could be judged, so the overlay says nothing.'
  const count = (verdict: string) => assumptions.filter((each) => each.verdict === verdict).length
  const contradicted = count('contradicted')
  const decided = `Of ${assumptions.length} assumptions, the service chooses ${count('as chosen')} as openapi.yaml does, and takes an alternative in ${chosen.length}; ${count('undecided')} are undecided.`
  if (contradicted === 0) return decided
  return `${decided} ${contradicted} are contradicted: exchanges show one choice, and others another.`
}

function showContradiction(
  { id, evidence, decide_with: question }: CalibratedAssumption,
  { assumptions }: CalibrationReportOptions['choices'],
): Finding {
  const assumption = assumptions.find((each) => each.id === id)
  const description = `It has shown more than one choice. ${assumption?.spec ?? ''}`.trim()
  return {
    rule: { id, name: 'The service contradicts itself', description },
    level: 'error',
    message: `Exchanges cannot agree on ${id}: ${evidence.join(', ')}. The overlay leaves it as it is.`,
    pointer: assumption?.place,
    ...(question !== undefined && { remedy: { text: 'This would decide it:', command: describeQuestion(question) } }),
  }
}

function rowOf(assumption: CalibratedAssumption): Row {
  const { verdict, left, decide_with: question, unobservable = '' } = assumption
  const { outcome, cells } = rowOfVerdict(assumption)
  if (verdict !== 'undecided') return { outcome, cells: [...cells, ''] }
  if (isMixed(assumption)) return { outcome, cells: [...cells, 'nothing: it is mixed, another choice for each case'] }
  const possible = left === undefined ? '' : `Still possible: ${left.join(', ')}. `
  const remedy = question === undefined ? `nothing: ${unobservable}` : describeQuestion(question)
  return { outcome, cells: [...cells, possible + remedy] }
}
