import { answersWith, type Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import { failuresOf, mayBeSimulated } from '../domain/simulator.ts'
import type { Json } from '../ground/json.ts'
import type { Injection, NamedDomain } from './injection.ts'

/** The injection that a write asks for because it names a domain under understudy.test, if there is one. */
export function simulatedInjection(
  body: Json,
  operation: Operation,
  { canonicalHostname }: Contract,
): Injection | undefined {
  for (const field in body) {
    const names = body[field]
    if (!Array.isArray(names)) continue
    for (let index = 0; index < names.length; index++) {
      const given: unknown = names[index]
      if (typeof given !== 'string' || !mayBeSimulated(given)) continue
      const domain = canonicalHostname(given) ?? ''
      const code = failuresOf(domain).find((each) => answersWith(operation, each))
      if (code !== undefined) return failureWith(code, { domain, field: `/${field}/${index}` })
    }
  }
  return undefined
}

function failureWith(code: string, domain: NamedDomain): Injection {
  const rule = { respond: { error: code } }
  return { source: 'simulator', id: undefined, rule, chance: undefined, preference: undefined, domain }
}
