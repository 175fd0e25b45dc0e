import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { blocksOf as fencedBlocksOf, readDocuments } from '../support/documents.ts'

interface Block {
  path: string
  name: string
  content: string
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const of = (name: string) => import(new URL(`../../bench/${name}.mjs`, import.meta.url).href)
const { blocksOf, drawChart }: { blocksOf(results: unknown): Block[]; drawChart(results: unknown): string } =
  await of('chart')
const { soakBlock, drawSoak }: { soakBlock(results: unknown): Block; drawSoak(results: unknown): string } =
  await of('soak-chart')
const { replaceBetween }: { replaceBetween(document: string, block: Block): string } = await of('documents')

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const results = JSON.parse(read('bench/results.json'))
const soak = JSON.parse(read('bench/soak-results.json'))

it.each([...blocksOf(results), soakBlock(soak)])('$path says in "$name" what the run has measured', (block) => {
  const document = read(block.path)
  expect(document).toBe(replaceBetween(document, block))
})

it('draws what the runs have measured', () => {
  expect(read('bench/chart.svg')).toBe(drawChart(results))
  expect(read('bench/soak.svg')).toBe(drawSoak(soak))
})

/** How a figure that somebody measured looks. Settings and limits are in ms, s, KiB and MiB, and whole. */
const MEASURED = [
  /\b(AMD|Intel|EPYC|Xeon)\b/,
  /\d ?(µs|kB|MB)\b/,
  /\d\.\d+ ?(ms|s|seconds|MiB|%)(?![\w-])/,
  /\d ?%/,
  /\d (reads|writes|requests|changes|exchanges|answers|tests|trials|starts)\b[^.|]*\bper\b/,
  /\d (times|×) (as (fast|slow|large|small|much|many)|faster|slower|larger|smaller|more|what)\b/,
  /\b(took|takes?|costs?|measured|needs?)\b[^.|]*?\d[\d,]* ?(ms|MiB|s|seconds)\b/,
]

/** Where such a text is no figure of a run, and why. */
const EXCEPTIONS: readonly { path: string; text: RegExp; reason: string }[] = [
  { path: 'docs/limits.md', text: /^\|/, reason: 'limits, which the program has set' },
  { path: 'docs/ci.md', text: /leave their parent within/, reason: 'how often processes are listed' },
  { path: 'docs/explore.md', text: /50 times more often/, reason: 'what a hang is' },
  { path: 'docs/tests.md', text: /^\|.*%\)/, reason: 'mistakes that tests notice, which no machine makes faster' },
  { path: 'bench/README.md', text: /^/, reason: 'how is measured, and not what was' },
]

/** The document without what programs write and what a reader copies. */
function withoutBlocks(markdown: string): string {
  const fenced = fencedBlocksOf(markdown).reduce((text, { content }) => text.replace(content, ''), markdown)
  return fenced.replaceAll(/<!-- ([\w-]+): written by node bench\/[\w-]+\.mjs -->[\s\S]*?<!-- \/\1 -->/g, '')
}

function figuresIn(markdown: string): string[] {
  return withoutBlocks(markdown)
    .split('\n')
    .filter((line) => MEASURED.some((pattern) => pattern.test(line)))
}

it.each(readDocuments())('$path has no measured figure outside of what a run has written', ({ path }) => {
  const allowed = EXCEPTIONS.filter((each) => each.path === path)
  const found = figuresIn(read(path)).filter((line) => !allowed.some(({ text }) => text.test(line)))
  expect(found).toEqual([])
})

it('names no exception that is not there', () => {
  const unused = EXCEPTIONS.filter(
    ({ path, text }) => !existsSync(join(ROOT, path)) || !figuresIn(read(path)).some((line) => text.test(line)),
  )
  expect(unused).toEqual([])
})

it.each([
  ['A first read takes 3.25 ms.', true],
  ['That took 40 ms on our machine.', true],
  ['One core serves 44,000 reads per second.', true],
  ['It is 6 times as fast as Express.', true],
  ['The journal costs 7 % of a read.', true],
  ['One request is 33 µs of Redis.', true],
  ['Measured on an AMD EPYC.', true],
  ['An account of 10 domains is 8 kB.', true],
  ['A body may have at most 64 MiB.', false],
  ['A client that is silent for 60 s is cut off.', false],
  ['Each account has 1,000 requests.', false],
  ['<!-- a: written by node bench/chart.mjs -->\nA read takes 3.25 ms.\n<!-- /a -->', false],
  ['```sh\ncurl --max-time 2.5 s\n```', false],
])('%j is a measured figure: %s', (text, isMeasured) => {
  expect(figuresIn(text).length > 0).toBe(isMeasured)
})
