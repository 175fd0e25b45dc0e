import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { clearTimeout, setImmediate, setTimeout } from '../ground/timers.ts'
import { closeServer, listen } from '../http/engine/http-server.ts'
import { isLoopback, isOurs } from '../http/hosts.ts'
import { splitTarget } from '../http/target.ts'
import { type ConnectionDeps, HEADER_LIMIT, ProxiedConnection, refusal } from './connection.ts'
import { keepOpenAtEnd } from './node-internals.ts'

/** In milliseconds: how long both directions of a connection may be silent. */
const IDLE = 10 * 60_000

export interface RelayOptions extends Pick<ConnectionDeps, 'target' | 'traffic' | 'failed' | 'malformed'> {
  host: string
  port: number
  maxConnections: number
  /** This path and the paths below it are never passed on. */
  keptPath: string | undefined
  /** Answers a request to a kept path. */
  answer(request: IncomingMessage, response: ServerResponse): void
  /** Requests have a Host that is passed on unchanged. */
  foreignHost(host: string): void
  idle?: number | undefined
}

/** Listens for clients, and passes their requests on to the service. */
export class Relay {
  readonly #options: RelayOptions
  readonly #server: Server
  readonly #connections = new Map<Socket, ProxiedConnection>()
  /** Our ends of connections to the service. A client with such an address shows that the proxy calls itself. */
  readonly #own = new Set<string>()
  /** The clients by their addresses. A client may be accepted before its address is known to be one of ours. */
  readonly #clients = new Map<string, Socket>()
  /** How many connections were refused because of `maxConnections`. */
  refused = 0
  /** Whether a connection to the service came back to the proxy. */
  isLoop = false

  constructor(options: RelayOptions) {
    this.#options = options
    const take = (request: IncomingMessage, response: ServerResponse) => this.#take(request, response)
    const server = createServer(
      {
        // The service decides about its clients' patience, and about requests without a Host.
        ...{ headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0, requireHostHeader: false, noDelay: true },
        ...{ maxHeaderSize: HEADER_LIMIT },
      },
      take,
    )
    this.#server = server
    server.maxHeadersCount = 0
    server.maxConnections = options.maxConnections
    keepOpenAtEnd(server, true)
    server.on('drop', () => this.refused++)
    server.on('connection', (client) => this.#accept(client))
    server.on('checkContinue', take)
    server.on('checkExpectation', take)
    server.on('clientError', (error, client) => this.#connections.get(client as Socket)?.refuse(error))
    server.on('connect', (_, client) => {
      options.malformed('A request asks for a tunnel (CONNECT), so it was not passed on.')
      client.end(refusal(501, 'This request asks for a tunnel'))
    })
    server.setTimeout(options.idle ?? IDLE, (client) =>
      this.#connections.get(client)?.breakOff('Nothing was sent for too long.', false),
    )
  }

  /** Resolves to the origin of the proxy for clients on this machine. Rejects with the error of `listen`. */
  listen(): Promise<string> {
    return listen(this.#server, this.#options.port, this.#options.host)
  }

  /** Connects to the service once. Resolves to the error, if any; `isLoop` says whether it came back to the proxy. */
  async probe(patience: number): Promise<NodeJS.ErrnoException | undefined> {
    const { host, port, isSecure, tls } = this.#options.target
    const socket = isSecure ? connectSecurely({ ...tls, host, port }) : connect({ host, port })
    socket.once('connect', () => this.#noteOwn(socket))
    return new Promise((resolve) => {
      const end = (error?: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        socket.destroy()
        // A connection that came back to the proxy is accepted only after this.
        setImmediate(() => setImmediate(() => resolve(error)))
      }
      const timer = setTimeout(() => end(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })), patience)
      socket.once(isSecure ? 'secureConnect' : 'connect', () => end())
      socket.on('error', end)
    })
  }

  /** Accepts no new connection, gives open requests a short time to end, and closes everything. */
  async stop(): Promise<void> {
    for (const connection of this.#connections.values()) {
      if (connection.open === 0) connection.breakOff('The proxy has stopped.', false)
    }
    await closeServer(this.#server)
  }

  #accept(client: Socket): void {
    const name = nameOf(client.remoteAddress, client.remotePort)
    if (this.#own.has(name)) {
      this.isLoop = true
      client.destroy()
      return
    }
    const { target, traffic, failed, malformed } = this.#options
    const connection = new ProxiedConnection(client, {
      ...{ target, traffic, failed, malformed },
      hostFor: (value) => this.#hostFor(value),
      opened: (service) => this.#noteOwn(service),
    })
    this.#connections.set(client, connection)
    this.#clients.set(name, client)
    client.once('close', () => {
      this.#connections.delete(client)
      this.#clients.delete(name)
    })
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const { keptPath, answer } = this.#options
    const { path } = splitTarget(request.url ?? '')
    const isKept = keptPath !== undefined && (path === keptPath || path.startsWith(`${keptPath}/`))
    if (!isKept) this.#connections.get(request.socket)?.pass(request, response)
    else {
      // A stream of events may be silent for any time.
      request.socket.setTimeout(0)
      answer(request, response)
    }
  }

  /**
   * Host gets the name of the service if it is a name of the proxy. Any other Host is passed on unchanged, because the
   * client sends it on purpose. Beyond loopback, a client may call the proxy by any name.
   */
  #hostFor(value: string): string {
    const { target, host, foreignHost } = this.#options
    if (HOST.test(value) && (!isLoopback(host) || isOurs(value, host))) return target.authority
    if (value !== target.authority) foreignHost(value)
    return value
  }

  #noteOwn(service: Socket): void {
    const own = nameOf(service.localAddress, service.localPort)
    this.#own.add(own)
    const client = this.#clients.get(own)
    if (client !== undefined) {
      this.isLoop = true
      client.destroy()
    }
    service.once('close', () => this.#own.delete(own))
  }
}

/** `uri-host [ ":" port ]` of RFC 9110 §7.2, not empty. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~-]+)(?::\d{1,5})?$/

function nameOf(address: string | undefined, port: number | undefined): string {
  return `${address?.replace(/^::ffff:/, '')} ${port}`
}
