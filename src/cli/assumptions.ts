import { type Assumption, assumptionsOf, type OpenAnswers, overlayFor } from '../contract/assumptions.ts'
import { readSource } from '../contract/document.ts'
import { readOverlays } from '../contract/overlay.ts'
import { writeYaml } from '../contract/yaml.ts'
import { isObject, type Json } from '../ground/json.ts'
import { shorten, showWritten } from '../ground/show.ts'
import { describeObservability, observabilityOf, reportAssumption } from '../judge/observability.ts'
import { type Options, optIn } from '../server/option.ts'
import { COMMAND_LINE_OPTIONS } from '../server/option-table.ts'
import { defineCommand } from './command.ts'
import { refuseId, UsageError } from './options.ts'

const OPTIONS = {
  json: optIn('Print JSON instead of text.'),
  overlays: COMMAND_LINE_OPTIONS.overlays,
} as const satisfies Options

export const assumptions = defineCommand(
  'assumptions',
  OPTIONS,
  async ({ values, positionals }, terminal) => {
    const source = await readSource(await readOverlays(values.overlays))
    const all = assumptionsOf(source)
    const print = (json: unknown, text: string) =>
      terminal.print(values.json ? JSON.stringify(json, undefined, 2) : text)
    const isOverlay = positionals[0] === 'overlay'
    const [id, number, ...rest] = isOverlay ? positionals.slice(1) : positionals
    if (rest.length > 0 || (number !== undefined && !isOverlay)) {
      const given = shorten(positionals.join(' '))
      throw new UsageError(`assumptions ${given}: must be ID, overlay ID [N], or nothing`)
    }
    if (id === undefined && !isOverlay) print(all.map(reportAssumption), writeList(all))
    else {
      const assumption = findAssumption(id, all, isOverlay ? 'assumptions overlay' : 'assumptions')
      if (isOverlay) {
        const document = describeOverlay(assumption, number ?? '1', source)
        print(document, (await writeYaml(document)).trimEnd())
      } else print(reportAssumption(assumption), describe(assumption))
    }
    return 0
  },
  'operands',
)

/** @throws UsageError if there is none, with the nearest one. `verb` is what the user has called. */
function findAssumption(id: string | undefined, all: readonly Assumption[], verb: string): Assumption {
  const found = all.find((each) => each.id === id)
  if (found !== undefined) return found
  const ids = all.map((each) => each.id)
  throw new UsageError(`${verb}${id === undefined ? '' : ` ${showWritten(id)}`}: ${refuseId(id ?? '', ids)}`)
}

/** The overlay with which the stand-in behaves like an alternative. @throws UsageError if there is none of this number */
function describeOverlay(assumption: Assumption, number: string, source: Json): Json {
  const { id, alternatives, reason } = assumption
  const { length } = alternatives
  if (length === 0) throw new UsageError(`assumptions overlay ${id}: has no alternative. ${reason}`)
  const alternative = /^\d+$/.test(number) ? alternatives[Number(number) - 1] : undefined
  if (alternative === undefined) {
    const right = length === 1 ? '1, its only alternative' : `one of its ${length} alternatives, from 1`
    throw new UsageError(`assumptions overlay ${id} ${shorten(number)}: must be ${right}`)
  }
  const { actions } = overlayFor(assumption, alternative, source)
  return { overlay: '1.0.0', info: { title: `${id}, alternative ${number}`, version: '1.0.0' }, actions }
}

/** The most characters of our choice, and of what the specification says, in a line of the list. */
const [CHOICE_SHOWN, SPEC_SHOWN] = [56, 90]

/** One line for each: its id, our choice, the number of alternatives, and what the specification leaves open. */
function writeList(all: readonly Assumption[]): string {
  const rows = [
    ['assumption', 'our choice', 'others', 'left open'],
    ...all.map(({ id, choice, alternatives, spec, reason = '' }) => {
      const shown = alternatives.length === 0 ? reason : JSON.stringify(choice['value'] ?? choice, nameReference)
      return [id, shorten(shown, CHOICE_SHOWN), `${alternatives.length}`, shorten(spec, SPEC_SHOWN)]
    }),
  ]
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '))
  return `${lines.join('\n')}\n\n${EXPLANATION}`
}

/** A reference by its name alone, because its path would leave no room for anything else. */
function nameReference(_key: string, value: unknown): unknown {
  const reference = isObject(value) ? value['$ref'] : undefined
  return typeof reference === 'string' ? reference.slice(reference.lastIndexOf('/') + 1) : value
}

const EXPLANATION =
  'npx dmarc-understudy assumptions ID says more of one; assumptions overlay ID [N] prints the overlay of alternative N.'

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
  return `${id}\n${rows.join('\n')}`
}

/** `the codes invalid_domain, not_monitored; any content of a success` */
function describeOpen({ codes, success }: OpenAnswers): string {
  const said = success === true ? ['any content of a success'] : []
  return [...(codes === undefined ? [] : [`the codes ${codes.join(', ')}`]), ...said].join('; ')
}
