import { stripVTControlCharacters } from 'node:util'
import { longestWindow } from '../../contract/api.ts'
import type { Contract } from '../../contract/contract.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { printable, shorten } from '../../ground/show.ts'
import { Pool } from '../pool.ts'
import { runTrial, type Trial } from '../trial.ts'
import { type RunBounds, RunBudget } from './budget.ts'
import { haveSameEffects } from './effects.ts'
import { type Exploration, Explorer, type RunLimits } from './exploration.ts'
import { observe, type RunObservation } from './observation.ts'
import { idleRules, operationOf } from './plan.ts'
import { pointsOf } from './points.ts'
import { findStorm } from './storm.ts'
import { type FaultlessRun, isFailure, judge, reasonsFor } from './verdict.ts'

/** The facts that are known before the command starts. */
export interface SessionTerms
  extends Pick<Trial, 'command' | 'environment' | 'variables' | 'options' | 'onSignal'>,
    RunBounds {
  contract: Contract
  jobs: number
  /** The time limit of the command in milliseconds. By default it follows from its duration without faults. */
  timeout: number | undefined
  /** Whether quota windows were shortened. */
  isScaled: boolean
  stop: AbortSignal
  watch(words: string): void
}

/** The length of a shortened quota window, in seconds. */
export const SHORT_WINDOW = 2
/** Additional time for a start on a busy machine, in milliseconds. */
export const SPARE = 2_000
/** How much longer a run may take than the run without faults. */
export const FACTOR = 3
/** A reset is rounded up to a multiple of this, in milliseconds. */
const ROUNDED = 1_000
/** How many lines of the output are searched for the reason of a failed baseline. */
const LOOKED_AT = 20
/** The factor for the repetition of a run that took too long, and its lower limit in milliseconds. */
const LONGER = 3
export const PATIENCE = 10_000

/** Runs the command of the user, first without faults and then with them, until its budget is used up. */
export class ExploreSession {
  readonly #terms: SessionTerms
  readonly #budget: RunBudget

  constructor(terms: SessionTerms) {
    this.#terms = terms
    this.#budget = new RunBudget(terms, terms.stop)
  }

  /** How often the command was started. */
  get runs(): number {
    return this.#budget.taken
  }

  /** The run without a fault as a baseline, or a sentence that says why there is none. */
  async establish(): Promise<FaultlessRun | string> {
    const { watch, timeout, stop } = this.#terms
    watch('running the command without faults')
    const observations: RunObservation[] = []
    for (const name of ['explore-baseline-1', 'explore-baseline-2']) {
      const observation = await this.#run([], timeout, name)
      if (observation === undefined) break
      observations.push(observation)
      const problem = problemOf(observation, observations.length > 1)
      if (problem !== undefined) return problem
    }
    const [observation, again] = observations
    if (stop.aborted) return 'explore was told to stop before it knew what the command does without faults'
    if (observation === undefined) return 'the budget was over before the command had ended without any fault'
    return {
      observation,
      isStable: observation.lost === 0 && (again === undefined || haveSameEffects(observation.effects, again.effects)),
      changes: observation.effects.changes.length > 0,
      storms: findStorm(observation.requests) !== undefined,
    }
  }

  /** Looks for faults that break the command. */
  explore(baseline: FaultlessRun): Promise<Exploration> {
    const { contract, jobs, watch } = this.#terms
    return new Explorer({
      run: (plan, timeout) => this.#run(plan, timeout),
      ...{ contract, baseline, pool: new Pool(jobs), limits: this.#limitsFor(baseline) },
      watch: (words) => watch(`${words}, ${this.runs} runs so far`),
    }).explore()
  }

  /** Runs the command once with the faults of a plan. */
  async replay(plan: readonly FaultRule[], baseline: FaultlessRun): Promise<Exploration> {
    const points = pointsOf(baseline.observation.requests).length
    const nothing: Exploration = {
      ...{ points, tolerated: 0, unmet: 0, left: 1 },
      ...{ gaveUp: [], findings: [], flaky: [], unconfirmed: [], idle: [] },
    }
    this.#terms.watch('running the command with the plan')
    const observation = await this.#run(plan, this.#limitsFor(baseline).longer, 'explore-replay')
    if (observation === undefined) return nothing
    const verdict = judge(observation, baseline)
    const operation = operationOf(plan)
    const idle = idleRules(plan, observation)
    const reasons = reasonsFor(verdict, observation, baseline)
    return {
      ...nothing,
      left: 0,
      tolerated: verdict === 'tolerated' && idle.length < plan.length ? 1 : 0,
      gaveUp: verdict === 'gave up' ? [{ plan, operation }] : [],
      findings: isFailure(verdict) ? [{ verdict, plan, operation, observation, reasons, others: 0 }] : [],
      replayed: { verdict, observation },
      unmet: idle.length > 0 ? 1 : 0,
      idle,
    }
  }

  end(): void {
    this.#budget.end()
  }

  /** Runs the command once. `undefined` if the budget does not allow it, or is over before its end. */
  async #run(plan: readonly FaultRule[], timeout: number | undefined, name?: string) {
    const { signal } = this.#budget
    if (!this.#budget.take()) return undefined
    const { command, environment, variables, options, onSignal, contract } = this.#terms
    const trial = { command, environment, variables, options, onSignal, contract, plan, timeout, signal }
    try {
      const result = await runTrial({ ...trial, name: name ?? `explore-${this.runs}`, inherits: false })
      // A run that was ended from outside has no result.
      return signal.aborted ? undefined : observe(result)
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }

  #limitsFor({ observation }: FaultlessRun): RunLimits {
    const { timeout, contract, isScaled } = this.#terms
    const usual = timeout ?? SPARE + FACTOR * observation.end.seconds * 1000
    const perWindow = timeout === undefined && isScaled ? longestWindow(contract) * 1000 + ROUNDED : 0
    return { usual, perWindow, longer: timeout ?? Math.max(PATIENCE, LONGER * usual) }
  }
}

/** The reason why a run without a fault cannot be a baseline. */
function problemOf({ end, requests }: RunObservation, hasPassedBefore: boolean): string | undefined {
  const before = hasPassedBefore
    ? 'the command passed once and then failed, without any fault'
    : 'the command fails without any fault'
  if (end.timedOut) return `${before}: it did not end within ${end.seconds.toFixed(1)} s (--timeout)`
  if (end.exitCode !== 0) {
    const said = lastLine(end.output)
    const how = end.signal === undefined ? `with ${end.exitCode}` : `by ${end.signal}`
    return `${before}: it ended ${how}${said === '' ? '' : `, and said: ${said}`}`
  }
  if (requests.length === 0) {
    return 'the command sent no request to the service, so no fault can meet it; the address is in UNDERSTUDY_BASE_URL (or in a variable of --set-env)'
  }
  return undefined
}

/** The most informative line of the output: the last one that mentions an error, or else the last one. */
export function lastLine(output: string): string {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n').slice(-LOOKED_AT)
  const line = lines.findLast((each) => /error|fail/i.test(each)) ?? lines.at(-1) ?? ''
  return printable(shorten(line.trim(), 200))
}
