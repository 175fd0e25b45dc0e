import type { AccountHistory } from '../accounts/exchange-log.ts'
import type { Conformity } from '../behaviour/conformity.ts'
import type { GateDecision, Principal } from '../behaviour/gate.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Problem, Refusal } from '../domain/errors.ts'
import type { Allowance } from '../domain/quotas.ts'
import type { Injection } from '../faults/injection.ts'
import type { Arrival } from '../http/arrival.ts'
import type { Content } from '../http/content.ts'
import type { Loss, Transmission } from '../http/delivery.ts'
import type { Reply } from '../http/reply.ts'
import type { Query } from '../http/target.ts'
import type { Past, UnsentResponse } from '../journal/entry.ts'
import type { Moment } from '../store/store.ts'

// The values that each stage of a request returns and the next stage takes. They are not changed after their stage. All
// values of a stage have all of its fields, because the engine is fast with objects of one shape.

/** A request with its operation, or with the reason why it has none. */
export interface Routed {
  request: Arrival
  /** When it arrived, by `elapsed`. */
  started: number
  path: string
  query: Query
  operation: Operation | undefined
  /** The reason if it has no operation. */
  refusal: Refusal<string> | undefined
  /** Whether a client without a key gets this refusal too. */
  needsNoKey: boolean
  /** The allowed methods of the path, if the method of the request is not one of them. */
  allow: string | undefined
  /** An operation of that path. */
  neighbour: Operation | undefined
  /** Whether it is a preflight request that gets an answer. */
  isPreflight: boolean
}

/** A request that has passed the gate, or was refused there. */
interface Gated {
  routed: Routed
  requestId: string
  /** The principal whose disabled key the request carries. */
  disabled: Principal | undefined
  /** The principal whose key the request presents, if it was refused before the key counted. */
  owner: Principal | undefined
  /** Where the request is recorded, if its key belongs to an account. */
  history: AccountHistory | undefined
  /** The state that the request found, and its identification in the store. */
  before: Past | undefined
  moment: Moment | undefined
  allowance: Allowance | undefined
  /** The window that was charged. */
  charged: GateDecision['charged']
  /** The rest of an uncharged quota, if the response shows it. */
  unspent: Allowance | undefined
  injection: Injection | undefined
  /** What the injection has done so far. */
  effect: string | undefined
}

/** A request that has passed the gate. */
export interface Admitted extends Gated {
  operation: Operation
  principal: Principal
  refusal: undefined
  violatesContract: false
}

/** A request that the gate or an earlier stage has refused. */
export interface Refused extends Gated {
  operation: Operation | undefined
  principal: Principal | undefined
  refusal: Refusal<string>
  /** See `Entry`. */
  violatesContract: boolean
}

/** A request with its body, and with the result of the contract check. */
export interface Checked {
  admitted: Admitted
  conformity: Conformity
  /** The body as received; absent if no body was read. */
  content: Content | undefined
  /** The body if it is JSON. */
  value: unknown
  /** The group in the query, as it was before. */
  group: DomainGroup | undefined
}

/** The outcome of a request. */
export interface Outcome {
  gated: Admitted | Refused
  /** Absent if the body was not read. */
  checked: Checked | undefined
  /** Absent if nothing is sent: a fault ends the connection, or the client has left. */
  reply: Reply | undefined
  /** The problems of the request. The first one is answered. */
  problems: readonly Problem<string>[]
  /** See `Entry`. */
  violatesContract: boolean
  /** The internal failure, if there was one. */
  failure: unknown
  /** The state that the request found, its identification in the store, and the account after the request. */
  before: Past | undefined
  moment: Moment | undefined
  after: AccountState | undefined
  allowance: Allowance | undefined
  injection: Injection | undefined
  /** What the injection has done, in sentences. */
  effect: string | undefined
  /** The service's own response, if a fault has acted on it, or if the client has left. */
  decided: UnsentResponse | undefined
  lost: Loss['lost'] | undefined
  /** How the body is sent, if not as usual. */
  transmission: Transmission | undefined
}

/** The value of a request at one of the stages before its outcome. */
export type Stage = Routed | Admitted | Refused | Checked

const NO_PROBLEMS: readonly Problem<string>[] = []

/** An outcome on which no injection has acted since the gate. */
export function outcomeOf(
  gated: Admitted | Refused,
  checked: Checked | undefined,
  reply: Reply | undefined,
  problems: readonly Problem<string>[] = NO_PROBLEMS,
  violatesContract = false,
): Outcome {
  const { before, moment, allowance, injection, effect } = gated
  return {
    gated,
    checked,
    reply,
    problems,
    violatesContract,
    failure: undefined,
    before,
    moment,
    after: undefined,
    allowance,
    injection,
    effect,
    decided: undefined,
    lost: undefined,
    transmission: undefined,
  }
}
