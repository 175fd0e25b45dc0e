import fc, { type Arbitrary } from 'fast-check'
import { isObject, type Json, valueAt } from '../../src/ground/json.ts'
import { weighted } from '../support/weighted.ts'

/** What the documents do not say of a text: what the field of a name is about. */
export type Texts = Readonly<Record<string, Arbitrary<unknown>>>

/** How values are drawn for a schema, whose references lead into `root`. */
export interface Manner {
  texts: Texts
  root?: unknown
  /** Most fields are there, most values are at a limit, and none is beyond. */
  atLimits?: boolean
}

const ODD = [null, '', ' ', '\0', '\ud800', -1, 0.5, 2 ** 53, 1e300, true, [], {}, [null], '__proto__']
/** Beyond what 32, 52 and 53 bits hold, up to the largest number that there is. */
const LARGE = [2 ** 31, 2 ** 52, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e300, 1e308]
const LETTERS = ['x', 'Ä', '🎉', 'e\u0301', 'ß', '👩‍👧']

const LAWFUL_INSTANTS = [
  ...['2026-01-15T09:30:00Z', '2026-01-31T23:59:59.999Z', '2024-02-29T00:00:00+14:00', '1970-01-01T00:00:00Z'],
  ...['1970-01-01T00:00:01Z', '1970-01-02T00:00:00Z', '9999-12-30T23:59:59Z'],
]
export const INSTANTS = [
  ...LAWFUL_INSTANTS,
  ...['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59-01:00', '1969-12-31T23:59:59Z'],
]
const LAWFUL_DURATIONS = ['PT1S', 'PT1H', 'P1D', 'P21D', 'P400D', 'PT0S']
const DURATIONS = [
  ...LAWFUL_DURATIONS,
  ...['P30000D', 'P2914000D', 'P999999999999999W', 'P99999999999999D', 'PT999999999999999S', 'P1M'],
]
export const DAYS = fc.constantFrom('2026-01-15', '2026-01-01', '2025-06-30', '1970-01-01', '9999-12-31', '2026-02-30')

/**
 * Values for a schema: mostly such as it permits, many of them at a limit, some just beyond it. A new field of a document
 * is drawn without a change here.
 */
export function valuesFor(schema: unknown, manner: Manner): Arbitrary<unknown> {
  const lawful = lawfulFor(schema, manner)
  return manner.atLimits ? lawful : weighted([40, lawful], [1, fc.constantFrom<unknown>(...ODD)])
}

/** The same without a value that is odd at its top. */
export function lawfulFor(schema: unknown, manner: Manner): Arbitrary<unknown> {
  if (!isObject(schema)) return fc.constantFrom('text', 7, { some: ['thing'] })
  const { $ref: pointer, anyOf } = schema
  if (typeof pointer === 'string') return lawfulFor(valueAt(manner.root, pointer.slice(1)), manner)
  if ('const' in schema) return fc.constant(schema['const'])
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum'])
  if (Array.isArray(anyOf)) {
    return fc.oneof(...anyOf.map((branch) => lawfulFor(joined({ ...schema, anyOf: undefined }, branch), manner)))
  }
  const types = [schema['type'] ?? 'object'].flat()
  return fc.oneof(...types.map((type) => OF_TYPE[type as string]?.(schema, manner) ?? fc.constant(null)))
}

/** A branch of `anyOf` is about the fields of the schema around it. */
function joined(schema: Json, branch: unknown): Json {
  const { required, properties } = schema
  const more = isObject(branch) ? branch : {}
  const needed = [required, more['required']].filter(Array.isArray).flat()
  return { ...more, ...schema, required: needed, ...(isObject(properties) && { properties }) }
}

const OF_TYPE: Readonly<Record<string, (schema: Json, manner: Manner) => Arbitrary<unknown>>> = {
  object: objects,
  array: arrays,
  string: strings,
  integer: numbers,
  number: numbers,
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
}

/** A field that need not be there is there so often that an object has about three of them, or most. */
function objects({ properties, required }: Json, manner: Manner): Arbitrary<unknown> {
  const fields = Object.entries(isObject(properties) ? properties : {})
  const needed = new Set(Array.isArray(required) ? required : [])
  const about = Math.round(30 / Math.max(1, fields.length - needed.size))
  const weight = manner.atLimits ? 40 : Math.min(10, Math.max(2, about))
  const drawn = fields.map(([name, schema]) => {
    const value = manner.texts[name] ?? valuesFor(schema, manner)
    return [name, needed.has(name) ? value : orNothing(value, weight)] as const
  })
  return fc.record(Object.fromEntries(drawn)).map(withoutNothing)
}

/** `undefined`, to which a value shrinks, or a value. */
export function orNothing<Value>(value: Arbitrary<Value>, weight = 10): Arbitrary<Value | undefined> {
  return weighted<Value | undefined>([10, fc.constant(undefined)], [weight, value])
}

export function withoutNothing(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}

function arrays({ minItems = 0, maxItems, items }: Json, manner: Manner): Arbitrary<unknown> {
  const [least, item] = [Number(minItems), valuesFor(items, manner)]
  const few = fc.array(item, { minLength: least, maxLength: least + 3 })
  if (typeof maxItems !== 'number') return few
  const many = fc.tuple(item, fc.constantFrom(maxItems, maxItems + 1)).map(([one, count]) => Array(count).fill(one))
  return weighted([24, few], [1, many])
}

function strings({ format, pattern, minLength = 0, maxLength }: Json, manner: Manner): Arbitrary<string> {
  if (format === 'date-time') return fc.constantFrom(...(manner.atLimits ? LAWFUL_INSTANTS : INSTANTS))
  if (format === 'duration') return fc.constantFrom(...(manner.atLimits ? LAWFUL_DURATIONS : DURATIONS))
  if (typeof pattern === 'string' && pattern.startsWith('^') && !pattern.includes('(?!')) {
    return fc.stringMatching(new RegExp(pattern)).map((text) => text.slice(0, 250))
  }
  const most = typeof maxLength === 'number' ? Math.min(maxLength, 10_000) : 12
  return textsOf(Math.max(1, Number(minLength)), most, manner)
}

/** Texts of so many code points, one too many included: of one letter, which may need several units or be combined. */
export function textsOf(least: number, most: number, { atLimits }: Pick<Manner, 'atLimits'> = {}): Arbitrary<string> {
  const lengths = weighted(
    [20, fc.integer({ min: least, max: Math.min(least + 5, most) })],
    [atLimits ? 40 : most > 200 ? 1 : 6, fc.constant(most)],
    [atLimits ? 0 : 1, fc.constant(most + 1)],
  )
  return fc
    .tuple(fc.constantFrom(...LETTERS), lengths)
    .map(([letter, length]) => Array.from(letter.repeat(length)).slice(0, length).join(''))
}

function numbers({ type, minimum = 0, maximum = Infinity }: Json, { atLimits }: Manner): Arbitrary<number> {
  const [least, most] = [Number(minimum), Number(maximum)]
  const small = fc.integer({ min: least, max: Math.min(least + 100, most) })
  const largest = most === Infinity ? LARGE : [most - 1, most]
  const beyond = most === Infinity ? [least - 1] : [least - 1, most + 1]
  return weighted(
    [10, type === 'number' ? small.map((number) => (number === 7 ? 7.25 : number)) : small],
    [10, fc.constantFrom(least, ...largest)],
    [atLimits ? 60 : 0, fc.constant(largest.at(-1) as number)],
    [atLimits ? 0 : 1, fc.constantFrom(...beyond)],
  )
}
