import { isObject, type Json, mapValues, pointTo, readJson, valueAt } from '../../ground/json.ts'
import { plural } from '../../ground/plural.ts'
import type { Draw } from '../injection.ts'
import {
  type CorruptionKind,
  type GenuineBody,
  isContainer,
  kindOfPlace,
  type Place,
  type PossibleChange,
  placesIn,
  pointerOf,
  respell,
  shuffle,
  violates,
} from './body.ts'
import { additions, newValues, omissions, wordNewValue } from './novelties.ts'

/** Text that is not JSON, as faulty servers are known to send it. */
export const malformedJson: CorruptionKind = {
  candidates: malformations,
  verify: (text) => readJson(text) === undefined,
}
/** A required field is missing. */
export const missingField: CorruptionKind = { candidates: (body, draw) => omissions(body, draw), verify: violates }
/** A value has another type. */
export const wrongType: CorruptionKind = { candidates: wrongTypes, verify: violates }
/** An object has a field that the contract forbids. */
export const extraField: CorruptionKind = { candidates: additions, verify: violates }
/** Each field whose values are listed has a value that its list does not have. */
export const unknownEnum: CorruptionKind = { candidates: unknownEnums, verify: violates }
/** The envelope that the contract promises is missing, or incomplete. */
export const badEnvelope: CorruptionKind = { candidates: badEnvelopes, verify: violates }

const ERROR_PAGE =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n'

function malformations(body: GenuineBody, draw: Draw): PossibleChange[] {
  const { text, value } = body
  const places = [...placesIn({ value, steps: [] }, draw)]
  const cut = 1 + Math.floor(draw() * (text.length - 1))
  // Half of a surrogate pair cannot be written in UTF-8.
  const kept = /[\ud800-\udbff]/.test(text.charAt(cut - 1)) ? cut - 1 : cut
  const at = (matches: (value: unknown) => boolean, what: string, spell: (present: string) => string) => {
    const place = places.find((each) => matches(each.value))
    if (place === undefined) return []
    return [{ change: `${pointerOf(place) || 'The answer'} ${what}`, write: () => respell(body, place, spell) }]
  }
  const isFilled = (each: unknown) => isContainer(each) && Object.keys(each).length > 0
  const ways: PossibleChange[] = [
    { change: `The answer was cut off after ${kept} of ${text.length} characters.`, write: () => text.slice(0, kept) },
    ...at(isFilled, 'got a trailing comma.', (present) => `${present.slice(0, -1)},${present.slice(-1)}`),
    {
      change: 'The strings of the answer were put in single quotes.',
      write: () => text.replaceAll(/"((?:[^"\\]|\\.)*)"/g, "'$1'"),
    },
    { change: 'The answer became an error page in HTML.', write: () => ERROR_PAGE },
    ...at(
      (each) => typeof each === 'number',
      'became NaN.',
      () => 'NaN',
    ),
    ...at(
      (each) => typeof each === 'string',
      'got a line break that is not escaped.',
      (present) => {
        return `${present.slice(0, -1)}\n"`
      },
    ),
    { change: 'The answer was sent twice.', write: () => `${text}\n${text}` },
  ]
  return shuffle(ways, draw)
}

function* wrongTypes(body: GenuineBody, draw: Draw): Generator<PossibleChange> {
  for (const place of placesIn({ value: body.value, steps: [] }, draw)) {
    const pointer = pointerOf(place)
    // `success` and the whole body belong to `bad-envelope`.
    if (pointer === '' || pointer === '/success') continue
    for (const [type, spell] of shuffle(otherTypes(place.value), draw)) {
      yield {
        about: `${kindOfPlace(place)} ${type}`,
        change: `${pointer} became ${type} instead of ${typeOf(place.value)}.`,
        write: () => respell(body, place, spell),
      }
    }
  }
}

type Spelling = readonly [type: string, spell: (present: string) => string]

const AS_NULL: Spelling = ['null', () => 'null']
const QUOTED: Spelling = ['a string', (present) => `"${present}"`]
const WRAPPED: Spelling = ['an array', (present) => `[${present}]`]
const BLANK: Spelling = ['a string', () => '""']
const NO_ITEMS: Spelling = ['an array', () => '[]']

