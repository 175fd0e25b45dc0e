import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SecretIndex } from '../../../src/journal/redaction/secret-index.ts'

function indexOf(...secrets: string[]): SecretIndex {
  return new SecretIndex(secrets)
}

/** What is found in a text, from left to right. */
function found(index: SecretIndex, text: string): string[] {
  const words: string[] = []
  index.find(text, (start, end) => words.push(text.slice(start, end)))
  return words
}

/** The milliseconds of the fastest of several searches. */
function costOf(index: SecretIndex, text: string): number {
  const search = () => {
    const start = performance.now()
    index.find(text, () => {})
    return performance.now() - start
  }
  return Math.min(...Array.from({ length: 10 }, search))
}

describe('An index of secrets', () => {
  it.each<[words: string[], text: string, expected: string[]]>([
    [['northern'], 'the northern lamps', ['northern']],
    [['northern'], 'NORTHERN and Northern', ['NORTHERN', 'Northern']],
    [['northern', 'northern-lamps'], 'northern-lamps northern-lights', ['northern-lamps', 'northern']],
    [['northern-lamps', 'northern-lights'], 'northern-l', []],
    [['abcdefgh', 'efghijkl'], 'abcdefghijkl', ['abcdefgh', 'efghijkl']],
    [['northern'], 'northernnorthern', ['northern', 'northern']],
    [['abc'], 'abc abcd xabc a.abc abc, "abc"', ['abc', 'abc', 'abc']],
    [['ab', ''], 'ab', []],
    [['northern', 'northern-lamps', 'northern-lights'], 'northern-lane', ['northern']],
    [['lamp', 'lamps-of-the-north'], 'lamp lamps lamps-of-the-south', ['lamp']],
    [['northern-lamps', 'northern-lamps-2'], 'northern-lamps… northern-…', ['northern-lamps', 'northern-']],
    [['northern-lamps'], 'northern-…', ['northern-']],
    [['northern-lamps'], 'north…', []],
    [['northern-lamps', 'northern'], 'northern-…', ['northern-']],
    [['northern-lamps', 'northern'], 'northern…', ['northern']],
    [['northern…lamps'], 'northern…lam…', ['northern…lam']],
    [['schlüssel'], 'der schlüssel', ['schlüssel']],
    [['€€€€€€€€'], '€€€€€€€€', ['€€€€€€€€']],
  ])('of %j finds in %j: %j', (words, text, expected) => {
    expect(found(indexOf(...words), text)).toEqual(expected)
  })

  it('finds the same as a search for each word, whatever was added before (seed 11)', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'C'), minLength: 8, maxLength: 12 })
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'A', '-'), maxLength: 60 })
    fc.assert(
      fc.property(fc.array(word), text, (kept, searched) => {
        const index = indexOf(...kept)
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

  it('takes hardly longer for many secrets than for one', () => {
    const random = (length: number, seed: number) =>
      Array.from({ length }, (_, at) => ((seed * 7_919 + at * 104_729) ** 2 % 36).toString(36)).join('')
    const text = Array.from({ length: 5_000 }, (_, seed) => random(57, seed + 1e6)).join(' ')
    const one = costOf(indexOf(random(57, 0)), text)
    const many = costOf(indexOf(...Array.from({ length: 10_000 }, (_, seed) => `test-key-${random(48, seed)}`)), text)
    expect(many).toBeLessThan(10 * one)
  })

  it.each([
    ['of many similar secrets', Array.from({ length: 3_000 }, (_, length) => `${'a'.repeat(length + 8)}0`), true],
    ['of a long secret', [`${'a'.repeat(10_000)}b`], false],
  ])('takes no long time for a text that was made to be expensive: %s', (_, secrets, isHidden) => {
    const text = 'a'.repeat(10_000)
    const index = indexOf(...secrets)
    expect(found(index, text)).toEqual(isHidden ? [text] : [])
    expect(costOf(index, text)).toBeLessThan(1_000)
  })
})
