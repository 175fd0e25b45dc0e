import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Alternative, nameOf } from '../../../src/contract/choices.ts'
import { decideVerdicts } from '../../../src/evidence/verdicts.ts'
import { BEHAVIOURS } from '../../contract/behaviours.ts'
import { budget } from '../../support/budget.ts'
import { accusationsIn, choices, isFound, type Judgement, judge, wrongVerdicts } from './judgement.ts'
import { type Client, recordClient } from './recording.ts'

const SEED = 20_261_122

/** What is said about the traffic of these clients, of which each has an account of its own. */
async function judgeClients(clients: readonly Client[], truth: readonly Alternative[]): Promise<Judgement> {
  const conclusions = []
  for (const client of clients) {
    const { conclusion } = await judge(await recordClient(client, truth), true)
    conclusions.push(conclusion)
  }
  const [conclusion] = conclusions
  if (conclusion === undefined) throw new Error('There is no client.')
  const findings = conclusions.flatMap((each) => each.findings)
  const observations = conclusions.flatMap((each) => each.observations)
  return { conclusion: { ...conclusion, findings, observations }, verdicts: decideVerdicts(observations, choices) }
}

/** A client whose requests show the alternatives of an assumption. */
function clientFor({ id }: Alternative): Client {
  const behaviour = BEHAVIOURS.find((each) => each.id === id)
  if (behaviour === undefined) throw new Error(`Nothing says what shows of ${id}.`)
  return { options: behaviour.options, ask: behaviour.observe }
}

/** What is wrong about a judgement of a service that makes these choices, and of which each should be found. */
function mistakesIn(judgement: Judgement, truth: readonly Alternative[]): string[] {
  const names = truth.map(nameOf)
  const missed = names.filter((name) => !isFound(judgement, name)).map((name) => `${name} was not found`)
  const said = [...wrongVerdicts(judgement.verdicts, names), ...accusationsIn(judgement.conclusion)]
  return [...missed, ...said].map((mistake) => `${names.join(' + ')}: ${mistake}`)
}

describe('traffic of the stand-in', () => {
  it('shows each alternative that can be observed, and no other', async () => {
    const tried = choices.alternatives.filter((_, index) => index % budget({ quick: 20, full: 1 }) === 0)
    const table: string[] = []
    for (const alternative of tried) {
      table.push(...mistakesIn(await judgeClients([clientFor(alternative)], [alternative]), [alternative]))
    }
    expect(table, table.join('\n')).toEqual([])
  })

  it('shows each of our choices, where nothing else is chosen', async () => {
    const tried = BEHAVIOURS.filter((_, index) => index % budget({ quick: 20, full: 4 }) === 0)
    const table: string[] = []
    for (const { id, options, observe } of tried) {
      const judgement = await judgeClients([{ options, ask: observe }], [])
      table.push(...mistakesIn(judgement, []).map((mistake) => `${id} ${mistake}`))
    }
    expect(table, table.join('\n')).toEqual([])
  })

  it(`shows both of a pair of alternatives (seed ${SEED})`, async () => {
    const pair = fc.uniqueArray(fc.constantFrom(...choices.alternatives), {
      minLength: 2,
      maxLength: 2,
      selector: ({ id }) => id,
    })
    const pairs = fc.sample(pair, { seed: SEED, numRuns: budget({ quick: 2, full: 40 }) })
    const table: string[] = []
    for (const truth of pairs) table.push(...mistakesIn(await judgeClients(truth.map(clientFor), truth), truth))
    expect(table, table.join('\n')).toEqual([])
  })
})
