import type { ServiceContract } from '../../behaviour/operation.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { Pool } from '../pool.ts'
import { canonical, faultsAt, kindOf, type PlannedFault, placeOf, TIERS, type Tier } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { neededOf, type Phase, pairsAfter, planSingles } from './order.ts'
import { describePlan, exceedsPlan, hasMet, idleRules, milderRules, operationOf, writePlan } from './plan.ts'
import { type Point, pointsOf } from './points.ts'
import { shrinkPlan } from './shrinking.ts'
import { longestWait } from './storm.ts'
import {
  type Attempt,
  isSurvived,
  mildest,
  type TriedPlan,
  TriedPlans,
  type Weakness,
  withoutIdleRequests,
} from './tried-plans.ts'
import {
  causeOf,
  type ExploreFailure,
  type FaultlessRun,
  isCommon,
  isFailure,
  judge,
  type RunVerdict,
  reasonsFor,
} from './verdict.ts'

/** How the command is run with a plan. */
interface PlannedRun {
  /** In milliseconds. */
  timeout: number
  /** The length of a shortened quota window in seconds, if it is not the usual one. */
  window: number | undefined
  /** Whether the result of the exploration rests on it. */
  isNeeded: boolean
}

export interface ExplorationDeps {
  /** Runs the command; `undefined` if the budget does not allow it. */
  run(plan: readonly FaultRule[], how: PlannedRun): Promise<RunObservation | undefined>
  contract: ServiceContract
  baseline: FaultlessRun
  pool: Pool
  limits: RunLimits
  /** The length of a shortened quota window in seconds; `undefined` if windows are not shortened. */
  window: number | undefined
  /** Called with the current step. */
  watch(words: string): void
}

/** Time limits of a run, in milliseconds. */
export interface RunLimits {
  usual: number
  /** Additional time for each second of a quota that is used up, because a client waits for its reset. */
  perSecond: number
  /** The limit for the repetition of a run that took too long. */
  longer: number
}

/** A plan, and the operation of its last fault. */
export interface PlanAt {
  plan: readonly FaultRule[]
  operation: string
}

/** A request at which the command has a weakness. */
export interface Place {
  operation: string
  /** The names in the request, if it has any. */
  about?: string
  /** What showed the weakness there, as clauses. */
  faults: readonly string[]
}

export interface FailingPlan extends PlanAt {
  /** The same for the same weakness in every run. */
  id: string
  verdict: ExploreFailure
  /** The length of the quota window in seconds, if it was not the usual one. */
  window?: number
  observation: RunObservation
  /** The differences from the expected behaviour, in sentences. */
  reasons: readonly string[]
  places: readonly Place[]
}

/** How many faults of a tier there are, and how many were tried. Each kind of request counts once. */
export interface TierCount {
  tier: Tier
  of: number
  tried: number
}

export interface Exploration {
  /** How many requests of the baseline a fault can meet. */
  points: number
  tiers: readonly TierCount[]
  /** How many faults on which the result rests were in a plan and met no request. A larger budget does not help. */
  elusive: number
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
  /** The run of a replayed plan, its verdict, and whether a fault applied. */
  replayed?: { verdict: RunVerdict; observation: RunObservation; hasApplied: boolean }
  /** The rules of a replayed plan that met no request or changed nothing. */
  idle: readonly FaultRule[]
  /** How many plans were not tried, because the budget was used up. */
  left: number
}

/** How many plans are tried before what broke the command is repeated. It does not depend on the number of jobs. */
const BATCH = 24
/** Longer quota windows, in seconds, and how much longer than the client has waited in a shorter one. */
const WINDOWS = [6, 16, 66] as const
const AHEAD = 2

/** Tries single faults and then pairs. It repeats each failure to confirm it, and then shrinks the plan. */
export class Explorer {
  readonly #deps: ExplorationDeps
  readonly #tried = new TriedPlans()
  /** The kinds of faults of which one was tried, or need not be tried. */
  readonly #decided = new Set<string>()
  /** The kinds of faults of which one was in a plan. */
  readonly #attempted = new Set<string>()
  #left = 0
  #limit: number

  constructor(deps: ExplorationDeps) {
    this.#deps = deps
    this.#limit = deps.limits.usual
  }

