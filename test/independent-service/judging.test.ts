import { describe, expect, it } from 'vitest'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { play, randomSession } from './playing.ts'
import { HONEST_PROFILES, type Profile, randomProfile } from './profile.ts'
import { IndependentService } from './service.ts'
import { type Session, thoroughSession, usualSession } from './sessions.ts'
import { CIRCUMSTANCES, serviceUnder } from './troubles.ts'

const LENGTH = 50

async function accusationsOfCheck(profile: Profile, session: Session, isSoleWriter: boolean) {
  return accusationsIn(await check(play(session, new IndependentService(profile)), { isSoleWriter }))
}

describe('nobody who keeps the specification is accused', () => {
  it.for(HONEST_PROFILES)('by check of two sessions: $name', async (profile) => {
    for (const session of [usualSession, thoroughSession]) {
      expect.soft(await accusationsOfCheck(profile, session, true)).toEqual([])
    }
  })

  it.for(HONEST_PROFILES)('by verify: $name', async (profile) => {
    const { failures, left } = await verifyService(new IndependentService(profile), { exhaust: false })
    expect({ failures, left }).toEqual({ failures: [], left: [] })
  })

  it.for([1002, 1004, 1005, 1006])('by check, whatever it has chosen: seed %i', async (seed) => {
    const [profile, session] = [randomProfile(seed), randomSession(seed, LENGTH)]
    expect(await accusationsOfCheck(profile, session, seed % 2 === 0)).toEqual([])
  })

  it.for(CIRCUMSTANCES)('by check, when $what', async (circumstance) => {
    const { trouble, begin, between, stale } = circumstance
    const isSoleWriter = between === undefined && stale === undefined
    const played = { trouble, begin, pace: stale === undefined ? 1_500 : 300 }
    const exchanges = play(usualSession, serviceUnder(circumstance), played)
    expect(accusationsIn(await check(exchanges, { isSoleWriter }))).toEqual([])
  })
})

describe('an accusation', () => {
  it.for([
    [
      '[unexplained] GET /domains → 200: It came: {"message":"No; none."}. {unexplained/listDomains/200/data; 5ecb3e29}',
      'unexplained/listDomains/200/data',
    ],
    ['restoration: The account is not as before. ({"data":{}})', 'restoration'],
  ])('has an id, whatever it quotes: %s', ([text = '', id]) => {
    expect(idsOf([text])).toEqual([id])
  })
})
