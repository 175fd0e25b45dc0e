import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isForFetch, ROWS } from './corpus.ts'
import { expectAnswer, play, stateOf } from './play.ts'
import { type OpenSurface, openExpress, openFetch, openPort } from './surfaces.ts'

describe.each([
  ['the port', openPort, ROWS],
  // What is beside the base path belongs to the application.
  ['an application of Express', openExpress, ROWS.filter(({ send }) => !send.includes(' //'))],
  ['fetch without a port', openFetch, ROWS.filter(isForFetch)],
])('by %s, the service answers as the corpus says, and a refusal changes nothing:', (_, open, rows) => {
  let surface: OpenSurface
  beforeAll(async () => {
    surface = await open()
  })
  afterAll(() => surface.stop())

  it.for(rows)('$id', async (row) => {
    // A refusal that changes nothing by one way does so by all.
    const isWatched = open === openPort && row.answer.code !== undefined
    const played = await play(surface, row, isWatched)
    expectAnswer(row, played.received)
    if (isWatched) expect(await stateOf(played)).toEqual(played.before)
  })
})
