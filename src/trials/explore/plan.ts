import { type FaultRule, faultId } from '../../domain/faults.ts'
import { NOTHING_FOREIGN } from '../../faults/foreign-change.ts'
import { kindOf } from '../../faults/kinds.ts'
import type { Entry } from '../../journal/entry.ts'
import type { PlannedFault } from './faults.ts'
import { namePoint, type RunObservation } from './points.ts'

type Requests = Pick<RunObservation, 'requests'>

/** Writes a fault as the rule of a plan. */
export function ruleOf({ point, effect, words }: PlannedFault): FaultRule {
  const { operation, key, occurrence } = point
  return {
    description: `At ${namePoint(point)}, ${words}.`,
    match: { operation: operation.id, ...(key !== undefined && { key }) },
    ...(occurrence > 0 && { skip: occurrence }),
    times: 1,
    ...effect,
  }
}

/** What the rules of a plan did in a run. */
export interface PlanUse {
  /** The rules that met no request or changed nothing. */
  idle: readonly FaultRule[]
  /** Whether each rule met a request, also one in which there was nothing that it could change. */
  hasMet: boolean
  /** Whether a rule acted more often than its `times`: it starts again if the command resets an account. */
  exceeds: boolean
}

export function useOf(plan: readonly FaultRule[], { requests }: Requests): PlanUse {
  const uses = plan.map((rule, index) => {
    const met = requests.filter(({ entry }) => {
      const { source, id } = entry.injection ?? {}
      return source === 'rule' && id === faultId(index + 1)
    })
    return { rule, met, acts: met.filter(({ entry }) => hasActed(entry, rule)).length }
  })
  return {
    idle: uses.flatMap(({ rule, acts }) => (acts === 0 ? [rule] : [])),
    hasMet: uses.every(({ met }) => met.length > 0),
    exceeds: uses.some(({ rule, acts }) => acts > (rule.times ?? Number.POSITIVE_INFINITY)),
  }
}

function hasActed({ injection, injected }: Entry, rule: FaultRule): boolean {
  const { type } = kindOf(rule).action
  if (type === 'foreign') return injection?.effect !== undefined && injection.effect !== NOTHING_FOREIGN
  // A delay or a change of the clock does not change the response.
  return injected || type === 'delay' || type === 'pass' || type === 'send'
}

/** The operation of the last rule of a plan. */
export function operationOf(plan: readonly FaultRule[]): string {
  const { operation, path } = plan.at(-1)?.match ?? {}
  return operation ?? path ?? 'any'
}
