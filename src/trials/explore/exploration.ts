import type { Contract } from '../../contract/contract.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { Pool } from '../pool.ts'
import { canonical, type Fault, faultsAt } from './faults.ts'
import { mildest, operationOf, reasonsFor } from './findings.ts'
import type { Observation } from './observation.ts'
import { type Pair, pairsAfter, rankSingles } from './order.ts'
import { describePlan, exceedsPlan, idleRules, milderRules, writePlan } from './plan.ts'
import { pointsOf } from './points.ts'
import { shrinkPlan } from './shrinking.ts'
import { isSurvived, type Tried, TriedPlans, withoutIdleRequests } from './tried-plans.ts'
import { type Baseline, type Failure, isFailure, judge, type Verdict } from './verdict.ts'

/** How a run of the command is made. Rejects when it is aborted. */
type Run = (
  plan: readonly FaultRule[],
  terms: { timeout: number; signal: AbortSignal; name: string },
) => Promise<Observation>

export interface ExplorationDeps {
  run: Run
  contract: Contract
  baseline: Baseline
  pool: Pool
  budget: Budget
  limits: Limits
  /** Is told what is being done. */
  watch(words: string): void
}

/** How long a run may take, in milliseconds. */
export interface Limits {
  usual: number
  /** How much more for each quota that is used up, until whose reset a client waits. */
  perWindow: number
  /** How long a run is repeated that took too long. */
  longer: number
}

/** How much may be done. */
export interface Budget {
  /** Takes one run out of it; `false` where there is none left, or no time. */
  take(): boolean
  /** How many runs were taken. */
  readonly taken: number
  /** Aborted when the time is over, or somebody has asked for the end. */
  readonly signal: AbortSignal
}

export interface Finding {
  verdict: Failure
  plan: readonly FaultRule[]
  /** That of the last fault. */
  operation: string
  observation: Observation
  /** What is other than it should be, in sentences. */
  reasons: readonly string[]
  /** How many other plans broke the command in the same way at the same operation. */
  others: number
}

export interface Exploration {
  points: number
  tolerated: number
  /** How many plans had a fault that met no request, or changed nothing. */
  unmet: number
  gaveUp: readonly { plan: readonly FaultRule[]; operation: string }[]
  findings: readonly Finding[]
  /** Plans that broke the command once and not again. */
  flaky: readonly { plan: readonly FaultRule[]; operation: string; verdict: Failure }[]
  /** Plans that broke the command and were not repeated, because the budget was over. */
  unconfirmed: readonly { plan: readonly FaultRule[]; operation: string; verdict: Failure }[]
  /** The run with a plan that was replayed, and what became of it. */
  replayed?: { verdict: Verdict; observation: Observation }
  /** The rules of a replayed plan that met no request, or changed nothing. */
  idle: readonly FaultRule[]
  /** How many plans were left when the budget was over. */
  left: number
}

