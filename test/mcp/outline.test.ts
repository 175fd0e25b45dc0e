import { expect, it } from 'vitest'
import { writeOutline } from '../../src/mcp/outline.ts'

it.each<[value: unknown, lines: string[]]>([
  ['text', ['text']],
  [7, ['7']],
  [null, ['null']],
  [{ a: 1, b: 'two', c: true, d: null }, ['a: 1', 'b: two', 'c: true']],
  [{ a: [], b: {}, c: { d: null }, e: '' }, ['a: []', 'b: {}', 'c: {"d":null}', 'e: ""']],
  [{ a: '7', b: 'true', c: ' x', d: '{x', e: '-1.5' }, ['a: "7"', 'b: "true"', 'c: " x"', 'd: "{x"', 'e: "-1.5"']],
  [{ a: { b: { c: 1 } } }, ['a:', '  b:', '    c: 1']],
  [{ a: ['x', { b: 1, c: 2 }, ['y', 'z']] }, ['a:', '- x', '- b: 1', '  c: 2', '- - y', '  - z']],
  [
    [{ a: [{ b: 1 }, 2] }, 3],
    ['- a:', '  - b: 1', '  - 2', '- 3'],
  ],
  [{ a: 'one\ntwo\n', b: ['one\ntwo'] }, ['a: |', '  one', '  two', 'b:', '- |', '  one', '  two']],
  [{ a: { b: 'one\ntwo' } }, ['a:', '  b: |', '    one', '    two']],
  [{ curl: `curl -H 'A: "b"' # c` }, [`curl: curl -H 'A: "b"' # c`]],
])('%j is outlined', (value, lines) => {
  expect(writeOutline(value).split('\n')).toEqual(lines)
})
