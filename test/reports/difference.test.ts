import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findDifference } from '../../src/reports/difference.ts'

describe('the difference of two texts', () => {
  it.each<[one: string, other: string, parts: string[][]]>([
    [
      '{"a":1,"b":2}',
      '{"a":3,"b":2}',
      [
        ['{"a":', '1', ',"b":2}'],
        ['{"a":', '3', ',"b":2}'],
      ],
    ],
    [
      'same',
      'same',
      [
        ['same', '', ''],
        ['same', '', ''],
      ],
    ],
    [
      '',
      'new',
      [
        ['', '', ''],
        ['', 'new', ''],
      ],
    ],
    [
      'aa',
      'aaa',
      [
        ['aa', '', ''],
        ['aa', 'a', ''],
      ],
    ],
    [
      'x😀y',
      'x😁y',
      [
        ['x', '😀', 'y'],
        ['x', '😁', 'y'],
      ],
    ],
  ])('%j and %j', (one, other, parts) => {
    expect(findDifference(one, other)).toEqual(parts)
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
