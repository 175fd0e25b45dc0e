import type { Contract } from '../../contract/contract.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { Pool } from '../pool.ts'
import { canonical, faultsAt, type PlannedFault, placeOf } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { pairsAfter, rankSingles } from './order.ts'
import { describePlan, exceedsPlan, idleRules, milderRules, operationOf, writePlan } from './plan.ts'
import { pointsOf } from './points.ts'
import { shrinkPlan } from './shrinking.ts'
import { isSurvived, mildest, type TriedPlan, TriedPlans, withoutIdleRequests } from './tried-plans.ts'
import { type ExploreFailure, type FaultlessRun, isFailure, judge, type RunVerdict, reasonsFor } from './verdict.ts'

export interface ExplorationDeps {
  /** Runs the command; `undefined` if the budget does not allow it. `timeout` is in milliseconds. */
  run(plan: readonly FaultRule[], timeout: number): Promise<RunObservation | undefined>
  contract: Contract
  baseline: FaultlessRun
  pool: Pool
  limits: RunLimits
  /** Called with the current step. */
  watch(words: string): void
}

/** Time limits of a run, in milliseconds. */
export interface RunLimits {
  usual: number
  /** Additional time for each quota that is used up, because a client waits for its reset. */
  perWindow: number
  /** The limit for the repetition of a run that took too long. */
  longer: number
}

/** A plan, and the operation of its last fault. */
export interface PlanAt {
  plan: readonly FaultRule[]
  operation: string
}

export interface FailingPlan extends PlanAt {
  verdict: ExploreFailure
  observation: RunObservation
  /** The differences from the expected behaviour, in sentences. */
  reasons: readonly string[]
  /** How many other plans broke the command in the same way at the same operation. */
  others: number
}

export interface Exploration {
  /** How many requests of the baseline a fault can meet. */
  points: number
  /** How many plans the command survived. */
  tolerated: number
  /** How many plans had a fault that met no request, changed nothing, or acted too often. */
  unmet: number
  gaveUp: readonly PlanAt[]
  findings: readonly FailingPlan[]
  /** Plans that broke the command once, but not in the repetition. */
  flaky: readonly (PlanAt & { verdict: ExploreFailure })[]
  /** Plans that broke the command but were not repeated, because the budget was used up. */
  unconfirmed: readonly (PlanAt & { verdict: ExploreFailure })[]
  /** The run of a replayed plan, with its verdict. */
  replayed?: { verdict: RunVerdict; observation: RunObservation }
  /** The rules of a replayed plan that met no request or changed nothing. */
  idle: readonly FaultRule[]
  /** How many plans were not tried, because the budget was used up. */
  left: number
}

/** Tries single faults and then pairs. It repeats each failure to confirm it, and then shrinks the plan. */
export class Explorer {
  readonly #deps: ExplorationDeps
  readonly #tried = new TriedPlans()
  #left = 0
  #limit: number

  constructor(deps: ExplorationDeps) {
    this.#deps = deps
    this.#limit = deps.limits.usual
  }

  async explore(): Promise<Exploration> {
    const { contract, baseline } = this.#deps
    const points = pointsOf(baseline.observation.requests)
    const tiers = rankSingles(points.flatMap((point) => faultsAt(point, contract)))
    for (const tier of tiers) await this.#tryTier(tier.map((fault) => [fault]))
    await this.#tryTier(this.#pairsOf(this.#tried.all))
    const findings = await this.#shrinkAll()
    return this.#report(points.length, findings)
  }

