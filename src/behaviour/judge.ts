import type { AccountState } from '../domain/account.ts'
import type { Acceptance, Decision, Refusal } from '../domain/errors.ts'
import { conform, type ReceivedRequest, refusalFor } from './conformity.ts'
import type { Answer, ConformingRequest, ServiceContract } from './operation.ts'

/** A refusal has all problems. The first one is answered. It carries no state, so it changes nothing. */
export type Judgement = Acceptance<AccountState, Answer> | Refusal<string>

/**
 * The service's answer to a request of an authorised caller, and the account after it: `conform`, then `decide`. No
 * other part of the program makes this decision. It is pure. `now` is in milliseconds on the account's clock.
 */
export function judge(
  request: ReceivedRequest,
  account: AccountState,
  contract: ServiceContract,
  now: number,
): Judgement {
  const conformity = conform(request, contract.settings, contract.catalogue)
  return conformity.ok ? decide(conformity, account, contract, now) : conformity
}

/** The second half of `judge`, for a request that conforms to the contract. A repeated decision runs only this. */
export function decide(
  request: ConformingRequest,
  account: AccountState,
  contract: ServiceContract,
  now: number,
): Decision<AccountState, Answer> {
  const decision = contract.behaviourOf(request.operation).decide(request, account, contract, now)
  if (decision.ok || decision.problems.length === 1) return decision
  return (refusalFor(decision.problems, contract.catalogue) ?? decision) as Refusal
}
