import { describe, expect, it } from 'vitest'
import { Secrets } from '../../../src/journal/redaction/secrets.ts'
import type { CommandEnd } from '../../../src/trials/running-command.ts'
import type { TrialResult } from '../../../src/trials/trial.ts'
import { DependencyJudge, type DependencyJudgeOptions } from '../../../src/trials/vary/judge.ts'
import type { Untried } from '../../../src/trials/vary/trial-runner.ts'
import { choices } from '../../support/choices.ts'
import { only } from './varied-client.ts'

/** How a run of the command ends: it passes, fails, takes too long, is not started, or passes with other requests. */
type Outcome = 'passes' | 'fails' | 'is late' | 'is over' | 'does not fit' | 'does otherwise'

const LIMIT = 1_000

function resultOf(outcome: Outcome): TrialResult | Untried {
  if (outcome === 'is over') return { untried: 'Over.', isOver: true }
  if (outcome === 'does not fit') return { untried: 'Unfit.', isOver: false }
  const usual = { signal: undefined, timedOut: false, interruptedBy: undefined, leftBehind: [] }
  const late = { exitCode: undefined, signal: 'SIGTERM', timedOut: true } as const
  const exitCode = outcome === 'fails' ? 1 : 0
  const end: CommandEnd = { ...usual, exitCode, seconds: 0.5, output: outcome, ...(outcome === 'is late' && late) }
  return { end, exchanges: [], lost: 0, accounts: new Map() } as Partial<TrialResult> as TrialResult
}

/** A judge of a command that ends so, by the names of what is tried and the number of the try. */
function judgeOf(outcomeOf: (name: string, count: number) => Outcome, options: Partial<DependencyJudgeOptions> = {}) {
  const tries: string[] = []
  const told: string[] = []
  const judge = new DependencyJudge({
    runner: {
      async try(name, _, limit) {
        const count = tries.filter((each) => each.startsWith(`${name} in`)).length + 1
        tries.push(`${name} in ${limit}`)
        return resultOf(outcomeOf(name, count))
      },
    },
    choices,
    server: {},
    secrets: new Secrets(),
    repeats: 2,
    isSteady: true,
    limit: LIMIT,
    isAsUsual: ({ end }) => end.output !== 'does otherwise',
    onVerdict: ({ id, alternative, verdict }) => told.push(`${id}/${alternative} ${verdict}`),
    ...options,
  })
  return { judge, tries, told }
}

const ONE = only('cors/1').alternatives
const FOUR = ['cors/1', 'domain-order/1', 'head/1', 'decimals/1'].flatMap((name) => only(name).alternatives)

describe('an alternative is judged alone', () => {
  it.each<[verdict: string, outcomes: Outcome[], runs: number]>([
    ['tolerates', ['passes'], 1],
    ['depends', ['fails', 'fails'], 2],
    ['flaky', ['fails', 'passes'], 2],
    ['tolerates', ['is late', 'passes'], 2],
    ['depends', ['is late', 'is late', 'is late', 'is late'], 4],
    ['depends', ['is late', 'is late', 'fails'], 3],
    ['inconclusive', ['is over'], 1],
    ['inconclusive', ['is late', 'is over'], 2],
    ['inconclusive', ['fails', 'is over'], 2],
    ['inconclusive', ['does not fit'], 1],
    // Only requests that are compared with those of others must be the usual ones.
    ['tolerates', ['does otherwise'], 1],
  ])('%s: %j', async (verdict, outcomes, runs) => {
    const { judge, tries, told } = judgeOf((_, count) => outcomes[count - 1] ?? 'passes')
    const [report] = await judge.judge(ONE)
    expect(report?.verdict).toBe(verdict)
    expect(tries).toHaveLength(runs)
    expect(told).toEqual([`cors/1 ${verdict}`])
  })

  it('with three times the limit, where it took too long', async () => {
    const { judge, tries } = judgeOf((_, count) => (count === 1 ? 'is late' : 'passes'))
    await judge.judge(ONE)
    expect(tries).toEqual(['cors/1 in 1000', 'cors/1 in 3000'])
  })

  it.each<[verdict: string, outcomes: Outcome[]]>([
    ['tolerates', ['passes', 'passes', 'passes']],
    ['flaky', ['passes', 'passes', 'fails']],
    ['flaky', ['fails', 'passes', 'fails']],
    ['depends', ['fails', 'fails', 'fails']],
  ])('by all repeats where the command is unsteady: %s', async (verdict, outcomes) => {
    const options = { repeats: 3, isSteady: false }
    const { judge, tries } = judgeOf((_, count) => outcomes[count - 1] ?? 'passes', options)
    expect((await judge.judge(ONE))[0]).toMatchObject({ verdict })
    expect(tries).toHaveLength(3)
  })

  it('and how it failed is told', async () => {
    const [failed] = await judgeOf(() => 'fails').judge.judge(ONE)
    expect(failed).toMatchObject({ exit_code: 1, output: 'fails', seconds: 0.5 })
    const [late] = await judgeOf(() => 'is late').judge.judge(ONE)
    expect(late).toMatchObject({ timed_out: true })
    expect(late).not.toHaveProperty('signal')
  })
})

describe('alternatives are judged together', () => {
  const names = 'cors/1 domain-order/1 head/1 decimals/1'

  it('by one run that passes', async () => {
    const { judge, tries } = judgeOf(() => 'passes')
    const verdicts = (await judge.judge(FOUR)).map(({ id, alternative, verdict }) => `${id}/${alternative} ${verdict}`)
    expect(verdicts).toEqual(names.split(' ').map((name) => `${name} tolerates`))
    expect(tries).toEqual([`${names} in ${LIMIT}`])
  })

  it('until the one is found that breaks the command', async () => {
    const { judge, tries } = judgeOf((name) => (name.includes('head/1') ? 'fails' : 'passes'))
    const verdicts = (await judge.judge(FOUR)).map(({ verdict }) => verdict)
    expect(verdicts).toEqual(['tolerates', 'tolerates', 'depends', 'tolerates'])
    expect(tries.map((each) => each.replace(` in ${LIMIT}`, '')).toSorted()).toEqual(
      [names, 'cors/1 domain-order/1', 'head/1 decimals/1', 'head/1', 'head/1', 'decimals/1'].toSorted(),
    )
  })

  it.each<[Outcome]>([['does otherwise'], ['does not fit'], ['is late']])(
    'but alone where one run that %s cannot tell',
    async (outcome) => {
      const { judge } = judgeOf((name) => (name.includes(' ') ? outcome : 'passes'))
      expect((await judge.judge(FOUR)).every(({ verdict }) => verdict === 'tolerates')).toBe(true)
    },
  )

  it('as not decided where nothing is tried any more', async () => {
    const { judge, tries } = judgeOf(() => 'is over')
    expect(await judge.judge(FOUR)).toMatchObject(FOUR.map(() => ({ verdict: 'inconclusive', reason: 'Over.' })))
    expect(tries).toHaveLength(1)
  })
})
