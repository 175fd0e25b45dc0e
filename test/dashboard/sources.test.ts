import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { loadControlApi } from '../../src/admin/document.ts'

/** What makes markup or code of text, or keeps something beyond the tab. */
const DANGERS =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|setHTML|\beval\b|\bFunction\(|srcdoc|javascript:|localStorage|\.cookie/
const SOURCES = new URL('../../src/dashboard/', import.meta.url)

describe('the sources of the dashboard', () => {
  it('never treat text as markup or as code', async () => {
    const files = (await readdir(SOURCES, { recursive: true })).filter((path) => /\.(?:tsx?|html|css)$/.test(path))
    expect(files.length).toBeGreaterThan(30)
    for (const path of files) {
      const text = await readFile(new URL(path, SOURCES), 'utf8')
      expect.soft([path, DANGERS.exec(text)?.[0], /dangerously/.test(text)]).toEqual([path, undefined, false])
    }
  })

  it('name only the parameters that the paths of the control plane have', async () => {
    const { operations } = await loadControlApi()
    const documented = operations.flatMap(({ path }) => [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name))
    const client = await readFile(new URL('client.ts', SOURCES), 'utf8')
    const [, names = ''] = /^type Parameter = (.*)$/m.exec(client) ?? []
    expect([...names.matchAll(/[\w-]+/g)].map(([name]) => name)).toEqual([...new Set(documented)].toSorted())
  })
})
