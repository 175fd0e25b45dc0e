import { type Assumption, assumptionsOf, overlayFor } from '../contract/assumptions.ts'
import { readDocument } from '../contract/document.ts'
import { readOverlay } from '../contract/overlay.ts'
import { nearestName } from '../ground/edit-distance.ts'
import { shorten } from '../ground/show.ts'
import { type Options, toggle } from '../start/option.ts'
import { COMMAND_LINE_OPTIONS } from '../start/option-table.ts'
import type { Command } from './command.ts'
import { UsageError } from './errors.ts'
import { readOptions } from './options.ts'

const OPTIONS = {
  json: { kind: toggle, help: 'Print JSON instead of text.', default: false },
  overlays: COMMAND_LINE_OPTIONS.overlays,
} as const satisfies Options

export const assumptions: Command = {
  options: OPTIONS,

  async run(args, terminal) {
    const { values, positionals } = readOptions(OPTIONS, args, terminal.environment)
    const { source, extensions } = await readDocument({ overlays: await Promise.all(values.overlays.map(readOverlay)) })
    const all = assumptionsOf(source, extensions)
    const [verb, id, number = '1', ...rest] = positionals
    if (verb === undefined) {
      terminal.print(values.json ? JSON.stringify(all, undefined, 2) : all.map(describe).join('\n'))
      return 0
    }
    if (verb !== 'overlay' || rest.length > 0)
      throw new UsageError(`assumptions ${shorten(positionals.join(' '))}: must be overlay ID [N], or nothing`)
    const assumption = all.find((each) => each.id === id)
    if (assumption === undefined) {
      const nearest = nearestName(
        id ?? '',
        all.map((each) => each.id),
      )
      const remedy = nearest === undefined ? 'the command assumptions lists them' : `did you mean ${nearest}?`
      throw new UsageError(`assumptions overlay ${shorten(id ?? '')}: must be the id of an assumption; ${remedy}`)
    }
    if (assumption.alternatives.length === 0) {
      throw new UsageError(`assumptions overlay ${id}: has no alternative. ${assumption.reason}`)
    }
    const alternative = /^\d+$/.test(number) ? assumption.alternatives[Number(number) - 1] : undefined
    if (alternative === undefined) {
      throw new UsageError(
        `assumptions overlay ${id} ${shorten(number)}: must be one of its ${assumption.alternatives.length} alternatives, from 1`,
      )
    }
    const { actions } = overlayFor(assumption, alternative, source)
    const document = { overlay: '1.0.0', info: { title: `${id}, alternative ${number}`, version: '1.0.0' }, actions }
    const { dump } = await import('js-yaml')
    terminal.print(values.json ? JSON.stringify(document, undefined, 2) : dump(document, { lineWidth: 120 }).trimEnd())
    return 0
  },
}

function describe({ id, place, spec, choice, alternatives, reason }: Assumption): string {
  const rows = [
    `  stands at    ${place}`,
    `  left open    ${spec}`,
    `  our choice   ${JSON.stringify(choice)}`,
    ...alternatives.map((alternative, index) => `  ${`or ${index + 1}`.padEnd(11)}  ${JSON.stringify(alternative)}`),
    ...(reason === undefined ? [] : [`  no other     ${reason}`]),
  ]
  return `${id}\n${rows.join('\n')}\n`
}
