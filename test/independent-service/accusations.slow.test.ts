import { describe, expect, it } from 'vitest'
import { budget } from '../support/budget.ts'
import { accusationsIn, check, verifyService } from './judging.ts'
import { play, randomSession } from './playing.ts'
import { HONEST_PROFILES, type Profile, randomProfile } from './profile.ts'
import { emptyAccount, IndependentService } from './service.ts'
import { thoroughSession, usualSession } from './sessions.ts'
import { CIRCUMSTANCES, serviceUnder } from './troubles.ts'

const SEED = 1_000
const LENGTH = 50
const THEIRS = ['a.other.example', 'b.other.example']
async function accusationsOfCheck(profile: Profile, session: typeof usualSession, isSoleWriter: boolean) {
  const exchanges = play(session, new IndependentService(profile))
  return accusationsIn(await check(exchanges, { isSoleWriter }))
}

async function accusationsOfVerify(profile: Profile) {
  const account = emptyAccount()
  account.domains.push(...THEIRS)
  const { failures, left } = await verifyService(new IndependentService(profile, {}, account))
  expect(left).toEqual([])
  return failures
}

const seeds = (count: number) => Array.from({ length: count }, (_, index) => SEED + index)

describe('nobody who keeps the specification is accused', { timeout: 600_000 }, () => {
  it.for(HONEST_PROFILES)('by check of two sessions: $name', async (profile) => {
    for (const session of [usualSession, thoroughSession]) {
      for (const isSoleWriter of [false, true]) {
        expect.soft(await accusationsOfCheck(profile, session, isSoleWriter)).toEqual([])
      }
    }
  })

  it.for(HONEST_PROFILES)('by verify: $name', async (profile) => {
    expect(await accusationsOfVerify(profile)).toEqual([])
  })

  it.for(seeds(budget({ quick: 3, whole: 12, full: 320 }, 'SERVICES')))(
    'by check, whatever it has chosen: seed %i',
    async (seed) => {
      const accusations = await accusationsOfCheck(randomProfile(seed), randomSession(seed, LENGTH), seed % 2 === 0)
      expect(accusations).toEqual([])
    },
  )

  it.for(seeds(budget({ quick: 1, full: 40 }, 'SERVICES')))(
    'by verify, whatever it has chosen: seed %i',
    async (seed) => {
      expect(await accusationsOfVerify(randomProfile(seed))).toEqual([])
    },
  )

  it.for(CIRCUMSTANCES)('by check, when $what', async (circumstance) => {
    const { trouble, begin, between, stale } = circumstance
    const isSoleWriter = between === undefined && stale === undefined
    for (const session of [usualSession, thoroughSession]) {
      const played = { trouble, begin, pace: stale === undefined ? 1_500 : 300 }
      const exchanges = play(session, serviceUnder(circumstance), played)
      expect.soft(accusationsIn(await check(exchanges, { isSoleWriter }))).toEqual([])
    }
  })

  it.for(CIRCUMSTANCES.filter(({ ofRun }) => ofRun !== true))('by verify, when $what', async (circumstance) => {
    const { trouble, begin, between } = circumstance
    const terms = { trouble, begin, soleWriter: between === undefined, exhaust: false }
    const { failures, left, requests } = await verifyService(serviceUnder(circumstance), terms)
    expect.soft(failures).toEqual([])
    expect.soft(left.filter((name) => !name.startsWith('theirs'))).toEqual([])
    expect(requests).toBeGreaterThan(50)
  })
})
