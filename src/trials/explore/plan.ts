import { type FaultRule, faultId } from '../../domain/faults.ts'
import { NOTHING_FOREIGN } from '../../faults/foreign-change.ts'
import { kindOf } from '../../faults/kinds.ts'
import type { Entry } from '../../journal/entry.ts'
import type { PlannedFault } from './faults.ts'
import { namePoint, type RunObservation } from './points.ts'

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

export interface PlanUse {
  /** The rules that met no request or changed nothing. */
  idle: readonly FaultRule[]
  /** Whether each rule met a request, also one in which there was nothing that it could change. */
  hasMet: boolean
}

export function useOf(plan: readonly FaultRule[], { requests }: Pick<RunObservation, 'requests'>): PlanUse {
  const met = plan.map((_, index) =>
    requests.filter(({ entry: { injection } }) => injection?.source === 'rule' && injection.id === faultId(index + 1)),
  )
  return {
    idle: plan.filter((rule, index) => !met[index]?.some(({ entry }) => hasActed(entry, rule))),
    hasMet: met.every(({ length }) => length > 0),
  }
}

function hasActed({ injection, injected }: Entry, rule: FaultRule): boolean {
  const { type } = kindOf(rule).action
  if (type === 'foreign') return injection?.effect !== undefined && injection.effect !== NOTHING_FOREIGN
  // A delay or a change of the clock does not change the response.
  return injected || type === 'delay' || type === 'pass' || type === 'send'
}
