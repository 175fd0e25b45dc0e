import { fraction, scramble } from '../../ground/chance.ts'
import type { Draw } from '../injection.ts'
import { type CorruptionKind, omission, type PossibleChange, replacement, violates } from './corruption-kind.ts'
import { documentSpan, entriesOf, respace, type Spacing, type TextSpan, textOf } from './json-text.ts'
import { additions, hasNewValues, newValue, newValues } from './novelties.ts'
import { type ParsedResponse, placesIn, pointerOf, type Shape, shuffle, spanOf } from './parsed-response.ts'

/** How often, as a share, changes that only this contract allows are tried before those for every JSON text. */
const FREEDOM_FIRST = 3 / 4
/** How often a new order is drawn; a draw may give the present order. */
const TRIALS = 3

/** Another body that the contract also allows: it has the same meaning, or the contract permits the difference. */
export const compatible: CorruptionKind = {
  candidates,
  verify: (text, response) => text !== response.text && !violates(text, response),
}

function* candidates(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const freedoms = [newValuesOf, omissions, newPropertiesOf]
  const spellings = [properties, items, spacing, escapes, numbers, plainNumbers]
  const [shuffledFreedoms, shuffledSpellings] = [shuffle(freedoms, draw), shuffle(spellings, draw)]
  const ways =
    draw() < FREEDOM_FIRST ? [...shuffledFreedoms, ...shuffledSpellings] : [...shuffledSpellings, ...shuffledFreedoms]
  for (const way of ways) yield* way(response, draw)
}

/** New values for fields whose possible values the contract does not list. */
function* newValuesOf(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, isOpenList)) {
    if (place.shape.values !== undefined) continue
    for (const value of shuffle(newValues(place), draw)) yield newValue(response, place, value)
  }
}

function isOpenList(shape: Shape): boolean {
  return shape.declared.some((name) => hasNewValues(name) && shape.property(name).values === undefined)
}

function* omissions(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, hasOptional)) {
    const { step, parent } = place
    if (typeof step !== 'string' || parent === undefined || !isOptional(parent.shape, step)) continue
    yield omission(response, place, `${pointerOf(place)}, which is not required, was left out.`)
  }
}

function hasOptional(shape: Shape): boolean {
  return shape.declared.some((name) => isOptional(shape, name))
}

function isOptional(shape: Shape, name: string): boolean {
  return shape.declared.includes(name) && !shape.requires(name)
}

function* newPropertiesOf(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, isOpenObject)) {
    if (isOpenObject(place.shape)) yield* additions(response, place, draw)
  }
}

function isOpenObject(shape: Shape): boolean {
  return shape.mayBe('object') && !shape.isClosed
}

/** The order of another library: any two properties have the same order in all objects. */
function* properties({ text }: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const ranks = new Map<string, number>()
  function rank({ key = '' }: { key?: string }): number {
    const known = ranks.get(key) ?? draw()
    ranks.set(key, known)
    return known
  }
  function write(span: TextSpan): string {
    const opening = text[span.start]
    if (opening === '{') {
      const ranked = [...entriesOf(text, span)].map((entry) => ({ entry, rank: rank(entry) }))
      ranked.sort((one, other) => one.rank - other.rank)
      return `{${ranked.map(({ entry }) => `${entry.key}:${write(entry)}`).join(',')}}`
    }
    if (opening === '[') return `[${[...entriesOf(text, span)].map(write).join(',')}]`
    return textOf(text, span)
  }
  for (let trial = 0; trial < TRIALS; trial++) {
    ranks.clear()
    const change = 'The properties of the answer were written in another order.'
    yield { about: properties, make: () => ({ text: write(documentSpan(text)), change }) }
  }
}

