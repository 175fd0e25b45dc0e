import type { ExplanationReport } from './explanation.ts'

const UNKNOWN = 'The program does not know the accounts of a service that it only looks at.'

/** The unknown facts about a request to a service that the program does not simulate, such as what it would accept. */
const UNKNOWN_ELSEWHERE = {
  correction: null,
  changes: null,
  changes_count: null,
  changes_note: UNKNOWN,
  reproduction: null,
  reproduction_note: UNKNOWN,
} as const satisfies Partial<ExplanationReport>

/** The explanation of a request to such a service: what the judgement of the exchange has found, and nothing else. */
export function explainElsewhere(explained: ExplanationReport): ExplanationReport {
  const { status, code, exchange } = explained
  const findings = exchange.violations as { message: string; label?: string }[]
  const answered =
    status === null
      ? 'No response came.'
      : code === null
        ? `The service answered with ${status}.`
        : `The service refused it with ${status} "${code}".`
  return {
    ...explained,
    ...UNKNOWN_ELSEWHERE,
    summary: [answered, ...findings.map(({ message }) => message)].join(' '),
    problems: findings.map(({ message, label = '' }) => ({
      code: code ?? label,
      field: null,
      message,
      received: null,
    })),
  }
}
