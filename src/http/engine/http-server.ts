import { once } from 'node:events'
import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import express, { type Request, type Response } from 'express'
import type { Arrival } from '../body.ts'
import { Connection, type Deal } from './connection.ts'
import { postTogether } from './outbox.ts'

/**
 * In milliseconds: how long a client may take for its header, for a whole request, and between two requests; and how
 * often that is looked after, which is how much later than that a client may be cut off.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
/**
 * In milliseconds, how often it is looked after on which connections nothing passes in either direction, such as when a
 * client never reads its answers. One on which nothing has passed since the last time is closed: after one such period,
 * or up to two. Longer than a fault may keep an answer back. Node's own timeout would be set and cleared with each
 * request, which takes 2 % of a small one.
 */
const STALLED = 30 * 60_000
/** Bytes of a body that may arrive in one pass of the event loop and are held until somebody wants them. */
const HELD = 256 * 1024
/** Requests under way when a stop begins have this long, in milliseconds. */
const STOP_PATIENCE = 1500

/** What Express goes on with where its router takes no request; given to it, because it would make one each time. */
function unrouted(): void {}

/** An Express application behind Node's HTTP server. `dispatch` answers every request; it neither throws nor rejects. */
export function createHttpServer(
  dispatch: Deal,
  refuseMalformed: (error: NodeJS.ErrnoException, socket: Socket) => void,
): Server {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  // Where requests go is the contract's to say. Its own router would do no more than pass each one on, for some 5 %
  // of the time of a small request.
  Object.defineProperty(app, 'router', { value: { handle: queue } })

  // Express changes the prototype of every request and response, which makes the engine forget all it knew of them:
  // 60 % of the time of a small request. Those that are born with the right one are left alone (nodejs/node#37457).
  class AppRequest extends IncomingMessage implements Arrival {
    arrived: Buffer | undefined
    isWhole = false
    declare _consuming: boolean
    /** All that has arrived, where that is more than one. */
    #pieces: Buffer[] | undefined
    #held = 0
    #streams = false

    // What Node calls with each piece of the body, and with `null` at its end. It is held until somebody reads the
    // stream, because to deal with a body that is there already the machinery of streams needs longer than all others.
    override push(chunk: Buffer | null): boolean {
      if (this.#streams) return super.push(chunk)
      if (chunk === null) {
        this.isWhole = true
        if (this.#pieces !== undefined) this.arrived = Buffer.concat(this.#pieces)
        // Nothing is left on the wire that Node would have to read past.
        this._consuming = true
        return false
      }
      this.#held += chunk.length
      if (this.#held > HELD) this.#stream()
      if (this.#streams) return super.push(chunk)
      if (this.arrived === undefined) this.arrived = chunk
      else {
        this.#pieces ??= [this.arrived]
        this.#pieces.push(chunk)
      }
      return true
    }

    override _read(size: number): void {
      this.#stream()
      super._read(size)
    }

    #stream(): void {
      if (this.#streams) return
      this.#streams = true
      this._consuming = false
      const pieces = this.#pieces ?? (this.arrived === undefined ? [] : [this.arrived])
      for (const piece of pieces) super.push(piece)
      if (this.isWhole) super.push(null)
    }
  }
  class AppResponse extends ServerResponse<AppRequest> {
    // What Node calls when an answer is out; a listener would cost every request more.
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket)
      Connection.of(socket).finish(this.req)
    }
  }
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype })

  const sockets = new Set<Socket>()
  let arrived: [IncomingMessage, ServerResponse][] = []
  /** Nothing is dealt with before all that has arrived is received, its bodies too. */
  function queue(request: IncomingMessage, response: ServerResponse): void {
    Connection.of(request.socket).receive(request)
    if (arrived.length === 0) setImmediate(dealWithAll)
    arrived.push([request, response])
  }
  function dealWithAll(): void {
    if (arrived.length === 0) return
    const batch = arrived
    arrived = []
    postTogether(() => {
      for (const [request, response] of batch) Connection.of(request.socket).take(request, response, dispatch)
    })
  }
  function handle(request: IncomingMessage, response: ServerResponse): void {
    sockets.delete(request.socket)
    app(request as Request, response as Response, unrouted)
  }
  const server = createServer(
    { ...TIMEOUTS, requireHostHeader: false, IncomingMessage: AppRequest, ServerResponse: AppResponse },
    handle,
  )
  unused.set(server, sockets)
  /** Bytes that had passed on each connection when it was last looked at. */
  const passed = new Map<Socket, number>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    passed.set(socket, -1)
    // Before Node closes our side as well: a client may ask and close its own at once.
    socket.prependListener('end', dealWithAll)
    socket.once('close', () => {
      sockets.delete(socket)
      passed.delete(socket)
    })
  })
  function closeStalled(): void {
    for (const [socket, before] of passed) {
      const now = socket.bytesRead + socket.bytesWritten
      if (now === before) socket.destroy()
      else passed.set(socket, now)
    }
  }
  server.once('listening', () => {
    const looking = setInterval(closeStalled, STALLED)
    looking.unref()
    server.once('close', () => clearInterval(looking))
  })
  // Node would drop fields beyond the thousandth without a word; the size of all is bounded anyway.
  server.maxHeadersCount = 0
  // An Expect header that Node would answer by itself, with 417 and no envelope, changes nothing here.
  server.on('checkExpectation', handle)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => refuseMalformed(error, socket as Socket))
  // Without this, a client that takes the server for a proxy would be cut off without a word.
  server.on('connect', ({ url }, socket: Duplex) => {
    socket.on('error', () => {})
    const rawPacket = Buffer.from(`CONNECT ${url} HTTP/1.1`)
    refuseMalformed(Object.assign(new Error('No proxy.'), { rawPacket }), socket as Socket)
  })
  return server
}

/** Resolves to the origin under which the server is reached from this machine. Rejects with the error of `listen`. */
export async function listen(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const { address, port: bound } = server.address() as AddressInfo
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`
}

/** Connections on which no request has come yet: Node takes them for busy when the server is to close. */
const unused = new WeakMap<Server, Set<Socket>>()

/** Takes no new request, answers those under way, and closes every connection. */
export async function closeServer(server: Server): Promise<void> {
  for (const socket of unused.get(server) ?? []) socket.destroy()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that becomes idle after the first sweep would be kept alive for its next request.
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_PATIENCE)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
}
