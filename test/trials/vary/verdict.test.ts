import { describe, expect, it } from 'vitest'
import type { Alternative } from '../../../src/contract/choices.ts'
import { ContractError } from '../../../src/contract/extensions.ts'
import type { CommandEnd } from '../../../src/trials/command.ts'
import type { TrialResult } from '../../../src/trials/trial.ts'
import type { FirstDifference } from '../../../src/trials/vary/first-difference.ts'
import { type JudgementTerms, judgeAlternative } from '../../../src/trials/vary/verdict.ts'
import { only } from './varied-client.ts'

/**
 * How a run of the command ends: it passes, fails, takes too long, or is not started. It may see nothing else than usual,
 * and it may send other requests than usual.
 */
type Outcome =
  | 'passes'
  | 'fails'
  | 'is late'
  | 'is over'
  | 'does not fit'
  | 'sees nothing'
  | 'fails blindly'
  | 'asks otherwise'

const LIMIT = 1_000
const DIFFERENCE: FirstDifference = {
  request: { request_id: 'r', method: 'GET', path: '/domains' },
  expected: { status: 200 },
  received: { status: 201 },
}

function resultOf(outcome: Outcome): TrialResult | undefined {
  if (outcome === 'is over') return undefined
  if (outcome === 'does not fit') throw new ContractError('a.yaml', '', 'Wrong.')
  const usual = { signal: undefined, timedOut: false, interruptedBy: undefined, hasLeftBehind: false }
  const late = { exitCode: undefined, signal: 'SIGTERM', timedOut: true } as const
  const exitCode = outcome.startsWith('fails') ? 1 : 0
  const end: CommandEnd = { ...usual, exitCode, seconds: 0.5, output: outcome, ...(outcome === 'is late' && late) }
  return { end, exchanges: [], lost: 0, accounts: new Map() } as Partial<TrialResult> as TrialResult
}

const [ALTERNATIVE] = only('decimals/1').alternatives as [Alternative]

/** Judges a command whose runs have these outcomes, one after the other. */
async function judge(outcomes: readonly Outcome[], options: Partial<JudgementTerms> = {}) {
  const tries: string[] = []
  const report = await judgeAlternative(ALTERNATIVE, {
    async run({ id, number }, limit, isAlone) {
      tries.push(`${id}/${number} in ${limit}${isAlone ? ' alone' : ''}`)
      return resultOf(outcomes[tries.length - 1] ?? 'passes')
    },
    whyOver: () => 'Over.',
    redact: (text) => text,
    repeats: 3,
    isCertain: true,
    limit: LIMIT,
    isAsUsual: ({ end }) => end.output !== 'asks otherwise',
    findDifference: ({ end: { output } }) =>
      ['sees nothing', 'fails blindly', 'asks otherwise'].includes(output) ? undefined : DIFFERENCE,
    ...options,
  })
  return { report, tries }
}

describe('an alternative is judged', () => {
  it.each<[verdict: string, outcomes: Outcome[]]>([
    ['tolerates', ['passes']],
    ['depends', ['fails', 'fails']],
    ['flaky', ['fails', 'passes']],
    ['tolerates', ['is late', 'passes']],
    ['depends', ['is late', 'is late', 'is late', 'is late']],
    ['inconclusive', ['is over']],
    ['inconclusive', ['does not fit']],
    ['inconclusive', ['fails', 'is over']],
    // Nothing has shown that the command copes with the alternative.
    ['not reached', ['sees nothing']],
    ['inconclusive', ['asks otherwise']],
    // The command may learn of the alternative from the control plane.
    ['depends', ['fails blindly', 'fails blindly']],
  ])('%s: %j', async (verdict, outcomes) => {
    const { report, tries } = await judge(outcomes)
    expect(report.verdict).toBe(verdict)
    expect(tries).toHaveLength(outcomes.length)
  })

  it('by a repetition with three times the limit and no other trial beside it, if it took too long', async () => {
    expect((await judge(['is late'])).tries).toEqual(['decimals/1 in 1000', 'decimals/1 in 3000 alone'])
  })

  it('by a repetition with no other trial beside it, if it failed', async () => {
    expect((await judge(['fails', 'fails'])).tries).toEqual(['decimals/1 in 1000', 'decimals/1 in 1000 alone'])
  })

  it.each<[verdict: string, outcomes: Outcome[]]>([
    ['tolerates', ['passes', 'passes', 'passes']],
    ['tolerates', ['asks otherwise', 'passes', 'asks otherwise']],
    ['inconclusive', ['asks otherwise', 'asks otherwise', 'sees nothing']],
    ['flaky', ['passes', 'passes', 'fails']],
    ['depends', ['fails', 'fails', 'fails']],
  ])('by all repeats if the command does not do the same each time: %s', async (verdict, outcomes) => {
    const { report, tries } = await judge(outcomes, { isCertain: false })
    expect(report.verdict).toBe(verdict)
    expect(tries).toHaveLength(3)
  })

  it.each<[reason: string, outcomes: Outcome[]]>([
    ['Over.', ['is over']],
    ['It does not fit what the server was given: a.yaml: Wrong.', ['does not fit']],
    ['No response was different when the command ran with it.', ['sees nothing']],
    [
      'No response was different when the command ran with it. The command has sent other requests than without it.',
      ['asks otherwise'],
    ],
  ])('with the reason if nothing is known: %s', async (reason, outcomes) => {
    expect((await judge(outcomes)).report.reason).toBe(reason)
  })
})
