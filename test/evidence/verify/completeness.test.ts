import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../../src/behaviour/operations/operations.ts'
import { type Alternative, nameOf } from '../../../src/contract/choices.ts'
import { isObservable } from '../../../src/evidence/observability.ts'
import { assess } from '../../../src/evidence/verify/assessment.ts'
import { budget } from '../../support/budget.ts'
import { openService } from '../../support/service.ts'
import { accusationsIn, wrongVerdicts } from '../sessions/judgement.ts'
import { choices, prepareRun } from './runs.ts'

const SEED = 20_261_122

/**
 * What exchanges can show, but not a run of three hours on an account without domains of its own: limits of a new key,
 * figures that need mail or a refresh, and a header that is too large for the client.
 */
const NOT_ASKED = /^(grace-|refresh-time|decimals|percentages\/2|processing-time|count-period|status-large-header)/

/** What is wrong about a run against a stand-in that makes these choices. */
async function findMistakes(truth: readonly Alternative[]): Promise<string[]> {
  const service = await openService({}, OPERATIONS, { contract: await choices.load(truth) })
  try {
    const result = await prepareRun(service, { waits: true, exhaust: true }).result()
    const { assumptions } = assess({ result, choices, target: '', isAccepted: () => false, minReached: 0 })
    const names = truth.map(nameOf)
    const missed = truth.filter(({ id, number, assumption }) => {
      if (!isObservable(assumption, number) || NOT_ASKED.test(nameOf({ id, number })) || truth.length > 1) return false
      return !assumptions.some(
        (each) => each.id === id && each.verdict === 'alternative' && each.alternative === number,
      )
    })
    const mistakes = [...wrongVerdicts(assumptions, names), ...accusationsIn(result.conclusion)]
    return [...missed.map((each) => `${nameOf(each)} was not found`), ...mistakes].map(
      (mistake) => `${names.join(' + ')}: ${mistake}`,
    )
  } finally {
    await service.stop()
  }
}

describe('verify', { timeout: 600_000 }, () => {
  it('finds each choice of a service that it can ask for, says nothing false, and accuses nobody', async () => {
    const step = budget({ quick: 160, full: 16 }, 'ALTERNATIVE_STEP')
    const tried = choices.alternatives.filter((_, index) => index % step === 20 % step)
    const mistakes: string[] = []
    for (const alternative of tried) mistakes.push(...(await findMistakes([alternative])))
    expect(mistakes, mistakes.join('\n')).toEqual([])
  })

  it(`says nothing false of a service with three other choices (seed ${SEED})`, async () => {
    const three = fc.uniqueArray(fc.constantFrom(...choices.alternatives), {
      minLength: 3,
      maxLength: 3,
      selector: ({ id }) => id,
    })
    await fc.assert(
      fc.asyncProperty(three, async (truth) => {
        const mistakes = await findMistakes(truth)
        expect(mistakes, mistakes.join('\n')).toEqual([])
      }),
      { seed: SEED, numRuns: budget({ quick: 1, full: 4 }, 'ALTERNATIVE_TRIPLES'), endOnFailure: true },
    )
  })
})
