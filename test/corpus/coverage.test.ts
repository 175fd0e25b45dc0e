import { describe, expect, it } from 'vitest'
import type { CoverageReport } from '../../src/coverage/report.ts'
import { operationAt } from '../support/service.ts'
import { isForFetch, ROWS, type Row } from './corpus.ts'
import { askDirectly, play } from './play.ts'
import { type OpenSurface, openFetch } from './surfaces.ts'

/** Rows of which the one request is all that the account has seen. */
const SINGLE = ROWS.filter((row) => row.given.requests === undefined && isForFetch(row))
/** So many services share them: few enough rows for each that a rule which something else shows is noticed. */
const SERVICES = 24
const seenEdges = new Set<string>()

describe('the coverage of rows of the corpus', () => {
  const batches = Array.from({ length: SERVICES }, (_, batch) => [batch] as const)

  it.for(batches)('counts their answers, and has the rules that they name and no other (%i)', async ([batch]) => {
    const rows = SINGLE.filter((_, index) => index % SERVICES === batch)
    const surface = await openFetch()
    for (const row of rows) await play(surface, row)
    const report: CoverageReport = (await askDirectly(surface.service, 'GET', '/coverage')).data
    await surface.stop()
    expect(countedIn(report).sort()).toEqual(rows.map((row) => nameAnswer(row, surface)).sort())
    const shown = report.rules.filter(({ seen }) => seen).map(({ id }) => id)
    expect(shown.sort()).toEqual([...new Set(rows.flatMap(({ rules }) => rules))].sort())
    for (const { id } of report.edges.filter(({ seen }) => seen)) seenEdges.add(id)
  })

  it('has, of all of them, every rule that one request can show, and both sides of every limit', async () => {
    const surface = await openFetch()
    const { rules, edges }: CoverageReport = (await askDirectly(surface.service, 'GET', '/coverage')).data
    await surface.stop()
    const named = new Set(SINGLE.flatMap((row) => row.rules))
    expect(rules.map(({ id }) => id).filter((id) => !named.has(id))).toEqual(['daily-refresh'])
    expect(edges.map(({ id }) => id).filter((id) => !seenEdges.has(id))).toEqual([])
  })
})

function nameAnswer({ send, answer: { status, code } }: Row, { service }: OpenSurface): string {
  const [method = '', path = ''] = send.split(' ')
  const operation = path.startsWith('//') ? undefined : operationAt(service.contract, method, path)
  return `${operation?.id} ${status} ${code}`
}

function countedIn({ operations, outside }: CoverageReport): string[] {
  return [...operations, { operation: undefined, responses: outside }].flatMap(({ operation, responses }) =>
    responses.flatMap(({ status, code, genuine }) => Array<string>(genuine).fill(`${operation} ${status} ${code}`)),
  )
}
