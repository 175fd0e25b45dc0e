import { describe, expect, it } from 'vitest'
import { compileWriter } from '../../src/contract/reply.ts'

const tenth = { type: 'number', multipleOf: 0.1 }

describe('a number', () => {
  it.each<[multipleOf: number, value: number, text: string]>([
    [0.1, 0.1 + 0.2, '0.3'],
    [0.1, 33.300000000000004, '33.3'],
    [0.01, 99.9, '99.90'],
    [1, 100, '100'],
    [0.25, 12.25, '12.25'],
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
    ['in an array of objects', listOf(record), [{ share: 1 }, { share: 2 }], '[{"share":1.0},{"share":2.0}]'],
    ['in an object in an object', objectOf({ inner: record }), { inner: { share: 1 } }, '{"inner":{"share":1.0}}'],
    ['of another type than the schema has: an object', listOf(tenth), { a: 1 }, '{"a":1}'],
    ['with a name to be escaped', objectOf({ 'a"b\n': tenth }), { 'a"b\n': 1 }, '{"a\\"b\\n":1.0}'],
    ['with a text to be escaped', record, { c: '"\u2028\ud800' }, '{"c":"\\"\u2028\\ud800"}'],
  ])('%s', (_, schema, value, text) => {
    expect(compileWriter(schema)(value)).toBe(text)
  })

  it('with a key __proto__ is written with it', () => {
    const value = JSON.parse('{"__proto__":{"share":1},"share":1}')
    expect(compileWriter(record)(value)).toBe('{"__proto__":{"share":1},"share":1.0}')
  })
})
