import type { FaultRule } from '../../domain/faults.ts'
import { canonical, neededOf, type Tier } from './faults.ts'
import type { RunObservation } from './points.ts'
import { type ExploreFailure, isCommon, type RunVerdict } from './verdict.ts'

/** A plan, and the operation of its last fault. */
export interface PlanAt {
  plan: readonly FaultRule[]
  operation: string
}

/** A request at which the command has a weakness. */
interface Place {
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
  /** How many requests of the run without faults a fault can meet. */
  points: number
  tiers: readonly TierCount[]
  /** How many faults on which the result rests were in a plan and met no request. A larger budget does not help. */
  elusive: number
  /** How many plans the command survived. */
  tolerated: number
  /** How many plans met no request, changed nothing, or came to no conclusion. */
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

/** A plan with the operation of its last fault. */
export function planAt(plan: readonly FaultRule[]): PlanAt {
  const { operation, path } = plan.at(-1)?.match ?? {}
  return { plan, operation: operation ?? path ?? 'any' }
}

/** The id of a finding. If the same weakness is there at another operation, too, the id is another one. */
export function identify(verdict: ExploreFailure, cause: string, places: readonly Place[]): string {
  const names = [...new Set(places.map(({ operation }) => operation))].toSorted()
  return [verdict.replaceAll(' ', '-'), cause, ...(isCommon(verdict) ? [] : [names.join('+')])].join('/')
}

/** The requests that showed a weakness, each once, with all faults that showed it there. */
export function placesOf(met: readonly { operation: string; about: string; words: string }[]): Place[] {
  const places = new Map<string, Place>()
  for (const { operation, about, words } of met) {
    const id = canonical([operation, about])
    const faults = new Set([...(places.get(id)?.faults ?? []), words])
    places.set(id, { operation, ...(about !== '' && { about }), faults: [...faults] })
  }
  return [...places.values()]
}
