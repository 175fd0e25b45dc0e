import fc from 'fast-check'
import { expect, it } from 'vitest'
import { foldToWidth, shortenToWidth, widthOf } from '../../src/reports/columns.ts'
import { findDifference } from '../../src/reports/difference.ts'

it.each<[text: string, width: number]>([
  ['', 0],
  ['ümläut', 6],
  ['日本語', 6],
  ['😀!', 3],
  ['e\u0301', 1],
  ['\u001b[31mred\u001b[39m', 3],
])('the width of %j is %d columns', (text, width) => {
  expect(widthOf(text)).toBe(width)
})

it('a text is broken between words, is never wider than the columns, and loses nothing', () => {
  expect(foldToWidth('a seventeen b', 5)).toEqual(['a', 'seven', 'teen', 'b'])
  expect(['plainer', '日本語'].map((text) => shortenToWidth(text, 5))).toEqual(['plai…', '日本…'])
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom(...'ab 日😀') }))
  const fits = fc.property(text, fc.integer({ min: 2, max: 40 }), (any, columns) => {
    const lines = foldToWidth(any, columns)
    for (const line of [...lines, shortenToWidth(any, columns)]) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    expect(lines.join('').replaceAll(' ', '')).toBe(any.replaceAll(' ', ''))
  })
  fc.assert(fits, { seed: 4 })
})

it.each([
  ['{"a":|1|,"b":2}', '{"a":|3|,"b":2}'],
  ['aa||', 'aa|a|'],
  ['x|😀|y', 'x|😁|y'],
])('the difference of two texts is what lies between the bars in %j and %j', (one, other) => {
  const without = (text: string) => text.replaceAll('|', '')
  expect(findDifference(without(one), without(other)).map((parts) => parts.join('|'))).toEqual([one, other])
})
