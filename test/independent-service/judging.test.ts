import { describe, expect, it } from 'vitest'
import { THEIRS } from './finding.ts'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { play, randomSession } from './playing.ts'
import { HONEST_PROFILES, PLAIN, type Profile, randomProfile } from './profile.ts'
import { emptyAccount, IndependentService } from './service.ts'
import { type Session, thoroughSession, usualSession } from './sessions.ts'
import { CIRCUMSTANCES, serviceUnder } from './troubles.ts'

const SEED = 1_000
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

  it('by verify, which leaves nothing behind', async () => {
    const account = emptyAccount()
    account.domains.push(...THEIRS)
    const { failures, left } = await verifyService(new IndependentService(PLAIN, {}, account))
    expect({ failures, left }).toEqual({ failures: [], left: [] })
  })

  it.for([0, 1, 2, 3, 4, 5, 6, 7])('by check, whatever it has chosen: seed %i', async (number) => {
    const [profile, session] = [randomProfile(SEED + number), randomSession(SEED + number, LENGTH)]
    expect(await accusationsOfCheck(profile, session, number % 2 === 0)).toEqual([])
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
