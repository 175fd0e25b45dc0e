import { describe, expect, it } from 'vitest'
import { BY_VERIFY, DEPARTURES, type Departure } from './departures.ts'
import { THEIRS } from './finding.ts'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { PARTS, usualSession } from './sessions.ts'

/** How many exchanges after the first wrong answer the judge sees as well. */
const MORE = 12

/** Whether `check` of one of the sessions in which a departure shows calls it by its name. */
async function isNamed(departure: Departure, pattern: RegExp): Promise<boolean> {
  for (const session of [usualSession, ...PARTS]) {
    const twins = new Twins(PLAIN, departure)
    const exchanges = play(session, twins)
    if (twins.shown === undefined) continue
    const conclusion = await check(exchanges.slice(0, twins.shownAt + MORE), { isSoleWriter: true })
    if (idsOf(accusationsIn(conclusion)).some((id) => pattern.test(id))) return true
  }
  return false
}

describe('a service that keeps the specification', () => {
  it('is not accused by verify, which leaves nothing behind', async () => {
    const { failures, left } = await verifyService(new Twins(PLAIN, undefined, THEIRS), { exhaust: false })
    expect({ failures, left }).toEqual({ failures: [], left: [] })
  })
})

describe('a service that breaks the specification', () => {
  // What only `verify` tells takes many requests; judging.night.test.ts has it.
  const named = DEPARTURES.flatMap(({ found, ...departure }) =>
    found === undefined || BY_VERIFY.includes(departure.id) ? [] : [{ found, ...departure }],
  )
  it.for(named)('is accused by the name of what is wrong: $does', async ({ found, ...departure }) => {
    expect(await isNamed({ found, ...departure }, found)).toBe(true)
  })

  it('loses nothing by verify if its paths share one counter, so that the cleanup must wait', async () => {
    const shared = DEPARTURES.find(({ id }) => id === 'shared-quota')
    expect((await verifyService(new Twins(PLAIN, shared, THEIRS), { exhaust: false })).left).toEqual([])
  })

  const open = DEPARTURES.filter(({ found }) => found === undefined)
  it.for(open)('is not accused of what another service may do: $does', async (departure) => {
    for (const session of [usualSession, ...PARTS]) {
      expect(accusationsIn(await check(play(session, new Twins(PLAIN, departure))))).toEqual([])
    }
  })
})
