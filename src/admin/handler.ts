import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { Worlds } from '../accounts/worlds.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { Api } from '../contract/api.ts'
import type { AdminCode, AdminRefusal, ControlLimits } from '../contract/control-api.ts'
import type { BodyOf, CallId, DataOf, PathOf, QueryOf, Schemas } from '../contract/control-plane.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { AccountState } from '../domain/account.ts'
import type { Decision } from '../domain/errors.ts'
import type { FaultSet } from '../faults/fault-sets.ts'
import type { Awaitable } from '../ground/awaitable.ts'
import type { HostCheck } from '../ground/hosts.ts'
import type { Clock } from '../ground/timers.ts'
import type { Readiness, Store } from '../store/store.ts'

export interface ControlDeps {
  contract: ServiceContract
  store: Store
  clock: Clock
  worlds: Worlds
  exchanges: ExchangeLog
  /** The fault sets of this server, in addition to the ready-made ones. */
  faultSets: readonly FaultSet[]
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
export type ObservedVerdict = Pick<Schemas['Verdict'], 'passed' | 'message' | 'judged'> &
  Required<Pick<Schemas['Verdict'], 'service'>>

/** A real service that the program observes and does not simulate. */
export interface ObservedService {
  /** The operations of the control plane that make sense for the service. */
  offers: ReadonlySet<string>
  /** The result of the judgement so far, which is that of the command. */
  verdict(): Promise<ObservedVerdict>
}

/** What a handler can use, beside the request. The URLs are those for the caller. */
export interface ControlContext extends ControlDeps {
  api: Api
  limits: ControlLimits
}

/** The same for an operation about an existing account. */
export interface AccountContext extends ControlContext {
  account: AccountState
  /** The time of the account's clock, in milliseconds. */
  now: number
}

/** The request of an operation. The document permits it. */
export interface RequestOf<Id extends CallId> {
  parameters: Readonly<PathOf<Id>>
  query: Readonly<QueryOf<Id>>
  body: BodyOf<Id>
}

/**
 * The data of a success response, or a refusal. `write` gives the text of the data if it differs from that of
 * `JSON.stringify`.
 */
export type ControlOutcome<Data = unknown> = { ok: true; data: Data; write?: () => string } | AdminRefusal

type ContextOf<Id extends CallId> = PathOf<Id> extends { account: string } ? AccountContext : ControlContext

/** The implementations, for HTTP and the library. One about an account is called only if there is such an account. */
export type Handlers = {
  readonly [Id in CallId]?: (call: ContextOf<Id> & RequestOf<Id>) => Awaitable<ControlOutcome<DataOf<Id>>>
}

/** Changes the account, and answers with what `report` makes of the changed one. */
export async function changeAccount<Value, Data>(
  { store, account }: AccountContext,
  decide: (state: AccountState) => Decision<AccountState, Value, AdminCode>,
  report: (changed: AccountState, value: Value) => Awaitable<Data>,
): Promise<ControlOutcome<Data>> {
  const decision = await store.update(account.id, decide)
  return decision.ok ? done(await report(decision.state, decision.value)) : decision
}

export function done<Data>(data: Data): ControlOutcome<Data>
export function done(): ControlOutcome<Record<string, never>>
export function done(data: unknown = {}): ControlOutcome {
  return { ok: true, data }
}
