import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sessions, truths, wrongsAbout } from './soundness.ts'

const SEED = 20_261_122

describe('nobody is accused', () => {
  it(`of what a random session with the stand-in shows (seed ${SEED})`, async () => {
    const property = fc.asyncProperty(sessions, async (session) => {
      expect(await wrongsAbout(session)).toEqual([])
    })
    await fc.assert(property, { seed: SEED, numRuns: 2, endOnFailure: true })
  })

  it(`of what a stand-in with other choices shows, and no choice is decided wrongly (seed ${SEED})`, async () => {
    const property = fc.asyncProperty(sessions, truths, async (session, truth) => {
      expect(await wrongsAbout(session, truth), truth.join()).toEqual([])
    })
    await fc.assert(property, { seed: SEED, numRuns: 1, endOnFailure: true })
  })

  it.each(['/domains/', '/DMARC', '/Domaingroups/'])('of answering %s as if it was written otherwise', async (path) => {
    const moves = [{ requests: [{ method: 'GET', path }], isOther: false }]
    const session = { moves, hasOthers: false, skipped: 0, skew: 0, isSoleWriter: false }
    expect(await wrongsAbout(session, ['path-matching/1'])).toEqual([])
  })
})
