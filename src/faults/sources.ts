import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import type { TriggeredFault } from '../domain/faults.ts'
import type { Json } from '../ground/json.ts'
import type { Arrival } from '../http/arrival.ts'
import type { Injection } from './injection.ts'
import { preferredInjection } from './preference.ts'
import { ruleInjection } from './rule.ts'
import { simulatedInjection } from './simulator.ts'

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
    ofRule: ruleInjection,
    ofBody(body, operation) {
      return simulator && operation.readsBody ? simulatedInjection(body, operation, contract) : undefined
    },
  }
}
