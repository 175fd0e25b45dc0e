import { isObject, type Json } from '../../ground/json.ts'
import { plural } from '../../ground/plural.ts'
import type { Draw } from '../injection.ts'
import { type CorruptionKind, omission, type PossibleChange, replacement, violates } from './corruption-kind.ts'
import {
  documentSpan,
  entriesOf,
  insertEntry,
  removeEntry,
  replaceSpan,
  spanAt,
  type TextSpan,
  textOf,
} from './json-text.ts'
import { additions, unknownValues, wordNewValue } from './novelties.ts'
import {
  type BodyPlace,
  type ParsedResponse,
  placesIn,
  pointerOf,
  type Shape,
  shuffle,
  spanOf,
} from './parsed-response.ts'

/** A required field is missing. */
export const missingField: CorruptionKind = { candidates: missingFields, verify: violates }
/** A value has another type. */
export const wrongType: CorruptionKind = { candidates: wrongTypes, verify: violates }
/** An object has a field that the contract forbids. */
export const extraField: CorruptionKind = { candidates: extraFields, verify: violates }
/** Each field whose values are listed has a value that its list does not have. */
export const unknownEnum: CorruptionKind = { candidates: unknownEnums, verify: violates }
/** The envelope that the contract promises is missing, or incomplete. */
export const badEnvelope: CorruptionKind = { candidates: badEnvelopes, verify: violates }

/** The fields of the envelope belong to `bad-envelope`. */
function* missingFields(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, requiresSomething)) {
    const { step, parent } = place
    if (typeof step !== 'string' || parent?.parent === undefined || !parent.shape.requires(step)) continue
    yield omission(response, place, `${pointerOf(place)} was left out.`)
  }
}

function requiresSomething(shape: Shape): boolean {
  return shape.declared.some((name) => shape.requires(name))
}

function* wrongTypes(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw)) {
    // `success` and the whole body belong to `bad-envelope`.
    if (place.parent === undefined || (place.parent.parent === undefined && place.step === 'success')) continue
    for (const [type, write] of shuffle(otherTypes(place, response), draw)) {
      yield replacement(response, place, write, `${pointerOf(place)} became ${type} instead of ${typeOf(place.value)}.`)
    }
  }
}

type Rewriting = readonly [type: string, write: () => string]

/** How other servers are known to write such a value. */
function otherTypes(place: BodyPlace, response: ParsedResponse): readonly Rewriting[] {
  const { value } = place
  const present = () => textOf(response.text, spanOf(response, place))
  const asNull: Rewriting = ['null', () => 'null']
  const quoted: Rewriting = ['a string', () => `"${present()}"`]
  const wrapped: Rewriting = ['an array', () => `[${present()}]`]
  const blank: Rewriting = ['a string', () => '""']
  if (value === null) return [blank, ['an array', () => '[]'], ['an object', () => '{}'], ['a number', () => '0']]
  if (Array.isArray(value)) return [['an object', () => keyedByIndex(response, place)], asNull, blank]
  switch (typeof value) {
    case 'number':
      return [quoted, asNull, wrapped]
    case 'boolean':
      return [quoted, asNull, ['a number', () => (value ? '1' : '0')]]
    case 'string':
      return [asNull, wrapped, ['an object', () => `{"value":${present()}}`], ['a number', () => String(value.length)]]
    default:
      return [wrapped, ['an array', () => '[]'], asNull, blank]
  }
}

/** The form in which PHP writes an array whose indexes have a gap. */
function keyedByIndex(response: ParsedResponse, place: BodyPlace): string {
  const { text } = response
  const items = [...entriesOf(text, spanOf(response, place))]
  return `{${items.map((item, index) => `"${index}":${textOf(text, item)}`).join(',')}}`
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function* extraFields(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn(response.root, draw, isClosed)) {
    if (isClosed(place.shape)) yield* additions(response, place, draw)
  }
}

