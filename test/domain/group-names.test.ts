import { describe, expect, it } from 'vitest'
import { cutName, nameProblems } from '../../src/domain/group-names.ts'

describe('the name of a group', () => {
  it.each<[name: string, reason: string | undefined, character: string | undefined]>([
    ['Mail', undefined, undefined],
    [' Mail\n', undefined, undefined],
    ['a\u0001\u200bb\u200d', undefined, undefined],
    ['😀', undefined, undefined],
    ['a\u0000', 'control', 'U+0000'],
    ['a\udc00', 'surrogate', 'U+DC00'],
    ['\ud83d', 'surrogate', 'U+D83D'],
  ])('%j has the forbidden character %s %s', (name, reason, character) => {
    const problems = nameProblems(name)
    expect(problems).toEqual(reason === undefined ? [] : [{ reason, value: name, about: { character } }])
  })

  it.each([
    ['Mail', 5, 'Mail'],
    ['Mail', 2, 'Ma'],
    ['a😀b', 2, 'a😀'],
    ['Mail', -1, ''],
  ])('%j is cut to %d code points: %j', (name, limit, cut) => {
    expect(cutName(name, limit)).toBe(cut)
  })
})
