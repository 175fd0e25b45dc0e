import { describe, expect, it } from 'vitest'
import { expectNoAccusation, wrongsAbout } from './soundness.ts'

const SEED = 20_261_122

describe('nobody is accused', () => {
  it(`of what random sessions show, whatever the stand-in has chosen (seed ${SEED})`, async () => {
    await expectNoAccusation(SEED, 3)
  })

  it.each(['/domains/', '/DMARC', '/Domaingroups/'])('of answering %s as if it was written otherwise', async (path) => {
    const moves = [{ requests: [{ method: 'GET', path }], isOther: false }]
    const session = { moves, hasOthers: false, skipped: 0, skew: 0 }
    expect(await wrongsAbout(session, ['path-matching/1'])).toEqual([])
  })
})
