import type { Exchange } from '../../src/exchanges/exchange.ts'
import { isFailure, type JudgedDifference, partyOf } from '../../src/judge/finding.ts'
import { type Conclusion, Judge, type JudgeOptions } from '../../src/judge/judge.ts'
import { choices } from '../support/choices.ts'

export { choices }

/** What is said about these exchanges in the end. */
export async function judge(
  exchanges: readonly Exchange[],
  knowing: Omit<JudgeOptions, 'choices'> = {},
): Promise<Conclusion> {
  const judge = new Judge({ choices, ...knowing })
  for (const exchange of exchanges) judge.take(exchange)
  return judge.conclude()
}

/** Findings that accuse the service, in words. Those about requests accuse the client. */
export function accusationsIn({ findings }: Pick<Conclusion, 'findings'>): string[] {
  return findings.filter((finding) => isFailure(finding) && partyOf(finding) === 'service').map(describeFinding)
}

/** Findings that accuse the client of a request that obeys the contract, in words. */
export function wrongsAboutRequests({ findings }: Conclusion, lawful: ReadonlySet<string>): string[] {
  const about = findings.filter((finding) => isFailure(finding) && partyOf(finding) === 'client')
  return about.filter(({ request_id = '' }) => lawful.has(request_id)).map(describeFinding)
}

function describeFinding(finding: JudgedDifference): string {
  const { label, rule, method, path, status, pointer, message, request_id } = finding
  const what = [label, rule, pointer].filter((each) => each !== undefined).join(' ')
  return `${what}: ${method} ${path} → ${status} ${message} (${request_id})`
}
