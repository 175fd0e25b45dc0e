import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROWS } from './corpus.ts'
import { expectExplanation } from './explanation.ts'
import { testKept } from './kept.ts'
import { expectAnswer, play, stateOf } from './play.ts'
import { expectAccusesClientsOnly, type Recording, record } from './recording.ts'
import { type OpenSurface, openExpress, openPort } from './surfaces.ts'

describe('by the port', () => {
  let surface: OpenSurface
  let recording: Recording
  beforeAll(async () => {
    surface = await openPort()
    recording = record(surface)
  })
  afterAll(() => surface.stop())

  it.for(ROWS)(
    'the service answers and explains as the corpus says, and a refusal changes nothing: $id',
    async (row) => {
      const played = await play(recording.surface, row, row.answer.code !== undefined)
      expectAnswer(row, played.received)
      if (row.answer.code !== undefined) expect(await stateOf(played)).toEqual(played.before)
      await expectExplanation(row, played)
    },
  )

  it('a recording of all of it accuses nobody but clients, of what no state of the account makes right', async () => {
    await expectAccusesClientsOnly(recording, await surface.service.verdict())
  })
})

describe('by an application of Express', () => {
  let surface: OpenSurface
  beforeAll(async () => {
    surface = await openExpress()
  })
  afterAll(() => surface.stop())

  // What is beside the base path belongs to the application.
  it.for(ROWS.filter(({ send }) => !send.includes(' //')))(
    'the service answers as the corpus says: $id',
    async (row) => {
      expectAnswer(row, (await play(surface, row)).received)
    },
  )
})

describe('by fetch without a port, on a folder', () => {
  const data = mkdtempSync(join(tmpdir(), 'understudy-'))
  afterAll(() => rmSync(data, { recursive: true }))
  testKept(() => ({ data }))
})
