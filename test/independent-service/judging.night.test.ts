import { describe, expect, it } from 'vitest'
import { DEPARTURES } from './departures.ts'
import { cellOf, THEIRS } from './finding.ts'
import { accusationsOfCheck, verifyService } from './judging.ts'
import { MISSED, type Tool } from './known.ts'
import { play, randomSession } from './playing.ts'
import { HONEST_PROFILES, type Profile, randomProfile } from './profile.ts'
import { emptyAccount, IndependentService } from './service.ts'
import { thoroughSession } from './sessions.ts'
import { CIRCUMSTANCES, playUnder, serviceUnder } from './troubles.ts'

/** SERVICES=2000 SERVICES_SEED=7 npm run test:night test/independent-service */
const SEED = Number(process.env['SERVICES_SEED'] ?? 1_000)
const SERVICES = Number(process.env['SERVICES'] ?? 320)
const LENGTH = 50
const seeds = (count: number) => Array.from({ length: count }, (_, index) => SEED + index)

async function accusationsOfVerify(profile: Profile) {
  const account = emptyAccount()
  account.domains.push(...THEIRS)
  const { failures, left } = await verifyService(new IndependentService(profile, {}, account))
  expect(left).toEqual([])
  return failures
}

describe('nobody who keeps the specification is accused', { timeout: 600_000 }, () => {
  it.for(HONEST_PROFILES)('by verify: $name', async (profile) => {
    expect(await accusationsOfVerify(profile)).toEqual([])
  })

  it.for(seeds(SERVICES))('by check, whatever it has chosen: seed %i', async (seed) => {
    const exchanges = play(randomSession(seed, LENGTH), new IndependentService(randomProfile(seed)))
    expect(await accusationsOfCheck(exchanges, seed % 2 === 0)).toEqual([])
  })

  it.for(seeds(Math.ceil(SERVICES / 8)))('by verify, whatever it has chosen: seed %i', async (seed) => {
    expect(await accusationsOfVerify(randomProfile(seed))).toEqual([])
  })

  it.for(CIRCUMSTANCES)('by check of everything, when $what', async (circumstance) => {
    const { exchanges, isSoleWriter } = playUnder(circumstance, thoroughSession)
    expect(await accusationsOfCheck(exchanges, isSoleWriter)).toEqual([])
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

describe('what a tool finds of a service that breaks the specification', { timeout: 300_000 }, () => {
  const tools: readonly Tool[] = ['verify', 'usual', 'thorough']
  const pairs = DEPARTURES.flatMap((departure) => tools.map((tool) => ({ tool, departure, does: departure.does })))

  it.for(pairs)('is not less than is known, and has its name: $tool, $does', async ({ tool, departure }) => {
    const cell = await cellOf(tool, departure)
    const isLess = cell === 'missed' || cell === 'misnamed' || (cell === 'not shown' && tool === 'verify')
    expect(isLess).toBe(MISSED.includes(`${tool} ${departure.id}: ${cell}`))
  })
})
