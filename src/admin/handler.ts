import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { Worlds } from '../accounts/worlds.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { AccountState } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { FaultSet } from '../faults/fault-sets.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { Clock } from '../ground/clock.ts'
import type { HostCheck } from '../ground/hosts.ts'
import type { Json } from '../ground/json.ts'
import type { Readiness } from '../store/readiness.ts'
import type { Store } from '../store/store.ts'
import type { AdminRefusal } from './codes.ts'
import type { ControlLimits } from './document.ts'
import type { VerdictReport } from './reports.ts'

/** The objects that the control plane works on. */
export interface ControlDeps {
  contract: ServiceContract
  store: Store
  clock: Clock
  worlds: Worlds
  exchanges: ExchangeLog<ExplanationReport | undefined>
  /** The fault sets of this server, in addition to the ready-made ones. */
  faultSets: readonly FaultSet[]
  /** Identifies this run of the server. */
  instance: string
  /** Known as soon as the server listens. */
  urls(): ServerUrls
  /** Which Host the service answers to; absent if it answers to any. */
  namesUs?: HostCheck | undefined
  readiness: Readiness
  /** Whether the service refuses requests over a quota. If not, it only counts them. */
  enforceQuotas: boolean
  /** Present if the requests are those that a proxy forwards. */
  observed?: ObservedService | undefined
}

/** The parts of the verdict that the judgement of a real service decides. */
export type ObservedVerdict = Pick<VerdictReport, 'passed' | 'message' | 'judged'> &
  Required<Pick<VerdictReport, 'service'>>

/** A real service that the program observes and does not simulate. */
export interface ObservedService {
  /** The operations of the control plane that make sense for the service. */
  offers: ReadonlySet<string>
  /** The result of the judgement so far, which is that of the command. */
  verdict(): Promise<ObservedVerdict>
}

/** A request that the control plane's document permits, with all that a handler needs. */
export interface ControlCall<Body = Json> extends ControlDeps {
  /** The values of the path parameters. */
  parameters: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  body: Body
  limits: ControlLimits
  /** The URLs of the server for the caller, and its own URLs. */
  urls(): ServerUrls
  ownUrls(): ServerUrls
}

/** A request about an existing account. */
export interface AccountCall<Body = Json> extends ControlCall<Body> {
  account: AccountState
  /** The time of the account's clock, in milliseconds. */
  now: number
}

/**
 * The data of a success response, or a refusal. `write` gives the text of the data if it differs from that of
 * `JSON.stringify`.
 */
export type ControlOutcome<Data = unknown> = { ok: true; data: Data; write?: () => string } | AdminRefusal

/**
 * The implementation of a control plane operation. HTTP and the library use the same handler. `Data` is the data of its
 * success response, and `Body` what the document permits as the body of its request.
 */
export type Handler<Data = unknown, Body = Json> = (call: ControlCall<Body>) => Awaitable<ControlOutcome<Data>>
/** The handler of an operation about one account. */
export type AccountHandler<Data = unknown, Body = Json> = (call: AccountCall<Body>) => Awaitable<ControlOutcome<Data>>

export function done<Data>(data: Data): ControlOutcome<Data>
export function done(): ControlOutcome<object>
export function done(data: unknown = {}): ControlOutcome {
  return { ok: true, data }
}
