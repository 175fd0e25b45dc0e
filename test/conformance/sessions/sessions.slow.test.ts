import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../src/contract/choices.ts'
import { budget } from '../../support/budget.ts'
import { accusationsIn, alternativesOf, choices, judge, wrongsAboutRequests, wrongVerdicts } from './judgement.ts'
import { playSession, type Session, sessionOf } from './session.ts'

const SEED = 20_261_122
const LENGTH = 40

/** Everything that is said wrongly about a session with a service that makes these choices. */
async function wrongsAbout(session: Session, truth: readonly string[], isSoleWriter: boolean): Promise<string[]> {
  const chosen = choices.alternatives.filter((alternative) => truth.includes(nameOf(alternative)))
  const contract = chosen.length === 0 ? choices.contract : await choices.load(chosen)
  const { exchanges, lawful } = await playSession(session, contract)
  const { conclusion, verdicts } = await judge(exchanges, { isSoleWriter })
  expect(conclusion.exchanges).toBe(exchanges.length)
  return [
    ...accusationsIn(conclusion),
    ...(truth.length === 0 ? wrongsAboutRequests(conclusion, lawful) : []),
    ...wrongVerdicts(verdicts, truth),
  ]
}

/** Names of alternatives, at most one of each assumption. */
const alternatives = fc
  .constantFrom(1, 2, 3, 8)
  .chain(alternativesOf)
  .map((chosen) => chosen.map(nameOf))

/** A recorder knows that nobody else writes, or does not know. Where somebody does, it must not say so. */
const session = sessionOf(LENGTH).chain((each) =>
  fc.record({ session: fc.constant(each), isSoleWriter: each.hasOthers ? fc.constant(false) : fc.boolean() }),
)

describe('nobody is accused', { timeout: 600_000 }, () => {
  it(`of what a random session with the stand-in shows (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(session, async (each) => {
        expect(await wrongsAbout(each.session, [], each.isSoleWriter)).toEqual([])
      }),
      { seed: SEED, numRuns: budget({ quick: 10, full: 120 }, 'SOUNDNESS_RUNS'), endOnFailure: true },
    )
  })

  it.each(['/domains/', '/DMARC', '/Domaingroups/'])('of answering %s as if it was written otherwise', async (path) => {
    const request = { method: 'GET', path, body: undefined, isLawful: false, as: 'old' } as const
    const session = {
      fixture: 'small',
      moves: [{ kind: 'ask', request }],
      skipped: 0,
      hasOthers: false,
      skew: 0,
    } as const
    expect(await wrongsAbout({ ...session, looksFirst: false }, ['path-matching/1'], false)).toEqual([])
  })

  it(`of what a stand-in with other choices shows, and no choice is decided wrongly (seed ${SEED})`, async () => {
    await fc.assert(
      fc.asyncProperty(session, alternatives, async (each, truth) => {
        expect(await wrongsAbout(each.session, truth, each.isSoleWriter), truth.join()).toEqual([])
      }),
      { seed: SEED, numRuns: budget({ quick: 4, full: 60 }, 'SOUNDNESS_RUNS'), endOnFailure: true },
    )
  })
})
