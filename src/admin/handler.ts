import type { ExchangeLog } from '../accounts/exchange-log.ts'
import type { Worlds } from '../accounts/worlds.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { ServerUrls } from '../coverage/curl.ts'
import type { AccountState } from '../domain/account.ts'
import type { ExplanationReport } from '../explain/explanation.ts'
import type { Clock } from '../ground/clock.ts'
import type { Json } from '../ground/json.ts'
import type { Readiness } from '../store/readiness.ts'
import type { StoreTraffic } from '../store/redis/figures.ts'
import type { Store } from '../store/store.ts'
import type { AdminRefusal } from './codes.ts'
import type { FaultSet } from './fault-sets.ts'
import type { VerdictReport } from './reports.ts'

/** What the control plane works on. */
export interface ControlDeps {
  contract: ServiceContract
  store: Store
  clock: Clock
  worlds: Worlds
  exchanges: ExchangeLog<ExplanationReport | undefined>
  /** The fault sets of this server, in addition to the ready-made ones. */
  faultSets: readonly FaultSet[]
  /** Names this run of the server. */
  instance: string
  /** Known as soon as the server listens. */
  urls(): ServerUrls
  readiness: Readiness
  /** Whether the service refuses requests beyond a quota; otherwise it only counts them. */
  enforceQuotas: boolean
  /** What is counted about the store, where it is another process. */
  traffic: StoreTraffic | undefined
  /** Where the requests are those that a proxy passes on. */
  observed?: ObservedService | undefined
}

/** A service that the program does not play, but only looks at. */
export interface ObservedService {
  /** The operations of the control plane that make sense for it. */
  offers: ReadonlySet<string>
  /** What was found against it so far. */
  report(): NonNullable<VerdictReport['service']>
}

/** The numeric settings of the control plane's document, which says what each one means. */
export interface ControlLimits {
  bodyLimit: number
  nestingLimit: number
  faultsPerAccount: number
  snapshotsPerAccount: number
  keysPerAccount: number
  /** How many records of GET /dmarc one response may have. */
  recordsLimit: number
  /** How many records of GET /dmarc the figures of one overview may be made of. */
  overviewRecords: number
  /** How many domains a list of records can be limited to. */
  namedDomains: number
  answerLimit: number
  /** How many items a page of a list has without a limit of its own. */
  pageDefault: number
  pageLimit: number
  pageBytes: number
  /** How many streams of events there may be. */
  eventStreams: number
}

/** A request that the control plane's document permits, with everything that a handler needs. */
export interface ControlCall extends ControlDeps {
  /** The values of the path parameters. */
  parameters: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  body: Json
  limits: ControlLimits
}

/** A request about an existing account. */
export interface AccountCall extends ControlCall {
  account: AccountState
  /** What the account's clock shows, in milliseconds. */
  now: number
}

/** Data with a list that can be long. Its items are made one after the other, while they are sent. */
export interface ListedData {
  /** The field that has the list. */
  name: string
  /** They can be taken once. */
  items: Iterable<unknown>
  /** The other fields. */
  rest: object
  /** Makes the text of an item in parts, where it is long or is not what `JSON.stringify` makes of it. */
  write?: ((item: unknown) => Iterable<string>) | undefined
}

export type ControlOutcome = { ok: true; data: unknown } | { ok: true; list: ListedData } | AdminRefusal

/** What an operation of the control plane does. The same handler serves HTTP and the library. */
export type Handler = (call: ControlCall) => ControlOutcome | Promise<ControlOutcome>
/** The handler of an operation about one account. */
export type AccountHandler = (call: AccountCall) => ControlOutcome | Promise<ControlOutcome>

export function done(data: unknown = {}): ControlOutcome {
  return { ok: true, data }
}

export function listed(
  name: string,
  items: Iterable<unknown>,
  rest: object = {},
  write?: ListedData['write'],
): ControlOutcome {
  return { ok: true, list: { name, items, rest, write } }
}
