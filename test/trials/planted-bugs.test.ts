import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BUDGET } from '../support/budget.ts'
import { BUGS, GOOD, readCell, rowOf, type Tool, verdictOf, writeTable } from './planted-bugs.ts'

const PAGE = 'docs/explore.md'
const page = readFileSync(PAGE, 'utf8')

/** One mistake for each tool, with the runs that `explore` needs to find it. */
const SAMPLE: readonly [tool: Tool, id: string, runs?: number][] = [
  ['run', 'too-many'],
  ['vary', 'case'],
  ['explore', 'in-use', 10],
]

describe('what a client does wrong', () => {
  it.each(SAMPLE)('is found by %s as docs/explore.md says: %s', async (tool, id, runs) => {
    const bug = BUGS.find((each) => each.id === id)
    if (bug === undefined) throw new Error(`There is no mistake ${id}.`)
    expect(await verdictOf(tool, bug, 'JavaScript', runs)).toBe(readCell(page, tool, bug))
  })
})

if (BUDGET === 'full') {
  describe('what the tools say of a client', { timeout: 900_000 }, () => {
    const rows: string[] = []

    it.each(GOOD)('is nothing if it makes $does', async (good) => {
      const row = await rowOf(good)
      rows.push(row)
      expect(row).toBe(`| ${good.does} | – | – | – |`)
    })

    it.each(BUGS)('is known if it $does', async (bug) => {
      rows.push(await rowOf(bug))
    })

    it('is in docs/explore.md', async () => {
      // `npx vitest run --mode full test/trials/planted-bugs -u` writes the table.
      await expect(writeTable(page, rows)).toMatchFileSnapshot(`../../${PAGE}`)
    })
  })
}