  /** Tries plans, and repeats one plan of each new weakness. */
  async #tryTier(plans: readonly (readonly PlannedFault[])[]): Promise<void> {
    // If a client waits for ever, all slow responses have the same result, so the first one is tried alone.
    const areSlow = plans.every(([fault]) => fault?.slow === true)
    if (areSlow) {
      await this.#tryAll(plans.slice(0, 1))
      await this.#confirm()
      const hangs = this.#tried.weaknesses.some(({ verdict, confirmed }) => verdict === 'hang' && confirmed)
      if (hangs) return
    }
    await this.#tryAll(areSlow ? plans.slice(1) : plans)
    await this.#confirm()
  }

  async #tryAll(plans: readonly (readonly PlannedFault[])[]): Promise<void> {
    const { pool, watch } = this.#deps
    let done = 0
    const results = await pool.runAll(
      plans.map((faults) => async () => {
        const tried = await this.#try(writePlan(faults), faults)
        watch(`${++done} of ${plans.length} plans with ${faults.length === 1 ? 'one fault' : 'two faults'}`)
        return tried && withoutIdleRequests(tried)
      }),
    )
    for (const tried of results) {
      if (tried === undefined) {
        this.#left++
        continue
      }
      this.#tried.keep(tried)
      if (isFailure(tried.verdict) && tried.hasApplied) this.#tried.note(tried, tried.verdict)
    }
  }

  /** Runs the command with a plan; `undefined` if the budget does not allow it. */
  async #try(
    plan: readonly FaultRule[],
    faults: readonly PlannedFault[],
    limit = this.#limit,
  ): Promise<TriedPlan | undefined> {
    const { run, baseline, limits } = this.#deps
    const waits = plan.filter(({ event }) => event === 'quota-used-up').length * limits.perWindow
    const observation = await run(plan, limit + waits)
    if (observation === undefined) return undefined
    const hasApplied = idleRules(plan, observation).length === 0 && !exceedsPlan(plan, observation)
    return { plan, faults, observation, verdict: judge(observation, baseline), hasApplied }
  }

  /** Repeats the mildest plan of each unconfirmed weakness. */
  async #confirm(): Promise<void> {
    const { pool, watch } = this.#deps
    const open = this.#tried.weaknesses.filter(({ confirmed }) => confirmed === undefined)
    if (open.length === 0) return
    watch(`repeating ${open.length} of what broke the command`)
    const repeated = open.map(({ tried }) => mildest(tried))
    const results = await pool.runAll(repeated.map((each) => () => this.#repeat(each)))
    for (const [index, again] of results.entries()) {
      const weakness = open[index]
      const first = repeated[index]
      if (weakness === undefined || first === undefined || again === undefined) continue
      weakness.confirmed = again.verdict === weakness.verdict
      weakness.repeated = first
      weakness.again = again
      // The client did end, so later slow responses need this limit, too.
      if (!weakness.confirmed && weakness.verdict === 'hang') this.#limit = this.#deps.limits.longer
    }
  }

  /** Pairs of a fault that the client tolerated and a fault at a later request. */
  #pairsOf(singles: readonly TriedPlan[]) {
    const { contract, baseline } = this.#deps
    const gaveUp = singles.filter(({ verdict }) => verdict === 'gave up')
    const broken = this.#tried.weaknesses.flatMap(({ tried }) => tried)
    const hopeless = new Set([...gaveUp, ...broken].flatMap(({ faults }) => faults.map(placeOf)))
    return pairsAfter(singles.filter(isSurvived), contract, baseline, (second) => !hopeless.has(placeOf(second)))
  }

  async #shrinkAll(): Promise<FailingPlan[]> {
    const findings = new Map<string, FailingPlan>()
    for (const { verdict, tried, confirmed, repeated, again } of this.#tried.weaknesses) {
      if (confirmed !== true || repeated === undefined || again === undefined) continue
      const smallest = repeated.plan.length > 1 ? await this.#shrink(repeated, verdict) : mildest(tried)
      const isRepeated = canonical(smallest.plan) === canonical(repeated.plan)
      // A reported failure must have occurred twice.
      const last = isRepeated ? again : await this.#deps.pool.run(() => this.#repeat(smallest))
      const shown = last?.verdict === verdict ? last : again
      const id = `${verdict} ${canonical(shown.plan)}`
      const others = tried.length + (findings.get(id)?.others ?? -1)
      findings.set(id, { ...this.#describe(shown, verdict), others })
    }
    return [...findings.values()]
  }

  /** Runs the command with the plan again. A plan that hangs gets more time. */
  #repeat({ plan, faults, verdict }: TriedPlan): Promise<TriedPlan | undefined> {
    return this.#try(plan, faults, verdict === 'hang' ? this.#deps.limits.longer : this.#limit)
  }

  /** Tries one plan at a time, because each plan depends on the result of the one before. */
  async #shrink(tried: TriedPlan, verdict: ExploreFailure): Promise<TriedPlan> {
    const { pool, watch } = this.#deps
    let smallest = tried
    watch('looking for the smallest plan')
    await shrinkPlan(
      tried.plan,
      async (plan) => {
        const known = this.#tried.find(plan)
        const result = known ?? (await pool.run(() => this.#try(plan, tried.faults)))
        if (result === undefined) return false
        if (known === undefined) this.#tried.keep(result)
        const fails = result.verdict === verdict && result.hasApplied
        if (fails) smallest = { ...result, plan }
        return fails
      },
      milderRules,
    )
    return smallest
  }

  #describe({ plan, observation }: TriedPlan, verdict: ExploreFailure): Omit<FailingPlan, 'others'> {
    const { baseline } = this.#deps
    return {
      verdict,
      plan: describePlan(plan, observation),
      operation: operationOf(plan),
      observation,
      reasons: reasonsFor(verdict, observation, baseline),
    }
  }

  #report(points: number, findings: readonly FailingPlan[]): Exploration {
    const tried = this.#tried.all
    const told = ({ plan }: TriedPlan) => ({ plan, operation: operationOf(plan) })
    const brokenOnce = (isConfirmed: false | undefined) =>
      this.#tried.weaknesses.flatMap(({ verdict, tried: [first], confirmed }) =>
        first === undefined || confirmed !== isConfirmed ? [] : [{ ...told(first), verdict }],
      )
    return {
      points,
      tolerated: tried.filter(({ verdict, hasApplied }) => verdict === 'tolerated' && hasApplied).length,
      unmet: tried.filter(({ hasApplied }) => !hasApplied).length,
      gaveUp: tried.filter(({ verdict, hasApplied }) => verdict === 'gave up' && hasApplied).map(told),
      findings,
      flaky: brokenOnce(false),
      unconfirmed: brokenOnce(undefined),
      idle: [],
      left: this.#left,
    }
  }
}
