import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createAdmin } from '../admin/admin.ts'
import { ADMIN_PATH } from '../admin/paths.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import { createCarrier } from '../http/engine/carrier.ts'
import { surplusFor } from '../http/engine/crowd.ts'
import { createCrowdedReply } from '../http/engine/crowded.ts'
import { closeServer, createHttpServer, listen } from '../http/engine/http-server.ts'
import { createMalformedReply } from '../http/engine/malformed.ts'
import type { ServerRequest } from '../http/engine/node-internals.ts'
import { isLoopback } from '../http/hosts.ts'
import type { Log } from '../http/log.ts'
import type { AccountWithKey } from '../library/account.ts'
import { type Library, openDirectLibrary } from '../library/library.ts'
import { createMalformedRecorder } from '../service/recorder.ts'
import { type CompleteOptions, completeOptions, refuseContradictions } from './option-table.ts'
import type { ServerOptions } from './options.ts'
import { type Behaviours, type InternalOptions, openStandIn, type StandIn } from './stand-in.ts'

/** A running stand-in. */
export interface Understudy extends Library, AsyncDisposable {
  /** The base URL for clients, version segment included. */
  readonly baseUrl: string
  /** The HTTP address of the control plane, if it is served. */
  readonly adminUrl: string | undefined
  /** The unique name of this run of the server. `/__admin/health` shows it. */
  readonly instance: string
  /** Whether the `default` account existed before, so that options for new accounts did not apply. */
  readonly kept: boolean
  /** File and reason of each damaged account that was left out; see `skipDamaged`. */
  readonly skipped: readonly string[]
  /** The accounts with a computable key, if other machines can reach the server, named as in the log. */
  readonly exposed: readonly string[]
  /** The contract for every request and answer. */
  readonly contract: ServiceContract
  /** Answers current requests, saves, and closes every connection. A second call waits for the first one. */
  stop(): Promise<void>
}

/** A stand-in with a known key: no account existed before, or the key was given. */
export type UnderstudyWithKey = Understudy & { readonly apiKey: string; readonly account: AccountWithKey }

/** Options that make the key of the `default` account known. */
export type KeyedOptions = ServerOptions & ({ data?: undefined; store?: undefined } | { apiKey: string })

/**
 * Composes contract, store, service and control plane into a listening server.
 * @throws OptionError, ContractError, FixtureError, FaultSetError, StoreError, or a `listen` error like `EADDRINUSE`
 */
export function startUnderstudy(options?: KeyedOptions): Promise<UnderstudyWithKey>
export function startUnderstudy(options: ServerOptions): Promise<Understudy>
export function startUnderstudy(options: ServerOptions = {}): Promise<Understudy> {
  return startServer(options, OPERATIONS)
}

/** The same, with these behaviours of the operations, by operationId. */
export async function startServer(
  given: ServerOptions,
  behaviours: Behaviours,
  internal: InternalOptions = {},
): Promise<Understudy> {
  const options = completeOptions(given)
  refuseContradictions(given)
  const { signal, log } = options
  signal?.throwIfAborted()
  const understudy = await composeServer(given, options, behaviours, internal)
  return signal === undefined ? understudy : stopWith(signal, understudy, log)
}

/** Makes the signal stop the server. @throws the reason of a signal that was aborted during the start */
async function stopWith(signal: AbortSignal, understudy: Understudy, log: Log): Promise<Understudy> {
  if (signal.aborted) {
    await understudy.stop()
    throw signal.reason
  }
  function abort(): void {
    understudy.stop().catch((err: unknown) => log.error({ err }, 'The server could not save everything at its stop.'))
  }
  function stop(): Promise<void> {
    // A signal may outlive many servers.
    signal.removeEventListener('abort', abort)
    return understudy.stop()
  }
  signal.addEventListener('abort', abort, { once: true })
  return { ...understudy, stop, [Symbol.asyncDispose]: stop }
}

