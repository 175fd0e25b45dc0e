import { describe, expect, it } from 'vitest'
import { compareLines } from '../../src/dashboard/requests/line-difference.ts'

const SIGNS = { same: ' ', sent: '-', accepted: '+' }
const compare = (sent: string, accepted: string) =>
  compareLines(sent.split(''), accepted.split(''))
    .map(({ kind, text }) => SIGNS[kind] + text)
    .join('')

describe('the difference of two texts', () => {
  it.each([
    ['abc', 'abc', ' a b c'],
    ['abc', 'axc', ' a-b+x c'],
    ['abc', 'ac', ' a-b c'],
    ['ac', 'abc', ' a+b c'],
    ['a', '', '-a'],
    ['', 'a', '+a'],
    ['abcd', 'bdd', '-a b-c+d d'],
    ['aa', 'a', ' a-a'],
  ])('%s → %s', (sent, accepted, lines) => {
    expect(compare(sent, accepted)).toBe(lines)
  })

  it('of very long texts still has all lines of both', () => {
    const lines = (start: number) => Array.from({ length: 3_000 }, (_, index) => `${start + index}`)
    const [sent, accepted] = [lines(0), lines(1)]
    const found = compareLines(sent, accepted)
    const without = (kind: string) => found.filter((each) => each.kind !== kind).map(({ text }) => text)
    expect(without('accepted')).toEqual(sent)
    expect(without('sent')).toEqual(accepted)
  })
})
