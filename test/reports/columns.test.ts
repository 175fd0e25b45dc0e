import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldToWidth, shortenToWidth, widthOf } from '../../src/reports/columns.ts'

describe('the width of a text', () => {
  it.each<[text: string, width: number]>([
    ['', 0],
    ['plain', 5],
    ['ümläut', 6],
    ['日本語', 6],
    ['한국', 4],
    ['😀!', 3],
    ['e\u0301', 1],
    ['\u001b[31mred\u001b[39m', 3],
    ['→ …', 3],
  ])('of %j is %d columns', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })
})

describe('a text that is too wide', () => {
  it.each<[text: string, columns: number, shown: string]>([
    ['plain', 5, 'plain'],
    ['plainer', 5, 'plai…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
  ])('%j in %d columns is %j', (text, columns, shown) => {
    expect(shortenToWidth(text, columns)).toBe(shown)
  })

  it('is broken between words, and a long word within it', () => {
    expect(foldToWidth('one two three', 7)).toEqual(['one two', 'three'])
    expect(foldToWidth('a seventeen b', 5)).toEqual(['a', 'seven', 'teen', 'b'])
    expect(foldToWidth('', 5)).toEqual([''])
  })

  it('is never wider than the columns, and loses nothing when it is broken', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom(...'ab 日😀')).map((all) => all.join('')),
    )
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 40 }), (any, columns) => {
        expect(widthOf(shortenToWidth(any, columns))).toBeLessThanOrEqual(columns)
        const lines = foldToWidth(any, columns)
        for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns)
        expect(lines.join('').replaceAll(' ', '')).toBe(any.replaceAll(' ', ''))
      }),
    )
  })
})
