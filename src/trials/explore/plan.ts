import { type FaultRule, faultId } from '../../domain/faults.ts'
import { kindOf } from '../../faults/kinds.ts'
import type { Entry } from '../../journal/entry.ts'
import { type Effect, type Fault, milderEffects, wordEffect } from './faults.ts'
import type { Observation } from './observation.ts'
import { namePoint, type Point, pointsOf } from './points.ts'

/** The request on which the rule of a fault acts. */
export function targetOf({ family, point }: Fault): Point {
  return family === 'instant' && point.predecessor !== undefined ? point.predecessor : point
}

/**
 * Faults as the rules of a plan. The rules are in the order of the requests on which they act: a rule does not count the
 * requests on which one before it acts, so that it has to let fewer pass.
 */
export function writePlan(faults: readonly Fault[]): FaultRule[] {
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

function describe({ family }: Pick<Fault, 'family'>, point: Point, words: string): string {
  return `${family === 'instant' ? 'Just before' : 'At'} ${namePoint(point)}, ${words}.`
}

/** The plan with the rules described that have no description, by what they met. */
export function describePlan(plan: readonly FaultRule[], { requests }: Pick<Observation, 'requests'>): FaultRule[] {
  const points = pointsOf(requests)
  return plan.map((rule, index) => {
    if (rule.description !== undefined) return rule
    const met = points.find(({ entry }) => entry.injection?.id === faultId(index + 1))
    if (met === undefined) return rule
    return { description: describe({ family: 'odd' }, met, wordEffect(effectOf(rule))), ...rule }
  })
}

function effectOf({ description: _, match: __, skip: ___, times: ____, ...effect }: FaultRule): Effect {
  return effect
}

/** The rules for the same request with a milder effect, from the mildest on, see `milderEffects`. */
export function milderRules(rule: FaultRule, anyFamily = false): FaultRule[] {
  const { match, skip, times } = rule
  const kept = { ...(match && { match }), ...(skip !== undefined && { skip }), ...(times !== undefined && { times }) }
  return milderEffects(effectOf(rule), anyFamily).map((milder) => ({ ...kept, ...milder }))
}

/** The rules of a plan that acted on no request, or changed nothing. */
export function idleRules(plan: readonly FaultRule[], { requests }: Pick<Observation, 'requests'>): FaultRule[] {
  return plan.filter((rule, index) => !requests.some(({ entry }) => hasActed(entry, rule, faultId(index + 1))))
}

/** Whether a rule acted more often than it says: the command has reset an account, so that the rule began anew. */
export function exceedsPlan(plan: readonly FaultRule[], { requests }: Pick<Observation, 'requests'>): boolean {
  return plan.some((rule, index) => {
    const acts = requests.filter(({ entry }) => hasActed(entry, rule, faultId(index + 1)))
    return acts.length > (rule.times ?? Number.POSITIVE_INFINITY)
  })
}

function hasActed({ injection, injected }: Entry, rule: FaultRule, id: string): boolean {
  if (injection?.source !== 'rule' || injection.id !== id) return false
  const { type } = kindOf(rule).action
  // A delay and a change of the clock leave the response as it is.
  return injected || type === 'delay' || type === 'pass' || type === 'send'
}
