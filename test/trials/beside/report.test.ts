import { expect, it } from 'vitest'
import { describeOrders, type PairReportTerms } from '../../../src/trials/beside/report.ts'
import { establish, openFor } from './open-session.ts'
import { RACERS } from './racers.ts'

const TERMS: PairReportTerms = {
  ...{ command: ['read'], beside: 'readTwice', names: ['read', 'readTwice'], options: [], runs: 3, switches: 2 },
  ...{ jobs: undefined, isStable: true, failOn: ['findings', 'inconclusive'], startedAt: undefined, seconds: 1 },
  ...{ redact: (text) => text, writeCommandLine: (words) => words.join(' ') },
}

it('A search is inconclusive if an order broke the commands once and not again', async () => {
  const session = openFor(RACERS, 'read', 'readTwice')
  const found = await session.search(await establish(session))
  expect(describeOrders(found, TERMS)).toMatchObject({ passed: true, exitCode: 0 })
  const flaky = [{ schedule: [{ side: 0 }], verdict: 'lost update' }] as const
  expect(describeOrders({ ...found, flaky }, TERMS)).toMatchObject({
    ...{ passed: false, exitCode: 1, isInconclusive: true, json: { passed: false, inconclusive: true } },
    summary: expect.stringMatching(/^Not decided: 1 order broke the commands once and not again\. /),
  })
})
