import { describe, expect, it } from 'vitest'
import { shorten, show } from '../../src/ground/show.ts'

describe('A text in a message', () => {
  it.each([
    ['x'.repeat(100), 'x'.repeat(100)],
    ['x'.repeat(101), `${'x'.repeat(99)}…`],
    ['😀'.repeat(100), '😀'.repeat(100)],
    ['😀'.repeat(101), `${'😀'.repeat(99)}…`],
    [`x${'😀'.repeat(100)}`, `x${'😀'.repeat(98)}…`],
  ])('has at most 100 characters, none of them cut in half (case %#)', (text, shown) => {
    expect(shorten(text)).toBe(shown)
  })

  it('can have another limit', () => {
    expect(shorten('abcdef', 5)).toBe('abcd…')
    expect(shorten('abcde', 5)).toBe('abcde')
  })
})

describe('A value in a message', () => {
  const own: unknown[] = []
  own.push(own)
  let deep: unknown = []
  for (let depth = 0; depth < 100_000; depth++) deep = [deep]

  it.each<[value: unknown, shown: string]>([
    ['two words', '"two words"'],
    ['x'.repeat(1000), `"${'x'.repeat(98)}…`],
    [true, 'true'],
    [null, 'null'],
    [{ a: [1, 'b'] }, '{"a":[1,"b"]}'],
    [Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    [undefined, 'undefined'],
    [Number.NaN, 'NaN'],
    [1n, '1n'],
    [[1n], '[ 1n ]'],
    [new Date(0), 'Date 1970-01-01T00:00:00.000Z'],
    [own, '<ref *1> [ [Circular *1] ]'],
  ])('is short and tells what kind of value it is (case %#)', (value, shown) => {
    expect(show(value)).toBe(shown)
  })

  it('is short also where it is nested so deeply that not every Node.js can write it', () => {
    expect(show(deep)).toMatch(/^(a value that is nested too deeply to be shown|\[{99}…)$/)
  })
})
