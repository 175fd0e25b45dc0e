import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDifference } from '../../src/reports/difference.ts'

describe('the difference of two texts', () => {
  it.each([
    ['{"a":|1|,"b":2}', '{"a":|3|,"b":2}'],
    ['same||', 'same||'],
    ['||', '|new|'],
    ['aa||', 'aa|a|'],
    ['x|😀|y', 'x|😁|y'],
  ])('is what lies between the bars in %j and %j', (one, other) => {
    const without = (text: string) => text.replaceAll('|', '')
    expect(findDifference(without(one), without(other)).map((parts) => parts.join('|'))).toEqual([one, other])
  })

  it('loses nothing, has the same ends, and cuts no character in half', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '😀', '😁', '\u{1f900}')).map((all) => all.join(''))
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [first, second] = findDifference(one, other)
        expect(first.join('')).toBe(one)
        expect(second.join('')).toBe(other)
        expect([first[0], first[2]]).toEqual([second[0], second[2]])
        for (const part of [...first, ...second]) expect(part).not.toMatch(/[\ud800-\udfff]/u)
      }),
    )
  })
})
