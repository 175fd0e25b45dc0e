import { describe, expect, it } from 'vitest'
import { countChanges } from '../../../src/trials/beside/schedule.ts'
import type { OrderSearch } from '../../../src/trials/beside/search.ts'
import type { PairTerms } from '../../../src/trials/beside/session.ts'
import { budget, sample } from '../../support/budget.ts'
import { establish, openFor } from './open-session.ts'
import { RACERS } from './racers.ts'

type Name = keyof typeof RACERS

async function search(one: Name, other: Name, chosen?: Partial<PairTerms>): Promise<OrderSearch> {
  const session = openFor(RACERS, one, other, chosen)
  return session.search(await establish(session))
}

/** The verdict, and the fewest switches and changes of the thread. */
function nameOf({ verdict, schedule, run }: OrderSearch['findings'][number]): string {
  const { switches, overtakings } = countChanges(schedule, run.end.steps)
  return `${verdict} ${switches}${overtakings === 0 ? '' : `+${overtakings}`}`
}

const FLAWED: readonly [Name, Name, found: string[], switches?: number][] = [
  ['appendB', 'appendC', ['lost update 1', 'lost update 1']],
  ['appendB', 'addC', ['lost update 1']],
  ['ensure', 'ensure', ['false failure 1', 'false failure 1']],
  ['addB', 'recreate', ['lost update 1']],
  ['appendAndReport', 'addAndReport', ['false failure 1', 'lost update 2', 'wrong success 1']],
  ['lockOneTwo', 'lockTwoOne', ['hang 1'], 1],
  ['release', 'use', ['lost update 1']],
  ['readEach', 'recreate', ['false failure 1']],
  ['renameNewest', 'makeForAMoment', ['lost update 2']],
  ['appendTwo', 'read', ['lost update 0+1', 'lost update 0+2']],
  ['appendAlone', 'alsoAlone', ['lost update 2', 'lost update 2']],
]
/** The last one has many orders. */
const SEARCHED = FLAWED.slice(0, budget({ quick: -1, whole: -1, full: FLAWED.length }))

describe('of two clients at the same time, the search finds', () => {
  it.for(sample(SEARCHED, 3))('that %s and %s end with: %j', async ([one, other, found, switches = 2]) => {
    const { findings, flaky, unconfirmed, left } = await search(one, other, { switches })
    expect(findings.map(nameOf).toSorted()).toEqual(found)
    expect({ flaky, unconfirmed, left }).toEqual({ flaky: [], unconfirmed: [], left: 0 })
  })

  it('nothing with fewer switches than a race needs', async () => {
    const { findings } = await search('appendB', 'appendC', { switches: 0 })
    expect(findings).toEqual([])
    const wrong = await search('appendAndReport', 'addAndReport', { switches: 1 })
    expect(wrong.findings.map(nameOf).toSorted()).toEqual(['false failure 1', 'wrong success 1'])
  })

  it.for<[Name, Name, possible: number, tried: number]>([
    ['addB', 'addC', 6, 4],
    ['monitorX', 'monitorY', 2, 2],
    ['monitorX', 'readTwice', 3, 2],
    ['monitorX', 'appendB', 3, 2],
    ['renameTwice', 'read', 4, 3],
    ['makeOne', 'makeTwo', 6, 2],
  ])('nothing in what %s and %s do; of %i orders, %i are tried', async ([one, other, possible, tried]) => {
    const found = await search(one, other)
    const nothing = { findings: [], gaveUp: [], flaky: [], left: 0, unjudged: 0, isReliable: true }
    expect(found).toMatchObject({ ...nothing, possible, tried, equivalent: possible - tried })
  })

  it('every order of threads', async () => {
    const { possible, levels, left } = await search('readTwice', 'createTwo', { switches: 6 })
    expect({ possible, left }).toEqual({ possible: 12, left: 0 })
    expect(levels.reduce((sum, level) => sum + level.of, 0)).toBe(12)
  })

  it('once that both wait for ever', async () => {
    const { findings, tried } = await search('lockOneTwo', 'lockTwoOne', { switches: 1 })
    expect({ verdicts: findings.map(({ verdict }) => verdict), tried }).toEqual({ verdicts: ['hang'], tried: 12 })
  })

  it('nothing in clients that wait for a lock', async () => {
    expect(await search('lockedB', 'lockedC')).toMatchObject({ findings: [], left: 0, unjudged: 0, isReliable: true })
  })
})

it('is the same with as many runs at the same time as there are cores', async () => {
  const [one, two] = await Promise.all([1, 4].map((jobs) => search('appendAndReport', 'addAndReport', { jobs })))
  const told = (found: OrderSearch | undefined) => {
    return (
      found && {
        ...found,
        findings: found.findings.map(({ verdict, schedule, others }) => [verdict, schedule, others]),
      }
    )
  }
  expect(told(two)).toEqual(told(one))
})
