import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { isLoopback, isOurs } from '../../http/hosts.ts'
import { splitTarget } from '../../http/target.ts'
import { ProxiedConnection } from './connection.ts'
import type { RequestEditor } from './message-reader.ts'
import type { Target } from './target.ts'
import type { Traffic } from './traffic.ts'

/** In milliseconds: how long nothing may be sent on a connection in either direction. */
export const IDLE = 10 * 60_000
/** In milliseconds: how long requests that are under way when a stop begins may still take. */
export const STOP_PATIENCE = 1_500

export interface RelayOptions {
  target: Target
  host: string
  port: number
  maxConnections: number
  traffic: Traffic
  /** A path that is never passed on, nor is what is below it. */
  keptPath: string | undefined
  /** Takes over a client that asks for it. */
  divert(client: Socket, bytes: Buffer): void
  /** The service could not be reached, or has broken a connection off. */
  failed(error: NodeJS.ErrnoException, hasConnected: boolean): void
  /** Requests name a host that is passed on as it is. */
  foreignHost(host: string): void
  idle?: number
}

/** Listens for clients, and passes what they send to the service. */
export class Relay {
  readonly #options: RelayOptions
  readonly #server: Server
  readonly #connections = new Set<ProxiedConnection>()
  /** The own ends of connections to the service, by which the service turns out to be the proxy itself. */
  readonly #own = new Set<string>()
  /** The clients by the names of their ends. A connection may be accepted before it is known that it is an own one. */
  readonly #clients = new Map<string, Socket>()
  /** How many connections were refused because there were as many as there may be. */
  refused = 0
  /** Whether a connection to the service came back to the proxy. */
  isLoop = false

  constructor(options: RelayOptions) {
    this.#options = options
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client))
    this.#server.maxConnections = options.maxConnections
    this.#server.on('drop', () => this.refused++)
  }

  /** Resolves to the origin under which the proxy is reached from this machine. Rejects with the error of `listen`. */
  async listen(): Promise<string> {
    const { port, host } = this.#options
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    const { address, port: bound } = this.#server.address() as AddressInfo
    const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
    return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`
  }

  /** Connects to the service once. Resolves to the error, if there is one; `isLoop` then tells whether it came back. */
  async probe(patience: number): Promise<NodeJS.ErrnoException | undefined> {
    const { host, port, isSecure, tls } = this.#options.target
    const socket = isSecure ? connectSecurely({ ...tls, host, port }) : connect({ host, port })
    socket.once('connect', () => this.#noteOwn(socket))
    return new Promise((resolve) => {
      const end = (error?: NodeJS.ErrnoException) => {
        clearTimeout(timer)
        socket.destroy()
        // What comes back to the proxy is accepted after this.
        setImmediate(() => setImmediate(() => resolve(error)))
      }
      const timer = setTimeout(() => end(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })), patience)
      socket.once(isSecure ? 'secureConnect' : 'connect', () => end())
      socket.on('error', end)
    })
  }

  /** Takes no new connection, lets what is under way end for a moment, and closes everything. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const sweep = () => {
      for (const connection of this.#connections) {
        if (connection.open === 0) connection.destroy('The proxy has stopped.')
      }
    }
    sweep()
    const sweeping = setInterval(sweep, 20)
    const deadline = setTimeout(() => {
      for (const connection of this.#connections) connection.destroy('The proxy has stopped.')
    }, STOP_PATIENCE)
    await closed
    clearInterval(sweeping)
    clearTimeout(deadline)
  }

  #accept(client: Socket): void {
    const name = nameOf(client.remoteAddress, client.remotePort)
    if (this.#own.has(name)) {
      this.isLoop = true
      client.destroy()
      return
    }
    const { target, traffic, failed, divert } = this.#options
    const connection = new ProxiedConnection(client, {
      target,
      traffic,
      failed,
      editor: createEditor(this.#options),
      divert: (socket, bytes) => {
        this.#connections.delete(connection)
        divert(socket, bytes)
      },
      opened: (service) => this.#noteOwn(service),
      idle: this.#options.idle ?? IDLE,
    })
    this.#connections.add(connection)
    this.#clients.set(name, client)
    client.once('close', () => {
      this.#connections.delete(connection)
      this.#clients.delete(name)
    })
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

/**
 * What changes in requests: the name of the proxy in Host becomes that of the service. Any other Host goes on as it is,
 * because a client that sends it means it. Beyond loopback, a client may call the proxy by any name.
 */
function createEditor({ target, host, keptPath, foreignHost }: RelayOptions): RequestEditor {
  const isOpen = !isLoopback(host)
  return {
    diverts: (given, isWhole) => (keptPath === undefined ? false : isKept(given, isWhole, keptPath)),
    hostFor(value) {
      if (HOST.test(value) && (isOpen || isOurs(value, host))) return target.authority
      if (value !== target.authority) foreignHost(value)
      return value
    },
  }
}

/** Whether a target has the path, or one below it; `undefined` where its rest decides. */
function isKept(given: string, isWhole: boolean, kept: string): boolean | undefined {
  // Of the absolute form, the authority comes first.
  if (!isWhole && !given.startsWith('/') && !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\//i.test(given)) return undefined
  const { path, query } = splitTarget(given)
  if (path.startsWith(`${kept}/`)) return true
  if (isWhole || query !== undefined) return path === kept
  return kept.startsWith(path) ? undefined : false
}

function nameOf(address: string | undefined, port: number | undefined): string {
  return `${address?.replace(/^::ffff:/, '')} ${port}`
}
