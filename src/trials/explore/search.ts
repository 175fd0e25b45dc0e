import type { ServiceContract } from '../../behaviour/operation.ts'
import type { FaultRule } from '../../domain/faults.ts'
import type { Pool } from '../pool.ts'
import { type Exploration, type FailingPlan, identify, type Place, placesOf, type TierCount } from './exploration.ts'
import { faultsAt, kindOf, type PlannedFault, TIERS, type Tier } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { type Phase, planFaults } from './order.ts'
import { exceedsPlan, hasMet, idleRules, ruleOf } from './plan.ts'
import { pointsOf } from './points.ts'
import { type RunAfter, SerialOrders } from './serial-orders.ts'
import { longestWait } from './storm.ts'
import {
  type Circumstances,
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
  window?: number | undefined
  /** Whether it runs by default, even if the search takes longer then. */
  isUsual: boolean
}

export interface SearchDeps {
  /** Runs the command; `undefined` if the budget does not allow it. */
  run(plan: readonly FaultRule[], how: PlannedRun): Promise<RunObservation | undefined>
  runAfter: RunAfter
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

/** What one trial tries. */
interface Attempt {
  fault: PlannedFault
  /** The length of a shortened quota window in seconds, if it is not the usual one. */
  window?: number
}

interface TriedPlan extends Attempt {
  plan: readonly FaultRule[]
  verdict: RunVerdict
  /** Whether its rule met its request and changed something, and did not act too often. */
  hasApplied: boolean
  /** How long the client waited at most after a 429, in seconds. */
  wait: number
  observation: RunObservation
  circumstances: Circumstances
}

/** A weakness of a client that several plans show. */
interface Weakness {
  verdict: ExploreFailure
  cause: string
  tried: TriedPlan[]
  /** Its repetition, as soon as there is one, and whether that broke the command in the same way. */
  again?: TriedPlan
  confirmed?: boolean
}

/** How many plans are tried before what broke the command is repeated. It does not depend on the number of jobs. */
const BATCH = 24
/** The longer quota window, in seconds, and how much longer at least than the client has waited in a shorter one. */
const LONGER = { least: 6, most: 66, ahead: 3 }

/** Tries one fault at a time, and repeats what breaks the command. */
export class FaultSearch {
  readonly #deps: SearchDeps
  readonly #orders: SerialOrders
  readonly #tried: TriedPlan[] = []
  readonly #weaknesses = new Map<string, Weakness>()
  /** The kinds of faults of which one was tried, or need not be tried. */
  readonly #decided = new Set<string>()
  /** The kinds of faults of which one was in a plan. */
  readonly #attempted = new Set<string>()
  #left = 0
  #limit: number

  constructor(deps: SearchDeps) {
    this.#deps = deps
    this.#orders = new SerialOrders(deps.baseline.observation, deps.runAfter)
    this.#limit = deps.limits.usual
  }

  async search(): Promise<Exploration> {
    const { contract, baseline } = this.#deps
    const points = pointsOf(baseline.observation.requests)
    const phases = planFaults(points.flatMap((point) => faultsAt(point, contract)))
    for (const phase of phases) await this.#tryPhase(phase)
    return this.#report(points.length, phases)
  }

  async #tryPhase({ tier, isUsual, faults }: Phase): Promise<void> {
    // If a client waits for ever, all slow responses have the same result.
    if (faults.some(({ slow }) => slow) && this.#waitsForEver) {
      for (const fault of faults) this.#decided.add(kindOf(fault))
      return
    }
    await this.#tryAll(
      faults.map((fault) => ({ fault })),
      isUsual,
    )
    if (tier === TIERS.limits && this.#deps.window !== undefined) await this.#tryLongerWindows(isUsual)
  }

  get #waitsForEver(): boolean {
    return [...this.#weaknesses.values()].some(({ verdict, confirmed }) => verdict === 'hang' && confirmed === true)
  }

  /**
   * Tries a 429 of each operation again with a longer quota window, if the client survived it. A client that waits for
   * a fixed time is told from one that reads the reset.
   */
  async #tryLongerWindows(isUsual: boolean): Promise<void> {
    const survived = new Map<string, Attempt>()
    const known = new Set<string>()
    for (const { fault, window, verdict, hasApplied, wait } of this.#tried) {
      const { id } = fault.point.operation
      if (window !== undefined) known.add(id)
      if (fault.tier !== TIERS.limits || verdict !== 'tolerated' || !hasApplied || survived.has(id)) continue
      const longer = Math.max(LONGER.least, Math.ceil(wait) + LONGER.ahead)
      if (longer <= LONGER.most && longer > (this.#deps.window ?? 0)) survived.set(id, { fault, window: longer })
    }
    await this.#tryAll(
      [...survived].flatMap(([id, attempt]) => (known.has(id) ? [] : [attempt])),
      isUsual,
    )
  }