/** How other servers are known to write such a value. */
function otherTypes(value: unknown): readonly Spelling[] {
  if (value === null) return [BLANK, NO_ITEMS, ['an object', () => '{}'], ['a number', () => '0']]
  // The form in which PHP writes an array whose indexes have a gap.
  if (Array.isArray(value)) return [['an object', () => JSON.stringify({ ...value })], AS_NULL, BLANK]
  switch (typeof value) {
    case 'number':
      return [QUOTED, AS_NULL, WRAPPED]
    case 'boolean':
      return [QUOTED, AS_NULL, ['a number', () => (value ? '1' : '0')]]
    case 'string':
      return [
        AS_NULL,
        WRAPPED,
        ['an object', (present) => `{"value":${present}}`],
        ['a number', () => `${value.length}`],
      ]
    default:
      return [WRAPPED, NO_ITEMS, AS_NULL, BLANK]
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** All such fields at once, because a client may read only some of them. The first value is drawn. */
function unknownEnums({ value, contract }: GenuineBody, draw: Draw): PossibleChange[] {
  const drawn = Math.floor(draw() * LONG)
  const changes: string[] = []
  const known = new Map<string, readonly unknown[]>()
  function listedAt(place: Place): readonly unknown[] {
    const kind = kindOfPlace(place)
    const listed = known.get(kind) ?? listedValues(contract.schema, place)
    known.set(kind, listed)
    // The contract lists the codes of a response beside its schema.
    return kind === 'error/code' ? [...listed, ...contract.codes] : listed
  }
  function change(place: Place): unknown {
    const { value: present, steps } = place
    const inside = (inner: unknown, step: string | number) => change({ value: inner, steps: [...steps, step] })
    if (Array.isArray(present)) return present.map(inside)
    if (isObject(present)) return mapValues(present, inside)
    const values = unknownValues(place, listedAt(place))
    if (values.length === 0) return present
    const fresh = values[(drawn + changes.length) % values.length]
    changes.push(wordNewValue(place, fresh))
    return fresh
  }
  const text = contract.write(change({ value, steps: [] }))
  const [first, ...others] = changes
  if (first === undefined) return []
  const rest = others.length === 0 ? '' : `, and ${plural(others.length, 'more field')} got new values, too`
  return [{ change: `${first}${rest}.`, write: () => text }]
}

/** Longer than each list of new values. */
const LONG = 1000

/** Values outside of the `known` ones: new values, and the present value in other spellings. */
function unknownValues(place: Place, known: readonly unknown[]): unknown[] {
  const { value } = place
  if (known.length === 0) return []
  if (typeof value === 'number') {
    return [Math.max(value, ...known.filter((each) => typeof each === 'number')) + 1]
  }
  if (typeof value !== 'string') return []
  const values = new Set([...newValues(place), 'unknown', value.toUpperCase(), `${value}_v2`])
  return [...values].filter((each) => !known.includes(each))
}

/**
 * The values that the schema lists for a place. All alternatives (`oneOf`) count, so the result is a guess. The check of
 * the contract confirms or refutes it.
 */
function listedValues(schema: unknown, { steps }: Place): unknown[] {
  const schemas = steps.reduce<Json[]>(
    (outer, step) =>
      outer.flatMap(({ items, properties = {}, additionalProperties }) =>
        withAlternatives(
          typeof step === 'number' ? items : (valueAt(properties, pointTo('', step)) ?? additionalProperties),
        ),
      ),
    withAlternatives(schema),
  )
  return schemas.flatMap((each) => (Array.isArray(each['enum']) ? each['enum'] : []))
}

function withAlternatives(schema: unknown): Json[] {
  if (!isObject(schema)) return []
  const { allOf, anyOf, oneOf } = schema
  return [schema, ...[allOf, anyOf, oneOf].flat().flatMap(withAlternatives)]
}

function badEnvelopes({ text, value, contract }: GenuineBody, draw: Draw): PossibleChange[] {
  if (!isObject(value)) return []
  const failed = value['success'] === false
  const [own, other] = failed ? ['error', 'data'] : ['data', 'error']
  const otherValue = failed ? {} : { code: 'unknown', message: 'Unknown error.' }
  const ways: readonly (readonly [change: string, write: () => string])[] = [
    ['/success was left out.', () => contract.write({ ...value, success: undefined })],
    [`/success became ${failed}.`, () => contract.write({ ...value, success: failed })],
    ['/success became a string.', () => contract.write({ ...value, success: `${!failed}` })],
    ['/success became a number.', () => contract.write({ ...value, success: failed ? 0 : 1 })],
    [`/${own} was left out.`, () => contract.write({ ...value, [own]: undefined })],
    [`/${other} was added and is null.`, () => contract.write({ ...value, [other]: null })],
    [`/${other} was added.`, () => contract.write({ ...value, [other]: otherValue })],
    [`The answer became what /${own} held.`, () => JSON.stringify(value[own])],
    ['The answer was put in an array.', () => `[${text}]`],
    ['The answer became an empty object.', () => '{}'],
    ['The answer became an empty array.', () => '[]'],
    ['The answer became null.', () => 'null'],
  ]
  return shuffle(ways, draw).map(([change, write]) => ({ change, write }))
}
