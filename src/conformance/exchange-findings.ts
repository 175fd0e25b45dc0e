import type { ChoiceObservation } from '../choices/observation.ts'
import type { JudgedDifference } from './finding.ts'

/** What the check of one exchange found. */
export interface Remarks {
  findings: readonly JudgedDifference[]
  observations: readonly ChoiceObservation[]
}

export const NO_REMARKS: Remarks = { findings: [], observations: [] }