async function composeServer(
  given: ServerOptions,
  options: CompleteOptions,
  behaviours: Behaviours,
  internal: InternalOptions,
): Promise<Understudy> {
  const standIn = await openStandIn(options, behaviours, internal)
  const { opened, urls, control, stopping, contract, instance, kept, exposed, exchanges, apiKey } = standIn
  try {
    const server = createServerFor(standIn, given, options)
    const origin = await listen(server, options.port, options.host)
    Object.assign(urls, { baseUrl: origin + contract.basePath, adminUrl: origin + ADMIN_PATH, hasPage: options.admin })
    let stopped: Promise<void> | undefined
    async function stop(): Promise<void> {
      stopping.abort()
      await closeServer(server)
      await opened.close()
    }
    const stopOnce = () => (stopped ??= stop())
    const { baseUrl } = urls
    return {
      baseUrl,
      adminUrl: options.admin ? urls.adminUrl : undefined,
      ...{ instance, kept, exposed, contract },
      skipped: opened.skipped,
      ...openDirectLibrary(control, { baseUrl, apiKey, exchanges, contract, stopping: stopping.signal }),
      stop: stopOnce,
      [Symbol.asyncDispose]: stopOnce,
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** The HTTP server for the service and its control plane. */
function createServerFor(standIn: StandIn, given: ServerOptions, options: CompleteOptions): Server {
  const { contract, opened, urls, exchanges, control, instance, log, namesUs } = standIn
  const { nextId, clock, barrier, readiness } = opened
  const stopping = standIn.stopping.signal
  const { host, adminToken: token } = options
  const serve = createCarrier({ answer: standIn.answer, stopping, log })
  const serveAdmin = options.admin
    ? createAdmin({ ...{ control, token, host, instance, log, stopping, readiness }, urls: () => urls })
    : undefined
  function handle(request: ServerRequest, response: ServerResponse): void | Promise<void> {
    if (serveAdmin !== undefined && (isAdminTarget(request.url ?? '') || (isRoot(request) && namesUs(request)))) {
      return serveAdmin(request, response)
    }
    // If the store is away, or may be another one, a request waits a little for the result of the check.
    return barrier === undefined || barrier.isOpen
      ? serve(request, response)
      : barrier.opened().then(() => serve(request, response))
  }
  const refuseCrowded = createCrowdedReply(contract, nextId)
  const limit = Math.min(options.maxConnections, findPossibleConnections())
  if (given.maxConnections !== undefined && limit < options.maxConnections) {
    log.warn({}, `The system lets the process have ${limit} connections, not ${options.maxConnections}.`)
  }
  const record = createMalformedRecorder({ exchanges, clock })
  return createHttpServer(handle, createMalformedReply(contract, nextId, log, record), {
    limit,
    // The user must still reach the control plane, to find and end the cause.
    refuse: (request, response) =>
      serveAdmin !== undefined && isAdminTarget(request.url ?? '') && isOfThisMachine(request)
        ? serveAdmin(request, response)
        : refuseCrowded(request, response),
    began: () => log.warn({ limit }, 'The maximum number of connections is open; further ones are refused.'),
    ended: (refused) => log.info({ refused }, 'There is room for connections again.'),
  })
}

/** Whether it is a request for the root of the server, which the service does not know. */
function isRoot({ method, url = '' }: IncomingMessage): boolean {
  return (url === '/' || url.startsWith('/?')) && (method === 'GET' || method === 'HEAD')
}

/** Whether the client runs on this machine. */
function isOfThisMachine({ socket: { remoteAddress = '' } }: IncomingMessage): boolean {
  return isLoopback(remoteAddress.replace(/^::ffff:/, ''))
}

function isAdminTarget(url: string): boolean {
  return (
    url.startsWith(ADMIN_PATH) && (url.length === ADMIN_PATH.length || '/?'.includes(url.charAt(ADMIN_PATH.length)))
  )
}

/** How many files the process opens beside connections: written accounts, modules, the log. */
const OTHER_FILES = 256

/** How many connections the process can have, if the system reports its limit of open files; else any number. */
function findPossibleConnections(): number {
  const files = readFileLimit()
  if (files === undefined) return Number.POSITIVE_INFINITY
  const possible = files - OTHER_FILES
  return Math.max(1, possible - surplusFor(possible))
}

/** At its start, Node raises the limit as far as possible. */
function readFileLimit(): number | undefined {
  try {
    const [, files] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return files === undefined ? undefined : Number(files)
  } catch {
    return undefined
  }
}