  async explore(): Promise<Exploration> {
    const { contract, baseline } = this.#deps
    const points = pointsOf(baseline.observation.requests)
    const phases = planSingles(points.flatMap((point) => faultsAt(point, contract)))
    for (const phase of phases) await this.#tryPhase(phase)
    await this.#tryAll(this.#pairsOf(this.#tried.all).map((faults) => ({ faults })))
    return this.#report(points.length, phases, await this.#findAll())
  }

  async #tryPhase({ tier, isNeeded, faults }: Phase): Promise<void> {
    const attempts = faults.map((fault): Attempt => ({ faults: [fault] }))
    const isSlow = faults.some(({ slow }) => slow)
    // If a client waits for ever, all slow responses have the same result.
    if (isSlow && this.#waitsForEver) {
      for (const fault of faults) this.#decided.add(kindOf(fault))
      return
    }
    await this.#tryAll(attempts, isNeeded)
    if (tier === TIERS.limits) await this.#tryLongerWindows()
  }

  get #waitsForEver(): boolean {
    return this.#tried.weaknesses.some(({ verdict, confirmed }) => verdict === 'hang' && confirmed === true)
  }

  /**
   * Tries a 429 of each operation again with a longer quota window, if the client survived it. A client that waits for
   * a fixed time is told from one that reads the reset.
   */
  async #tryLongerWindows(): Promise<void> {
    if (this.#deps.window === undefined) return
    const survived = new Map<string, Attempt>()
    for (const { verdict, hasApplied, faults, window, observation } of this.#tried.all) {
      const [fault] = faults
      if (fault?.tier !== TIERS.limits || faults.length > 1 || verdict !== 'tolerated' || !hasApplied) continue
      const { id } = fault.point.operation
      const wait = longestWait(observation.requests)
      const longer = WINDOWS.find((each) => each > (this.#deps.window ?? 0) && each >= wait + AHEAD)
      if (window === undefined && longer !== undefined && !survived.has(id))
        survived.set(id, { faults, window: longer })
    }
    const untried = [...survived.values()].filter(
      ({ faults, window }) => this.#tried.find(writePlan(faults), window) === undefined,
    )
    await this.#tryAll(untried)
  }

  /** Tries plans in batches, and repeats what broke the command after each batch. */
  async #tryAll(attempts: readonly Attempt[], isNeeded = false): Promise<void> {
    for (let from = 0; from < attempts.length; from += BATCH) {
      await this.#tryBatch(attempts.slice(from, from + BATCH), isNeeded, attempts.length - from)
      await this.#confirm()
    }
  }

  async #tryBatch(attempts: readonly Attempt[], isNeeded: boolean, open: number): Promise<void> {
    const { pool, watch } = this.#deps
    let done = 0
    const results = await pool.runAll(
      attempts.map((attempt) => async () => {
        const tried = await this.#try(attempt, writePlan(attempt.faults), isNeeded)
        watch(`${open - ++done} more plans with ${attempt.faults.length === 1 ? 'one fault' : 'two faults'}`)
        const [fault, ...others] = attempt.faults
        if (tried !== undefined && fault !== undefined && others.length === 0) this.#decide(fault, tried)
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

  /** A fault that met its request is decided, also if there was nothing that it could change. */
  #decide(fault: PlannedFault, { plan, observation }: TriedPlan): void {
    this.#attempted.add(kindOf(fault))
    if (hasMet(plan, observation) && !exceedsPlan(plan, observation)) this.#decided.add(kindOf(fault))
  }

  /** Runs the command with a plan; `undefined` if the budget does not allow it. */
  async #try(
    { faults, window }: Attempt,
    plan: readonly FaultRule[],
    isNeeded: boolean,
    limit = this.#limit,
  ): Promise<TriedPlan | undefined> {
    const { run, baseline, limits } = this.#deps
    const seconds = window ?? this.#deps.window ?? 0
    const waits = plan.filter(({ event }) => event === 'quota-used-up').length * seconds * limits.perSecond
    const observation = await run(plan, { timeout: limit + waits, window, isNeeded })
    if (observation === undefined) return undefined
    const hasApplied = idleRules(plan, observation).length === 0 && !exceedsPlan(plan, observation)
    const verdict = judge(observation, baseline, window !== undefined)
    return { plan, faults, ...(window !== undefined && { window }), observation, verdict, hasApplied }
  }

  /** Repeats the mildest plan of each unconfirmed weakness. */
  async #confirm(): Promise<void> {
    const { pool, watch } = this.#deps
    const open = this.#tried.weaknesses.filter(({ confirmed }) => confirmed === undefined)
    if (open.length === 0) return
    watch(`repeating ${open.length} of what broke the command`)
    let hasShownMore = false
    await pool.runAll(
      open.map((weakness) => async () => {
        const first = mildest(weakness.tried.filter((each) => each !== weakness.repeated))
        const again = await this.#repeat(first)
        if (again === undefined) return
        weakness.confirmed = again.verdict === weakness.verdict
        weakness.repeated = first
        weakness.again = again
        if (weakness.confirmed || weakness.verdict !== 'hang') return
        // The client did end, so later slow responses need this limit, too. How it ended is the result of the plan.
        this.#limit = this.#deps.limits.longer
        this.#tried.keep(again)
        if (!isFailure(again.verdict) || !again.hasApplied) return
        this.#tried.note(again, again.verdict)
        hasShownMore = true
      }),
    )
    if (hasShownMore) await this.#confirm()
  }

  /** Pairs of a fault that the client tolerated and a fault at a later request. */
  #pairsOf(singles: readonly TriedPlan[]) {
    const { contract, baseline } = this.#deps
    const gaveUp = singles.filter(({ verdict }) => verdict === 'gave up')
    const broken = this.#tried.weaknesses.flatMap(({ tried }) => tried)
    const hopeless = new Set([...gaveUp, ...broken].flatMap(({ faults }) => faults.map(placeOf)))
    return pairsAfter(
      singles.filter(isSurvived),
      contract,
      baseline,
      (second) => !hopeless.has(placeOf(second)) && !(second.slow && this.#waitsForEver),
    )
  }

  /** A finding for each cause: its smallest plan, and all places where the command has the weakness. */
  async #findAll(): Promise<FailingPlan[]> {
    const causes = new Map<string, Weakness[]>()
    for (const weakness of this.#tried.weaknesses) {
      if (weakness.confirmed !== true) continue
      const id = `${weakness.verdict} ${weakness.cause}`
      causes.set(id, [...(causes.get(id) ?? []), weakness])
    }
    const findings = new Map<string, { shown: TriedPlan; places: PlannedFault[][] }>()
    for (const weaknesses of causes.values()) {
      const shown = await this.#findSmallest(weaknesses)
      // A pair may shrink to a single fault, which is the last one then.
      const places = weaknesses.flatMap(({ tried }) => tried.map(({ faults }) => faults.slice(-shown.plan.length)))
      const id = `${shown.verdict} ${this.#causesOf(shown)}`
      const known = findings.get(id)
      if (known === undefined) findings.set(id, { shown, places })
      else known.places.push(...places)
    }
    return [...findings.values()].map(({ shown, places }) => this.#describe(shown, placesOf(places)))
  }

  /** The smallest plan that shows a weakness. It has broken the command twice. */
  async #findSmallest(weaknesses: readonly Weakness[]): Promise<TriedPlan> {
    const first = mildest(weaknesses.flatMap(({ repeated }) => repeated ?? []))
    const { verdict, again = first } = weaknesses.find(({ repeated }) => repeated === first) ?? {}
    if (verdict === undefined) return first
    const smallest =
      first.plan.length > 1
        ? await this.#shrink(first, verdict)
        : mildest(weaknesses.flatMap(({ tried }) => tried.filter(({ window }) => window === first.window)))
    if (canonical(smallest.plan) === canonical(first.plan)) return again
    const last = await this.#deps.pool.run(() => this.#repeat(smallest))
    return last?.verdict === verdict ? last : again
  }

  /** Runs the command with the plan again. A plan that hangs gets more time. */
  #repeat(tried: TriedPlan): Promise<TriedPlan | undefined> {
    return this.#try(tried, tried.plan, true, tried.verdict === 'hang' ? this.#deps.limits.longer : this.#limit)
  }

  /** Tries one plan at a time, because each plan depends on the result of the one before. */
  async #shrink(tried: TriedPlan, verdict: ExploreFailure): Promise<TriedPlan> {
    const { pool, watch } = this.#deps
    let smallest = tried
    watch('looking for the smallest plan')
    await shrinkPlan(
      tried.plan,
      async (plan) => {
        const known = this.#tried.find(plan, tried.window)
        const result = known ?? (await pool.run(() => this.#try(tried, plan, true)))
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

  #causesOf({ plan, verdict }: TriedPlan): string {
    return isFailure(verdict) ? causesOf(verdict, plan, this.#deps.contract) : ''
  }

  #describe({ plan, window, observation, verdict }: TriedPlan, places: readonly Place[]): FailingPlan {
    const { baseline, contract } = this.#deps
    if (!isFailure(verdict)) throw new Error('A finding has a failure.')
    return {
      id: identify(verdict, plan, places, contract),
      verdict,
      plan: describePlan(plan, observation),
      ...(window !== undefined && { window }),
      operation: operationOf(plan),
      observation,
      reasons: reasonsFor(verdict, observation, baseline, window !== undefined),
      places,
    }
  }

  #report(points: number, phases: readonly Phase[], findings: readonly FailingPlan[]): Exploration {
    const tried = this.#tried.all
    const told = ({ plan }: TriedPlan) => ({ plan, operation: operationOf(plan) })
    const brokenOnce = (isConfirmed: false | undefined) =>
      this.#tried.weaknesses.flatMap(({ verdict, tried: [first], confirmed }) =>
        // A hang that was none has needed more time.
        first === undefined || confirmed !== isConfirmed || (verdict === 'hang' && isConfirmed === false)
          ? []
          : [{ ...told(first), verdict }],
      )
    const needed = new Set(phases.flatMap(({ isNeeded, faults }) => (isNeeded ? faults.map(kindOf) : [])))
    return {
      points,
      elusive: [...needed].filter((kind) => this.#attempted.has(kind) && !this.#decided.has(kind)).length,
      tiers: Object.values(TIERS).map((tier) => this.#countTier(tier, phases)),
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

  #countTier(tier: Tier, phases: readonly Phase[]): TierCount {
    const ofTier = phases.filter((phase) => phase.tier === tier)
    const kinds = new Set(ofTier.flatMap(({ faults }) => faults.map(kindOf)))
    return { tier, of: kinds.size, tried: [...kinds].filter((kind) => this.#decided.has(kind)).length }
  }
}

/** Whether the tiers on which a result rests are complete, and something was tried at all. */
export function isComplete({ tiers, unconfirmed, tolerated, gaveUp, findings }: Exploration): boolean {
  const hasTried = tolerated + gaveUp.length + findings.length > 0
  return hasTried && unconfirmed.length === 0 && openIn(tiers) === 0
}

/** How many faults on which the result rests were not tried. */
export function openIn(tiers: readonly TierCount[]): number {
  const needed = neededOf(tiers.flatMap(({ tier, of }) => (of > 0 ? [tier] : [])))
  return tiers.reduce((sum, { tier, of, tried }) => sum + (needed.includes(tier) ? of - tried : 0), 0)
}

/** The id of a finding. If the same weakness is there at another operation, too, the id is another one. */
export function identify(
  verdict: ExploreFailure,
  plan: readonly FaultRule[],
  places: readonly Place[],
  contract: Pick<ServiceContract, 'operations'>,
): string {
  const names = [...new Set(places.map(({ operation }) => operation))].toSorted()
  const kind = [verdict.replaceAll(' ', '-'), causesOf(verdict, plan, contract)]
  return [...kind, ...(isCommon(verdict) ? [] : [names.join('+')])].join('/')
}

function causesOf(
  verdict: ExploreFailure,
  plan: readonly FaultRule[],
  { operations }: Pick<ServiceContract, 'operations'>,
): string {
  const operationOfRule = ({ match }: FaultRule) => operations.find(({ id }) => id === match?.operation)
  return plan.map((rule) => causeOf(verdict, rule, operationOfRule(rule))).join('+')
}

/** The requests that showed a weakness, each once, with all faults that showed it there. Of a pair, it is the last one. */
function placesOf(plans: readonly (readonly PlannedFault[])[]): Place[] {
  const places = new Map<string, { point: Point; words: Set<string> }>()
  for (const faults of plans) {
    const point = faults.at(-1)?.point
    if (point === undefined) continue
    const id = JSON.stringify([point.operation.id, point.about])
    const place = places.get(id) ?? { point, words: new Set() }
    place.words.add(faults.map(({ words }) => words).join(', and then '))
    places.set(id, place)
  }
  return [...places.values()].map(({ point: { operation, about }, words }) => ({
    operation: operation.id,
    ...(about !== '' && { about }),
    faults: [...words],
  }))
}
