import type { FaultRule } from '../../domain/faults.ts'
import { canonical, type PlannedFault, weightOf } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { causeOf, type ExploreFailure, isCommon, type RunVerdict } from './verdict.ts'

/** What one trial tries. */
export interface Attempt {
  faults: readonly PlannedFault[]
  /** The length of a shortened quota window in seconds, if it is not the usual one. */
  window?: number
}

export interface TriedPlan extends Attempt {
  plan: readonly FaultRule[]
  observation: RunObservation
  verdict: RunVerdict
  /** Whether each of its rules met its request and changed something, and none acted too often. */
  hasApplied: boolean
}

/** A weakness of a client that several plans show. */
export interface Weakness {
  verdict: ExploreFailure
  cause: string
  tried: TriedPlan[]
  /** Whether it broke the command again. Absent until it was repeated. */
  confirmed?: boolean
  /** The repeated plan, and its repetition. */
  repeated?: TriedPlan
  again?: TriedPlan
}

/** How many requests of all runs are kept. Later runs are not used for pairs. */
const KEPT = 200_000
const NO_EFFECTS = { accounts: [], changes: [] }

/** The results of the plans, and the weaknesses that they show. */
export class TriedPlans {
  readonly #plans = new Map<string, TriedPlan>()
  readonly #weaknesses = new Map<string, Weakness>()
  #requests = 0

  get all(): TriedPlan[] {
    return [...this.#plans.values()]
  }

  /** In the order of discovery. */
  get weaknesses(): Weakness[] {
    return [...this.#weaknesses.values()]
  }

  find(plan: readonly FaultRule[], window: number | undefined): TriedPlan | undefined {
    return this.#plans.get(canonical([plan, window]))
  }

  /** Keeps the result of a plan, and its requests if there is room. */
  keep(tried: TriedPlan): void {
    const { length } = tried.observation.requests
    const hasRoom = this.#requests + length <= KEPT
    if (hasRoom) this.#requests += length
    this.#plans.set(canonical([tried.plan, tried.window]), hasRoom ? tried : forgetRequests(tried))
  }

  /** Adds a plan that broke the command to its weakness. A weakness that could not be repeated gets another chance. */
  note(tried: TriedPlan, verdict: ExploreFailure): void {
    const cause = tried.plan
      .map((rule, index) => causeOf(verdict, rule, tried.faults[index]?.point.operation))
      .join('+')
    const places = isCommon(verdict) ? [] : tried.faults.map(({ point }) => point.operation.id)
    const id = [verdict, cause, ...places].join(' / ')
    const weakness = this.#weaknesses.get(id) ?? { verdict, cause, tried: [] }
    weakness.tried.push(tried)
    if (weakness.confirmed === false) delete weakness.confirmed
    this.#weaknesses.set(id, weakness)
  }
}

/** Drops the requests of a plan that is not used for pairs. What is reported of a failure is its repetition. */
export function withoutIdleRequests(tried: TriedPlan): TriedPlan {
  return isSurvived(tried) ? tried : forgetRequests(tried)
}

function forgetRequests(tried: TriedPlan): TriedPlan {
  return { ...tried, observation: { ...tried.observation, requests: [], effects: NO_EFFECTS } }
}

/** Whether the client survived the fault, so that a second fault can be tried. */
export function isSurvived({ verdict, hasApplied, faults, window }: TriedPlan): boolean {
  return (
    verdict === 'tolerated' &&
    hasApplied &&
    faults.length === 1 &&
    faults[0]?.survivable === true &&
    window === undefined
  )
}

/** The mildest of the plans with the fewest faults, at the earliest request. */
export function mildest(tried: readonly TriedPlan[]): TriedPlan {
  const [smallest] = tried.toSorted((one, other) => {
    const [a, b] = [one.faults[0], other.faults[0]]
    if (a === undefined || b === undefined) return 0
    return one.faults.length - other.faults.length || a.point.index - b.point.index || weightOf(a) - weightOf(b)
  })
  if (smallest === undefined) throw new Error('A weakness has at least one plan.')
  return smallest
}
