import { stripVTControlCharacters } from 'node:util'
import type { ServiceContract } from '../../behaviour/operation.ts'
import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import { bindBehaviours } from '../../behaviour/service-contract.ts'
import type { Contract } from '../../contract/contract.ts'
import type { FaultRule } from '../../domain/faults.ts'
import { elapsed } from '../../ground/clock.ts'
import { printable, shorten } from '../../ground/show.ts'
import { describeDeviation, findParallelism, type Parallelism } from '../parallelism.ts'
import { Pool } from '../pool.ts'
import { runTrial, type Trial } from '../trial.ts'
import { type RunBounds, RunBudget } from './budget.ts'
import { haveSameEffects } from './effects.ts'
import { type Exploration, Explorer, identify, type Place, type RunLimits } from './exploration.ts'
import { wordEffect } from './faults.ts'
import { observe, type RunObservation } from './observation.ts'
import { effectOf, idleRules, operationOf } from './plan.ts'
import { pointsOf } from './points.ts'
import { findStorm } from './storm.ts'
import { type FaultlessRun, isFailure, judge, reasonsFor } from './verdict.ts'

/** The facts that are known before the command starts. */
export interface SessionTerms
  extends Pick<Trial, 'command' | 'environment' | 'variables' | 'options' | 'onSignal'>,
    RunBounds {
  contract: Contract
  /** The contract with quota windows of at most so many seconds. */
  contractWith(window: number): Promise<Contract>
  /** How many trials run at the same time. By default, repetitions of the command decide it. */
  parallelism: Parallelism | undefined
  /** The time limit of the command in milliseconds. By default it follows from its duration without faults. */
  timeout: number | undefined
  /** The length of shortened quota windows in seconds; `undefined` if they are those of the contract. */
  window: number | undefined
  stop: AbortSignal
  watch(words: string): void
}

/** The length of a shortened quota window, in seconds. */
export const SHORT_WINDOW = 2
/** Additional time for a start on a busy machine, in milliseconds. */
export const SPARE = 2_000
/** How much longer a run may take than the run without faults. */
export const FACTOR = 3
/** A reset is rounded up to a multiple of a second, so a client may wait for half as long again. */
const PER_SECOND = 1_500
/** How long a 429 is held back, in milliseconds, so that what was sent at the same time is no storm. */
const REFUSAL_DELAY = 200
/** How many lines of the output are searched for the reason of a failed baseline. */
const LOOKED_AT = 20
/** The factor for the repetition of a run that took too long, and its lower limit in milliseconds. */
const LONGER = 3
const PATIENCE = 10_000

/** Runs the command of the user, first without faults and then with them, until its budget is used up. */
export class ExploreSession {
  readonly #terms: SessionTerms
  readonly #budget: RunBudget
  readonly #contract: ServiceContract
  readonly #began = elapsed()
  #parallelism: Parallelism

  constructor(terms: SessionTerms) {
    this.#terms = terms
    this.#budget = new RunBudget(terms, terms.stop)
    this.#parallelism = terms.parallelism ?? { jobs: 1, why: 'because the command was not repeated' }
    const simulator = terms.options.simulator ?? true
    this.#contract = bindBehaviours(terms.contract, { behaviours: OPERATIONS, simulator })
  }

  /** How often the command was started. */
  get runs(): number {
    return this.#budget.taken
  }

  /** How long a run has taken on average, with the others at the same time, in seconds. */
  get pace(): number {
    return (elapsed() - this.#began) / 1000 / Math.max(1, this.runs)
  }

  get parallelism(): Parallelism {
    return this.#parallelism
  }

  /** The run without a fault as a baseline, or a sentence that says why there is none. */
  async establish(): Promise<FaultlessRun | string> {
    const { watch, timeout, parallelism } = this.#terms
    watch('running the command without faults')
    const first = await this.#run([], { timeout }, 'explore-baseline-1')
    if (first === undefined) return this.#withoutBaseline()
    const problem = problemOf(first)
    if (problem !== undefined) return `the command fails without any fault: ${problem}`
    if (first.requests.length === 0) {
      return 'the command sent no request to the service, so no fault can meet it; the address is in UNDERSTUDY_BASE_URL (or in a variable of --set-env)'
    }
    const seconds = [first.end.seconds]
    if (parallelism === undefined) {
      watch('running the command several times at once without faults')
      const limit = this.#limitsFor(first.end.seconds).longer
      this.#parallelism = await findParallelism(async () => {
        const again = await this.#run([], { timeout: limit })
        if (again !== undefined) seconds.push(again.end.seconds)
        return describeDeviation(first, again)
      })
    }
    // A run at the same time as others that did the same is as good as another run alone.
    const isKnown = parallelism === undefined && this.#parallelism.jobs > 1
    const again = isKnown ? first : await this.#run([], { timeout }, 'explore-baseline-2')
    if (this.#terms.stop.aborted) return this.#withoutBaseline()
    const later = again === undefined ? undefined : problemOf(again)
    if (later !== undefined) return `the command passed once and then failed, without any fault: ${later}`
    return {
      observation: first,
      isStable: first.lost === 0 && (again === undefined || haveSameEffects(first.effects, again.effects)),
      changes: first.effects.changes.length > 0,
      storms: findStorm(first.requests) !== undefined,
      seconds: Math.max(...seconds, again?.end.seconds ?? 0),
    }
  }

