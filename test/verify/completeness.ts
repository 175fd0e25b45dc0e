import { OPERATIONS } from '../../src/behaviour/operations/operations.ts'
import { isObservable } from '../../src/choices/observability.ts'
import { type Alternative, type Choices, nameOf } from '../../src/contract/choices.ts'
import { assess } from '../../src/verify/assessment.ts'
import { accusationsIn, wrongVerdicts } from '../conformance/judgement.ts'
import { openService } from '../support/service.ts'
import { NO_LEDGER, prepareRun } from './runs.ts'

/**
 * What exchanges can show, but not a run of three hours on an account without domains of its own: limits of a new key,
 * figures that need mail or a refresh, and a header that is too large for the client.
 */
const NOT_ASKED = /^(grace-|refresh-time|decimals|percentages\/2|processing-time|count-period|status-large-header)/

/** What is wrong about a run against a stand-in that makes this choice. */
export async function findMistakes(truth: Alternative, choices: Choices): Promise<string[]> {
  const service = await openService({}, OPERATIONS, { contract: await choices.load([truth]) })
  try {
    const result = await prepareRun(service, { choices, waits: true, exhaust: true, ledger: NO_LEDGER }).result()
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
