import { observabilityOf } from '../choices/observability.ts'
import type { ChoiceQuestion } from '../choices/questions.ts'
import { overlayFor, pathTo } from '../contract/assumptions.ts'
import type { Alternative, Choices } from '../contract/choices.ts'
import { applyOverlay, asOverlay, type Overlay } from '../contract/overlay.ts'
import { parseYaml, writeYaml } from '../contract/yaml.ts'
import type { Json } from '../ground/json.ts'
import { printable } from '../ground/show.ts'
import type { AssumptionVerdict } from '../judge/verdict.ts'
import { foldToWidth } from '../reports/columns.ts'
import type { EvidenceContent } from './evidence-file.ts'
import { messagesIn, type SeenMessage } from './messages.ts'

/** The result for one assumption. */
export interface CalibratedAssumption extends AssumptionVerdict {
  /** Why exchanges cannot decide it; only if it is not decided. */
  unobservable?: string
  /** The requests that would decide it; only if it is not decided. */
  decide_with?: ChoiceQuestion
}

/** What follows from evidence for the contract. */
export interface Calibration {
  /** The overlay as YAML with comments. */
  text: string
  /** The alternatives in the overlay. */
  chosen: readonly Alternative[]
  messages: readonly SeenMessage[]
  assumptions: readonly CalibratedAssumption[]
}

interface ActionGroup {
  comment: readonly string[]
  actions: readonly Json[]
}

/** Makes an overlay from evidence: the alternatives that the service has chosen, and the texts of its messages. */
export async function calibrate(evidence: EvidenceContent, choices: Choices): Promise<Calibration> {
  const { source } = choices.contract.document
  const chosen = choices.alternatives.filter(({ id, number }) =>
    evidence.verdicts.some((each) => each.id === id && each.alternative === number),
  )
  let document = source
  for (const { overlay } of chosen) document = await applyOverlay(document, overlay)
  const messages = messagesIn(evidence.messages, choices.contract, document)
  const groups = [
    ...chosen.map((alternative) => describeAlternative(alternative, evidence.verdicts, source)),
    ...messages.map((message) => describeMessage(message, document)),
  ]
  return {
    text: await writeOverlay(groups, evidence),
    chosen,
    messages,
    assumptions: evidence.verdicts.map((verdict) => withRemedy(verdict, choices)),
  }
}

function describeAlternative(
  { id, number, assumption, value }: Alternative,
  verdicts: readonly AssumptionVerdict[],
  source: Json,
): ActionGroup {
  const evidence = verdicts.find((each) => each.id === id)?.evidence ?? []
  return {
    comment: [
      `${id}: ${assumption.spec}`,
      `Alternative ${number}, seen in ${evidence.join(', ') || 'some exchanges'}.`,
    ],
    actions: overlayFor(assumption, value, source).actions,
  }
}

function describeMessage({ of, place, key, template }: SeenMessage, document: Json): ActionGroup {
  return {
    comment: [`The message of ${of}, as the service words it.`],
    actions: [{ target: pathTo(document, place), update: { [key]: template } }],
  }
}

function withRemedy(verdict: AssumptionVerdict, { assumptions }: Choices): CalibratedAssumption {
  if (verdict.verdict === 'as chosen' || verdict.verdict === 'alternative') return verdict
  const assumption = assumptions.find(({ id }) => id === verdict.id)
  if (assumption === undefined) return verdict
  const { because, decide_with } = observabilityOf(assumption)
  return {
    ...verdict,
    ...(because !== undefined && { unobservable: because }),
    ...(decide_with !== undefined && { decide_with }),
  }
}

const WIDTH = 118

/** A comment stands before its actions. It can quote a service, so it must not contain a line break. */
async function writeOverlay(
  groups: readonly ActionGroup[],
  { verdicts, targets = [], contract }: EvidenceContent,
): Promise<string> {
  const count = (verdict: AssumptionVerdict['verdict']) => verdicts.filter((each) => each.verdict === verdict).length
  const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted')
  const head = [
    'Where a service was seen to differ from the choices of openapi.yaml. Give it to dmarc-understudy serve --overlay.',
    ...(contract.overlays.length > 0 ? [`Give it after ${contract.overlays.join(', ')}, which it is based on.`] : []),
    `Of ${verdicts.length} assumptions, ${count('as chosen')} are as chosen, ${count('alternative')} alternative, ${contradicted.length} contradicted and ${count('undecided')} undecided.`,
    ...contradicted.map(
      ({ id, evidence }) => `Not in here, because exchanges contradict each other: ${id} (${evidence.join(', ')}).`,
    ),
  ]
  const title = targets.length === 0 ? 'What a service was seen to do' : `What ${targets.join(', ')} was seen to do`
  const info = await writeYaml({ overlay: '1.0.0', info: { title: printable(title), version: '1.0.0' } })
  const parts = (groups.length === 0 ? [NOTHING] : groups).map(async ({ comment, actions }) =>
    indent(commentOf(comment) + (await writeYaml(actions))),
  )
  return `${commentOf(head)}${info}actions:\n${(await Promise.all(parts)).join('')}`
}

/** The Overlay Specification demands at least one action. */
const NOTHING: ActionGroup = {
  comment: ['The service was not seen to differ from the choices of openapi.yaml, so this changes nothing.'],
  actions: [{ target: '$', update: {} }],
}

function commentOf(lines: readonly string[]): string {
  return lines
    .flatMap((line) => foldToWidth(printable(line), WIDTH - 4))
    .map((line) => `# ${line}\n`)
    .join('')
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Reads the overlay of a calibration so that it can be applied. */
export async function readCalibration({ text }: Pick<Calibration, 'text'>, name: string): Promise<Overlay> {
  return asOverlay(await parseYaml(text, name), name)
}
