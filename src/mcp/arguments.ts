import { nearestName } from '../ground/edit-distance.ts'
import type { Json } from '../ground/json.ts'
import { show } from '../ground/show.ts'
import { refuseArgument } from '../library/control-error.ts'
import { type AnswerExtent, CHARACTERS } from './answer.ts'
import type { AssistantTool } from './tool.ts'

/** Refuses what the control plane cannot see: arguments of other names, and required ones that are missing. */
export function refuseWrongNames({ inputSchema }: Pick<AssistantTool, 'inputSchema'>, args: Json): void {
  const names = Object.keys(inputSchema.properties)
  for (const given of Object.keys(args)) {
    if (names.includes(given)) continue
    const nearest = nearestName(given, names)
    const known = names.length === 0 ? 'the tool takes no argument' : `there are ${names.join(', ')}`
    throw refuseArgument(
      `/${given}`,
      `/${given} is no argument; ${nearest === undefined ? known : `did you mean /${nearest}?`}`,
    )
  }
  const missing = inputSchema.required?.find((name) => args[name] === undefined)
  if (missing === undefined) return
  const { description } = (inputSchema.properties[missing] ?? {}) as { description?: string }
  throw refuseArgument(
    `/${missing}`,
    `/${missing} is missing.${description === undefined ? '' : ` It is: ${description}`}`,
  )
}

/** A parameter of a path or a query, as it is sent. A number and a boolean mean their text. @throws ControlError */
export function readScalar(name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw refuseArgument(`/${name}`, `/${name} must be a text, a number or a boolean, not ${show(value)}.`)
}

/** The arguments with which a reader says how much of an answer it wants. */
export const EXTENT_PROPERTIES: Json = {
  part: {
    type: 'string',
    description: 'JSON pointer: only this part of the answer.',
  },
  max_characters: {
    type: 'integer',
    minimum: CHARACTERS.least,
    maximum: CHARACTERS.most,
    description: `By default ${CHARACTERS.usual}.`,
  },
}

/** @throws ControlError */
export function readExtent(args: Json): AnswerExtent {
  const { part = '' } = args
  if (typeof part !== 'string') {
    throw refuseArgument('/part', `/part must be a JSON pointer as text, not ${show(part)}.`)
  }
  const { least, usual, most } = CHARACTERS
  return { part, characters: readNumber(args, 'max_characters', [least, usual, most]) }
}

/** A whole number among the arguments. @throws ControlError */
export function readNumber(
  args: Json,
  name: string,
  [least, usual, most]: readonly [least: number, usual: number, most: number],
): number {
  const value = args[name] ?? usual
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return Number(value)
  throw refuseArgument(`/${name}`, `/${name} must be a whole number from ${least} to ${most}, not ${show(value)}.`)
}
