import type { ServiceContract } from '../../behaviour/operation.ts'
import { OPERATIONS } from '../../behaviour/operations/operations.ts'
import { bindBehaviours } from '../../behaviour/service-contract.ts'
import type { Contract } from '../../contract/contract.ts'
import { accept } from '../../domain/errors.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { ForeignClient } from '../../faults/foreign-change.ts'
import { elapsed } from '../../ground/clock.ts'
import type { Redact } from '../../journal/redaction/redaction.ts'
import { haveSameEffects } from '../effects.ts'
import { describeFailure } from '../failed-tests.ts'
import { Pool } from '../pool.ts'
import { runTrial, type Trial } from '../trial.ts'
import { type RunBounds, RunBudget } from './budget.ts'
import { type Exploration, identify, type Place } from './exploration.ts'
import { canonical, faultsAt, type PlannedFault, wordEffect } from './faults.ts'
import { observe, type RunObservation } from './observation.ts'
import { describePlan, effectOf, idleRules, operationOf, ruleOf } from './plan.ts'
import { pointsOf } from './points.ts'
import { FaultSearch, type RunLimits, UNKNOWN } from './search.ts'
import { SerialOrders } from './serial-orders.ts'
import { findStorm } from './storm.ts'
import { causeOf, type FaultlessRun, isFailure, isForeign, judge, reasonsFor } from './verdict.ts'

/** The facts that are known before the command starts. */
export interface SessionTerms
  extends Pick<Trial, 'command' | 'environment' | 'variables' | 'options' | 'onSignal' | 'carryOut'>,
    RunBounds {
  contract: Contract
  /** The contract with quota windows of at most so many seconds. */
  contractWith(window: number): Promise<Contract>
  /** How many trials run at the same time. */
  jobs: number
  /** The time limit of the command in milliseconds. By default it follows from its duration without faults. */
  timeout: number | undefined
  /** The length of shortened quota windows in seconds; `undefined` if they are those of the contract. */
  window: number | undefined
  redact: Redact
  stop: AbortSignal
  watch(words: string): void
}

/** The length of a shortened quota window, in seconds. */
export const SHORT_WINDOW = 2
/** Additional time for a start on a busy machine, in milliseconds. */
const SPARE = 2_000
/** How much longer a run may take than the run without faults. */
const FACTOR = 3
/** A reset is rounded up to a multiple of a second, so a client may wait for half as long again. */
const PER_SECOND = 1_500
/** How long a 429 is held back, in milliseconds, so that what was sent at the same time is no storm. */
const REFUSAL_DELAY = 200
/** The factor for the repetition of a run that took too long, and its lower limit in milliseconds. */
const LONGER = 3
const PATIENCE = 10_000

interface RunTerms {
  timeout: number | undefined
  window?: number | undefined
  isUsual?: boolean
  name?: string
  before?: Trial['before']
}

/** Runs the command of the user, first without faults and then with them, until its budget is used up. */
export class ExploreSession {
  readonly #terms: SessionTerms
  readonly #budget: RunBudget
  readonly #contract: ServiceContract
  readonly #began = elapsed()

