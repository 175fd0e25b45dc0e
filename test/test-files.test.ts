import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const FILES = readFiles()

function readFiles(): Map<string, string> {
  const folder = new URL('.', import.meta.url)
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.test.ts'))
  return new Map(paths.map((path) => [path, readFileSync(new URL(path, folder), 'utf8')]))
}

describe('a file of tests', () => {
  it('that replaces modules is isolated, because the files of a worker share what was loaded', () => {
    const replacing = [...FILES].filter(([, text]) => /^vi\.(mock|doMock)\(/m.test(text)).map(([path]) => path)
    expect(replacing.length).toBeGreaterThan(0)
    expect(replacing.filter((path) => !path.endsWith('.isolated.test.ts'))).toEqual([])
  })
})
