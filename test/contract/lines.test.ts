import { describe, expect, it } from 'vitest'
import { linesOf } from '../../src/contract/lines.ts'

describe('the line of a JSON pointer', () => {
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
