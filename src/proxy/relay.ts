import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { isLoopback, isOurs } from '../http/hosts.ts'
import { splitTarget } from '../http/target.ts'
import { type ConnectionDeps, ProxiedConnection } from './connection.ts'
import type { RequestEditor } from './message-reader.ts'

/** In milliseconds: how long both directions of a connection may be silent. */
export const IDLE = 10 * 60_000
/** In milliseconds: how long open requests may still take after a stop begins. */
export const STOP_PATIENCE = 1_500

export interface RelayOptions extends Pick<ConnectionDeps, 'target' | 'traffic' | 'divert' | 'failed'> {
  host: string
  port: number
  maxConnections: number
  /** This path and the paths below it are never passed on. */
  keptPath: string | undefined
  /** Requests have a Host that is passed on unchanged. */
  foreignHost(host: string): void
  idle?: number
}

/** Listens for clients, and passes what they send to the service. */
export class Relay {
  readonly #options: RelayOptions
  readonly #server: Server
  readonly #connections = new Set<ProxiedConnection>()
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
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client))
    this.#server.maxConnections = options.maxConnections
    this.#server.on('drop', () => this.refused++)
  }

  /** Resolves to the origin of the proxy for clients on this machine. Rejects with the error of `listen`. */
  async listen(): Promise<string> {
    const { port, host } = this.#options
    this.#server.listen(port, host)
    await once(this.#server, 'listening')
    const { address, port: bound } = this.#server.address() as AddressInfo
    const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
    return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`
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
 * Edits requests: Host gets the name of the service if it is a name of the proxy. Any other Host is passed on
 * unchanged, because the client sends it on purpose. Beyond loopback, a client may call the proxy by any name.
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

/** Whether a target is this path or below it; `undefined` if the rest of the target decides. */
function isKept(given: string, isWhole: boolean, kept: string): boolean | undefined {
  // The absolute form begins with the authority.
  if (!isWhole && !given.startsWith('/') && !/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\//i.test(given)) return undefined
  const { path, query } = splitTarget(given)
  if (path.startsWith(`${kept}/`)) return true
  if (isWhole || query !== undefined) return path === kept
  return kept.startsWith(path) ? undefined : false
}

function nameOf(address: string | undefined, port: number | undefined): string {
  return `${address?.replace(/^::ffff:/, '')} ${port}`
}
