import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../src/contract/contract.ts'
import { compileWriter } from '../../src/contract/writer.ts'

const SEED = 20260115
const tenth = { type: 'number', multipleOf: 0.1 }

describe('a number', () => {
  it.each<[multipleOf: number, value: number, text: string]>([
    [0.1, 0.1 + 0.2, '0.3'],
    [0.1, 33.300000000000004, '33.3'],
    [0.1, 1e6, '1000000.0'],
    [0.01, 100, '100.00'],
    [0.01, 99.9, '99.90'],
    [0.01, 1.005 * 100, '100.50'],
    [0.001, 1, '1.000'],
    [1, 100, '100'],
    [5, 100, '100'],
    [0.5, 12.5, '12.5'],
    [0.05, 12.35, '12.35'],
    [0.25, 12.25, '12.25'],
    [0.125, 0.875, '0.875'],
    [1.5, 4.5, '4.5'],
  ])('that is a multiple of %d, %d, is written %s', (multipleOf, value, text) => {
    expect(compileWriter({ type: 'number', multipleOf })(value)).toBe(text)
  })

  it.each([[Number.NaN], [Number.POSITIVE_INFINITY], [null], ['100'], [true], [[1]], [{ a: 1 }]])(
    'that is none, %j, is written as JSON.stringify does',
    (value) => {
      expect(compileWriter(tenth)(value)).toBe(JSON.stringify(value))
    },
  )
})

describe('a value', () => {
  const objectOf = (properties: object) => ({ type: 'object', properties })
  const listOf = (items: object) => ({ type: 'array', items })
  const record = objectOf({ name: { type: 'string' }, share: tenth, count: { type: 'integer' } })

  it.each<[what: string, schema: unknown, value: unknown, text: string]>([
    ['in an object', record, { name: 'a', share: 1, count: 1 }, '{"name":"a","share":1.0,"count":1}'],
    ['in its own order of fields', record, { count: 1, share: 1, name: 'a' }, '{"count":1,"share":1.0,"name":"a"}'],
    ['with a field that the schema does not name', record, { more: 1, share: 1 }, '{"more":1,"share":1.0}'],
    ['without a field that is undefined', record, { name: undefined, share: undefined, count: 1 }, '{"count":1}'],
    ['with a field that is null', record, { share: null }, '{"share":null}'],
    ['in an array', listOf(tenth), [1, 2.5], '[1.0,2.5]'],
    ['in an empty array', listOf(tenth), [], '[]'],
    ['in an array of objects', listOf(record), [{ share: 1 }, { share: 2 }], '[{"share":1.0},{"share":2.0}]'],
    ['in an object in an object', objectOf({ inner: record }), { inner: { share: 1 } }, '{"inner":{"share":1.0}}'],
    ['of another type than the schema has: an array', record, [1, 2], '[1,2]'],
    ['of another type than the schema has: an object', listOf(tenth), { a: 1 }, '{"a":1}'],
    ['of another type than the schema has: null', record, null, 'null'],
    ['with a name to be escaped', objectOf({ 'a"b\n': tenth }), { 'a"b\n': 1 }, '{"a\\"b\\n":1.0}'],
    ['with a text to be escaped', record, { c: '"\u2028\ud800' }, '{"c":"\\"\u2028\\ud800"}'],
    ['of a schema that asks for nothing', objectOf({ a: { type: 'integer' } }), { a: 1, b: [1] }, '{"a":1,"b":[1]}'],
    ['of the schema true', true, { a: 1 }, '{"a":1}'],
  ])('%s', (_, schema, value, text) => {
    expect(compileWriter(schema)(value)).toBe(text)
  })

  it('with a key __proto__ is written with it', () => {
    const value = JSON.parse('{"__proto__":{"share":1},"share":1}')
    expect(compileWriter(record)(value)).toBe('{"__proto__":{"share":1},"share":1.0}')
  })
})

describe('a response', () => {
  it.each(['addDomains', 'listDomains', 'createDomainGroup'])('of %s is written by JSON.stringify', async (id) => {
    const { operations } = await loadContract()
    expect(operations.find((operation) => operation.id === id)?.success.write).toBe(JSON.stringify)
  })
})

describe(`what is written (seed ${SEED})`, () => {
  /** A schema with values that obey it: numbers in steps of 0.1 or 0.01 anywhere in objects and arrays. */
  const { described } = fc.letrec<{ described: { schema: object; value: unknown } }>((tie) => ({
    described: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.nat(1000).map((tenths) => ({ schema: tenth, value: tenths / 10 })),
      fc.nat(10_000).map((hundredths) => ({ schema: { multipleOf: 0.01 }, value: hundredths / 100 })),
      fc.jsonValue().map((value) => ({ schema: {}, value })),
      fc.array(fc.nat(1000)).map((all) => ({ schema: { items: tenth }, value: all.map((tenths) => tenths / 10) })),
      fc.dictionary(fc.string(), tie('described')).map((fields) => ({
        schema: { properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])) },
        value: Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value])),
      })),
    ),
  }))

  it('reads back as what it was', () => {
    fc.assert(
      fc.property(described, ({ schema, value }) => {
        expect(JSON.parse(compileWriter(schema)(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      { seed: SEED, numRuns: 500 },
    )
  })
})
