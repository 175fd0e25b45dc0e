import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WordIndex } from '../../../src/journal/redaction/word-index.ts'

function indexOf(...words: string[]): WordIndex {
  const index = new WordIndex()
  for (const word of words) index.add(word)
  return index
}

/** What is found in a text, from left to right. */
function found(index: WordIndex, text: string): string[] {
  const words: string[] = []
  index.find(text, (start, end) => words.push(text.slice(start, end)))
  return words
}

/** Counts how often the characters of a text are looked at. */
function costOf(index: WordIndex, text: string): number {
  let looks = 0
  const watched = {
    length: text.length,
    charCodeAt: (at: number) => {
      looks++
      return text.charCodeAt(at)
    },
    charAt: (at: number) => text.charAt(at),
  }
  index.find(watched as unknown as string, () => {})
  return looks
}

describe('An index of words', () => {
  it.each<[words: string[], text: string, expected: string[]]>([
    [['northern'], 'the northern lamps', ['northern']],
    [['northern'], 'NORTHERN and Northern', ['NORTHERN', 'Northern']],
    [['northern', 'northern-lamps'], 'northern-lamps northern-lights', ['northern-lamps', 'northern']],
    [['northern-lamps', 'northern-lights'], 'northern-l', []],
    [['abcdefgh', 'efghijkl'], 'abcdefghijkl', ['abcdefgh', 'efghijkl']],
    [['northern'], 'northernnorthern', ['northern', 'northern']],
    [['abc'], 'abc abcd xabc a.abc abc, "abc"', ['abc', 'abc', 'abc']],
    [['ab', ''], 'ab', []],
    [['northern-lamps'], 'northern-…', ['northern-']],
    [['northern-lamps'], 'north…', []],
    [['northern-lamps', 'northern'], 'northern-…', ['northern-']],
    [['northern-lamps', 'northern'], 'northern…', ['northern']],
    [['schlüssel'], 'der schlüssel', ['schlüssel']],
    [['€€€€€€€€'], '€€€€€€€€', ['€€€€€€€€']],
  ])('of %j finds in %j: %j', (words, text, expected) => {
    expect(found(indexOf(...words), text)).toEqual(expected)
  })

  it('no longer finds what was removed as often as it was added', () => {
    const index = indexOf('northern-lamps', 'northern-lights', 'Northern-Lamps')
    index.remove('northern-lamps')
    expect(found(index, 'northern-lamps')).toEqual(['northern-lamps'])
    index.remove('northern-lamps')
    index.remove('northern-lamps')
    expect(found(index, 'northern-lamps northern-lights')).toEqual(['northern-lights'])
    index.remove('northern-lights')
    expect(index.isEmpty).toBe(true)
  })

  it('finds the same as a search for each word, whatever was added and removed before (seed 11)', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C'), minLength: 8, maxLength: 12 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '-'), maxLength: 60 })
    fc.assert(
      fc.property(fc.array(word), fc.array(word), text, (kept, removed, searched) => {
        const index = indexOf(...kept, ...removed)
        for (const each of removed) index.remove(each)
        const hidden = new Set<number>()
        index.find(searched, (start, end) => {
          for (let at = start; at < end; at++) hidden.add(at)
        })
        const expected = new Set<number>()
        for (const each of kept) {
          for (let start = 0; start < searched.length; start++) {
            if (searched.slice(start, start + each.length).toLowerCase() !== each.toLowerCase()) continue
            for (let at = start; at < start + each.length; at++) expected.add(at)
          }
        }
        expect([...hidden].sort()).toEqual([...expected].sort())
        for (const each of kept) expect(index.has(each)).toBe(true)
      }),
      { seed: 11 },
    )
  })

  it('looks at a text once, however many words there are', () => {
    const random = (length: number, seed: number) =>
      Array.from({ length }, (_, at) => ((seed * 7_919 + at * 104_729) ** 2 % 36).toString(36)).join('')
    const text = Array.from({ length: 100 }, (_, seed) => random(57, seed + 1e6)).join(' ')
    const one = costOf(indexOf(random(57, 0)), text)
    const many = costOf(indexOf(...Array.from({ length: 10_000 }, (_, seed) => `test-key-${random(48, seed)}`)), text)
    expect(many).toBeLessThan(3 * one)
  })

  it('gives up on a text that was made to be expensive, and finds all of it', () => {
    const text = 'a'.repeat(10_000)
    const index = indexOf(`${text}b`)
    expect(found(index, text)).toEqual([text])
    expect(costOf(index, text)).toBeLessThan(100 * text.length)
  })
})
