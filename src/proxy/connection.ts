import { connect, type Socket } from 'node:net'
import { connect as connectSecurely, type TLSSocket } from 'node:tls'
import { RelayedConnection } from './conversation.ts'
import type { RequestEditor } from './message-reader.ts'
import type { ProxyTarget } from './target.ts'
import type { ProxyTraffic } from './traffic.ts'

/** What a connection needs from the proxy. */
export interface ConnectionDeps {
  target: ProxyTarget
  traffic: ProxyTraffic
  editor: RequestEditor
  /** Takes over a client whose request is not for the service. `bytes` are the bytes that it has sent. */
  divert(client: Socket, bytes: Buffer): void
  /** The service could not be reached, or it broke off the connection. */
  failed(error: NodeJS.ErrnoException, hasConnected: boolean): void
  /** Reports each connection to the service before it is used. */
  opened(service: Socket): void
  /** In milliseconds: how long both directions may be silent. */
  idle: number
}

/** Passes bytes between a client and the service, on one connection each. */
export class ProxiedConnection {
  readonly client: Socket
  readonly #deps: ConnectionDeps
  readonly #conversation: RelayedConnection
  /** Opened with the first byte to the service. */
  #service: Socket | undefined
  #hasConnected = false
  #isOver = false
  /** Whether the client has sent a request that is not for the service. */
  #isDiverted = false
  readonly #detach: () => void

  constructor(client: Socket, deps: ConnectionDeps) {
    this.client = client
    this.#deps = deps
    this.#conversation = new RelayedConnection(deps.traffic, deps.editor)
    const listeners = {
      data: (chunk: Buffer) => this.#send(chunk),
      end: () => this.#endRequests(),
      drain: () => void this.#service?.resume(),
      error: () => this.#breakOff('The client has broken the connection off.', true),
      close: () => this.#breakOff('The client has closed the connection.', false),
      timeout: () => this.#endSilence(),
    } as const
    for (const [event, listener] of Object.entries(listeners)) client.on(event, listener)
    this.#detach = () => {
      for (const [event, listener] of Object.entries(listeners)) client.off(event, listener)
    }
    client.setTimeout(Math.min(SILENCE, deps.idle))
  }

  /** How many requests wait for their response. */
  get open(): number {
    return this.#conversation.open
  }

  /** Closes both sides at once. */
  destroy(reason: string): void {
    this.#breakOff(reason, false)
  }

  #send(chunk: Buffer): void {
    const { passed, diverted } = this.#conversation.requests.read(chunk)
    this.#write(passed)
    if (diverted !== undefined) this.#divert(diverted)
  }

  #write(pieces: readonly Buffer[]): void {
    if (pieces.length === 0) return
    this.#service ??= this.#open()
    const service = this.#service
    let isFull = false
    if (pieces.length > 1) service.cork()
    for (const piece of pieces) isFull = !service.write(piece)
    if (pieces.length > 1) service.uncork()
    if (isFull) this.client.pause()
  }

  /** Services treat silent clients in different ways, so the service must see this client. */
  #endSilence(): void {
    if (this.#service === undefined) this.#service = this.#open()
    else this.#breakOff('Nothing was sent for too long.', false)
  }

  #open(): Socket {
    const { target, idle } = this.#deps
    this.client.setTimeout(idle)
    const service = target.isSecure
      ? connectSecurely({ ...target.tls, host: target.host, port: target.port, allowHalfOpen: true } as object)
      : connect({ host: target.host, port: target.port, allowHalfOpen: true })
    service.setNoDelay(true)
    service.setTimeout(CONNECT_PATIENCE)
    service.once(target.isSecure ? 'secureConnect' : 'connect', () => {
      this.#hasConnected = true
      service.setTimeout(0)
    })
    service.once('connect', () => this.#deps.opened(service))
    service.on('data', (chunk: Buffer) => this.#receive(chunk))
    service.on('end', () => {
      this.#conversation.endResponses()
      this.client.end()
    })
    service.on('drain', () => {
      if (!this.#isDiverted) this.client.resume()
    })
    service.on('error', (error) => {
      if (!this.#isOver) this.#deps.failed(error, this.#hasConnected)
      this.#breakOff(`The service could not be reached or has broken the connection off: ${error.message}.`, true)
    })
    service.on('timeout', () =>
      service.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
    )
    service.on('close', () => this.#breakOff('The service has closed the connection.', false))
    return service
  }

  /** Passes the bytes on before it reads them. */
  #receive(chunk: Buffer): void {
    if (!this.client.write(chunk)) this.#service?.pause()
    this.#conversation.responses.read(chunk)
  }

  #endRequests(): void {
    this.#write(this.#conversation.endRequests())
    if (this.#service === undefined) this.client.end()
    else this.#service.end()
  }

  /**
   * Ends both sides. Bytes that one side has sent still reach the other side. `resets` says whether the other side then
   * sees a broken connection, as it would without a proxy.
   */
  #breakOff(reason: string, resets: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#conversation.end(reason)
    for (const side of [this.client, this.#service]) if (side !== undefined) close(side, resets)
  }

  /** Before the control plane takes over the client, all its requests to the service must be answered. */
  #divert(bytes: Buffer): void {
    this.#isDiverted = true
    this.client.pause()
    const look = () => {
      if (this.#isOver) return
      if (this.#conversation.open === 0) this.#hand(bytes)
      else this.#service?.once('data', () => setImmediate(look))
    }
    look()
  }

  #hand(bytes: Buffer): void {
    this.#isOver = true
    this.#detach()
    this.client.setTimeout(0)
    this.#conversation.end('The client has turned to the control plane.')
    this.#service?.destroy()
    this.#deps.divert(this.client, bytes)
  }
}

/** Closes a side after all waiting bytes are sent. */
function close(side: Socket | TLSSocket, resets: boolean): void {
  if (side.destroyed) return
  if (side.connecting) {
    side.destroy()
    return
  }
  // The side may have stopped reading.
  side.setTimeout(FLUSH_PATIENCE, () => side.destroy())
  // A TLS connection cannot be reset.
  if (!resets || 'encrypted' in side) side.destroySoon()
  else if (side.writableLength === 0) side.resetAndDestroy()
  else side.write('', () => side.resetAndDestroy())
}

/** In milliseconds: how long a client may be silent before the proxy connects to the service. */
export const SILENCE = 500
/** In milliseconds: how long it may take to open a connection to the service. */
export const CONNECT_PATIENCE = 30_000
/** In milliseconds: how long one side may take to receive the rest after the other side is gone. */
const FLUSH_PATIENCE = 10_000
