import { describe, expect, it } from 'vitest'
import { type AnswerExtent, CHARACTERS, writeAnswer } from '../../src/mcp/answer.ts'
import { writePage } from '../../src/mcp/page.ts'

const ALL: AnswerExtent = { part: '', characters: CHARACTERS.usual }
const LEAST: AnswerExtent = { part: '', characters: CHARACTERS.least }
const answer = (data: unknown, extent = ALL, aside: readonly string[] = []) =>
  writeAnswer(data, extent, { aside, again: {} })

describe('an answer', () => {
  it.each<[value: unknown, lines: string[]]>([
    [{ a: 1, b: 'two', c: true, d: null }, ['a: 1', 'b: two', 'c: true']],
    [{ a: [], c: { d: null }, e: '', f: '7' }, ['a: []', 'c: {"d":null}', 'e: ""', 'f: "7"']],
    [{ a: ['x', { b: 1, c: 2 }, ['y', 'z']] }, ['a:', '- x', '- b: 1', '  c: 2', '- - y', '  - z']],
    [{ a: { b: 'one\ntwo' }, c: ['one\ntwo'] }, ['a:', '  b: |', '    one', '    two', 'c:', '- |', '  one', '  two']],
    // A command is there as it is typed.
    [{ curl: `curl -H 'A: "b"' # c` }, [`curl: curl -H 'A: "b"' # c`]],
  ])('with the data %j has them as lines that are short to read', (value, lines) => {
    expect(answer(value).text.split('\n')).toEqual(lines)
  })

  it('says which texts and lists are cut, and how to get them', () => {
    const { text, data } = answer({ text: 'x'.repeat(5_000) }, LEAST)
    expect(text).toMatch(/^text: x{500}…\n\nLeft out: 4500 of 5000 characters at \/text\. /)
    expect(text).toMatch(/Ask again with part: \/text, or with max_characters up to 200000\.$/)
    const left_out = [{ at: '/text', left_out: '4500 of 5000 characters' }]
    expect(data).toEqual({ text: `${'x'.repeat(500)}…`, left_out })
    const list = answer({ list: Array.from({ length: 500 }, (_, index) => ({ index })) }, LEAST)
    expect(list.text).toContain('Left out: 450 of 500 items at /list. Ask again with part: /list, or ')
    expect(list.data['list']).toHaveLength(50)
  })

  const deep = (depth: number): unknown => (depth === 0 ? 'x'.repeat(100) : [deep(depth - 1), { a: deep(depth - 1) }])
  it.each<[string, unknown]>([
    ['many fields', Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`field${index}`, index]))],
    ['a deep tree', { tree: deep(7) }],
    ['a long list of long lists', { list: Array(100).fill(Array(100).fill('word')) }],
    ['a long name', { ['n'.repeat(50_000)]: 1 }],
    ['a text', { text: 'é\n"\\'.repeat(100_000) }],
  ])('of %s is never longer than it may be', (_, data) => {
    for (const characters of [CHARACTERS.least, CHARACTERS.usual]) {
      const { text, data: shown } = answer(data, { part: '', characters })
      const { left_out = [], ...rest } = shown
      for (const each of [text, JSON.stringify(rest), JSON.stringify(left_out)])
        expect(each.length).toBeLessThanOrEqual(characters)
    }
  })

  it('leaves out what is seldom wanted until it is asked for, also in each item of a list', () => {
    const data = { name: 'a', long: { code: 'x' }, list: [{ head: 1 }, { head: 2, body: 3 }], none: null }
    const aside = ['/long', '/list/*/head', '/none']
    expect(answer(data, ALL, aside).text).toBe(
      'name: a\nlist:\n- {}\n- body: 3\n\nLeft out: /long; /list/*/head. Ask again with part: /long.',
    )
    expect(answer(data, { ...ALL, part: '/long/code' }, aside).data).toEqual({ part: '/long/code', value: 'x' })
    expect(answer(data, { ...ALL, part: 'list/1' }, aside).text).toBe('head: 2\nbody: 3')
  })

  it.each([
    ['/b', 'The answer has /a, /c~1d.'],
    ['/c~1d/x', '/c~1d of the answer has no parts.'],
  ])('has no part %s, and says which it has', (part, parts) => {
    expect(() => answer({ a: [1], 'c/d': 1 }, { ...ALL, part })).toThrow(
      `/part is "${part}", but must be a JSON pointer into the answer. ${parts}`,
    )
  })
})

describe('a page of a list', () => {
  it.each([
    ['is asked for once if it fits', 100, ALL, 20],
    ['has fewer items if they are long, and the next page begins after them', 3_000, ALL, 4],
    ['has one item at least, of which parts are left out', 30_000, LEAST, 1],
  ])('%s', async (_, length, extent, shown) => {
    const asked: number[] = []
    const item = Object.fromEntries(Array.from({ length: length / 100 }, (_, part) => [`p${part}`, 'x'.repeat(100)]))
    const read = async (limit: string) => {
      asked.push(Number(limit))
      return { items: Array(Math.min(30, Number(limit))).fill(item), count: 30, next: Number(limit) }
    }
    const { data, text } = await writePage(read, { limit: '20', isGiven: false }, extent)
    expect(data).toMatchObject({ next: shown, items: { length: shown } })
    expect(asked).toEqual(shown === 20 ? [20] : [20, shown])
    expect(text.includes('Ask again with limit: 1 and part: /items/0')).toBe(shown === 1)
  })
})