function isClosed(shape: Shape): boolean {
  return shape.isClosed
}

/** All such fields at once, because a client may read only some of them. The first value is drawn. */
function* unknownEnums(response: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  const { contract, text, root } = response
  const { codes } = contract
  const drawn = Math.floor(draw() * LONG)
  const changes: string[] = []
  const pieces: string[] = []
  let end = 0
  for (const { place, span } of spansIn(text, { place: root, span: documentSpan(text) }, codes.size === 0)) {
    // The contract lists the codes of a response beside its schema.
    const isCode = codes.size > 0 && place.step === 'code' && pointerOf(place) === '/error/code'
    const known = isCode ? [...codes, ...(place.shape.values ?? [])] : place.shape.values
    const values = known === undefined ? [] : unknownValues(place, known)
    const value = values[(drawn + changes.length) % values.length]
    if (value === undefined) continue
    changes.push(wordNewValue(place, value))
    pieces.push(text.slice(end, span.start), JSON.stringify(value))
    end = span.end
  }
  const [first = '', ...others] = changes
  if (first === '') return
  const rest = others.length === 0 ? '' : `, and ${plural(others.length, 'more field')} got new values, too`
  yield { about: root.shape, make: () => ({ text: pieces.join('') + text.slice(end), change: `${first}${rest}.` }) }
}

/** Longer than each list of new values. */
const LONG = 1000

interface SpannedPlace {
  place: BodyPlace
  span: TextSpan
}

/** All values that contain no other, in the order of the text. `onlyListed` leaves out parts in which no value is listed. */
function* spansIn(text: string, { place, span }: SpannedPlace, onlyListed: boolean): Generator<SpannedPlace> {
  const { value, shape } = place
  if (typeof value !== 'object' || value === null) yield { place, span }
  else if (!onlyListed || shape.leadsTo(listsValues)) {
    let index = 0
    for (const entry of entriesOf(text, span)) {
      const step: string | number = entry.key === undefined ? index++ : JSON.parse(entry.key)
      const child = typeof step === 'number' ? shape.items : shape.property(step)
      const inner = { value: (value as Json)[step], shape: child, step, parent: place }
      yield* spansIn(text, { place: inner, span: entry }, onlyListed)
    }
  }
}

function listsValues(shape: Shape): boolean {
  return shape.values !== undefined
}

function* badEnvelopes({ text, root }: ParsedResponse, draw: Draw): Generator<PossibleChange> {
  if (!isObject(root.value)) return
  const failed = root.value['success'] === false
  const [own, other] = failed ? ['error', 'data'] : ['data', 'error']
  const envelope = documentSpan(text)
  const success = spanAt(text, ['success'])
  const otherValue = failed ? '{}' : '{"code":"unknown","message":"Unknown error."}'
  const ways: readonly (readonly [change: string, write: () => string])[] = [
    ['/success was left out.', () => removeEntry(text, envelope, 'success')],
    [`/success became ${failed}.`, () => replaceSpan(text, success, `${failed}`)],
    ['/success became a string.', () => replaceSpan(text, success, `"${!failed}"`)],
    ['/success became a number.', () => replaceSpan(text, success, failed ? '0' : '1')],
    [`/${own} was left out.`, () => removeEntry(text, envelope, own)],
    [`/${other} was added and is null.`, () => insertEntry(text, envelope, 2, `"${other}":null`)],
    [`/${other} was added.`, () => insertEntry(text, envelope, 2, `"${other}":${otherValue}`)],
    [`The answer became what /${own} held.`, () => textOf(text, spanAt(text, [own]))],
    ['The answer was put in an array.', () => `[${text}]`],
    ['The answer became an empty object.', () => '{}'],
    ['The answer became an empty array.', () => '[]'],
    ['The answer became null.', () => 'null'],
  ]
  for (const way of shuffle(ways, draw)) yield { about: way, make: () => ({ text: way[1](), change: way[0] }) }
}
