import type { Alternative } from '../../contract/choices.ts'
import type { Json } from '../../ground/json.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { type CommandEnd, hasPassed } from '../command.ts'
import { findFailedTests, tellingLines } from '../output.ts'
import { wordMisfit } from '../runner.ts'
import type { TrialResult } from '../trial.ts'
import type { FirstDifference } from './first-difference.ts'

type VaryVerdict = 'depends' | 'tolerates' | 'not reached' | 'flaky' | 'inconclusive'

export interface AlternativeReport {
  id: string
  /** Its number within the assumption, from 1. */
  alternative: number
  verdict: VaryVerdict
  /** The text of the specification about it, or a note that there is none. */
  spec: string
  chosen: Json
  value: Json
  /** Whether the user accepts that the command depends on it. */
  accepted?: true
  /** The reason if it was not decided, or not reached although it was tried. */
  reason?: string
  first_difference?: FirstDifference
  exit_code?: number
  signal?: string
  timed_out?: true
  tests?: readonly string[]
  output?: string
  seconds?: number
}

/** How the command is run with an alternative, and what is known about it without one. */
export interface JudgementTerms {
  /** `undefined` if there is no more time. `timeout` is in milliseconds; `isAlone`: no other trial runs beside it. */
  run(alternative: Alternative, timeout: number, isAlone: boolean): Promise<TrialResult | undefined>
  /** Why there is no more time. */
  whyOver(): string | undefined
  redact: Redact
  /** Whether the command does the same each time. Then only a failure is repeated. */
  isCertain: boolean
  /** How often a trial runs if the command does not do the same each time. */
  repeats: number
  /** In milliseconds. */
  limit: number
  /** Whether the command has sent the requests that it sends without an alternative. */
  isAsUsual(result: TrialResult): boolean
  /** The first response that was different because of the alternative. */
  findDifference(result: TrialResult): FirstDifference | undefined
}

/** The factor of the time limit for the repetition of a trial that took too long. */
const MORE_PATIENCE = 3
const UNSEEN = 'No response was different when the command ran with it.'
const MISSED = `${UNSEEN} The command has sent other requests than without it.`

/** Runs the command until it is known whether it depends on an alternative. */
export async function judgeAlternative(alternative: Alternative, terms: JudgementTerms): Promise<AlternativeReport> {
  const { whyOver, isCertain, repeats, redact, findDifference, isAsUsual } = terms
  const report = (verdict: VaryVerdict, more: Partial<AlternativeReport> = {}) => ({
    ...describe(alternative, verdict),
    ...more,
  })
  const passes: TrialResult[] = []
  const failures: TrialResult[] = []
  do {
    // A trial beside it may be the reason of a failure.
    const result = await runPatiently(alternative, failures.length > 0, terms)
    if (result === undefined || 'misfit' in result) {
      return report('inconclusive', { reason: result?.misfit ?? `${whyOver()}` })
    }
    const results = hasPassed(result.end) ? passes : failures
    results.push(result)
  } while (isCertain ? passes.length === 0 && failures.length < 2 : passes.length + failures.length < repeats)
  const [failure] = failures
  const [difference] = (failure ? failures : passes).flatMap((result) => findDifference(result) ?? [])
  if (failure !== undefined) {
    return report(passes.length === 0 ? 'depends' : 'flaky', {
      ...(difference !== undefined && { first_difference: difference }),
      ...describeEnd(failure.end, redact),
    })
  }
  // A command tolerates only what it has seen.
  if (difference !== undefined) return report('tolerates', { seconds: round(passes[0]?.end.seconds ?? 0) })
  return passes.every(isAsUsual)
    ? report('not reached', { reason: UNSEEN })
    : report('inconclusive', { reason: MISSED })
}

/** Runs a trial, and repeats it alone and with a longer limit if it took too long. */
async function runPatiently(alternative: Alternative, isAlone: boolean, { run, limit }: JudgementTerms) {
  try {
    const result = await run(alternative, limit, isAlone)
    return result?.end.timedOut ? await run(alternative, MORE_PATIENCE * limit, true) : result
  } catch (error) {
    return { misfit: wordMisfit(error) }
  }
}

export function describe({ id, number, assumption, value }: Alternative, verdict: VaryVerdict): AlternativeReport {
  return { id, alternative: number, verdict, spec: assumption.spec, chosen: assumption.choice, value }
}

/** The end of a failed command, for a report. */
function describeEnd({ exitCode, signal, timedOut, output, seconds }: CommandEnd, redact: Redact) {
  const tests = findFailedTests(output).map(redact)
  const last = tellingLines(output, redact)
  return {
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(signal !== undefined && !timedOut && { signal }),
    ...(timedOut && { timed_out: true as const }),
    ...(tests.length > 0 && { tests }),
    ...(last !== '' && { output: last }),
    seconds: round(seconds),
  }
}

export function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
