import { describe, expect, it } from 'vitest'
import { findViolation, reportViolation } from '../../src/ground/schema.ts'

describe('A violation of a JSON schema', () => {
  it.each<[schema: object, value: unknown, pointer: string, reason: string]>([
    [{ type: 'string' }, 7, '', 'is 7 but must be of type string'],
    [{ type: ['string', 'object'] }, 7, '', 'is 7 but must be of type string or object'],
    [{ enum: ['a', 1] }, 'b', '', 'is "b" but must be one of "a", 1'],
    [{ const: 'a' }, 'b', '', 'is "b" but must be "a"'],
    [{ type: 'number', minimum: 1 }, 0, '', 'is 0 but must be at least 1'],
    [{ type: 'number', maximum: 1 }, 2, '', 'is 2 but must be at most 1'],
    [{ type: 'number', multipleOf: 2 }, 3, '', 'is 3 but must be a multiple of 2'],
    [{ type: 'string', minLength: 1 }, '', '', 'is "" but must have at least 1 character'],
    [{ type: 'string', maxLength: 2 }, 'abc', '', 'is "abc" but must have at most 2 characters'],
    [{ type: 'array', minItems: 2 }, [1], '', 'is [1] but must have at least 2 items'],
    [{ type: 'array', maxItems: 1 }, [1, 2], '', 'is [1,2] but must have at most 1 item'],
    [
      { type: 'array', uniqueItems: true },
      [1, 2, 1],
      '',
      'is [1,2,1] but must not have the same item twice, as at 0 and 2',
    ],
    [{ type: 'object', minProperties: 1 }, {}, '', 'is {} but must have at least 1 field'],
    [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, '', 'is {"a":1,"b":2} but must have at most 1 field'],
    [{ type: 'string', pattern: '^a$' }, 'b', '', 'is "b" but must match the pattern ^a$'],
    [{ type: 'string', pattern: '^a$', title: 'the letter a' }, 'b', '', 'is "b" but must be the letter a'],
    [{ type: 'string', format: 'duration' }, '1h', '', 'is "1h" but must have the format duration'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 7, '', 'is 7 but must match one of the alternatives'],
    [{ anyOf: [{ type: 'string' }], title: 'a text' }, 7, '', 'is 7 but must be a text'],
    [{ type: 'object', required: ['a/b'] }, {}, '/a~1b', 'is missing'],
    [{ type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 }, '/b', 'is missing, which the field a needs'],
    [{ type: 'object', additionalProperties: false }, { 'a/b': 1 }, '/a~1b', 'is not allowed here'],
    [
      { type: 'object', properties: { a: {}, b: {} }, additionalProperties: false },
      { c: 1 },
      '/c',
      'is not allowed here; allowed fields are a, b',
    ],
    [
      { type: 'object', propertyNames: { pattern: '^a', title: 'a name with a' } },
      { b: 1 },
      '',
      'has the field "b", whose name must be a name with a',
    ],
    [
      { type: 'object', properties: { a: { items: { type: 'null' } } } },
      { a: [null, 1] },
      '/a/1',
      'is 1 but must be of type null',
    ],
    [{ type: 'string', writeOnly: true, minLength: 9 }, 'secret', '', 'is "…" but must have at least 9 characters'],
  ])('of %j by %j is told in words', async (schema, value, pointer, reason) => {
    expect(await findViolation(schema, value)).toMatchObject({ pointer, reason })
  })

  it('is not found in a value that obeys the schema', async () => {
    expect(await findViolation({ type: 'object', required: ['a'] }, { a: 1 })).toBeUndefined()
  })

  it('is reported as a sentence', () => {
    const violation = { keyword: 'required', reason: 'is missing', value: {} }
    expect(reportViolation({ ...violation, pointer: '/data' })).toEqual({
      pointer: '/data',
      keyword: 'required',
      message: '/data is missing.',
      value: {},
    })
    expect(reportViolation({ ...violation, pointer: '' }).message).toBe('The value is missing.')
  })
})
