import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonPosition } from '../../src/explain/json-position.ts'
import { readJson } from '../../src/ground/json.ts'
import { recordBody } from '../../src/journal/redaction/redaction.ts'

const positionIn = (body: string | Buffer) => {
  const held = Buffer.from(body as string)
  return findJsonPosition(recordBody({ held, size: held.length }, held.length, (text) => text))
}

describe('the place where a body is no JSON', () => {
  it.each<[what: string, body: string | Buffer, place: string, says: RegExp]>([
    ['a comma before the end', '{"name":"x" ,}', '1:13 12 ","', /a comma stands before the closing }: .*→,←}$/],
    ['single quotes', "{'name':'x'}", `1:2 1 "'"`, /text stands in double quotes/],
    ['a token that stands before it, too', '{"xx":1,"b":xx}', '1:13 12 "xx"', /double quotes/],
    ['a string that is cut off', '{"a":"b', '1:8 7 ""', /the text ends too early/],
    ['a byte order mark', '\ufeff{}', '1:1 0 "\ufeff"', /byte order mark \(U\+FEFF\)/],
    ['two values', '{"a":1}\n{"b":2}', '2:1 8 "{"', /non-whitespace character after JSON/],
    ['NaN', '{"a":NaN}', '1:6 5 "NaN"', /JSON has no such value, only true, false and null/],
    ['a line break in a string', '{"a":"x\ny"}', '1:8 7 "\n"', /only as \\n: \{"a":"x→\\u000a←y"}$/],
    ['no comma', '{"a":1 "b":2}', '1:8 7 """', /expected ',' or '}' after property value: /],
    ['Latin-1', Buffer.from('{"é":1}', 'latin1'), '1:3 2 "\ufffd"', /this byte is no UTF-8/],
    ['UTF-16', Buffer.from('{}', 'utf16le'), '1:2 1 "\0"', /as if the body were encoded in UTF-16/],
  ])('is known of %s', (_, body, place, says) => {
    const found = positionIn(body)
    expect(found && `${found.line}:${found.column} ${found.offset} "${found.at}"`).toBe(place)
    expect(found?.says).toMatch(says)
  })

  it('is known of each text that JSON.parse refuses, and of no other', () => {
    const broken = fc.tuple(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('', ',', '"', "'", '{', ']', '0', '\\', 'x'),
    )
    const text = fc.oneof(
      fc.string({ minLength: 1 }),
      broken.map(
        ([whole, at, part]) => whole.slice(0, at % (whole.length + 1)) + part + whole.slice(at % (whole.length + 1)),
      ),
    )
    fc.assert(
      fc.property(text, (body) => {
        const found = positionIn(body)
        expect(found === undefined).toBe(readJson(body) !== undefined)
        if (found === undefined) return
        // With the character at this place, no end makes it JSON.
        if (found.offset === body.length || found.at === ',') return
        const beyond = body.slice(0, found.offset + 1)
        for (const end of ['', '"', '}', ']', '0']) expect(readJson(beyond + end)).toBeUndefined()
      }),
      { seed: 20_260_115, numRuns: 500, examples: [['{"a":tru}'], ['[1,-]'], ['"\\u12"'], ['{"a":1e}']] },
    )
  })

  it('is not told of a body of which only the beginning is kept', () => {
    const beginning = (text: string) => findJsonPosition({ text, size: 100, isCut: true })
    expect(beginning('{"a":[1,2')).toBeUndefined()
    expect(beginning('{"a":x,"b":1')?.offset).toBe(5)
  })

  it('shows no part of a secret', () => {
    const found = positionIn('{"key":"[redacted]",}')
    expect(found).toMatchObject({ line: 1, column: 20, before: '', at: '', after: '' })
    expect(found?.says).toContain('not shown')
  })

  it.each(['', 'x'])('is shown without halves of surrogate pairs (%j before them)', (shift) => {
    const many = `${shift}${'😀'.repeat(60)}`
    for (const body of [`"${many}" ${many} "${many}"`, `"${many}" x "${many}"`, `${many}"${many}`]) {
      const { before = '', at = '', after = '' } = positionIn(body) ?? {}
      expect(`${before}|${at}|${after}`).toMatch(/^["\sx|\p{Emoji_Presentation}]+$/u)
    }
  })
})
