import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { linesOf, readLines } from '../../src/contract/lines.ts'
import { pointTo, stepsOf } from '../../src/ground/json.ts'
import { OWN_DOCUMENT, ownDocument } from '../support/own-document.ts'

function* pointersIn(value: unknown, pointer = ''): Generator<string> {
  yield pointer
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) yield* pointersIn(item, pointTo(pointer, key))
}

describe('the line of a JSON pointer', () => {
  it('holds the key or the item, for every pointer of openapi.yaml', async () => {
    const lineOf = await readLines()
    const lines = readFileSync(OWN_DOCUMENT, 'utf8').split('\n')
    const pointers = [...pointersIn(ownDocument())].slice(1)
    expect(pointers.length).toBeGreaterThan(3000)
    const wrong = pointers.filter((pointer) => {
      const step = stepsOf(pointer).at(-1) ?? ''
      const line = lines[lineOf(pointer) - 1] ?? ''
      // An item of a sequence has no key.
      return !line.includes(step) && !(/^\d+$/.test(step) && /^\s*- |\[|, /.test(line))
    })
    expect(wrong).toEqual([])
  })

  const TEXT = `# A comment
a:
  - b: 1
    "c/d": &anchor
      e~f: |
        text: no key
      g: { h: [i, j],
           k: l }
  -
    - nested
    - 2
m: *anchor
? n
: o
10: ten
`
  it.each([
    ['', 1],
    ['/a', 2],
    ['/a/0', 3],
    ['/a/0/b', 3],
    ['/a/0/c~1d', 4],
    ['/a/0/c~1d/e~0f', 5],
    ['/a/0/c~1d/g/h/1', 7],
    ['/a/0/c~1d/g/k', 8],
    ['/a/1/1', 11],
    ['/m', 12],
    ['/n', 13],
    ['/10', 15],
    // What is not in the text has the line of the nearest holder.
    ['/a/0/b/new', 3],
    ['/m/e~0f', 12],
    ['/__proto__', 1],
    ['no pointer', 1],
  ])('%j is %d', async (pointer, line) => {
    expect((await linesOf(TEXT))(pointer)).toBe(line)
  })
})
