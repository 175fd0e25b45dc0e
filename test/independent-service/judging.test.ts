import { describe, expect, it } from 'vitest'
import { accusationsOfCheck, idsOf, verifyService } from './judging.ts'
import { play, randomSession } from './playing.ts'
import { HONEST_PROFILES, randomProfile } from './profile.ts'
import { IndependentService } from './service.ts'
import { thoroughSession, usualSession } from './sessions.ts'
import { CIRCUMSTANCES, playUnder } from './troubles.ts'

const LENGTH = 50

describe('nobody who keeps the specification is accused', () => {
  it.for(HONEST_PROFILES)('by check of two sessions: $name', async (profile) => {
    for (const session of [usualSession, thoroughSession]) {
      expect.soft(await accusationsOfCheck(play(session, new IndependentService(profile)), true)).toEqual([])
    }
  })

  it.for(HONEST_PROFILES)('by verify: $name', async (profile) => {
    const { failures, left } = await verifyService(new IndependentService(profile), { exhaust: false })
    expect({ failures, left }).toEqual({ failures: [], left: [] })
  })

  it.for([1002, 1004, 1005, 1006])('by check, whatever it has chosen: seed %i', async (seed) => {
    const exchanges = play(randomSession(seed, LENGTH), new IndependentService(randomProfile(seed)))
    expect(await accusationsOfCheck(exchanges, seed % 2 === 0)).toEqual([])
  })

  it.for(CIRCUMSTANCES)('by check, when $what', async (circumstance) => {
    const { exchanges, isSoleWriter } = playUnder(circumstance, usualSession)
    expect(await accusationsOfCheck(exchanges, isSoleWriter)).toEqual([])
  })
})

it.for([
  [
    '[unexplained] GET /domains → 200: It came: {"message":"No; none."}. {unexplained/listDomains/200/data; 5ecb3e29}',
    'unexplained/listDomains/200/data',
  ],
  ['restoration: The account is not as before. ({"data":{}})', 'restoration'],
])('an accusation has an id, whatever it quotes: %s', ([text = '', id]) => {
  expect(idsOf([text])).toEqual([id])
})