  constructor(terms: SessionTerms) {
    this.#terms = terms
    this.#budget = new RunBudget(terms, terms.stop)
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

  /** The run without a fault as a baseline, or a sentence that says why there is none. */
  async establish(): Promise<FaultlessRun | string> {
    const { watch, timeout, redact } = this.#terms
    watch('running the command twice without faults')
    const first = await this.#run([], { timeout, name: 'explore-baseline-1' })
    if (first === undefined) return this.#withoutBaseline()
    if (first.end.exitCode !== 0 || first.end.timedOut) {
      return `the command fails without any fault: ${describeFailure(first.end, redact)}`
    }
    if (first.requests.length === 0) {
      return 'the command sent no request to the service, so no fault can meet it; the address is in UNDERSTUDY_BASE_URL (or in a variable of --set-env)'
    }
    const again = await this.#run([], { timeout, name: 'explore-baseline-2' })
    if (this.#terms.stop.aborted) return this.#withoutBaseline()
    if (again !== undefined && (again.end.exitCode !== 0 || again.end.timedOut)) {
      return `the command passed once and then failed, without any fault: ${describeFailure(again.end, redact)}`
    }
    return {
      observation: first,
      isStable: first.lost === 0 && (again === undefined || haveSameEffects(first.effects, again.effects)),
      changes: first.effects.changes.length > 0,
      storms: findStorm(first.requests) !== undefined,
      seconds: Math.max(first.end.seconds, again?.end.seconds ?? 0),
    }
  }

  #withoutBaseline(): string {
    return this.#terms.stop.aborted
      ? 'explore was told to stop before it knew what the command does without faults'
      : 'the budget was over before the command had ended without any fault'
  }

  /** Looks for faults that break the command. */
  explore(baseline: FaultlessRun): Promise<Exploration> {
    const { watch, window, jobs } = this.#terms
    const limits = this.#limitsFor(baseline.seconds)
    return new FaultSearch({
      run: (plan, how) => this.#run(plan, how),
      runAfter: (client, accountId) => this.#runAfter(client, accountId, limits.usual),
      ...{ contract: this.#contract, baseline, window, limits },
      pool: new Pool(jobs),
      watch: (words) => watch(`${words}, ${this.runs} runs so far`),
    }).search()
  }

  /** Runs the command once with the faults of a plan. */
  async replay(plan: readonly FaultRule[], baseline: FaultlessRun): Promise<Exploration> {
    const { watch, window = 0 } = this.#terms
    const points = pointsOf(baseline.observation.requests)
    const nothing: Exploration = {
      ...{ points: points.length, tiers: [], elusive: 0, tolerated: 0, unmet: 0, left: 1 },
      ...{ gaveUp: [], findings: [], flaky: [], unconfirmed: [], idle: [] },
    }
    watch('running the command with the plan')
    const limits = this.#limitsFor(baseline.seconds)
    const timeout = limits.longer + window * limits.perSecond
    const run = await this.#run(plan, { timeout, name: 'explore-replay' })
    if (run === undefined) return nothing
    const isLong = window > SHORT_WINDOW
    const circumstances = {
      isLong,
      ...(plan.some(isForeign) && { comparison: await this.#compare(plan, run, baseline) }),
    }
    const verdict = judge(run, baseline, circumstances)
    const operation = operationOf(plan)
    const idle = idleRules(plan, run)
    const hasApplied = idle.length < plan.length
    const describedPlan = describePlan(plan, run)
    const places = placesIn(run)
    const [rule = {}] = plan
    const cause = isFailure(verdict) ? causeOf(verdict, rule, this.#operationNamed(rule)) : ''
    const reasons = reasonsFor(verdict, run, baseline, circumstances)
    const finding = { plan: describedPlan, operation, observation: run, reasons, places, ...(isLong && { window }) }
    return {
      ...nothing,
      left: 0,
      tolerated: verdict === 'tolerated' && hasApplied ? 1 : 0,
      gaveUp: verdict === 'gave up' ? [{ plan: describedPlan, operation }] : [],
      findings: isFailure(verdict) ? [{ ...finding, verdict, id: identify(verdict, cause, places) }] : [],
      replayed: { verdict, observation: run, hasApplied },
      unmet: idle.length > 0 ? 1 : 0,
      idle,
    }
  }

  /** Compares a run with the change of another client, if that is the only fault, and one that a search would try. */
  async #compare(plan: readonly FaultRule[], run: RunObservation, baseline: FaultlessRun) {
    const isSame = (fault: PlannedFault) => canonical([ruleOf(fault)]) === canonical(plan)
    const points = pointsOf(baseline.observation.requests)
    const fault = points.flatMap((point) => faultsAt(point, this.#contract)).find(isSame)
    const { usual } = this.#limitsFor(baseline.seconds)
    const orders = new SerialOrders(baseline.observation, (client, id) => this.#runAfter(client, id, usual))
    const hasPassed = fault !== undefined && run.end.exitCode === 0
    return (hasPassed ? await orders.compare(fault, run) : undefined) ?? UNKNOWN
  }

  #operationNamed({ match }: FaultRule) {
    return this.#contract.operations.find(({ id }) => id === match?.operation)
  }

  end(): void {
    this.#budget.end()
  }

  /** Runs the command after another client has changed an account; `undefined` if that is not possible. */
  async #runAfter(client: ForeignClient, accountId: string, timeout: number): Promise<RunObservation | undefined> {
    let hasChanged = false
    const run = await this.#run([], {
      timeout,
      name: `explore-${this.runs + 1}-after`,
      async before({ store }) {
        // The account may be one that the command itself creates.
        if ((await store.find('id', accountId)) === undefined) return false
        const decision = await store.update(accountId, (state) => {
          const changed = client.change(state)
          return accept(changed ?? state, changed !== undefined)
        })
        // Requests at the same time come here more than once.
        hasChanged ||= decision.ok && decision.value
        return true
      },
    })
    return hasChanged ? run : undefined
  }

  /** Runs the command once. `undefined` if the budget does not allow it, or is over before its end. */
  async #run(plan: readonly FaultRule[], { timeout, window, isUsual = true, name, before }: RunTerms) {
    const { signal } = this.#budget
    if (!this.#budget.take(isUsual)) return undefined
    const { command, environment, variables, options, onSignal, carryOut, contractWith } = this.#terms
    const contract = window === undefined ? this.#terms.contract : await contractWith(window)
    try {
      const result = await runTrial({
        ...{ command, environment, variables, options, onSignal, carryOut, contract, plan, timeout, signal, before },
        name: name ?? `explore-${this.runs}`,
        inherits: false,
        refusalDelay: REFUSAL_DELAY,
      })
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

/** The requests that a fault met, with what it did. */
function placesIn({ requests }: RunObservation): Place[] {
  return pointsOf(requests).flatMap(({ operation: { id }, about, entry: { injection } }) =>
    injection === undefined
      ? []
      : [{ operation: id, ...(about !== '' && { about }), faults: [wordEffect(effectOf(injection.rule))] }],
  )
}
