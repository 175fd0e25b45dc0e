import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { type CommandEnd, hasPassed } from '../command.ts'
import { findFailedTests } from '../failed-tests.ts'
import { lastLines } from '../output-tail.ts'
import type { TrialResult } from '../trial.ts'
import type { AlternativeReport, FirstDifference, VaryVerdict } from './dependencies.ts'
import type { TrialRunner, Untried } from './trial-runner.ts'

export interface DependencyJudgeOptions {
  runner: Pick<TrialRunner, 'try'>
  choices: Pick<Choices, 'compile'>
  redact: Redact
  /** Whether the command does the same each time. Then only a failure is repeated. */
  isCertain: boolean
  /** How often a trial runs if the command does not do the same each time. */
  repeats: number
  /** Whether the command sometimes fails without an alternative. */
  failsAnyway: boolean
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
const ANYWAY = 'The command sometimes fails without it, too.'

/** Runs trials until it is known whether the command depends on an alternative. */
export class DependencyJudge {
  readonly #options: DependencyJudgeOptions

  constructor(options: DependencyJudgeOptions) {
    this.#options = options
  }

  async judge(alternative: Alternative): Promise<AlternativeReport> {
    const { isCertain, repeats, redact, failsAnyway } = this.#options
    const passes: TrialResult[] = []
    const failures: TrialResult[] = []
    do {
      // A trial beside it may be the reason of a failure.
      const result = await this.#tryPatiently(alternative, failures.length > 0)
      if ('untried' in result) return { ...describe(alternative, 'inconclusive'), reason: result.untried }
      const results = hasPassed(result.end) ? passes : failures
      results.push(result)
    } while (isCertain ? passes.length === 0 && failures.length < 2 : passes.length + failures.length < repeats)
    const [failure] = failures
    if (failure === undefined) return this.#judgePasses(alternative, passes)
    const difference = this.#findDifference(failures)
    const isSure = passes.length === 0 && !failsAnyway
    return {
      ...describe(alternative, isSure ? 'depends' : 'flaky'),
      ...(failsAnyway && { reason: ANYWAY }),
      ...(difference !== undefined && { first_difference: difference }),
      ...describeEnd(failure.end, redact),
      seconds: round(failure.end.seconds),
    }
  }

  /** A command tolerates only what it has seen. */
  #judgePasses(alternative: Alternative, passes: readonly TrialResult[]): AlternativeReport {
    if (this.#findDifference(passes) !== undefined) {
      return { ...describe(alternative, 'tolerates'), seconds: round(passes[0]?.end.seconds ?? 0) }
    }
    return passes.every(this.#options.isAsUsual)
      ? { ...describe(alternative, 'not reached'), reason: UNSEEN }
      : { ...describe(alternative, 'inconclusive'), reason: MISSED }
  }

  #findDifference(results: readonly TrialResult[]): FirstDifference | undefined {
    for (const result of results) {
      const difference = this.#options.findDifference(result)
      if (difference !== undefined) return difference
    }
    return undefined
  }

  /** Runs a trial, and repeats it alone and with a longer limit if it took too long. */
  async #tryPatiently(alternative: Alternative, isAlone: boolean): Promise<TrialResult | Untried> {
    const { runner, choices, limit } = this.#options
    const load = () => choices.compile([alternative])
    const result = await runner.try(nameOf(alternative), load, limit, isAlone)
    if ('untried' in result || !result.end.timedOut) return result
    return runner.try(nameOf(alternative), load, MORE_PATIENCE * limit, true)
  }
}

export function describe({ id, number, assumption, value }: Alternative, verdict: VaryVerdict): AlternativeReport {
  return { id, alternative: number, verdict, spec: assumption.spec, chosen: assumption.choice, value }
}

/** The end of a failed command, for a report. */
function describeEnd(end: CommandEnd, redact: Redact): Partial<AlternativeReport> {
  const { exitCode, signal, timedOut, output } = end
  const tests = findFailedTests(output).map(redact)
  const last = lastLines(output, redact)
  return {
    ...(exitCode !== undefined && { exit_code: exitCode }),
    ...(signal !== undefined && !timedOut && { signal }),
    ...(timedOut && { timed_out: true }),
    ...(tests.length > 0 && { tests }),
    ...(last !== '' && { output: last }),
  }
}

/** Rounds seconds to three decimals. */
export function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
