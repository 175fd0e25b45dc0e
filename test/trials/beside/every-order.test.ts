import { describe, expect, it } from 'vitest'
import { countChanges, type Schedule } from '../../../src/trials/beside/schedule.ts'
import { isPairFailure } from '../../../src/trials/beside/verdict.ts'
import { sample } from '../../support/budget.ts'
import { establish, openFor } from './open-session.ts'
import { RACERS } from './racers.ts'

/** All orders of so many requests of each command. */
function ordersOf([first, second]: [number, number]): Schedule[] {
  if (first === 0 || second === 0)
    return [Array.from({ length: first + second }, () => ({ side: first === 0 ? 1 : 0 }) as const)]
  const begin = (side: 0 | 1, rest: [number, number]) => ordersOf(rest).map((order): Schedule => [{ side }, ...order])
  return [...begin(0, [first - 1, second]), ...begin(1, [first, second - 1])]
}

type Name = keyof typeof RACERS
const PAIRS: [Name, Name, requests: [number, number]][] = [
  ['appendB', 'appendC', [2, 2]],
  ['ensure', 'ensure', [2, 2]],
  ['addB', 'recreate', [2, 3]],
  ['release', 'use', [2, 3]],
  ['renameTwice', 'readTwice', [3, 2]],
  ['appendAndReport', 'addAndReport', [3, 3]],
  ['readEach', 'recreate', [2, 3]],
  ['renameNewest', 'makeForAMoment', [3, 2]],
]

describe('the search', () => {
  it.for(sample(PAIRS, 2))('finds of %s and %s what trying every order finds', async ([one, other, requests]) => {
    const session = openFor(RACERS, one, other, { switches: requests[0] + requests[1] })
    const serial = await establish(session)
    /** The fewest switches by verdict and reasons. */
    const fewest = new Map<string, number>()
    for (const order of ordersOf(requests)) {
      const replayed = await session.replay(order, serial)
      if (replayed === undefined || !isPairFailure(replayed.verdict)) continue
      const cause = JSON.stringify([replayed.verdict, replayed.reasons])
      const { switches } = countChanges(order, replayed.run.end.steps)
      fewest.set(cause, Math.min(switches, fewest.get(cause) ?? Number.POSITIVE_INFINITY))
    }
    const { findings, tried, equivalent } = await session.search(serial)
    const found = findings.map(({ verdict, reasons, schedule, run }) => {
      return [JSON.stringify([verdict, reasons]), countChanges(schedule, run.end.steps).switches] as const
    })
    expect(new Map(found)).toEqual(fewest)
    expect(tried).toBeLessThanOrEqual(ordersOf(requests).length)
    expect(equivalent).toBeGreaterThanOrEqual(0)
  })
})
