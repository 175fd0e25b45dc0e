import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BUDGET, budget } from '../support/budget.ts'
import { DEPARTURES } from './departures.ts'
import { type Cell, cellsOf, readLists, writeLists } from './lists.ts'

const PAGE = 'docs/conformance.md'
const page = readFileSync(PAGE, 'utf8')
const step = Math.ceil(DEPARTURES.length / budget({ quick: 2, whole: 6, full: DEPARTURES.length }, 'DEPARTURES'))
const tried = DEPARTURES.filter((_, index) => index % step === 0)
// Only a run of all departures in the full budget compares or, with -u, writes the lists.
const isWhole = BUDGET === 'full' && step === 1
const found = new Map<string, readonly Cell[]>()

describe('what the tools find of a departure', { timeout: 300_000 }, () => {
  it.for(tried)('is what docs/conformance.md says: $does ($breaks)', async (departure) => {
    const cells = await cellsOf(departure)
    found.set(departure.id, cells)
    if (!isWhole) expect(cells).toEqual(readLists(page).get(departure.id))
  })

  if (isWhole) {
    it('is in docs/conformance.md, for all departures', async () => {
      // `npx vitest run --mode full test/independent-service/departures -u` writes the lists.
      await expect(writeLists(page, found)).toMatchFileSnapshot(`../../${PAGE}`)
    })
  }
})