  /** Tries faults in batches, and repeats what broke the command after each batch. */
  async #tryAll(attempts: readonly Attempt[], isUsual: boolean): Promise<void> {
    for (let from = 0; from < attempts.length; from += BATCH) {
      let done = from
      const results = await this.#deps.pool.runAll(
        attempts.slice(from, from + BATCH).map((attempt) => async () => {
          const tried = await this.#try(attempt, isUsual)
          this.#deps.watch(`${++done} of ${attempts.length} faults of this part`)
          return tried
        }),
      )
      for (const tried of results) {
        if (tried === undefined) this.#left++
        else this.#keep(tried)
      }
      await this.#confirm()
    }
  }

  /** Runs the command with a fault; `undefined` if the budget does not allow it. */
  async #try({ fault, window }: Attempt, isUsual: boolean, limit = this.#limit): Promise<TriedPlan | undefined> {
    const { run, baseline, limits } = this.#deps
    const plan = [ruleOf(fault)]
    const isLong = window !== undefined
    const waits = fault.tier === TIERS.limits ? (window ?? this.#deps.window ?? 0) * limits.perSecond : 0
    const observation = await run(plan, { timeout: limit + waits, window, isUsual })
    if (observation === undefined) return undefined
    const isForeign = fault.foreign !== undefined
    const comparison =
      isForeign && observation.end.exitCode === 0 ? await this.#orders.compare(fault, observation) : undefined
    const circumstances = { isLong, ...(isForeign && { comparison: comparison ?? UNKNOWN }) }
    const hasMetOnce = idleRules(plan, observation).length === 0 && !exceedsPlan(plan, observation)
    const isTold = !isForeign || comparison !== undefined || observation.end.exitCode !== 0
    return {
      ...{ fault, plan, observation, circumstances, wait: longestWait(observation.requests) },
      ...(window !== undefined && { window }),
      verdict: judge(observation, baseline, circumstances),
      hasApplied: hasMetOnce && isTold,
    }
  }

  #keep(tried: TriedPlan): void {
    const { fault, plan, observation, verdict, hasApplied } = tried
    this.#attempted.add(kindOf(fault))
    // A fault that met its request is decided, also if there was nothing that it could change.
    if (hasMet(plan, observation) && !exceedsPlan(plan, observation)) this.#decided.add(kindOf(fault))
    // The requests of thousands of runs are many, and only the repetition of a failure is reported.
    const brief = { ...tried, observation: { ...observation, requests: [] } }
    this.#tried.push(brief)
    if (isFailure(verdict) && hasApplied) this.#note(brief, verdict)
  }

  /** Adds a plan that broke the command to its weakness. A weakness that could not be repeated gets another chance. */
  #note(tried: TriedPlan, verdict: ExploreFailure): void {
    const { operation } = tried.fault.point
    const cause = causeOf(verdict, tried.fault.effect, operation)
    const id = [verdict, cause, ...(isCommon(verdict) ? [] : [operation.id])].join(' / ')
    const weakness = this.#weaknesses.get(id) ?? { verdict, cause, tried: [] }
    weakness.tried.push(tried)
    if (weakness.confirmed === false) delete weakness.confirmed
    this.#weaknesses.set(id, weakness)
  }

  /** Repeats the first plan of each weakness that was not repeated; the latest one if others were. */
  async #confirm(): Promise<void> {
    const { pool, watch, limits } = this.#deps
    const open = [...this.#weaknesses.values()].filter(({ confirmed }) => confirmed === undefined)
    if (open.length === 0) return
    watch(`repeating ${open.length} of what broke the command`)
    let hasShownMore = false
    await pool.runAll(
      open.map((weakness) => async () => {
        const { verdict, tried, again: earlier } = weakness
        const first = earlier === undefined ? tried[0] : tried.at(-1)
        if (first === undefined) return
        const again = await this.#try(first, true, verdict === 'hang' ? limits.longer : this.#limit)
        if (again === undefined) return
        weakness.confirmed = again.verdict === verdict
        weakness.again = again
        if (weakness.confirmed || verdict !== 'hang') return
        // The client did end, so later slow responses need this limit, too. How it ended is the result of the plan.
        this.#limit = limits.longer
        this.#tried.push(again)
        if (!isFailure(again.verdict) || !again.hasApplied) return
        this.#note(again, again.verdict)
        hasShownMore = true
      }),
    )
    if (hasShownMore) await this.#confirm()
  }

  /** A finding for each cause: its first plan, and all places where the command has the weakness. */
  #findAll(): FailingPlan[] {
    const causes = new Map<string, Weakness[]>()
    for (const weakness of this.#weaknesses.values()) {
      if (weakness.confirmed !== true) continue
      const id = `${weakness.verdict} ${weakness.cause}`
      causes.set(id, [...(causes.get(id) ?? []), weakness])
    }
    return [...causes.values()].flatMap((weaknesses) => {
      const places = placesOf(weaknesses.flatMap(({ tried }) => tried.map(({ fault }) => fault)))
      const [shown] = weaknesses.flatMap(({ again }) => again ?? [])
      return shown === undefined ? [] : [this.#describe(shown, places)]
    })
  }

  #describe(
    { plan, fault, window, observation, verdict, circumstances }: TriedPlan,
    places: readonly Place[],
  ): FailingPlan {
    if (!isFailure(verdict)) throw new Error('A finding has a failure.')
    return {
      id: identify(verdict, causeOf(verdict, fault.effect, fault.point.operation), places),
      ...{ verdict, plan, observation, places },
      ...(window !== undefined && { window }),
      operation: fault.point.operation.id,
      reasons: reasonsFor(verdict, observation, this.#deps.baseline, circumstances),
    }
  }

  #report(points: number, phases: readonly Phase[]): Exploration {
    const told = ({ plan, fault }: TriedPlan) => ({ plan, operation: fault.point.operation.id })
    const applied = this.#tried.filter(({ hasApplied }) => hasApplied)
    const brokenOnce = (isConfirmed: false | undefined) =>
      [...this.#weaknesses.values()].flatMap(({ verdict, tried: [first], confirmed }) =>
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
      tolerated: applied.filter(({ verdict }) => verdict === 'tolerated').length,
      unmet: this.#tried.length - applied.length,
      gaveUp: applied.filter(({ verdict }) => verdict === 'gave up').map(told),
      findings: this.#findAll(),
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

/** What is assumed of a run beside another client of which nothing can be told. */
export const UNKNOWN = { isSerial: true, expected: { accounts: [], changes: [] } } as const
