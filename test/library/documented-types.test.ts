import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const source = (path: string) => readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8')

/** What a door exports of other files, and from where. */
function exportsOf(door: string): { name: string; file: string }[] {
  return [...source(door).matchAll(/export (?:type )?\{([^}]+)\} from '\.\/([^']+)'/g)].flatMap(
    ([, names = '', file = '']) =>
      names
        .split(',')
        .map((each) => each.replace('type ', '').trim().split(' as ')[0] ?? '')
        .filter((name) => name !== '')
        .map((name) => ({ name, file })),
  )
}

describe('what a program imports', () => {
  const exported = exportsOf('index.ts')

  it('is found', () => {
    expect(exported.length).toBeGreaterThan(30)
  })

  it.each(exported)('has a description: $name', ({ name, file }) => {
    const declared = new RegExp(
      `([^\\n]*)\\n(?:export (?:declare |async |abstract )*(?:interface|type|class|function|const)) ${name}\\b`,
    )
    const [, before] = declared.exec(source(file)) ?? []
    expect(before, `${file} declares ${name}`).toMatch(/\*\/$/)
  })
})