  #withoutBaseline(): string {
    return this.#terms.stop.aborted
      ? 'explore was told to stop before it knew what the command does without faults'
      : 'the budget was over before the command had ended without any fault'
  }

  /** Looks for faults that break the command. */
  explore(baseline: FaultlessRun): Promise<Exploration> {
    const { watch, window } = this.#terms
    return new Explorer({
      run: (plan, how) => this.#run(plan, how),
      ...{ contract: this.#contract, baseline, window },
      pool: new Pool(this.#parallelism.jobs),
      limits: this.#limitsFor(baseline.seconds),
      watch: (words) => watch(`${words}, ${this.runs} runs so far`),
    }).explore()
  }

  /** Runs the command once with the faults of a plan. */
  async replay(plan: readonly FaultRule[], baseline: FaultlessRun): Promise<Exploration> {
    const { watch, window = 0 } = this.#terms
    const points = pointsOf(baseline.observation.requests).length
    const nothing: Exploration = {
      ...{ points, tiers: [], elusive: 0, tolerated: 0, unmet: 0, left: 1 },
      ...{ gaveUp: [], findings: [], flaky: [], unconfirmed: [], idle: [] },
    }
    watch('running the command with the plan')
    const { longer, perSecond } = this.#limitsFor(baseline.seconds)
    const observation = await this.#run(plan, { timeout: longer + window * perSecond }, 'explore-replay')
    if (observation === undefined) return nothing
    const isLong = window > SHORT_WINDOW
    const verdict = judge(observation, baseline, isLong)
    const operation = operationOf(plan)
    const idle = idleRules(plan, observation)
    const hasApplied = idle.length < plan.length
    const reasons = reasonsFor(verdict, observation, baseline, isLong)
    const places = pointsOf(observation.requests).flatMap(
      ({ operation: { id }, about, entry: { injection } }): Place[] =>
        injection === undefined
          ? []
          : [{ operation: id, ...(about !== '' && { about }), faults: [wordEffect(effectOf(injection.rule))] }],
    )
    const finding = { plan, operation, observation, reasons, places, ...(isLong && { window }) }
    return {
      ...nothing,
      left: 0,
      tolerated: verdict === 'tolerated' && hasApplied ? 1 : 0,
      gaveUp: verdict === 'gave up' ? [{ plan, operation }] : [],
      findings: isFailure(verdict)
        ? [{ ...finding, verdict, id: identify(verdict, plan, places, this.#contract) }]
        : [],
      replayed: { verdict, observation, hasApplied },
      unmet: idle.length > 0 ? 1 : 0,
      idle,
    }
  }

  end(): void {
    this.#budget.end()
  }

  /** Runs the command once. `undefined` if the budget does not allow it, or is over before its end. */
  async #run(
    plan: readonly FaultRule[],
    {
      timeout,
      window,
      isNeeded = true,
    }: { timeout: number | undefined; window?: number | undefined; isNeeded?: boolean },
    name?: string,
  ) {
    const { signal } = this.#budget
    if (!this.#budget.take(isNeeded)) return undefined
    const { command, environment, variables, options, onSignal, contractWith } = this.#terms
    const contract = window === undefined ? this.#terms.contract : await contractWith(window)
    const shared = { command, environment, variables, options, onSignal, contract, plan, timeout, signal }
    try {
      const trial = { ...shared, name: name ?? `explore-${this.runs}`, inherits: false, refusalDelay: REFUSAL_DELAY }
      const result = await runTrial(trial)
      // A run that was ended from outside has no result.
      return signal.aborted ? undefined : observe(result, REFUSAL_DELAY)
    } catch (error) {
      if (signal.aborted) return undefined
      throw error
    }
  }

  #limitsFor(seconds: number): RunLimits {
    const { timeout, window } = this.#terms
    const usual = timeout ?? SPARE + FACTOR * seconds * 1000
    const perSecond = timeout === undefined && window !== undefined ? PER_SECOND : 0
    return { usual, perSecond, longer: timeout ?? Math.max(PATIENCE, LONGER * usual) }
  }
}

/** How a run without a fault failed; `undefined` if it did not. */
function problemOf({ end }: RunObservation): string | undefined {
  if (end.timedOut) return `it did not end within ${end.seconds.toFixed(1)} s (--timeout)`
  if (end.exitCode === 0) return undefined
  const said = lastLine(end.output)
  const how = end.signal === undefined ? `with ${end.exitCode}` : `by ${end.signal}`
  return `it ended ${how}${said === '' ? '' : `, and said: ${said}`}`
}

/** The most informative line of the output: the last one that mentions an error, or else the last one. */
export function lastLine(output: string): string {
  const lines = stripVTControlCharacters(output).trimEnd().split('\n').slice(-LOOKED_AT)
  const line = lines.findLast((each) => /error|fail/i.test(each)) ?? lines.at(-1) ?? ''
  return printable(shorten(line.trim(), 200))
}
