import type { AccountState } from '../domain/account.ts'
import type { Refusal } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Injection } from '../faults/injection.ts'
import type { InjectionSources } from '../faults/sources.ts'
import { type Awaitable, whenReady } from '../ground/awaitable.ts'
import type { AnonymousIds } from '../http/anonymous-ids.ts'
import { requestIdOf } from '../http/request-id.ts'
import { isUnbidden } from '../http/unbidden.ts'
import { createGate, type GateDeps, type GateResult } from './gate.ts'
import { MISLED } from './routing.ts'
import type { Admitted, Outcome, Refused, Routed } from './stages.ts'

export interface EntranceDeps extends GateDeps {
  sources: InjectionSources
  /** Gives the ids of requests without an account. */
  nextId: AnonymousIds
}

export type Entrance = ReturnType<typeof createEntrance>

/** Takes requests through the gate: key, plan, quota, and the injection that acts on them. */
export function createEntrance(deps: EntranceDeps) {
  const { sources } = deps
  const gate = createGate(deps)
  const requestIdFor = createRequestIds(deps)

  function admit(routed: Routed): Awaitable<Admitted | Refused> {
    const { request, operation, refusal, needsNoKey } = routed
    // Such a refusal is the same for every key, unless the response also shows the quota of the key.
    const isAnonymous = needsNoKey && !(gate.tellsUncharged && routed.neighbour !== undefined)
    if (refusal !== undefined && isAnonymous) return enterUnadmitted(routed)
    const preferred = operation && sources.ofHeaders(request.headers, operation)
    // Of several refusals, one that needs no key comes first, then that of the gate, then that of the route.
    return whenReady(gate.admit(routed, preferred === undefined), (result) =>
      makeGated(routed, result, (needsNoKey ? refusal : undefined) ?? result.decision.refusal ?? refusal, preferred),
    )
  }

  /** Treats the request as one without an account; no store access, no count. */
  function enterAnonymously(routed: Routed): Admitted | Refused {
    return refuseAtOnce(routed, gate.admitAnonymously(routed))
  }

  /** The same, but the account of a presented key gets the request into its journal. */
  function enterUnadmitted(routed: Routed): Awaitable<Admitted | Refused> {
    return whenReady(gate.identify(routed), (result) => refuseAtOnce(routed, result))
  }

  function refuseAtOnce(routed: Routed, result: GateResult): Admitted | Refused {
    return makeGated(routed, result, routed.refusal ?? result.decision.refusal, undefined)
  }

  /** What a response to a request without an account reports of the quota. It draws no request id. */
  function tellAnonymous(routed: Routed): Allowance | undefined {
    return gate.admitAnonymously(routed).decision.unspent
  }

  /** The value of the stage, from the decision of the gate. A refused request meets no fault. */
  function makeGated(
    routed: Routed,
    { decision, owner, history, before, moment }: GateResult,
    refusal: Refusal<string> | undefined,
    preferred: Injection | undefined,
  ): Admitted | Refused {
    const { principal, disabled, allowance, charged, unspent, fault, ordinal } = decision
    const ruled = fault && principal && sources.ofRule(fault, principal.account)
    const gated = {
      routed,
      requestId: requestIdFor(principal?.account, ordinal),
      operation: routed.operation,
      principal,
      disabled,
      owner,
      history,
      before,
      moment,
      allowance,
      charged,
      unspent,
      injection: refusal === undefined ? (ruled ?? preferred) : undefined,
      effect: undefined,
      refusal,
      violatesContract: refusal !== undefined && refusal !== decision.refusal && breaksContract(routed),
    }
    // An admitted request has an operation and a principal.
    return gated as Admitted | Refused
  }

  /** Takes back the charge of a request that the service itself refuses. */
  function refund(outcome: Outcome): Awaitable<Outcome> {
    const { gated, reply } = outcome
    if (gated.refusal !== undefined || reply?.code === undefined || reply.injected) return outcome
    return whenReady(gate.refund(gated), (left) => ({ ...outcome, allowance: left ?? outcome.allowance }))
  }

  return { admit, enterAnonymously, enterUnadmitted, tellAnonymous, refund }
}

/**
 * Whether a request without an operation breaks the contract. The Host of another site does not come from the contract,
 * and what a browser asks for by itself does not come from a client.
 */
function breaksContract({ refusal, request: { method, headers }, path }: Routed): boolean {
  return refusal !== MISLED && !isUnbidden({ method, path, authorization: headers.authorization })
}

/** Creates the function that gives a request its id. An id that the client sends plays no part. */
function createRequestIds({ contract, nextId }: Pick<EntranceDeps, 'contract' | 'nextId'>) {
  let source = { seed: 0, id: '', text: '' }

  return function requestIdFor(account: AccountState | undefined, ordinal: number): string {
    if (account === undefined) return nextId('unauthenticated')
    return requestIdOf(sourceOf(account), ordinal, contract.requestIds)
  }

  /** The source of an account's request ids, cached for the last account. */
  function sourceOf({ seed, id }: AccountState): string {
    if (source.seed !== seed || source.id !== id) source = { seed, id, text: `${seed} ${id}` }
    return source.text
  }
}
