import type { Finding } from './finding.ts'
import type { Observation } from './observation.ts'

/** What one look at an exchange says. */
export interface Remarks {
  findings: readonly Finding[]
  observations: readonly Observation[]
}

export const NO_REMARKS: Remarks = { findings: [], observations: [] }
