import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { blocksOf, readDocuments } from '../support/documents.ts'
import { it } from '../support/program.ts'

const ROOT = join(import.meta.dirname, '../..')
const documents = readDocuments()
const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')

/** The languages of fenced blocks: those of the documents that are run here, and those of others. */
const LANGUAGES = new Set(['sh', 'ts', 'json', 'text', 'yaml', 'python', 'go', 'java', 'jsonc', 'txt', 'ini'])

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)
  const anchors = new Set<string>()
  for (const [, heading = ''] of headings) {
    const shown = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const words = shown.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    const anchor = words.replaceAll(' ', '-')
    let name = anchor
    for (let count = 1; anchors.has(name); count++) name = `${anchor}-${count}`
    anchors.add(name)
  }
  return anchors
}

describe('the documentation', () => {
  it('fences shell commands in the one way that is run', () => {
    for (const path of ['README.md', ...documents.map((each) => each.path)]) {
      const blocks = blocksOf(textOf(path))
      // A job in bash, the examples in other languages and the answers of the control plane have tests of their own.
      const languages = blocks.filter(({ content }) => !content.startsWith('# job.sh')).map(({ language }) => language)
      expect(
        languages.filter((each) => !LANGUAGES.has(each)),
        path,
      ).toEqual([])
    }
    expect(documents.flatMap(({ commands }) => commands).length).toBeGreaterThan(50)
  })

  it('links to files and headings that exist', () => {
    for (const { path } of documents) {
      const links = [...textOf(path).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)]
      const broken = links.filter(([, page = '', anchor]) => {
        const target = page === '' ? path : join(path, '..', page)
        if (!existsSync(join(ROOT, target))) return true
        return anchor !== undefined && target.endsWith('.md') && !anchorsOf(textOf(target)).has(anchor)
      })
      expect([path, broken.map(([link]) => link)]).toEqual([path, []])
    }
  })

  it('names every route of the control plane in its list', async ({ serve }) => {
    const { origin } = await serve()
    const { paths } = (await (await fetch(`${origin}/__admin/openapi.json`)).json()) as {
      paths: Record<string, object>
    }
    const methods = ['get', 'post', 'put', 'patch', 'delete']
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => methods.includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    )
    const plane = textOf('docs/control-plane.md')
    const rows = plane.split('\n').filter((line) => line.startsWith('| `'))
    const listed = [...rows.join('\n').matchAll(/`(GET|POST|PUT|PATCH|DELETE) ([^`]+)`/g)].map(
      ([, method, path]) => `${method} ${path?.replace('…', '/accounts/{account}')}`,
    )
    expect(listed.toSorted()).toEqual(routes.toSorted())
  })
})
