import { answersWith, type Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import type { TriggeredFault } from '../domain/faults.ts'
import { failuresOf, mayBeSimulated } from '../domain/simulator.ts'
import type { Arrival } from '../ground/arrival.ts'
import { chanceOfFault } from '../ground/chance.ts'
import type { Json } from '../ground/json.ts'
import type { Injection } from './injection.ts'
import { preferredInjection } from './preference.ts'

export interface InjectionOptions {
  contract: Contract
  /** Whether `Prefer: code=…, delay=…` is honoured. */
  prefer: boolean
  /** Whether the names of domains under understudy.test select their treatment. */
  simulator: boolean
}

/** All sources of injections, in the order in which an exchange meets them. */
export interface InjectionSources {
  /** The header fields of the request. If they ask for an injection, the rules of the account are not checked. */
  ofHeaders(headers: Arrival['headers'], operation: Operation): Injection | undefined
  /** The fault rule that the gate found. */
  ofRule(triggered: TriggeredFault, account: AccountState): Injection
  /** A domain in the body of a request that obeys the contract. This injection replaces any other. */
  ofBody(body: Json, operation: Operation): Injection | undefined
}

export function createInjectionSources({ contract, prefer, simulator }: InjectionOptions): InjectionSources {
  return {
    ofHeaders(headers, operation) {
      const preference = prefer ? headers['prefer'] : undefined
      return preference === undefined
        ? undefined
        : preferredInjection(String(preference), operation, contract.catalogue)
    },
    ofRule({ fault: { id, rule }, ordinal }, account) {
      const [, chance] = chanceOfFault(account, id, ordinal)
      return { source: 'rule', id, rule, chance }
    },
    ofBody(body, operation) {
      return simulator && operation.readsBody ? simulatedInjection(body, operation, contract) : undefined
    },
  }
}

/** The injection that a write asks for because it names a domain under understudy.test, if there is one. */
function simulatedInjection(body: Json, operation: Operation, { canonicalHostname }: Contract): Injection | undefined {
  for (const field in body) {
    const names = body[field]
    if (!Array.isArray(names)) continue
    for (let index = 0; index < names.length; index++) {
      const given: unknown = names[index]
      if (typeof given !== 'string' || !mayBeSimulated(given)) continue
      const domain = canonicalHostname(given) ?? ''
      const error = failuresOf(domain).find((each) => answersWith(operation, each))
      if (error === undefined) continue
      const named = { domain, field: `/${field}/${index}` }
      return { source: 'simulator', id: undefined, rule: { respond: { error } }, domain: named }
    }
  }
  return undefined
}
