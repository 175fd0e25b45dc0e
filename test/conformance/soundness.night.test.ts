import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sessions, truths, wrongsAbout } from './soundness.ts'

const SEED = 8

it(`nobody is accused of what many random sessions show, whatever the stand-in has chosen (seed ${SEED})`, {
  timeout: 3_600_000,
}, async () => {
  const some = fc.oneof(fc.constant<string[]>([]), truths)
  const property = fc.asyncProperty(sessions, some, async (session, truth) => {
    expect(await wrongsAbout(session, truth), truth.join()).toEqual([])
  })
  await fc.assert(property, { seed: SEED, numRuns: 200, endOnFailure: true })
})
