import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printable } from '../../src/ground/show.ts'
import { code, escapeText } from '../../src/reports/markdown.ts'
import { HOSTILE } from './hostile-texts.ts'
import { reportOf } from './sample-report.ts'
import { markupOf, STRUCTURES } from './structure.ts'

const ANY = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ unit: fc.constantFrom(...'ab12`|\\*_~<>&@#[]()!:/. \n-+='), minLength: 1 }),
)

it.each(Object.entries(STRUCTURES))(
  'A report as %s is the same but for the text, whatever it is',
  async (_, structureOf) => {
    const harmless = await structureOf(reportOf('harmless'))
    for (const text of HOSTILE) expect(await structureOf(reportOf(text)), text).toEqual(harmless)
    await fc.assert(
      fc.asyncProperty(ANY, async (text) => void expect(await structureOf(reportOf(text))).toEqual(harmless)),
      { seed: 7, numRuns: 20 },
    )
  },
)

describe('a text in Markdown', () => {
  it('is read as it was written', () => {
    for (const text of HOSTILE) {
      const read = escapeText(text)
        .replaceAll('&#8203;', '')
        .replaceAll(/&#(\d+);/g, (_, number) => String.fromCharCode(number))
        .replaceAll(/\\([!-/:-@[-`{-~])/g, '$1')
        .replaceAll(/&(amp|lt|gt);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>' })[name] ?? '?')
      expect(read).toBe(printable(text.replaceAll(/\s+/g, ' ').trim()))
    }
  })

  it.each([
    ['@octocat', '@&#8203;octocat'],
    ['a@b', 'a@&#8203;b'],
    ['#12', '\\#&#8203;12'],
    ['GH-7', 'GH\\-&#8203;7'],
    ['gh-7', 'gh\\-&#8203;7'],
    [':tada:', '&#58;tada:'],
    ['https://a.example', 'https&#58;//a.example'],
    ['WWW.a.example', 'WWW&#46;a.example'],
    ['1. item', '1\\. item'],
    ['- item', '\\- item'],
    ['> quote', '&gt; quote'],
    ['    code', 'code'],
  ])('names nobody, refers to nothing and begins nothing: %j', (text, escaped) => {
    expect(escapeText(text)).toBe(escaped)
  })

  it.each([
    ['a', '`a`'],
    ['`a``', '``` `a`` ```'],
    [' a ', '`  a  `'],
    ['a\n|b', '`a |b`'],
  ])('in code is code: %j', (text, written) => {
    expect(code(text)).toBe(written)
  })
})

it('The reader of these tests sees markup in Markdown that is not escaped', () => {
  expect(markupOf('a *b* @c `d` \\*\n```sh\n*\n```')).toEqual(['**@§', '¶'])
})
