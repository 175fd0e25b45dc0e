import fc from 'fast-check'
import { expect, it } from 'vitest'
import { writeJson } from '../../src/ground/json-writer.ts'
import { runAtOnce } from '../../src/ground/work.ts'

const write = (value: unknown) => runAtOnce(writeJson(value))

it('writes what JSON.stringify writes', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => write(value) === JSON.stringify(value)))
  expect(write({ data: { a: undefined, b: null } })).toBe('{"data":{"b":null}}')
})

it.each([1_000, 1_001, 2_000, 2_500])('writes a list of %d items as JSON.stringify does', (length) => {
  const list = Array.from({ length }, (_, index) => (index % 3 === 0 ? { name: `"${index}"` } : index))
  for (const value of [list, { data: { list } }, { list, of: { a: { b: { list } } } }]) {
    expect(write(value)).toBe(JSON.stringify(value))
  }
})
