import { type FaultRule, faultId } from '../../domain/faults.ts'
import { kindOf } from '../../faults/kinds.ts'
import type { Entry } from '../../journal/entry.ts'
import { type Effect, milderEffects, type PlannedFault, wordEffect } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { namePoint, type Point, pointsOf } from './points.ts'

/** The request on which the rule of a fault acts. For an instant, it is the request before. */
export function targetOf({ family, point }: PlannedFault): Point {
  return family === 'instant' && point.predecessor !== undefined ? point.predecessor : point
}

/**
 * Writes faults as rules of a plan, in the order of their requests. A rule does not count the requests on which an
 * earlier rule acts, so its `skip` is smaller.
 */
export function writePlan(faults: readonly PlannedFault[]): FaultRule[] {
  const ordered = faults.toSorted((one, other) => targetOf(one).index - targetOf(other).index)
  const met = new Map<string, number>()
  return ordered.map((fault) => {
    const { operation, key, occurrence } = targetOf(fault)
    const place = `${operation.id} ${key}`
    const earlier = met.get(place) ?? 0
    met.set(place, earlier + 1)
    const skip = occurrence - earlier
    return {
      description: describe(fault, fault.point, fault.words),
      match: { operation: operation.id, ...(key !== undefined && { key }) },
      ...(skip > 0 && { skip }),
      times: 1,
      ...fault.effect,
    }
  })
}

function describe({ family }: Pick<PlannedFault, 'family'>, point: Point, words: string): string {
  return `${family === 'instant' ? 'Just before' : 'At'} ${namePoint(point)}, ${words}.`
}

/** Adds a description to each rule without one, from the request that it met. */
export function describePlan(plan: readonly FaultRule[], { requests }: Pick<RunObservation, 'requests'>): FaultRule[] {
  const points = pointsOf(requests)
  return plan.map((rule, index) => {
    if (rule.description !== undefined) return rule
    const met = points.find(({ entry }) => entry.injection?.id === faultId(index + 1))
    if (met === undefined) return rule
    return { description: describe({ family: 'odd' }, met, wordEffect(effectOf(rule))), ...rule }
  })
}

/** The effect of a rule, without the requests that it is for. */
export function effectOf({ description: _, match: __, skip: ___, times: ____, ...effect }: FaultRule): Effect {
  return effect
}

/** The rules for the same request with a milder effect, with the mildest first. See `milderEffects`. */
export function milderRules(rule: FaultRule): FaultRule[] {
  const { match, skip, times } = rule
  const kept = { ...(match && { match }), ...(skip !== undefined && { skip }), ...(times !== undefined && { times }) }
  return milderEffects(effectOf(rule)).map((milder) => ({ ...kept, ...milder }))
}

/** The rules of a plan that met no request or changed nothing. */
export function idleRules(plan: readonly FaultRule[], { requests }: Pick<RunObservation, 'requests'>): FaultRule[] {
  return plan.filter((rule, index) => !requests.some(({ entry }) => hasActed(entry, rule, faultId(index + 1))))
}

/** Whether each rule of a plan met a request, also one in which there was nothing that it could change. */
export function hasMet(plan: readonly FaultRule[], { requests }: Pick<RunObservation, 'requests'>): boolean {
  return plan.every((_, index) => requests.some(({ entry }) => isOf(entry, faultId(index + 1))))
}

/** Whether a rule acted more often than its `times`. A rule starts again if the command resets an account. */
export function exceedsPlan(plan: readonly FaultRule[], { requests }: Pick<RunObservation, 'requests'>): boolean {
  return plan.some((rule, index) => {
    const acts = requests.filter(({ entry }) => hasActed(entry, rule, faultId(index + 1)))
    return acts.length > (rule.times ?? Number.POSITIVE_INFINITY)
  })
}

function isOf({ injection }: Entry, id: string): boolean {
  return injection?.source === 'rule' && injection.id === id
}

function hasActed(entry: Entry, rule: FaultRule, id: string): boolean {
  if (!isOf(entry, id)) return false
  const { type } = kindOf(rule).action
  // A delay or a change of the clock does not change the response.
  return entry.injected || type === 'delay' || type === 'pass' || type === 'send'
}

/** The operation of the last rule of a plan. */
export function operationOf(plan: readonly FaultRule[]): string {
  const { operation, path } = plan.at(-1)?.match ?? {}
  return operation ?? path ?? 'any'
}
