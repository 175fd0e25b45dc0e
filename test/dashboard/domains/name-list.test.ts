import { describe, expect, it } from 'vitest'
import { divideNames, placeIn, readNames } from '../../../src/dashboard/domains/name-list.ts'

describe('the names of a text', () => {
  it.each([
    ['a.example', ['1 a.example']],
    ['a.example\nB.Example.\n', ['1 a.example', '2 B.Example.']],
    ['a.example, b.example;c.example\r\n\n  d.example\t', ['1 a.example', '1 b.example', '1 c.example', '3 d.example']],
    ['<b>x</b>\nשלום.example', ['1 <b>x</b>', '2 שלום.example']],
    [' ,;\n\u00a0', []],
  ])('%j', (text, expected) => {
    expect(readNames(text).map(({ name, line }) => `${line} ${name}`)).toEqual(expected)
  })
})

describe('the requests for names', () => {
  const names = (count: number, length = 10) =>
    Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'))
  const sizes = (list: readonly string[], limit: number | null) =>
    divideNames(list, limit, (name) => name).map((part) => part.length)

  it('have as many as the service permits, and without a limit a thousand', () => {
    expect(sizes(names(120), 50)).toEqual([50, 50, 20])
    expect(sizes(names(50), 50)).toEqual([50])
    expect(sizes(names(2_500), null)).toEqual([1_000, 1_000, 500])
    expect(sizes([], 50)).toEqual([])
  })

  it('have fewer where the names are long, because a body has a limit, too', () => {
    expect(sizes(names(1_000, 253), null)).toEqual([197, 197, 197, 197, 197, 15])
    expect(sizes(names(2, 1_000_000), null)).toEqual([1, 1])
  })

  it('lose no name and change no order', () => {
    const list = names(777, 100)
    expect(divideNames(list, 50, (name) => name).flat()).toEqual(list)
  })
})

describe('the place that a problem is about', () => {
  it.each([
    ['/domains/0', 0],
    ['/domains/12', 12],
    ['/domains', undefined],
    ['/name', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%s → %s', (pointer, expected) => {
    expect(placeIn(pointer)).toBe(expected)
  })
})
