import type { IncomingMessage, ServerResponse } from 'node:http'
import type { History } from '../accounts/histories.ts'
import type { Conformity } from '../behaviour/conformity.ts'
import type { Principal } from '../behaviour/gate.ts'
import type { Operation } from '../contract/api.ts'
import type { AccountState, DomainGroup } from '../domain/account.ts'
import type { Problem, Refusal } from '../domain/errors.ts'
import type { Allowance, Hits } from '../domain/quotas.ts'
import type { Transmission } from '../faults/application.ts'
import type { Cut } from '../faults/delivery.ts'
import type { Injection } from '../faults/injection.ts'
import type { Content } from '../http/content.ts'
import type { Reply } from '../http/reply.ts'
import type { Query } from '../http/target.ts'
import type { Decided } from '../journal/entry.ts'
import type { Past } from '../journal/past.ts'
import type { Moment } from '../store/store.ts'

// What each stage of a request returns and the next one takes. Nobody changes a value that a stage has returned. All
// values of a stage have all of its fields, because an engine is fast with objects of one shape.

/** A request whose operation is known, or why it has none. */
export interface Routed {
  request: IncomingMessage
  response: ServerResponse
  /** When it arrived, by `elapsed`. */
  started: number
  path: string
  query: Query
  operation: Operation | undefined
  /** Why it has no operation. */
  refusal: Refusal<string> | undefined
  /** Whether a client without a key is told so, too. */
  needsNoKey: boolean
  /** The methods of the path, where that of the request is none of them. */
  allow: string | undefined
  /** Some operation of that path. */
  neighbour: Operation | undefined
  /** Whether a browser asks with it what a page may send, and gets an answer to that. */
  isPreflight: boolean
}

/** A request that has passed the gate, or was refused there. */
interface Gated {
  routed: Routed
  requestId: string
  /** Whose disabled key it carries. */
  disabled: Principal | undefined
  /** Where it is recorded, if its key belongs to an account. */
  history: History | undefined
  /** What it found there, and what names it in the store. */
  before: Past | undefined
  moment: Moment | undefined
  allowance: Allowance | undefined
  /** The bucket that it was charged to, and what was used there then. */
  bucket: string | undefined
  hits: Hits | undefined
  /** What is left of a quota that it was not charged to, where its response tells that. */
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

/** A request that goes no further. */
export interface Refused extends Gated {
  operation: Operation | undefined
  principal: Principal | undefined
  refusal: Refusal<string>
  /** Whether the contract itself forbids it, whatever any account holds. */
  violatesContract: boolean
}

/** A request whose body is read, and which conforms to the contract or does not. */
export interface Conforming {
  admitted: Admitted
  conformity: Conformity
  /** The body as received; absent where none was read. */
  content: Content | undefined
  /** The body where it is JSON. */
  value: unknown
  /** The group that the query names, as it was before. */
  group: DomainGroup | undefined
}

/** What has become of a request. */
export interface Outcome {
  gated: Admitted | Refused
  /** Absent where the body was not read. */
  conforming: Conforming | undefined
  /** Absent where nothing is sent: a fault ends the connection, or the client has left. */
  reply: Reply | undefined
  /** What is wrong with the request; the first problem is the one that is answered. */
  problems: readonly Problem<string>[]
  /** Whether the contract itself forbids the request, whatever the account holds. */
  violatesContract: boolean
  /** What failed inside. */
  failure: unknown
  /** What the request found in its account, what names it in the store, and the account as the request has made it. */
  before: Past | undefined
  moment: Moment | undefined
  after: AccountState | undefined
  allowance: Allowance | undefined
  injection: Injection | undefined
  /** What the injection has done, in sentences. */
  effect: string | undefined
  /** What the service had decided, where something else, or nothing, is sent. */
  decided: Decided | undefined
  /** Ends the connection in place of a response. */
  cut: Cut | undefined
  /** Sends the response in another way than usual. */
  send: Transmission | undefined
}

/** What a request has become at one of the stages before its outcome. */
export type Stage = Routed | Admitted | Refused | Conforming

const NO_PROBLEMS: readonly Problem<string>[] = []

/** An outcome to which nothing was done by an injection since the gate. */
export function outcomeOf(
  gated: Admitted | Refused,
  conforming: Conforming | undefined,
  reply: Reply | undefined,
  problems: readonly Problem<string>[] = NO_PROBLEMS,
  violatesContract = false,
): Outcome {
  const { before, moment, allowance, injection, effect } = gated
  return {
    gated,
    conforming,
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
    cut: undefined,
    send: undefined,
  }
}
