import { describe, expect, it } from 'vitest'
import type { NameSettings } from '../../src/domain/group-names.ts'
import { ANY_NAME, measureName, nameProblems, settingAgainstName, storedName } from '../../src/domain/group-names.ts'

const STRICT: NameSettings = {
  spaceAroundNames: 'refused',
  controlCharacters: 'refused',
  loneSurrogates: 'refused',
  invisibleInNames: 'refused',
  nameLengthUnit: 'utf-8',
}
const LENIENT: NameSettings = {
  ...ANY_NAME,
  spaceAroundNames: 'trimmed',
  loneSurrogates: 'replaced',
  invisibleInNames: 'dropped',
}

describe('the name of a group', () => {
  it.each([
    ['Mail', 4, 4, 4],
    ['é', 1, 1, 2],
    ['😀', 1, 2, 4],
    ['e\u0301', 2, 2, 3],
  ])('%s has %d code points, %d units of UTF-16 and %d bytes of UTF-8', (name, points, units, bytes) => {
    expect(measureName(name, 'code-points')).toBe(points)
    expect(measureName(name, 'utf-16')).toBe(units)
    expect(measureName(name, 'utf-8')).toBe(bytes)
    expect(Buffer.byteLength(name)).toBe(bytes)
  })

  it('is stored as it was sent, or without what settings change', () => {
    const sent = ' a\u200bb\ud83d\u00ad '
    expect(storedName(sent, ANY_NAME)).toBe(sent)
    expect(storedName(sent, LENIENT)).toBe('ab\ufffd')
    expect(storedName('a\u200db', LENIENT)).toBe('a\u200db')
  })

  it.each<[name: string, reasons: string[]]>([
    ['Mail', []],
    ['a\u200db', []],
    [' Mail', ['space']],
    ['Mail\n', ['space', 'control']],
    ['a\tb', ['control']],
    ['a\udc00', ['surrogate']],
    ['\u2066a', ['invisible']],
    ['😀'.repeat(3), ['maxLength']],
    ['a'.repeat(11), []],
    ['é'.repeat(6), ['maxLength']],
  ])('%j breaks, at a limit of ten, %j', (name, reasons) => {
    const problems = nameProblems(name, STRICT, 10)
    expect(problems.map(({ reason }) => reason)).toEqual(reasons)
    expect(nameProblems(name, ANY_NAME, 10)).toEqual([])
  })

  it('tells which character it must not have, and how long it is', () => {
    expect(nameProblems('a\u0000', { ...ANY_NAME, controlCharacters: 'nul-refused' }, 10)).toEqual([
      { reason: 'control', value: 'a\u0000', about: { character: 'U+0000' } },
    ])
    expect(nameProblems('a\u0001', { ...ANY_NAME, controlCharacters: 'nul-refused' }, 10)).toEqual([])
    expect(nameProblems('ééé', { ...ANY_NAME, nameLengthUnit: 'utf-8' }, 5)[0]?.about).toEqual({ limit: 5, count: 6 })
  })

  it.each<[name: string, settings: NameSettings, setting: keyof NameSettings | undefined]>([
    ['Mail', STRICT, undefined],
    [' Mail', STRICT, 'spaceAroundNames'],
    ['a\tb', STRICT, 'controlCharacters'],
    ['a\ud83d', STRICT, 'loneSurrogates'],
    ['a\u00ad', STRICT, 'invisibleInNames'],
    ['éééééé', STRICT, 'nameLengthUnit'],
    [' Mail', LENIENT, 'spaceAroundNames'],
    ['a\ud83d', LENIENT, 'loneSurrogates'],
    ['a\u00ad', LENIENT, 'invisibleInNames'],
    [' \ud83d\u00ad\t', ANY_NAME, undefined],
  ])('%j is none because of a setting', (name, settings, setting) => {
    expect(settingAgainstName(name, settings, 10)).toBe(setting)
  })
})
