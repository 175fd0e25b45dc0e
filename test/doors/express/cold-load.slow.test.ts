import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, inject, it } from 'vitest'

const DIST = new URL('../../../dist/', import.meta.url)

/** The packages that are loaded with a file of the build, and the files. */
function loadedWith(file: URL, files = new Set<string>(), packages = new Set<string>()) {
  if (files.has(file.href)) return { files, packages }
  files.add(file.href)
  const text = readFileSync(fileURLToPath(file), 'utf8')
  for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\b[^'"\n]*["']([^'"\n]+)["']/gm)) {
    if (specifier.startsWith('.')) loadedWith(new URL(specifier, file), files, packages)
    else if (!specifier.startsWith('node:')) packages.add(specifier)
  }
  return { files, packages }
}

it.each([
  ['doors/express.js', []],
  ['doors/index.js', ['lowdb']],
  ['cli.js', []],
])('loads with %s the packages %j, and no others', (door, expected) => {
  expect(inject('buildFailure')).toBeUndefined()
  const { files, packages } = loadedWith(new URL(door, DIST))
  expect([...packages]).toEqual(expected)
  expect([...files]).toContainEqual(expect.stringMatching(/command-line\.js$/))
})
