import type { ExplanationReport } from './explanation.ts'

const UNKNOWN = 'The program does not know the accounts of a service that it only looks at.'

/** The unknown facts about a request to a service that the program does not simulate, such as what it would accept. */
export const UNKNOWN_ELSEWHERE = {
  correction: null,
  changes: null,
  changes_count: null,
  changes_note: UNKNOWN,
  reproduction: null,
  reproduction_note: UNKNOWN,
} as const satisfies Partial<ExplanationReport>
