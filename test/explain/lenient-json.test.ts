import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseNearlyJson } from '../../src/explain/lenient-json.ts'

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
    ['escapes that are none', '{"a":"\\x\\u12"}', { a: 'xu12' }],
    ['no end', '{"a":[{"b":1', { a: [{}] }],
    ['a key without value', '{"a":1,"b"', { a: 1 }],
    ['a number with more to it', '[1.2.3.4, 08]', ['1.2.3.4', 8]],
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

  it('is all JSON that is not nested too deeply (seed 20260115)', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.jsonValue({ maxDepth: 5 })), fc.dictionary(fc.string(), fc.jsonValue())),
        (value) => {
          const text = JSON.stringify(value, undefined, 1)
          expect(parseNearlyJson(text)).toEqual(JSON.parse(text))
        },
      ),
      { seed: 20_260_115, numRuns: 500 },
    )
  })
})
