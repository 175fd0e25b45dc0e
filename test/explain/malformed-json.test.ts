import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findJsonPosition } from '../../src/explain/json-position.ts'
import { parseNearlyJson } from '../../src/explain/lenient-json.ts'
import { readJson } from '../../src/ground/json.ts'
import { recordBody } from '../../src/journal/redaction/redaction.ts'

const positionIn = (body: string | Buffer) => {
  const held = Buffer.from(body as string)
  return findJsonPosition(recordBody({ held, size: held.length }, held.length, (text) => text, 0))
}

describe('the place where a body is no JSON', () => {
  it.each<[what: string, body: string | Buffer, place: string, says: RegExp]>([
    ['a comma before the end', '{"name":"x" ,}', '1:13 12 ","', /a comma stands before the closing }: .*→,←}$/],
    ['single quotes', "{'name':'x'}", `1:2 1 "'name'"`, /text stands in double quotes/],
    ['a text without quotes', '{"name":x}', '1:9 8 "x"', /x is no value of JSON; text stands in double quotes/],
    ['an object that is cut off', '{"a":[1,{"b":2', '1:15 14 ""', /the text ends within an object/],
    ['a byte order mark', '\ufeff{}', '1:1 0 "\ufeff"', /byte order mark \(U\+FEFF\)/],
    ['two values', '{"a":1}\n{"b":2}', '2:1 8 "{"', /there is more after the end of the value/],
    ['NaN', '{"a":NaN}', '1:6 5 "NaN"', /NaN is no value of JSON, which has no such number/],
    ['a number in another form', '{"a":01}', '1:6 5 "01"', /01 is no number of JSON/],
    ['a line break in a string', '{"a":"x\ny"}', '1:8 7 "\n"', /U\+000A as it is, only as \\n: \{"a":"x→\\u000a←y"}$/],
    ['no comma', '{"a":1 "b":2}', '1:8 7 """', /a comma is missing between two values/],
    ['no value', '{"a":}', '1:6 5 "}"', /a value is missing here/],
    ['a comment', '{ // x\n}', '1:3 2 "//"', /JSON has no comments/],
    ['the wrong bracket', '[1}', '1:3 2 "}"', /} cannot close an array/],
    ['Latin-1', Buffer.from('{"é":1}', 'latin1'), '1:3 2 "\ufffd"', /the byte 0xE9 is no UTF-8/],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), '1:1 0 "\ufffd"', /encoded in UTF-16/],
    ['a name that stands twice', '{"a":1,"\\u0061":2}', '1:8 7 ""\\u0061""', /this name stands twice in one object/],
  ])('is known of %s', (_, body, place, says) => {
    const found = positionIn(body)
    expect(found && `${found.line}:${found.column} ${found.offset} "${found.at}"`).toBe(place)
    expect(found?.says).toMatch(says)
  })

  it('is known of each text that JSON.parse refuses, and of no other', () => {
    const json = fc.json({ maxDepth: 3 })
    const broken = fc.tuple(json, fc.nat(), fc.constantFrom('', ',', '"', "'", '{', ']', '0', '\\', '\n', ':', 'x'))
    const text = fc.oneof(
      json,
      fc.string(),
      broken.map(([whole, at, part]) => {
        const place = at % (whole.length + 1)
        return whole.slice(0, place) + part + whole.slice(place + 1)
      }),
    )
    fc.assert(
      fc.property(
        text.filter((body) => body !== ''),
        (body) => {
          const isJson = readJson(body) !== undefined
          const says = positionIn(body)?.says
          if (isJson) expect(says ?? 'twice').toContain('twice')
          else expect(says).toBeDefined()
        },
      ),
      { seed: 20_260_115, numRuns: 500 },
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

describe('what is nearly JSON', () => {
  it.each<[what: string, text: string, value: unknown]>([
    ['a comma too many', '{"a":[1,2,,],,}', { a: [1, 2] }],
    ['a comma too few', '{"a":["b" "c"] "d":1}', { a: ['b', 'c'], d: 1 }],
    ['single and typographic quotes', "{'a': “b”, ‘c’: `d`}", { a: 'b', c: 'd' }],
    ['keys and values without quotes', '{a: b.example, c: [d.example]}', { a: 'b.example', c: ['d.example'] }],
    ['comments', '// one\n{/* two */"a"/**/:1 // three\n}', { a: 1 }],
    [
      'words of other languages',
      '{"a":True,"b":None,"c":undefined,"d":constructor}',
      { a: true, b: null, c: null, d: 'constructor' },
    ],
    ['a line break in a string', '{"a":"b\nc"}', { a: 'b\nc' }],
    ['no end', '{"a":[{"b":1', { a: [{}] }],
  ])('may have %s', (_, text, value) => {
    expect(parseNearlyJson(text)).toEqual(value)
  })

  it.each(['', ' ', 'hello', 'a=b&c=d', '<a/>', '{"a"=1}', '{{}}', '{"a":1]', 'NaN', '['.repeat(100_000)])(
    'is not %.20j',
    (text) => {
      expect(parseNearlyJson(text)).toBeUndefined()
    },
  )

  it('never sets a prototype', () => {
    const value = parseNearlyJson("{'__proto__': {a: 1}}") as object

    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(Object.keys(value)).toEqual(['__proto__'])
  })
})
