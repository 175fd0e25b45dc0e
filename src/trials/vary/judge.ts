import { type Alternative, type Choices, nameOf } from '../../contract/choices.ts'
import type { AlternativeReport, VaryVerdict } from '../../evidence/dependencies.ts'
import type { Secrets } from '../../journal/redaction/secrets.ts'
import type { ServerOptions } from '../../start/options.ts'
import type { TrialResult } from '../trial.ts'
import { describeEnd } from './failure.ts'
import { findFirstDifference } from './first-difference.ts'
import { recordingOf } from './recording.ts'
import { hasPassed, type TrialRunner, type Untried } from './trial-runner.ts'

export interface DependencyJudgeOptions {
  runner: Pick<TrialRunner, 'try'>
  choices: Choices
  server: ServerOptions
  secrets: Secrets
  /** How often a trial runs. It is 2 for a steady command, and then only a failure is repeated. */
  repeats: number
  isSteady: boolean
  /** In milliseconds. */
  limit: number
  /** Whether the command behaves in a trial like without alternatives. */
  isAsUsual(result: TrialResult): boolean
  onVerdict(report: AlternativeReport): void
}

/** The factor of the time limit for the repetition of a trial that took too long. */
export const MORE_PATIENCE = 3

/** Runs trials until it is known whether the command depends on alternatives. */
export class DependencyJudge {
  readonly #options: DependencyJudgeOptions

  constructor(options: DependencyJudgeOptions) {
    this.#options = options
  }

  /** Judges alternatives, with as few trials as possible. */
  async judge(alternatives: readonly Alternative[]): Promise<AlternativeReport[]> {
    const { onVerdict } = this.#options
    const [alone, ...others] = alternatives
    if (alone === undefined) return []
    const reports = others.length === 0 ? [await this.#judgeAlone(alone)] : await this.#judgeTogether(alternatives)
    if (reports !== undefined) {
      reports.forEach(onVerdict)
      return reports
    }
    const middle = alternatives.length >> 1
    const halves = [alternatives.slice(0, middle), alternatives.slice(middle)]
    return (await Promise.all(halves.map((half) => this.judge(half)))).flat()
  }

  /** The reports of all alternatives; `undefined` if one trial is not enough to decide. */
  async #judgeTogether(alternatives: readonly Alternative[]): Promise<AlternativeReport[] | undefined> {
    const { runner, choices, limit, isAsUsual } = this.#options
    const result = await runner.try(alternatives.map(nameOf).join(' '), () => choices.load(alternatives), limit)
    // An alternative may fit when it is tried alone.
    if ('untried' in result) return result.isOver ? alternatives.map((each) => undecided(each, result)) : undefined
    if (!hasPassed(result.end) || !isAsUsual(result)) return undefined
    return alternatives.map((each) => ({ ...describe(each, 'tolerates'), seconds: round(result.end.seconds) }))
  }

  async #judgeAlone(alternative: Alternative): Promise<AlternativeReport> {
    const { repeats, isSteady } = this.#options
    const results: TrialResult[] = []
    while (results.length < repeats) {
      const result = await this.#tryPatiently(alternative)
      if ('untried' in result) return undecided(alternative, result)
      results.push(result)
      // A steady command that passes once always passes. Only a failure must be repeated.
      if (isSteady && hasPassed(result.end)) break
    }
    const failures = results.filter(({ end }) => !hasPassed(end))
    const [failure] = failures
    const seconds = round(results[0]?.end.seconds ?? 0)
    if (failure === undefined) return { ...describe(alternative, 'tolerates'), seconds }
    const verdict = failures.length === results.length ? 'depends' : 'flaky'
    return { ...describe(alternative, verdict), ...(await this.#describeFailure(failure)), seconds }
  }

  /** Runs a trial, and repeats it with a longer limit if it took too long. */
  async #tryPatiently(alternative: Alternative): Promise<TrialResult | Untried> {
    const { runner, choices, limit } = this.#options
    const load = () => choices.load([alternative])
    const result = await runner.try(nameOf(alternative), load, limit)
    if ('untried' in result || !result.end.timedOut) return result
    return runner.try(nameOf(alternative), load, MORE_PATIENCE * limit)
  }

  async #describeFailure(result: TrialResult): Promise<Partial<AlternativeReport>> {
    const { server, choices, secrets } = this.#options
    const difference = await findFirstDifference(server, choices.contract, recordingOf(result), secrets)
    return {
      ...(difference !== undefined && { first_difference: difference }),
      ...describeEnd(result.end, secrets),
    }
  }
}

export function describe({ id, number, assumption, value }: Alternative, verdict: VaryVerdict): AlternativeReport {
  return { id, alternative: number, verdict, spec: assumption.spec, chosen: assumption.choice, value }
}

function undecided(alternative: Alternative, { untried }: Untried): AlternativeReport {
  return { ...describe(alternative, 'inconclusive'), reason: untried }
}

/** Rounds seconds to three decimals. */
export function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
