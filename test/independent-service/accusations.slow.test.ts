import { describe, expect, it } from 'vitest'
import { BUDGET, budget } from '../support/budget.ts'
import { accusationsIn, check, idsOf, verifyService } from './judging.ts'
import { ACCUSATIONS } from './known.ts'
import { play, randomSession } from './playing.ts'
import { HONEST_PROFILES, type Profile, randomProfile } from './profile.ts'
import { emptyAccount, IndependentService } from './service.ts'
import { thoroughSession, usualSession } from './sessions.ts'
import { CIRCUMSTANCES, serviceUnder } from './troubles.ts'

const SEED = 1_000
const LENGTH = 50
const THEIRS = ['a.other.example', 'b.other.example']
const seen = new Set<string>()

/** Accusations that are not known. */
function newOnes(accusations: readonly string[]): string[] {
  return accusations.filter((text) => {
    const known = ACCUSATIONS.find(({ id }) => id.test(idsOf([text])[0] ?? ''))
    if (known !== undefined) seen.add(known.why)
    return known === undefined
  })
}

async function newOnesOfCheck(profile: Profile, session: typeof usualSession, isSoleWriter: boolean) {
  const exchanges = play(session, new IndependentService(profile))
  return newOnes(accusationsIn(await check(exchanges, { isSoleWriter })))
}

async function newOnesOfVerify(profile: Profile) {
  const account = emptyAccount()
  account.domains.push(...THEIRS)
  const { failures, left } = await verifyService(new IndependentService(profile, {}, account))
  expect(left).toEqual([])
  return newOnes(failures)
}

const seeds = (count: number) => Array.from({ length: count }, (_, index) => SEED + index)

describe('nobody who keeps the specification is accused', { timeout: 600_000 }, () => {
  it.for(HONEST_PROFILES)('by check of two sessions: $name', async (profile) => {
    for (const session of [usualSession, thoroughSession]) {
      for (const isSoleWriter of [false, true]) {
        expect.soft(await newOnesOfCheck(profile, session, isSoleWriter)).toEqual([])
      }
    }
  })

  it.for(HONEST_PROFILES)('by verify: $name', async (profile) => {
    expect(await newOnesOfVerify(profile)).toEqual([])
  })

  it.for(seeds(budget({ quick: 3, whole: 20, full: 320 }, 'SERVICES')))(
    'by check, whatever it has chosen: seed %i',
    async (seed) => {
      const accusations = await newOnesOfCheck(randomProfile(seed), randomSession(seed, LENGTH), seed % 2 === 0)
      expect(accusations).toEqual([])
    },
  )

  it.for(seeds(budget({ quick: 1, whole: 3, full: 40 }, 'SERVICES')))(
    'by verify, whatever it has chosen: seed %i',
    async (seed) => {
      expect(await newOnesOfVerify(randomProfile(seed))).toEqual([])
    },
  )

  it.for(CIRCUMSTANCES)('by check, when $what', async (circumstance) => {
    const { trouble, begin, between, stale } = circumstance
    const isSoleWriter = between === undefined && stale === undefined
    for (const session of [usualSession, thoroughSession]) {
      const played = { trouble, begin, pace: stale === undefined ? 1_500 : 300 }
      const exchanges = play(session, serviceUnder(circumstance), played)
      expect.soft(newOnes(accusationsIn(await check(exchanges, { isSoleWriter })))).toEqual([])
    }
  })

  it.for(CIRCUMSTANCES.filter(({ ofRun }) => ofRun !== true))('by verify, when $what', async (circumstance) => {
    const { trouble, begin, between } = circumstance
    const terms = { trouble, begin, soleWriter: between === undefined, exhaust: false }
    const { failures, left, requests } = await verifyService(serviceUnder(circumstance), terms)
    expect.soft(newOnes(failures)).toEqual([])
    expect.soft(left.filter((name) => !name.startsWith('theirs'))).toEqual([])
    expect(requests).toBeGreaterThan(50)
  })

  // Only a whole run sees them all.
  it.runIf(BUDGET === 'full')('in none of the known ways that was mended', () => {
    expect(ACCUSATIONS.map(({ why }) => why).filter((why) => !seen.has(why))).toEqual([])
  })
})
