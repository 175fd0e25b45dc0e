import { inWords } from '../verify/target-check.ts'
import type { VerifyProgress } from '../verify/verification.ts'

/**
 * The progress of a run in one line, with the most important part first: a terminal may show only 80 columns. `waits`:
 * whether the run waits for quotas, so that it has a remaining time.
 */
export function describeProgress({ asked, planned, doing, quotas, toGo }: VerifyProgress, waits: boolean): string {
  const time = waits && toGo > 0 ? `, ${inWords(toGo)} to go` : ''
  const left = quotas.map((quota) => `${quota.path} ${quota.left}`).join(', ')
  const resets = quotas.flatMap(({ resetsIn }) => resetsIn ?? [])
  const reset = resets.length === 0 ? '' : `; reset in ${inWords(Math.min(...resets))}`
  const state = `left: ${left}${reset}`
  // The name of a question is the least informative part; a sentence is the most informative part.
  const parts = doing.includes(' ') ? [doing, state] : [state, doing]
  return `${asked} of ${planned}${time}; ${parts.join('; ')}`
}
