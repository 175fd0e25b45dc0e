import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { isObservable } from '../../src/choices/observability.ts'
import { type Alternative, nameOf } from '../../src/contract/choices.ts'
import { assess } from '../../src/verify/assessment.ts'
import { accusationsIn, wrongVerdicts } from '../conformance/judgement.ts'
import { budget } from '../support/budget.ts'
import { openService } from '../support/service.ts'
import { choices, prepareRun } from './runs.ts'

/**
 * What exchanges can show, but not a run of three hours on an account without domains of its own: limits of a new key,
 * figures that need mail or a refresh, and a header that is too large for the client.
 */
const NOT_ASKED = /^(grace-|refresh-time|decimals|percentages\/2|processing-time|count-period|status-large-header)/

/** What is wrong about a run against a stand-in that makes this choice. */
async function findMistakes(truth: Alternative): Promise<string[]> {
  const service = await openService({}, OPERATIONS, { contract: await choices.load([truth]) })
  try {
    const result = await prepareRun(service, { waits: true, exhaust: true }).result()
    const { assumptions } = assess({ result, choices, target: '', isAccepted: () => false, minReached: 0 })
    const name = nameOf(truth)
    const isAsked = isObservable(truth.assumption, truth.number) && !NOT_ASKED.test(name)
    const isFound = assumptions.some(({ id, alternative }) => id === truth.id && alternative === truth.number)
    const mistakes = [...wrongVerdicts(assumptions, [name]), ...accusationsIn(result.conclusion)]
    return [...(isAsked && !isFound ? ['was not found'] : []), ...mistakes].map((mistake) => `${name}: ${mistake}`)
  } finally {
    await service.stop()
  }
}

describe('verify', { timeout: 600_000 }, () => {
  it('finds each choice of a service that it can ask for, says nothing false, and accuses nobody', async () => {
    const step = budget({ quick: 160, full: 16 }, 'ALTERNATIVE_STEP')
    const tried = choices.alternatives.filter((_, index) => index % step === 20 % step)
    for (const alternative of tried) expect.soft(await findMistakes(alternative)).toEqual([])
  })
  it.for([
    [{}, 'ASKED requests, which show every rule that needs no used-up quota and decide DECIDED of ALL assumptions'],
    [{ waits: true }, 'it sends ASKED requests in three windows, which decide DECIDED.'],
    [{ waits: true, exhaust: true }, 'it sends ASKED, which decide DECIDED.'],
    [{ writes: false }, 'then ASKED requests decide DECIDED assumptions of the account `demo`'],
  ] as const)('sends and decides on the account demo what the page says: %o', async ([options, sentence]) => {
    const service = await openService({ fixture: 'demo' })
    try {
      const result = await prepareRun(service, options).result()
      const { assumptions } = assess({ result, choices, target: '', isAccepted: () => false, minReached: 0 })
      const figures = {
        ASKED: result.requests,
        DECIDED: assumptions.filter(({ verdict }) => verdict !== 'undecided').length,
        ALL: assumptions.length,
      }
      const page = (await readFile('docs/conformance.md', 'utf8')).replaceAll(/\s+/g, ' ')
      expect(page).toContain(
        sentence.replaceAll(/ASKED|DECIDED|ALL/g, (name) => `${figures[name as keyof typeof figures]}`),
      )
    } finally {
      await service.stop()
    }
  })
})
