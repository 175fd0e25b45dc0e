import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { hasBody } from '../contract/body.ts'
import { clearInterval, clearTimeout, nextTick, setInterval, setTimeout } from '../ground/timers.ts'
import { sendAll } from './outbox.ts'

/**
 * In milliseconds: how long a client may take for a header, for a whole request, and between two requests; and how
 * often Node checks this, so that a client may be cut off later by this time.
 */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
/** In milliseconds, how long requests that are under way at a stop may still take. */
export const STOP_PATIENCE = 1500

/** Answers a request. If that takes time, the promise resolves when the answer is given to the connection. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** The last request of a connection, and its response, whatever has become of them. */
export interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Whether it is handled on the next tick. */
  isDue: boolean
  /** Absent if the handler has given the answer. */
  handling: Promise<void> | undefined
}

/** What a server does with requests, and with input that is no HTTP. No function throws or rejects. */
export interface HttpServerOptions {
  handle: RequestHandler
  /** Refuses input that is no HTTP. `last` is the last request of the connection. */
  refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, last: HttpExchange | undefined): void
  maxConnections: number
  /** Called when a connection is closed at once, because there are `maxConnections`. */
  dropped(): void
}

/** Node's HTTP server. It answers every request in the usual envelope, also where Node would answer by itself. */
export function createHttpServer({ handle, refuseMalformed, maxConnections, dropped }: HttpServerOptions): Server {
  const latest = new Map<Socket, HttpExchange | undefined>()
  const underWay = new Set<Promise<void>>()

  /**
   * A body that comes together with the header is there on the next tick, so that it need not be awaited; any other
   * request is handled at once.
   */
  function take(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const former = latest.get(socket)
    const exchange: HttpExchange = { request, response, isDue: false, handling: undefined }
    latest.set(socket, exchange)
    exchange.isDue = former?.isDue === true || (former?.handling === undefined && hasBody(request))
    if (exchange.isDue) nextTick(begin, exchange, former)
    else begin(exchange, former)
  }

  /** No request overtakes an earlier one of its connection, which may be a change (RFC 9112 §9.3.2). */
  function begin(exchange: HttpExchange, former: HttpExchange | undefined): void {
    const { request, response } = exchange
    exchange.isDue = false
    const handling =
      former?.handling === undefined ? handle(request, response) : former.handling.then(() => handle(request, response))
    if (handling !== undefined) keep(exchange, handling)
  }

  function keep(exchange: HttpExchange, handling: Promise<void>): void {
    const ended = handling.then(() => {
      exchange.handling = undefined
      underWay.delete(ended)
    })
    exchange.handling = ended
    underWay.add(ended)
  }

  const server = createServer({ ...TIMEOUTS, requireHostHeader: false }, take)
  server.maxConnections = maxConnections
  server.on('drop', dropped)
  // Node would silently drop all fields after the thousandth. The size of the header is limited anyway.
  server.maxHeadersCount = 0
  // Node would answer an unknown Expect header itself, with 417 and no envelope. Here the header has no effect.
  server.on('checkExpectation', take)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) =>
    refuseMalformed(error, socket as Socket, latest.get(socket as Socket)),
  )
  // Without this, a client that uses the server as a proxy would be cut off without a response.
  server.on('connect', ({ url }, socket: Duplex) => {
    socket.on('error', () => {})
    const rawPacket = Buffer.from(`CONNECT ${url} HTTP/1.1`)
    const error = Object.assign(new Error('No proxy.'), { rawPacket })
    refuseMalformed(error, socket as Socket, latest.get(socket as Socket))
  })
  server.on('connection', (socket) => {
    latest.set(socket, undefined)
    socket.once('close', () => latest.delete(socket))
    // A client may send a request and close its side at once. After that, Node closes our side.
    socket.prependListener('end', sendAll)
  })
  endings.set(server, {
    // When a server closes, Node waits for connections without a request as if they were busy.
    begin() {
      for (const [socket, last] of latest) if (last === undefined) socket.destroy()
    },
    // Node does not close a connection that asked for a proxy, because it has given it away.
    cut() {
      for (const socket of latest.keys()) socket.destroy()
    },
    // A request may outlive its connection, and its record must not come after the end.
    finish: () => Promise.all(underWay),
  })
  return server
}

/** Resolves to the server's origin for clients on this machine. Rejects with the error of `listen`. */
export async function listen(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const { address, port: bound } = server.address() as AddressInfo
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`
}

/** What belongs to the end of a server that `createHttpServer` has made. */
const endings = new WeakMap<Server, { begin(): void; cut(): void; finish(): Promise<unknown> }>()

/** Accepts no new request, answers those under way, and closes every connection. */
export async function closeServer(server: Server): Promise<void> {
  const ending = endings.get(server)
  ending?.begin()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Node would keep a connection that becomes idle after the first sweep for its next request.
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  const deadline = setTimeout(() => {
    server.closeAllConnections()
    ending?.cut()
  }, STOP_PATIENCE)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
  // A store of the user may never answer.
  let patience: NodeJS.Timeout | undefined
  const expired = new Promise<void>((resolve) => {
    patience = setTimeout(resolve, STOP_PATIENCE)
  })
  await Promise.race([ending?.finish(), expired])
  clearTimeout(patience)
}
