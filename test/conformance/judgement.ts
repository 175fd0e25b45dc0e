import { decideVerdicts } from '../../src/choices/verdicts.ts'
import { type Conclusion, Investigation, type InvestigationOptions } from '../../src/conformance/investigation.ts'
import { nameOf } from '../../src/contract/choices.ts'
import type { Exchange } from '../../src/exchanges/exchange.ts'
import { isFailure, type JudgedDifference } from '../../src/judge/finding.ts'
import type { AssumptionVerdict } from '../../src/judge/verdict.ts'
import { choices } from '../support/choices.ts'

export { choices }

interface Judgement {
  conclusion: Conclusion
  verdicts: readonly AssumptionVerdict[]
}

/** What is said about these exchanges in the end. */
export async function judge(
  exchanges: readonly Exchange[],
  knowing: Omit<InvestigationOptions, 'choices'>,
): Promise<Judgement> {
  const investigation = await Investigation.begin({ choices, ...knowing })
  for (const exchange of exchanges) await investigation.take(exchange)
  const conclusion = investigation.conclude()
  return { conclusion, verdicts: decideVerdicts(conclusion.observations, choices) }
}

/** Findings that accuse the service, in words. Those about requests accuse the client. */
export function accusationsIn({ findings }: Conclusion): string[] {
  return findings.filter((finding) => isFailure(finding) && !isAboutRequest(finding)).map(describeFinding)
}

/** Findings that accuse the client of a request that obeys the contract, in words. */
export function wrongsAboutRequests({ findings }: Conclusion, lawful: ReadonlySet<string>): string[] {
  const about = findings.filter((finding) => isFailure(finding) && isAboutRequest(finding))
  return about.filter(({ request_id = '' }) => lawful.has(request_id)).map(describeFinding)
}

/** Verdicts that are not so, where the service makes these choices; `undecided` is never wrong. */
export function wrongVerdicts(verdicts: readonly AssumptionVerdict[], truth: readonly string[] = []): string[] {
  const numbers = new Map(truth.map((name) => name.split('/') as [string, string]).map(([id, n]) => [id, Number(n)]))
  return verdicts.flatMap(({ id, verdict, alternative = 0, evidence, left }) => {
    const number = numbers.get(id) ?? 0
    const isRight =
      verdict === 'undecided'
        ? left === undefined || left.includes(number)
        : verdict !== 'contradicted' && alternative === number
    return isRight ? [] : [`${id}: ${verdict} ${alternative || (left ?? '')} for ${number}, because of ${evidence}`]
  })
}

/** Whether an alternative was found. */
export function isFound({ verdicts }: Judgement, name: string): boolean {
  return verdicts.some(
    (each) => each.verdict === 'alternative' && nameOf({ id: each.id, number: each.alternative ?? 0 }) === name,
  )
}

/** Whether it says that the client did something wrong. */
function isAboutRequest({ label, id }: JudgedDifference): boolean {
  return label === 'contract violation' && /\/request(\/|$)/.test(id)
}

function describeFinding(finding: JudgedDifference): string {
  const { label, rule, assumption, alternative, method, path, status, pointer, message, request_id } = finding
  const what = [label, rule, assumption, alternative, pointer].filter((each) => each !== undefined).join(' ')
  return `${what}: ${method} ${path} → ${status} ${message} (${request_id})`
}
