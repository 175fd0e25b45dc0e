import { isObject, type Json } from '../../ground/json.ts'
import type { Draw } from '../injection.ts'
import {
  type CorruptionKind,
  type GenuineBody,
  kindOfPlace,
  type PossibleChange,
  placesIn,
  pointerOf,
  respell,
  shuffle,
  violates,
  writeWith,
} from './body.ts'
import { additions, newValues, omissions, wordNewValue } from './novelties.ts'

/** How often, as a share, changes that only this contract allows are tried before those for every JSON text. */
const FREEDOM_FIRST = 3 / 4
/** How often a new order is drawn; a draw may give the present order. */
const TRIALS = 3

/** Another body that the contract also allows: it has the same meaning, or the contract permits the difference. */
export const compatible: CorruptionKind = {
  candidates,
  verify: (text, body) => text !== body.text && !violates(text, body),
}

function* candidates(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  const freedoms = shuffle([newValuesOf, optionalFields, additions], draw)
  const spellings = shuffle([properties, items, spacing, escapes, numbers, plainNumbers], draw)
  const ways = draw() < FREEDOM_FIRST ? [...freedoms, ...spellings] : [...spellings, ...freedoms]
  for (const way of ways) yield* way(body, draw)
}

/** New values for fields whose possible values the contract does not list. */
function* newValuesOf(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    for (const value of shuffle(newValues(place), draw)) {
      const change = `${wordNewValue(place, value)}.`
      yield { about: kindOfPlace(place), change, write: () => writeWith(body, place, value) }
    }
  }
}

function optionalFields(body: GenuineBody, draw: Draw): Iterable<PossibleChange> {
  return omissions(body, draw, ', which is not required,')
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
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    const { value } = place
    if (!Array.isArray(value) || value.length < 2) continue
    const change = `The items of ${pointerOf(place)} were put in another order.`
    for (let trial = 0; trial < TRIALS; trial++) {
      yield { change, write: () => writeWith(body, place, shuffle(value, draw)) }
    }
  }
}

function spacing({ text, value }: GenuineBody, draw: Draw): PossibleChange[] {
  const ended = 'The answer was ended with a line break.'
  const written = (how: string, write: () => string) => ({ change: `The answer was written ${how}.`, write })
  return shuffle(
    [
      written('with a line for each value', () => JSON.stringify(value, undefined, 2)),
      // The strings of JSON have no line breaks.
      written('with tabs and line breaks', () => JSON.stringify(value, undefined, '\t').replaceAll('\n', '\r\n')),
      written('with spaces after commas and colons', () => text.replaceAll(STRING_OR_SEPARATOR, spaced)),
      { change: ended, write: () => `${text}\n` },
      { change: ended, write: () => `${text}\r\n` },
    ],
    draw,
  )
}

const STRING_OR_SEPARATOR = /"(?:[^"\\]|\\.)*"|[,:]/g

function spaced(token: string): string {
  return token.startsWith('"') ? token : `${token} `
}

/** Characters that some libraries escape without need. They occur only in strings. */
const ESCAPABLE: readonly [characters: string, pattern: RegExp, written: (character: string) => string][] = [
  ['characters beyond ASCII', /[\u0080-\uffff]/g, escaped],
  ['angle brackets, ampersands and backticks', /[<>&`]/g, escaped],
  ['slashes', /(?<!\\)\//g, () => '\\/'],
]

/** RFC 8259 §7: any character of a string may be written as its code. */
function* escapes(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const [characters, pattern, written] of shuffle(ESCAPABLE, draw)) {
    const change = `All ${characters} of the answer were written as escapes.`
    yield { change, write: () => body.text.replaceAll(pattern, written) }
  }
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    const { value } = place
    if (typeof value !== 'string' || value === '') continue
    const change = `The characters of ${pointerOf(place)} were written as their codes.`
    yield { change, write: () => respell(body, place, () => `"${value.replaceAll(/[\s\S]/g, escaped)}"`) }
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function* numbers(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    const { value } = place
    if (typeof value !== 'number') continue
    const exponential = value.toExponential()
    const decimal = Number.isInteger(value) ? `${value}.0` : `${value}0`
    for (const spelling of shuffle([`${value}`, exponential, exponential.replace('e+', 'E'), decimal], draw)) {
      if (Number(spelling) !== value) continue
      yield {
        change: `${pointerOf(place)} was written as ${spelling} instead of ${value}.`,
        write: () => respell(body, place, () => spelling),
      }
    }
  }
}

/** Numbers as most libraries write them: without zeros at the end. */
function plainNumbers({ value }: GenuineBody): PossibleChange[] {
  const change = 'The numbers of the answer were written without zeros at their end.'
  return [{ change, write: () => JSON.stringify(value) }]
}
