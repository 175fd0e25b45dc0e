import type { Worlds } from '../accounts/worlds.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import type { Planes } from '../coverage/curl.ts'
import type { AccountState } from '../domain/account.ts'
import type { Clock } from '../ground/clock.ts'
import type { Json } from '../ground/json.ts'
import type { Store } from '../store/store.ts'
import type { AdminRefusal } from './codes.ts'
import type { FaultSet } from './fault-sets.ts'

/** What the control plane works on. */
export interface ControlDeps {
  contract: ServiceContract
  store: Store
  clock: Clock
  worlds: Worlds
  /** Fault sets of the server's own, beside those that come with the program. */
  faultSets: readonly FaultSet[]
  /** Where the planes are reached. */
  planes(): Planes
}

/** The numbers that the control plane's document sets; it says what each one means. */
export interface ControlLimits {
  bodyLimit: number
  nestingLimit: number
  faultsPerAccount: number
  snapshotsPerAccount: number
  keysPerAccount: number
  answerLimit: number
}

/** A request to the control plane that obeys its document. */
export interface ControlCall extends ControlDeps {
  /** What stands in the places of the path's parameters. */
  parameters: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  body: Json
  limits: ControlLimits
}

/** The same of an account that there is. */
export interface AccountCall extends ControlCall {
  account: AccountState
  /** What its clock shows, in milliseconds. */
  now: number
}

export type ControlOutcome = { ok: true; data: unknown } | AdminRefusal

/** What an operation of the control plane does. */
export type Verb = (call: ControlCall) => ControlOutcome | Promise<ControlOutcome>
/** The same for one of an account. */
export type AccountVerb = (call: AccountCall) => ControlOutcome | Promise<ControlOutcome>

export function done(data: unknown = {}): ControlOutcome {
  return { ok: true, data }
}
