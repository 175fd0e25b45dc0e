import { describe, expect, it } from 'vitest'
import { type AnswerExtent, CHARACTERS, writeAnswer } from '../../src/mcp/answer.ts'
import { writePage } from '../../src/mcp/page.ts'

const ALL: AnswerExtent = { part: '', characters: CHARACTERS.usual }
const LEAST: AnswerExtent = { part: '', characters: CHARACTERS.least }
const answer = async (data: unknown, extent = ALL, aside: readonly string[] = []) =>
  writeAnswer(data, extent, { aside, again: {} })

describe('an answer', () => {
  it('has all of the data, and as a text what has a value', async () => {
    const data = { a: 1, b: null, c: [], d: { e: 'line\nline', f: null } }
    expect(await answer(data)).toEqual({ data, text: 'a: 1\nc: []\nd:\n  e: |\n    line\n    line' })
  })

  it('has a command as it is typed', async () => {
    const curl = `curl -H 'A: "b"' ${'x '.repeat(300)}#`
    expect((await answer({ list: [{ curl }] })).text).toBe(`list:\n- curl: ${curl}`)
  })

  it('says which texts and lists are cut, and how to get them', async () => {
    const { text, data } = await answer({ text: 'x'.repeat(5_000) }, LEAST)
    expect(text).toMatch(/^text: x{500}…\n\nLeft out: 4500 of 5000 characters at \/text\. /)
    expect(text).toMatch(/Ask again with part: \/text, or with max_characters up to 200000\.$/)
    expect(data).toEqual({
      text: `${'x'.repeat(500)}…`,
      left_out: [{ at: '/text', left_out: '4500 of 5000 characters' }],
    })
    const list = await answer({ list: Array.from({ length: 500 }, (_, index) => ({ index })) }, LEAST)
    expect(list.text).toContain('Left out: 450 of 500 items at /list. Ask again with part: /list, or ')
    expect(list.data['list']).toHaveLength(50)
  })

  const deep = (depth: number): unknown => (depth === 0 ? 'x'.repeat(100) : [deep(depth - 1), { a: deep(depth - 1) }])
  it.each<[string, unknown]>([
    ['many fields', Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`field${index}`, index]))],
    ['a deep tree', { tree: deep(9) }],
    ['a long list of long lists', { list: Array(300).fill(Array(300).fill('word')) }],
    ['a long name', { ['n'.repeat(50_000)]: 1 }],
    ['a text', { text: 'é\n"\\'.repeat(100_000) }],
  ])('of %s is never longer than it may be', async (_, data) => {
    for (const characters of [CHARACTERS.least, CHARACTERS.usual]) {
      const { text, data: shown } = await answer(data, { part: '', characters })
      expect(text.length).toBeLessThanOrEqual(characters)
      const { left_out, ...rest } = shown
      expect(JSON.stringify(rest).length).toBeLessThanOrEqual(characters)
      expect(JSON.stringify(left_out ?? []).length).toBeLessThanOrEqual(characters)
    }
  })

  it('leaves out what is aside until it is asked for, also in each item of a list', async () => {
    const data = {
      name: 'a',
      long: { code: 'x' },
      list: [{ head: 1 }, { head: 2, body: 3 }, { head: null }],
      none: null,
    }
    const aside = ['/long', '/list/*/head', '/none']
    expect(await answer(data, ALL, aside)).toEqual({
      text: 'name: a\nlist:\n- {}\n- body: 3\n- {}\n\nLeft out: /long; /list/*/head. Ask again with part: /long.',
      data: {
        name: 'a',
        list: [{}, { body: 3 }, {}],
        left_out: [
          { at: '/long', left_out: 'all, by default' },
          { at: '/list/*/head', left_out: 'all, by default' },
        ],
      },
    })
    expect((await answer(data, { ...ALL, part: '/long/code' }, aside)).data).toEqual({ part: '/long/code', value: 'x' })
    for (const part of ['/list/1', 'list/1']) {
      expect((await answer(data, { ...ALL, part }, aside)).text).toBe('head: 2\nbody: 3')
    }
  })

  it.each([
    ['/b', '"/b", but must be a JSON pointer into the answer. The answer has /a, /c~1d.'],
    ['b', '"b", but must be a JSON pointer into the answer. The answer has /a, /c~1d.'],
    ['/a/7', '"/a/7", but must be a JSON pointer into the answer. /a of the answer has /a/0.'],
    ['/c~1d/x', '"/c~1d/x", but must be a JSON pointer into the answer. /c~1d of the answer has no parts.'],
  ])('has no part %s, and says which it has', async (part, message) => {
    await expect(answer({ a: [1], 'c/d': 1 }, { ...ALL, part })).rejects.toThrow(`/part is ${message}`)
  })
})

describe('a page', () => {
  /** A list of so many items, each of which is a text of so many characters. */
  const listOf = (count: number, length: number) => {
    const asked: number[] = []
    const read = async (limit: string) => {
      asked.push(Number(limit))
      const items = Array.from({ length: Math.min(count, Number(limit)) }, (_, index) => ({
        index,
        ...Object.fromEntries(Array.from({ length: length / 100 }, (_, part) => [`p${part}`, 'x'.repeat(100)])),
      }))
      return { items, count, next: items.length }
    }
    return { asked, read }
  }

  it('is asked for once if it fits', async () => {
    const { asked, read } = listOf(30, 100)
    const { data } = await writePage(read, { limit: '20', isGiven: false }, ALL)
    expect(data).toMatchObject({ next: 20, items: { length: 20 } })
    expect(asked).toEqual([20])
  })

  it('is made smaller until all of its items fit, so that the next one begins after the last that is shown', async () => {
    const { asked, read } = listOf(30, 3_000)
    const { data, text } = await writePage(read, { limit: '20', isGiven: true }, ALL)
    const items = data['items'] as unknown[]
    expect(items.length).toBeGreaterThan(2)
    expect(data).toMatchObject({ next: items.length })
    expect(data).not.toHaveProperty('left_out')
    expect(text).not.toContain('Left out')
    expect(asked).toEqual([20, items.length])
  })

  it('has one item at least, of which parts are left out', async () => {
    const { read } = listOf(30, 30_000)
    const { data, text } = await writePage(read, { limit: '20', isGiven: false }, LEAST)
    expect(data).toMatchObject({ next: 1, items: { length: 1 } })
    expect(text).toContain('Ask again with limit: 1 and part: /items/0')
  })

  it('is the same one when a part of it is asked for', async () => {
    const { asked, read } = listOf(30, 3_000)
    const [part, characters] = ['/items/2/p0', CHARACTERS.most]
    await writePage(read, { limit: '20', isGiven: false }, { part, characters })
    const last = asked.at(-1)
    await writePage(read, { limit: String(last), isGiven: true }, { part, characters })
    expect(asked.at(-1)).toBe(last)
    expect(last).toBeLessThan(20)
  })
})