function* items(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const { text, root } = response
  for (const place of placesIn(root, draw, isArray)) {
    if (!Array.isArray(place.value) || place.value.length < 2) continue
    const change = `The items of ${pointerOf(place)} were put in another order.`
    for (let trial = 0; trial < TRIALS; trial++) {
      const write = () => {
        const present = [...entriesOf(text, spanOf(response, place))]
        return `[${shuffle(present, chanceFrom(draw))
          .map((item) => textOf(text, item))
          .join(',')}]`
      }
      yield replacement(response, place, write, change)
    }
  }
}

function isArray(shape: Shape): boolean {
  return shape.mayBe('array')
}

/** Many numbers from one draw, because the number of draws may be limited. */
function chanceFrom(draw: Draw): Draw {
  let word = Math.floor(draw() * 4294967296)
  return () => fraction(scramble(word++ >>> 0))
}

const SPACINGS: readonly [how: string, spacing: Spacing][] = [
  ['with a line for each value', { line: (depth) => `\n${'  '.repeat(depth)}`, comma: '', colon: ' ' }],
  ['with tabs and line breaks', { line: (depth) => `\r\n${'\t'.repeat(depth)}`, comma: '', colon: ' ' }],
  ['with spaces after commas and colons', { line: () => '', comma: ' ', colon: ' ' }],
]

function* spacing({ text }: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const ended = (end: string) => ({ text: text + end, change: 'The answer was ended with a line break.' })
  const ways = [
    ...SPACINGS.map(([how, spaces]) => () => ({
      text: respace(text, spaces),
      change: `The answer was written ${how}.`,
    })),
    () => ended('\n'),
    () => ended('\r\n'),
  ]
  for (const make of shuffle(ways, draw)) yield { about: make, make }
}

/** Characters that some libraries escape without need. They occur only in strings. */
const ESCAPABLE: readonly [characters: string, pattern: RegExp, written: (character: string) => string][] = [
  ['characters beyond ASCII', /[\u0080-\uffff]/g, escaped],
  ['angle brackets, ampersands and backticks', /[<>&`]/g, escaped],
  ['slashes', /(?<!\\)\//g, () => '\\/'],
]

/** RFC 8259 §7: any character of a string may be written as its code. */
function* escapes(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const { text, root } = response
  for (const [characters, pattern, written] of shuffle(ESCAPABLE, draw)) {
    const change = `All ${characters} of the answer were written as escapes.`
    yield { about: pattern, make: () => ({ text: text.replaceAll(pattern, written), change }) }
  }
  for (const place of placesIn(root, draw)) {
    const { value } = place
    if (typeof value !== 'string' || value === '') continue
    const change = `The characters of ${pointerOf(place)} were written as their codes.`
    const json = `"${[...Array(value.length).keys()].map((index) => escaped(value.charAt(index))).join('')}"`
    yield replacement(response, place, () => json, change)
  }
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function* numbers(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const { text, root } = response
  for (const place of placesIn(root, draw, isNumber)) {
    const { value } = place
    if (typeof value !== 'number') continue
    const present = textOf(text, spanOf(response, place))
    const spellings = [`${value}`, value.toExponential(), value.toExponential().replace('e+', 'E')]
    if (/^-?\d+$/.test(present)) spellings.push(`${present}.0`)
    else if (/^-?\d+\.\d+$/.test(present)) spellings.push(`${present}0`)
    for (const spelling of shuffle(spellings, draw)) {
      if (spelling === present || Number(spelling) !== value) continue
      const change = `${pointerOf(place)} was written as ${spelling} instead of ${present}.`
      yield replacement(response, place, () => spelling, change)
    }
  }
}

function isNumber(shape: Shape): boolean {
  return shape.mayBe('number', 'integer')
}

/** Numbers as most libraries write them: without zeros at the end. */
function* plainNumbers({ root }: ParsedResponse): Generator<PossibleChange> {
  const change = 'The numbers of the answer were written without zeros at their end.'
  yield { about: plainNumbers, make: () => ({ text: JSON.stringify(root.value), change }) }
}
