import { describe, expect, it } from 'vitest'
import { writeAnswer } from '../../src/mcp/answer.ts'

const LEAST = { max_characters: 1_000 }

describe('an answer', () => {
  it('is the whole as JSON, or the part that is asked for; a text is as it is', () => {
    const data = { a: [1, { 'c/d': 'x\n"y"' }] }
    expect(writeAnswer(data, {})).toBe(JSON.stringify(data))
    expect(writeAnswer(data, { part: '/a/1' })).toBe('{"c/d":"x\\n\\"y\\""}')
    expect(writeAnswer(data, { part: '/a/1/c~1d' })).toBe('x\n"y"')
  })

  it('that is too long has less of its lists and texts, and says where', () => {
    const data = { list: Array.from({ length: 500 }, (_, index) => ({ index })), text: 'x'.repeat(5_000), name: 'a' }
    const { answer, left_out, note } = JSON.parse(writeAnswer(data, LEAST))
    expect(answer).toMatchObject({ name: 'a', list: expect.arrayContaining([{ index: 0 }]) })
    expect(left_out).toEqual(['/list', '/text'])
    expect(note).toContain('such as /list')
    expect(writeAnswer(data, { part: '/list/499' })).toBe('{"index":499}')
    const lists = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`list${index}`, Array(600).fill(index)]))
    expect(JSON.parse(writeAnswer(lists, {})).left_out).toHaveLength(20)
  })

  const deep = (depth: number): unknown => (depth === 0 ? 'x'.repeat(100) : [deep(depth - 1), { a: deep(depth - 1) }])
  it.each<[string, unknown]>([
    ['many fields', Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`field${index}`, index]))],
    ['a deep tree', { tree: deep(7) }],
    ['a long name', { ['n'.repeat(50_000)]: 1 }],
    ['a text', { text: 'é\n"\\'.repeat(100_000) }],
  ])('of %s is never longer than it may be', (_, data) => {
    expect(writeAnswer(data, LEAST).length).toBeLessThanOrEqual(1_000)
  })

  it.each([
    [{ part: '/b' }, 'part is "/b", but must be a JSON pointer into the answer, which has /a, /c~1d.'],
    [{ part: '/constructor' }, 'must be a JSON pointer'],
    [{ part: 7 }, 'must be a JSON pointer'],
    [{ max_characters: 7 }, 'max_characters must be a whole number from 1000 to 200000, not 7.'],
  ])('refuses %j with what would be right', (args, message) => {
    expect(() => writeAnswer({ a: [1], 'c/d': 1 }, args)).toThrow(message)
  })
})