/** Tries single faults, then pairs, confirms what breaks the command, and shrinks it. */
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
    const singles = this.#tried.all
    await this.#tryTier(this.#pairsOf(singles).map(({ faults }) => faults))
    const findings = await this.#shrinkAll()
    return this.#report(points.length, findings)
  }

  /** Tries plans and repeats the first of each new weakness. */
  async #tryTier(plans: readonly (readonly Fault[])[]): Promise<void> {
    // All slow responses end in the same way in a client that waits for ever.
    const [first, ...rest] = plans
    const isSlow = first?.[0]?.slow === true && plans.every(([fault]) => fault?.slow === true)
    if (isSlow && first !== undefined) {
      await this.#tryAll([first])
      await this.#confirm()
      const hangs = this.#tried.weaknesses.some(({ verdict, confirmed }) => verdict === 'hang' && confirmed)
      if (hangs) return
      await this.#tryAll(rest)
    } else {
      await this.#tryAll(plans)
    }
    await this.#confirm()
  }

  async #tryAll(plans: readonly (readonly Fault[])[]): Promise<void> {
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

  /** What became of a plan; `undefined` where the budget does not allow it. */
  async #try(plan: readonly FaultRule[], faults: readonly Fault[], limit = this.#limit): Promise<Tried | undefined> {
    const { run, budget, baseline, limits } = this.#deps
    if (!budget.take()) return undefined
    const name = `explore-${budget.taken}`
    try {
      const waits = plan.filter(({ event }) => event === 'quota-used-up').length * limits.perWindow
      const observation = await run(plan, { timeout: limit + waits, signal: budget.signal, name })
      const hasApplied = idleRules(plan, observation).length === 0 && !exceedsPlan(plan, observation)
      return { plan, faults, observation, verdict: judge(observation, baseline), hasApplied }
    } catch (error) {
      if (budget.signal.aborted) return undefined
      throw error
    }
  }

  /** Repeats the first plan of each weakness that was not repeated yet: one that hangs, with more time. */
  async #confirm(): Promise<void> {
    const { pool, limits, watch } = this.#deps
    const open = this.#tried.weaknesses.filter(({ confirmed }) => confirmed === undefined)
    if (open.length === 0) return
    watch(`repeating ${open.length} of what broke the command`)
    const repeated = open.map(({ tried }) => mildest(tried))
    const results = await pool.runAll(
      repeated.map(({ plan, faults, verdict }) => () => {
        return this.#try(plan, faults, verdict === 'hang' ? limits.longer : this.#limit)
      }),
    )
    for (const [index, again] of results.entries()) {
      const weakness = open[index]
      const first = repeated[index]
      if (weakness === undefined || first === undefined || again === undefined) continue
      weakness.confirmed = again.verdict === weakness.verdict
      weakness.repeated = first
      weakness.again = again
      // A client that ends after all needs this much time for a slow response.
      if (!weakness.confirmed && weakness.verdict === 'hang') this.#limit = limits.longer
    }
  }

  /** Pairs of a fault that was tolerated and another one at a request that came after it. */
  #pairsOf(singles: readonly Tried[]): Pair[] {
    const { contract, baseline } = this.#deps
    const survived = singles.filter(isSurvived)
    const broken = new Set(
      this.#tried.weaknesses.flatMap(({ tried }) => tried.flatMap((each) => each.faults.map(placeOf))),
    )
    const hopeless = new Set(
      singles.filter(({ verdict }) => verdict === 'gave up').flatMap(({ faults }) => faults.map(placeOf)),
    )
    return pairsAfter(
      survived,
      contract,
      baseline,
      (second) => !broken.has(placeOf(second)) && !hopeless.has(placeOf(second)),
    )
  }

  async #shrinkAll(): Promise<Finding[]> {
    const findings = new Map<string, Finding>()
    for (const { verdict, tried, confirmed, repeated, again } of this.#tried.weaknesses) {
      if (confirmed !== true || repeated === undefined || again === undefined) continue
      const smallest = repeated.plan.length > 1 ? await this.#shrink(repeated, verdict) : mildest(tried)
      const isRepeated = canonical(smallest.plan) === canonical(repeated.plan)
      // What is reported was seen twice.
      const shown = isRepeated ? again : ((await this.#repeat(smallest, verdict)) ?? again)
      const id = `${verdict} ${canonical(shown.plan)}`
      const others = tried.length - 1 + (findings.has(id) ? (findings.get(id)?.others ?? 0) + 1 : 0)
      findings.set(id, { ...this.#describe(shown, verdict), others })
    }
    return [...findings.values()]
  }

  /** The repetition of a plan, if it breaks the command again. */
  async #repeat({ plan, faults }: Tried, verdict: Failure): Promise<Tried | undefined> {
    const { pool, limits } = this.#deps
    const limit = verdict === 'hang' ? limits.longer : this.#limit
    const again = await pool.run(() => this.#try(plan, faults, limit))
    return again?.verdict === verdict ? again : undefined
  }

  /** One plan after the other: each depends on what became of the one before. */
  async #shrink(tried: Tried, verdict: Failure): Promise<Tried> {
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
      // Two faults of different families may be the same mistake of the client.
      (rule) => milderRules(rule, true),
    )
    return smallest
  }

  #describe({ plan, observation }: Tried, verdict: Failure): Omit<Finding, 'others'> {
    const { baseline } = this.#deps
    return {
      verdict,
      plan: describePlan(plan, observation),
      operation: operationOf(plan),
      observation,
      reasons: reasonsFor(verdict, observation, baseline),
    }
  }

  #report(points: number, findings: readonly Finding[]): Exploration {
    const tried = this.#tried.all
    const told = ({ plan }: Tried) => ({ plan, operation: operationOf(plan) })
    const weaknesses = this.#tried.weaknesses.flatMap(({ verdict, tried: [first], confirmed }) =>
      first === undefined || confirmed === true ? [] : [{ ...told(first), verdict, confirmed }],
    )
    return {
      points,
      tolerated: tried.filter(({ verdict, hasApplied }) => verdict === 'tolerated' && hasApplied).length,
      unmet: tried.filter(({ hasApplied }) => !hasApplied).length,
      gaveUp: tried.filter(({ verdict, hasApplied }) => verdict === 'gave up' && hasApplied).map(told),
      findings,
      flaky: weaknesses.filter(({ confirmed }) => confirmed === false).map(({ confirmed: _, ...rest }) => rest),
      unconfirmed: weaknesses
        .filter(({ confirmed }) => confirmed === undefined)
        .map(({ confirmed: _, ...rest }) => rest),
      idle: [],
      left: this.#left,
    }
  }
}

function placeOf({ point, effect }: Fault): string {
  return `${point.operation.id} ${canonical(effect)}`
}
