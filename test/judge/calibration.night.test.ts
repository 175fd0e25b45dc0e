import fc from 'fast-check'
import { expect, it } from 'vitest'
import { QUESTIONS } from '../../src/judge/questions.ts'
import { askEverything } from './asked.ts'
import { calibrate, choices, mistakesAbout, OBSERVABLE, wrongVerdicts } from './calibration.ts'

const SEED = 20_260

it.each(OBSERVABLE)('%s is found in the answers to the requests that decide it', async (name) => {
  expect(await mistakesAbout(name)).toEqual([])
})

it(`says nothing wrong of a service with several other choices, whatever it is asked (seed ${SEED})`, async () => {
  const several = fc.constantFrom(0, 1, 2, 2, 2, 3, 8).chain((count) =>
    fc.uniqueArray(fc.constantFrom(...choices.alternatives), {
      minLength: count,
      maxLength: count,
      selector: ({ id }) => id,
    }),
  )
  const order = fc.shuffledSubarray(Object.keys(QUESTIONS), { minLength: 20 })
  const property = fc.asyncProperty(several, order, fc.boolean(), async (truth, ids, isSoleWriter) => {
    const exchanges = await askEverything(ids, await choices.compile(truth))
    const named = truth.map(({ id, number }) => `${id}/${number}`)
    expect(wrongVerdicts(await calibrate(exchanges, isSoleWriter), truth), named.join()).toEqual([])
  })
  await fc.assert(property, { seed: SEED, numRuns: 40, endOnFailure: true })
}, 600_000)
