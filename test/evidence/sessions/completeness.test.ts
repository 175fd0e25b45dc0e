import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Alternative, nameOf } from '../../../src/contract/choices.ts'
import { isObservable } from '../../../src/evidence/observability.ts'
import { decideVerdicts } from '../../../src/evidence/verdicts.ts'
import { budget } from '../../support/budget.ts'
import { clientFor, isOwnName } from './clients.ts'
import { accusationsIn, choices, isFound, type Judgement, judge, wrongVerdicts } from './judgement.ts'
import { recordClient } from './recording.ts'

const SEED = 20_261_122

/** What is said about the traffic of clients, of which each has an account of its own. */
async function judgeClients(ids: readonly string[], truth: readonly Alternative[]): Promise<Judgement> {
  const conclusions = []
  for (const id of ids) {
    const exchanges = await recordClient(clientFor(id), truth)
    const { conclusion } = await judge(exchanges, { isSoleWriter: true, isOwnName })
    conclusions.push(conclusion)
  }
  const [conclusion] = conclusions
  if (conclusion === undefined) throw new Error('There is no client.')
  const findings = conclusions.flatMap((each) => each.findings)
  const observations = conclusions.flatMap((each) => each.observations)
  return { conclusion: { ...conclusion, findings, observations }, verdicts: decideVerdicts(observations, choices) }
}

/** What is wrong about a judgement of a service that makes these choices, and of which each should be found. */
function mistakesIn(judgement: Judgement, truth: readonly Alternative[]): string[] {
  const names = truth.map(nameOf)
  const said = [...wrongVerdicts(judgement.verdicts, names), ...accusationsIn(judgement.conclusion)]
  const missed = truth.filter((each) => isObservable(each.assumption, each.number) && !isFound(judgement, nameOf(each)))
  const mistakes = [...missed.map((each) => `${nameOf(each)} was not found`), ...said]
  return mistakes.map((mistake) => `${names.join(' + ') || 'our choices'}: ${mistake}`)
}

describe('traffic of the stand-in', { timeout: 300_000 }, () => {
  it('shows each alternative that can be observed, and no other', async () => {
    const tried = choices.alternatives.filter((_, index) => index % budget({ quick: 40, full: 1 }) === 0)
    const table: string[] = []
    for (const alternative of tried) {
      table.push(...mistakesIn(await judgeClients([alternative.id], [alternative]), [alternative]))
    }
    expect(table, table.join('\n')).toEqual([])
  })

  it('shows each of our choices, where nothing else is chosen', async () => {
    const ids = [...new Set(choices.alternatives.map(({ id }) => id))]
    const tried = ids.filter((_, index) => index % budget({ quick: 40, full: 4 }) === 0)
    const table: string[] = []
    for (const id of tried) {
      table.push(...mistakesIn(await judgeClients([id], []), []).map((mistake) => `${id}: ${mistake}`))
    }
    expect(table, table.join('\n')).toEqual([])
  })

  it(`shows both of a pair of alternatives (seed ${SEED})`, async () => {
    const pair = fc.uniqueArray(fc.constantFrom(...choices.alternatives), {
      minLength: 2,
      maxLength: 2,
      selector: ({ id }) => id,
    })
    const pairs = fc.sample(pair, { seed: SEED, numRuns: budget({ quick: 1, full: 40 }) })
    const table: string[] = []
    for (const truth of pairs) {
      const ids = truth.map(({ id }) => id)
      table.push(...mistakesIn(await judgeClients(ids, truth), truth))
    }
    expect(table, table.join('\n')).toEqual([])
  })
})
