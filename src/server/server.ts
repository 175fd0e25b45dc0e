import type { RequestListener, Server } from 'node:http'
import { ADMIN_PATH } from '../admin/paths.ts'
import type { ServiceContract } from '../behaviour/operation.ts'
import { OPERATIONS } from '../behaviour/operations/operations.ts'
import type { Log } from '../ground/log.ts'
import { createApplication, serveControl } from './app.ts'
import { type Fetch, openFetch } from './fetch.ts'
import { closeServer, createHttpServer, listen } from './http-server.ts'
import { attachStandIn } from './middleware.ts'
import { type CompleteOptions, completeOptions, refuseContradictions, type ServerOptions } from './options.ts'
import { type Behaviours, type InternalOptions, openStandIn } from './stand-in.ts'

/** The host of a stand-in without a port. No server can have a name of this domain (RFC 2606). */
const NO_PORT = 'dmarc-understudy.test'

/** A running server of a stand-in. */
export interface RunningServer extends AsyncDisposable {
  /** The base URL for clients, version segment included. Without a port, `fetch` alone knows it. */
  readonly baseUrl: string
  /**
   * Answers a request like the global `fetch`, but without a connection. Only the path and the query of its URL count.
   * Redirects are not followed.
   */
  readonly fetch: Fetch
  /**
   * The stand-in as an application of Express 5, to be mounted in another one or given to `http.createServer`: the control
   * plane below `/__admin`, unless it is switched off, and the service for every other path. Express is loaded when this
   * is first read. The type is that of `node:http`, so that no types of Express are needed.
   */
  readonly app: RequestListener
  /** Key of the `default` account. It is unknown if a stored account was created with a key that was not given again. */
  readonly apiKey: string | undefined
  /** The HTTP address of the control plane, if it is served. */
  readonly adminUrl: string | undefined
  /** The unique name of this run of the server. `/__admin/health` shows it. */
  readonly instance: string
  /** Whether the `default` account existed before, so that options for new accounts did not apply. */
  readonly kept: boolean
  /** The accounts with a computable key, if other machines can reach the server, named as in the log. */
  readonly exposed: readonly string[]
  /** The contract for every request and answer. */
  readonly contract: ServiceContract
  /** Answers current requests, saves, and closes every connection. A second call waits for the first one. */
  stop(): Promise<void>
}

/**
 * Composes contract, store, service and control plane into a server, which listens on a port unless options say no.
 * `behaviours` are those of the operations, by operationId.
 * @throws OptionError, ContractError, FixtureError, FaultSetError, StoreError, or a `listen` error like `EADDRINUSE`
 */
export async function startServer(
  given: ServerOptions,
  behaviours: Behaviours = OPERATIONS,
  internal: InternalOptions = {},
): Promise<RunningServer> {
  const options = completeOptions(given)
  refuseContradictions(given)
  const { signal, log } = options
  signal?.throwIfAborted()
  const server = await composeServer(options, behaviours, internal)
  return signal === undefined ? server : stopWith(signal, server, log)
}

/** Makes the signal stop the server. @throws the reason of a signal that was aborted during the start */
async function stopWith(signal: AbortSignal, server: RunningServer, log: Log): Promise<RunningServer> {
  const { stop } = server
  if (signal.aborted) {
    await stop()
    throw signal.reason
  }
  function abort(): void {
    stop().catch((err: unknown) => log.error({ err }, 'The server could not save everything at its stop.'))
  }
  function stopOnSignal(): Promise<void> {
    // A signal may outlive many servers.
    signal.removeEventListener('abort', abort)
    return stop()
  }
  signal.addEventListener('abort', abort, { once: true })
  // Not a copy, which would load what is only loaded when it is first used.
  return Object.assign(server, { stop: stopOnSignal, [Symbol.asyncDispose]: stopOnSignal })
}

/**
 * Composes the stand-in, its application and its port. A request comes in at `take` of http-server.ts; `handle` of app.ts
 * gives it to `serve` of carrier.ts, which asks `answer` of service/answer.ts, and sends what that decides.
 */
async function composeServer(
  options: CompleteOptions,
  behaviours: Behaviours,
  internal: InternalOptions,
): Promise<RunningServer> {
  const standIn = await openStandIn(options, behaviours, internal)
  const { answer, opened, urls, stopping, contract, instance, kept, exposed, apiKey, log } = standIn
  try {
    const served = options.admin
      ? serveControl(standIn, options.listen ? options.host : NO_PORT, options.adminToken)
      : undefined
    const application = createApplication(standIn, served)
    const openServer = () => createHttpServer(application.handle, answer)
    const port = options.listen ? await openPort(openServer(), options, log, internal.maxConnections) : undefined
    const { origin } = port ?? { origin: `http://${NO_PORT}` }
    // Without a port, no browser can open a page.
    const hasPage = options.admin && port !== undefined
    const baseUrl = origin + contract.basePath
    Object.assign(urls, { baseUrl, adminUrl: origin + ADMIN_PATH, hasPage })
    const { fetch, close } = openFetch({
      openServer,
      isForControl: (request) => served?.owns(request) ?? false,
      bodyLimit: contract.settings.bodyLimit,
      baseUrl,
      stopping: stopping.signal,
    })
    let stopped: Promise<void> | undefined
    async function stop(): Promise<void> {
      stopping.abort()
      await Promise.all([port?.close(), close()])
      await opened.close()
    }
    const stopOnce = () => (stopped ??= stop())
    return attachStandIn(standIn, {
      ...{ baseUrl, apiKey, fetch, instance, kept, exposed, contract },
      adminUrl: options.admin ? urls.adminUrl : undefined,
      stop: stopOnce,
      [Symbol.asyncDispose]: stopOnce,
      get app() {
        return application.express()
      },
    })
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** How many connections may be open. Each costs memory, and a client needs few. */
const MOST_CONNECTIONS = 10_000

/** Lets the server listen. Rejects with the error of `listen`, such as `EADDRINUSE`. */
async function openPort(
  server: Server,
  { port, host }: CompleteOptions,
  log: Log,
  maxConnections = MOST_CONNECTIONS,
): Promise<{ origin: string; close(): Promise<void> }> {
  server.maxConnections = maxConnections
  const full = 'The maximum number of connections is open; further ones are closed at once.'
  server.once('drop', () => log.warn({ limit: maxConnections }, full))
  const origin = await listen(server, port, host)
  return { origin, close: () => closeServer(server) }
}
