import { isObject, type Json } from '../ground/json.ts'
import { type GenuineBody, type PossibleChange, placesIn, pointerOf, shuffle, writeWith } from './body-places.ts'
import type { Draw } from './injection.ts'

/** How often a new order is drawn; a draw may give the present order. */
const TRIALS = 3

/** The same answer as another library would write it (RFC 8259), and lists in another order, in random order. */
export function* respellings(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const way of shuffle([properties, items, spacing, escapes, plainNumbers], draw)) yield* way(body, draw)
}

/** The order of another library: any two properties have the same order in all objects. */
function* properties({ value, contract }: GenuineBody, draw: Draw): Generator<PossibleChange> {
  const change = 'The properties of the answer were written in another order.'
  for (let trial = 0; trial < TRIALS; trial++) {
    const ranks = new Map<string, number>()
    yield { change, write: () => contract.write(reorder(value, ranks, draw)) }
  }
}

function reorder(value: unknown, ranks: Map<string, number>, draw: Draw): unknown {
  if (Array.isArray(value)) return value.map((item) => reorder(item, ranks, draw))
  if (!isObject(value)) return value
  for (const name of Object.keys(value)) if (!ranks.has(name)) ranks.set(name, draw())
  const rank = (name: string) => ranks.get(name) ?? 0
  const names = Object.keys(value).sort((one, other) => rank(one) - rank(other))
  return Object.fromEntries(names.map((name) => [name, reorder((value as Json)[name], ranks, draw)]))
}

function* items(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(body, draw, ({ value }) => Array.isArray(value) && value.length > 1)) {
    const items = place.value as unknown[]
    const change = `The items of ${pointerOf(place)} were put in another order.`
    for (let trial = 0; trial < TRIALS; trial++) {
      yield { change, write: () => writeWith(body, place, shuffle(items, draw)) }
    }
  }
}

function spacing({ text, value }: GenuineBody, draw: Draw): PossibleChange[] {
  const written = (how: string, write: () => string) => ({ change: `The answer was written ${how}.`, write })
  return shuffle(
    [
      written('with a line for each value', () => JSON.stringify(value, undefined, 2)),
      // The strings of JSON have no line breaks.
      written('with tabs and line breaks', () => JSON.stringify(value, undefined, '\t').replaceAll('\n', '\r\n')),
      { change: 'The answer was ended with a line break.', write: () => `${text}\n` },
    ],
    draw,
  )
}

/** Characters that some libraries escape without need. They occur only in strings. */
const ESCAPABLE: readonly [characters: string, pattern: RegExp, written: (character: string) => string][] = [
  ['characters beyond ASCII', /[\u0080-\uffff]/g, escapeUnit],
  ['angle brackets, ampersands and backticks', /[<>&`]/g, escapeUnit],
  ['slashes', /(?<!\\)\//g, () => '\\/'],
  ['dots between letters', /(?<=[a-z])\.(?=[a-z])/g, escapeUnit],
]

/** RFC 8259 §7: any character of a string may be written as its code. */
function escapes({ text }: GenuineBody, draw: Draw): PossibleChange[] {
  return shuffle(ESCAPABLE, draw).map(([characters, pattern, written]) => ({
    change: `All ${characters} of the answer were written as escapes.`,
    write: () => text.replaceAll(pattern, written),
  }))
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Numbers as most libraries write them: without zeros at the end. */
function plainNumbers({ value }: GenuineBody): PossibleChange[] {
  const change = 'The numbers of the answer were written without zeros at their end.'
  return [{ change, write: () => JSON.stringify(value) }]
}
