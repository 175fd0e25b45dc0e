import { inWords } from '../evidence/verify/opening.ts'
import type { VerifyProgress } from '../evidence/verify/verification.ts'

/**
 * How far a run has come, in one line of which the most important comes first: a terminal may show only 80 columns of it.
 * `waits` is whether the run waits for quotas, so that there is a time to go.
 */
export function describeProgress({ asked, planned, doing, quotas, toGo }: VerifyProgress, waits: boolean): string {
  const time = waits && toGo > 0 ? `, ${inWords(toGo)} to go` : ''
  const left = quotas.map((quota) => `${quota.path} ${quota.left}`).join(', ')
  const resets = quotas.flatMap(({ resetsIn }) => resetsIn ?? [])
  const reset = resets.length === 0 ? '' : `; reset in ${inWords(Math.min(...resets))}`
  const state = `left: ${left}${reset}`
  // The name of a question tells least, a sentence most.
  const parts = doing.includes(' ') ? [doing, state] : [state, doing]
  return `${asked} of ${planned}${time}; ${parts.join('; ')}`
}
