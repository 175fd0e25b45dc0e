import { type Assumption, overlayFor, pathTo } from '../contract/assumptions.ts'
import type { Alternative, Choices } from '../contract/choices.ts'
import { applyOverlay, asOverlay, type Overlay } from '../contract/overlay.ts'
import { parseYaml, writeYaml } from '../contract/yaml.ts'
import { givenFields } from '../domain/given-fields.ts'
import { isObject, type Json, pointTo, valueAt } from '../ground/json.ts'
import { printable } from '../ground/show.ts'
import { observabilityOf } from '../judge/observability.ts'
import type { ChoiceQuestion } from '../judge/questions.ts'
import { type AssumptionVerdict, decideVerdicts, isMixed } from '../judge/verdicts.ts'
import type { SeenChoices } from './evidence-file.ts'
import { countVerdicts } from './report.ts'

/** The text of a message that a service sent, with its place in openapi.yaml. */
interface SeenMessage {
  /** An error code, or the `operationId` of a success. */
  of: string
  text: string
  /** JSON pointer of the object that holds the text, and its field. */
  place: string
  key: 'message' | 'default'
}

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
  /** Every assumption, in the order of the document. */
  assumptions: readonly CalibratedAssumption[]
}

interface ActionGroup {
  comment: readonly string[]
  actions: readonly Json[]
}

/** Makes an overlay from evidence: the alternatives that the service has chosen, and the texts of its messages. */
export async function calibrate(evidence: SeenChoices, choices: Choices): Promise<Calibration> {
  const { source } = choices.contract.document
  const verdicts = new Map(decideVerdicts(evidence.observations, choices).map((each) => [each.id, each]))
  const chosen = choices.alternatives.filter(({ id, number }) => verdicts.get(id)?.alternative === number)
  let document = source
  for (const { overlay } of chosen) document = await applyOverlay(document, overlay)
  const messages = messagesIn(evidence.messages, document)
  const assumptions = choices.assumptions.flatMap((each) => withRemedy(verdicts.get(each.id), each))
  const groups = [
    ...chosen.map((alternative) =>
      describeAlternative(alternative, verdicts.get(alternative.id)?.evidence ?? [], source),
    ),
    ...messages.map(({ of, text, place, key }) => ({
      comment: [`The message of ${of}, which was always the same.`],
      actions: [{ target: pathTo(document, place), update: { [key]: text } }],
    })),
  ]
  return { text: await writeOverlay(groups, assumptions, evidence), chosen, messages, assumptions }
}

function describeAlternative(
  { id, number, assumption, value }: Alternative,
  evidence: readonly string[],
  source: Json,
): ActionGroup {
  return {
    comment: [
      `${id}: ${assumption.spec}`,
      `Alternative ${number}, seen in ${evidence.join(', ') || 'some exchanges'}.`,
    ],
    actions: overlayFor(assumption, value, source).actions,
  }
}

function withRemedy(verdict: AssumptionVerdict | undefined, assumption: Assumption): CalibratedAssumption[] {
  if (verdict === undefined) return []
  if (verdict.verdict === 'as chosen' || verdict.verdict === 'alternative') return [verdict]
  const { because, decide_with } = observabilityOf(assumption)
  return [{ ...verdict, ...givenFields({ unobservable: because, decide_with }) }]
}

const WIDTH = 118

