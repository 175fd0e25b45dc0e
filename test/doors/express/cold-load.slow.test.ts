import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, inject, it } from 'vitest'

const DIST = new URL('../../../dist/', import.meta.url)

/** The packages and modules of Node.js that are loaded with a file of the build. */
function loadedWith(file: URL, seen = new Set<string>(), packages = new Set<string>()): Set<string> {
  if (seen.has(file.href)) return packages
  seen.add(file.href)
  const text = readFileSync(fileURLToPath(file), 'utf8')
  for (const [, specifier = ''] of text.matchAll(/^(?:import|export)\b[^'"\n]*["']([^'"\n]+)["']/gm)) {
    if (specifier.startsWith('.')) loadedWith(new URL(specifier, file), seen, packages)
    else packages.add(specifier)
  }
  return packages
}

it('loads no package with dmarc-understudy/express', () => {
  expect(inject('buildFailure')).toBeUndefined()
  const packages = [...loadedWith(new URL('doors/express.js', DIST))].filter((name) => !name.startsWith('node:'))
  expect(packages).toEqual([])
  // The same walk finds what the server needs.
  expect([...loadedWith(new URL('doors/index.js', DIST))]).toContain('express')
})
