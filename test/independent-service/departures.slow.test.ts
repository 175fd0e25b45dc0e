import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BUDGET, budget } from '../support/budget.ts'
import { DEPARTURES } from './departures.ts'
import { readTable, rowOf, writeTable } from './table.ts'

const PAGE = 'docs/conformance.md'
const page = readFileSync(PAGE, 'utf8')
const step = Math.ceil(DEPARTURES.length / budget({ quick: 2, whole: 6, full: DEPARTURES.length }, 'DEPARTURES'))
const tried = DEPARTURES.filter((_, index) => index % step === 0)
// Only a run of all departures in the full budget compares or, with -u, writes the whole table.
const isWhole = BUDGET === 'full' && step === 1
const rows = new Map<string, string>()

describe('what the tools find of a departure', { timeout: 300_000 }, () => {
  it.for(tried)('is what docs/conformance.md says: $does', async (departure) => {
    const row = await rowOf(departure)
    rows.set(departure.id, row)
    if (!isWhole) expect(row).toBe(readTable(page).get(departure.id)?.line)
  })

  if (isWhole) {
    it('is in docs/conformance.md, for all departures', async () => {
      const lines = DEPARTURES.map(({ id }) => rows.get(id) ?? '')
      // `npx vitest run --mode full test/independent-service/departures -u` writes the table.
      await expect(writeTable(page, lines)).toMatchFileSnapshot(`../../${PAGE}`)
    })
  }
})
