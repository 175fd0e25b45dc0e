import type { IncomingHttpHeaders } from 'node:http'
import type { Operation } from '../contract/api.ts'
import type { Contract } from '../contract/contract.ts'
import type { AccountState } from '../domain/account.ts'
import type { TriggeredFault } from '../domain/faults.ts'
import type { Json } from '../ground/json.ts'
import type { Injection } from './injection.ts'
import { preferredInjection } from './preference.ts'
import { ruleInjection } from './rule.ts'
import { simulatedInjection } from './simulator.ts'

export interface InjectionOptions {
  contract: Contract
  /** Whether `Prefer: code=…, delay=…` is honoured. */
  prefer: boolean
  /** Whether domains under understudy.test say how they want to be treated. */
  simulator: boolean
}

/** Everything that may ask for an injection, in the order in which an exchange meets it. */
export interface InjectionSources {
  /** The request itself. The rules of its account are not asked then. */
  ofHeaders(headers: IncomingHttpHeaders, operation: Operation): Injection | undefined
  /** The fault rule that the gate found. */
  ofRule(triggered: TriggeredFault, account: AccountState): Injection
  /** A domain in the body of a request that obeys the contract. It takes the place of any other injection. */
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
