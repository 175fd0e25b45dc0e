import type { ExplanationReport } from './explanation.ts'

const UNKNOWN = 'The program does not know the accounts of a service that it only looks at.'

/**
 * The explanation of a request to a service that the program does not simulate: what the judgement of the exchange has
 * found, and nothing else. What that service would accept is unknown.
 */
export function explainElsewhere(explained: ExplanationReport): ExplanationReport {
  const { status, code, exchange } = explained
  const findings = exchange.violations as { message: string; label?: string }[]
  const refused = code === null ? `answered with ${status}` : `refused it with ${status} "${code}"`
  const answered = status === null ? 'No response came.' : `The service ${refused}.`
  return {
    ...explained,
    ...{ correction: null, changes: null, changes_count: null, changes_note: UNKNOWN },
    ...{ reproduction: null, reproduction_note: UNKNOWN },
    summary: [answered, ...findings.map(({ message }) => message)].join(' '),
    problems: findings.map(({ message, label = '' }) => ({
      ...{ code: code ?? label, message },
      ...{ field: null, received: null },
    })),
  }
}
