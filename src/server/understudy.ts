import type { AccountWithKey } from '../library/account.ts'
import { type Library, openDirectLibrary } from '../library/library.ts'
import { standInOf } from './middleware.ts'
import type { ServerOptions } from './options.ts'
import { type RunningServer, startServer } from './server.ts'
import type { Behaviours, InternalOptions, StandIn } from './stand-in.ts'

/** A running stand-in. */
export interface Understudy extends RunningServer, Library {}

/** A stand-in with a known key: no account existed before, or the key was given. */
export type UnderstudyWithKey = Understudy & { readonly apiKey: string; readonly account: AccountWithKey }

/** Options that make the key of the `default` account known. */
export type KeyedOptions = ServerOptions & ({ data?: undefined; store?: undefined } | { apiKey: string })

/**
 * Composes contract, store, service and control plane into a stand-in, which listens on a port unless options say no.
 * @throws OptionError, ContractError, FixtureError, FaultSetError, StoreError, or a `listen` error like `EADDRINUSE`
 */
export function startUnderstudy(options?: KeyedOptions): Promise<UnderstudyWithKey>
export function startUnderstudy(options: ServerOptions): Promise<Understudy>
export function startUnderstudy(options: ServerOptions = {}): Promise<Understudy> {
  return openUnderstudy(options)
}

/** The same, with these behaviours of the operations. */
export async function openUnderstudy(
  options: ServerOptions,
  behaviours?: Behaviours,
  internal?: InternalOptions,
): Promise<Understudy> {
  const server = await startServer(options, behaviours, internal)
  // Not a copy, which would load what is only loaded when it is first used.
  return Object.assign(server, openDirectLibrary({ ...(standInOf(server) as StandIn), baseUrl: server.baseUrl }))
}