/** A comment stands before its actions. It can quote a service, so it must not contain a line break. */
async function writeOverlay(
  groups: readonly ActionGroup[],
  verdicts: readonly AssumptionVerdict[],
  { targets, contract }: SeenChoices,
): Promise<string> {
  const contradicted = verdicts.filter(({ verdict }) => verdict === 'contradicted')
  const head = [
    'Where a service was seen to differ from the choices of openapi.yaml. Give it to dmarc-understudy serve --overlay.',
    ...(contract.overlays.length > 0 ? [`Give it after ${contract.overlays.join(', ')}, which it is based on.`] : []),
    `Assumptions: ${countVerdicts(verdicts)}.`,
    ...contradicted.map(
      ({ id, evidence }) => `Not in here, because exchanges contradict each other: ${id} (${evidence.join(', ')}).`,
    ),
    ...verdicts
      .filter(isMixed)
      .map(
        ({ id, evidence }) =>
          `Not in here, because it is mixed, another choice for each case: ${id} (${evidence.join(', ')}).`,
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
    .flatMap((line) => printable(line).match(LINE) ?? [])
    .map((line) => `# ${line.trimEnd()}\n`)
    .join('')
}

/** As many words as fit into a line of a comment, or a word that is longer. */
const LINE = new RegExp(`\\S.{0,${WIDTH - 5}}(?=\\s|$)|\\S+`, 'gu')

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Reads the overlay of a calibration so that it can be applied. */
export async function readCalibration({ text }: Pick<Calibration, 'text'>, name: string): Promise<Overlay> {
  return asOverlay(await parseYaml(text, name), name)
}

/** A word that no value of a request looks like. */
const ORDINARY = /^\(?(?:[A-Z]?[a-z]+(?:['’-][a-z]+)*|[A-Z]+)[.,;:!?)]*$/
/** What a request may have as ordinary words, such as the name of a group. */
const FREE = /\{(?:name|value)\}/

/**
 * The messages that were always the same, apart from those that `document` has already. A text with anything but words,
 * and that of a code with several reasons, may be another one next time, so it is left out.
 */
export function messagesIn(texts: Readonly<Record<string, readonly string[]>>, document: Json): SeenMessage[] {
  return Object.entries(texts).flatMap(([of, seen]) => {
    const [text, ...others] = seen
    if (text === undefined || others.length > 0 || !text.split(' ').every((word) => ORDINARY.test(word))) return []
    const place = placeOfRefusal(of, document) ?? placeOfSuccess(of, document)
    if (place === undefined || place.present === text || FREE.test(place.present)) return []
    return [{ of, text, place: place.pointer, key: place.key }]
  })
}

/** `present` is the text that the document has there. */
type MessagePlace = Pick<SeenMessage, 'key'> & { pointer: string; present: string }

function placeOfRefusal(code: string, document: Json): MessagePlace | undefined {
  const pointer = pointTo('/x-errors', code)
  const entry = valueAt(document, pointer)
  if (!isObject(entry) || typeof entry['message'] !== 'string') return undefined
  const reasons = Object.values(entry['reasons'] ?? {}) as Json[]
  if (reasons.some(({ message }) => message !== undefined)) return undefined
  return { pointer, key: 'message', present: entry['message'] }
}

/** The schema of the message in the successes of an operation. */
function placeOfSuccess(operationId: string, document: Json): MessagePlace | undefined {
  const operations = Object.values(document['paths'] as Json).flatMap((path) => Object.values(path as Json))
  const operation = operations.find((each) => isObject(each) && each['operationId'] === operationId)
  const responses = Object.entries(((operation as Json | undefined)?.['responses'] ?? {}) as Json)
  for (const [, response] of responses.filter(([status]) => status.startsWith('2'))) {
    let found = follow(document, response, '')
    for (const step of ['content', 'application/json', 'schema', 'properties', 'data', 'properties', 'message']) {
      found = isObject(found?.value) ? follow(document, found.value[step], pointTo(found.pointer, step)) : undefined
    }
    const present = isObject(found?.value) ? found.value['default'] : undefined
    if (found !== undefined && typeof present === 'string') return { pointer: found.pointer, key: 'default', present }
  }
  return undefined
}

/** The value, or if it is a reference, its target; with the place. */
function follow(document: Json, value: unknown, pointer: string): { value: unknown; pointer: string } | undefined {
  const reference = isObject(value) ? value['$ref'] : undefined
  if (typeof reference !== 'string') return value === undefined ? undefined : { value, pointer }
  const place = reference.slice(1)
  return { value: valueAt(document, place), pointer: place }
}
