import { type FaultRule, faultId } from '../../domain/faults.ts'
import { NOTHING_FOREIGN } from '../../faults/foreign-change.ts'
import { kindOf } from '../../faults/kinds.ts'
import type { Entry } from '../../journal/entry.ts'
import { type Effect, type PlannedFault, wordEffect } from './faults.ts'
import type { RunObservation } from './observation.ts'
import { namePoint, type Point, pointsOf } from './points.ts'

/** Writes a fault as the rule of a plan. */
export function ruleOf({ point, effect, words }: PlannedFault): FaultRule {
  const { operation, key, occurrence } = point
  return {
    description: describe(point, words),
    match: { operation: operation.id, ...(key !== undefined && { key }) },
    ...(occurrence > 0 && { skip: occurrence }),
    times: 1,
    ...effect,
  }
}

function describe(point: Point, words: string): string {
  return `At ${namePoint(point)}, ${words}.`
}

/** Adds a description to each rule without one, from the request that it met. */
export function describePlan(plan: readonly FaultRule[], { requests }: Pick<RunObservation, 'requests'>): FaultRule[] {
  const points = pointsOf(requests)
  return plan.map((rule, index) => {
    if (rule.description !== undefined) return rule
    const met = points.find(({ entry }) => entry.injection?.id === faultId(index + 1))
    if (met === undefined) return rule
    return { description: describe(met, wordEffect(effectOf(rule))), ...rule }
  })
}

/** The effect of a rule, without the requests that it is for. */
export function effectOf({ description: _, match: __, skip: ___, times: ____, ...effect }: FaultRule): Effect {
  return effect
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
  if (type === 'foreign') return entry.injection?.effect !== undefined && entry.injection.effect !== NOTHING_FOREIGN
  // A delay does not change the response.
  return entry.injected || type === 'delay' || type === 'send'
}

/** The operation of the last rule of a plan. */
export function operationOf(plan: readonly FaultRule[]): string {
  const { operation, path } = plan.at(-1)?.match ?? {}
  return operation ?? path ?? 'any'
}
