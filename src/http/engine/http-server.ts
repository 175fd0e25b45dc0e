import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { CONNECTION_LIMITS, Connection, type ConnectionLimits, type RequestHandler } from './connection.ts'
import { Crowd, type CrowdOptions } from './crowd.ts'
import { ArrivingRequest, createResponseClass, keepOpenAtEnd, type ServerRequest } from './node-internals.ts'
import { postTogether } from './outbox.ts'

/**
 * In milliseconds: how long a client may take for a header, for a whole request, and between two requests; and how
 * often Node checks this, so that a client may be cut off later by this time.
 */
export const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}
/** In milliseconds, how long requests that are under way at a stop may still take. */
export const STOP_PATIENCE = 1500

type RefuseMalformed = (error: NodeJS.ErrnoException, socket: Socket) => void

/** Node's HTTP server. `handle` answers every request; it neither throws nor rejects. */
export function createHttpServer(
  handle: RequestHandler,
  refuseMalformed: RefuseMalformed,
  crowdOptions: CrowdOptions,
  limits: ConnectionLimits = CONNECTION_LIMITS,
): Server {
  const crowd = new Crowd(crowdOptions)
  const { queue, handleAll } = createQueue(handle, crowdOptions.refuse)
  const unused = new Set<Socket>()
  function listener(request: IncomingMessage, response: ServerResponse): void {
    unused.delete(request.socket)
    queue(request as ServerRequest, response)
  }
  const classes = {
    IncomingMessage: ArrivingRequest,
    ServerResponse: createResponseClass((request, socket) => Connection.of(socket).finish(request)),
  }
  const server = createServer({ ...TIMEOUTS, requireHostHeader: false, ...classes }, listener)
  unusedSockets.set(server, unused)
  server.on('connection', (socket) => {
    if (crowd.admit(socket, limits) === undefined) return
    unused.add(socket)
    // A client may send a request and close its side at once. Its request is handled before Node closes our side too.
    // If the answer takes longer, our side stays open until the last answer. In a fault, `waitOn` decides otherwise.
    socket.prependListener('end', () => {
      handleAll()
      keepOpenAtEnd(server, Connection.of(socket).awaitsAnswer)
    })
    socket.once('close', () => unused.delete(socket))
  })
  server.once('listening', () => {
    // Node would set and clear its timeout with each request, which takes 2 % of a small one.
    const inspections = setInterval(() => crowd.inspectAll(), limits.inspectEvery)
    inspections.unref()
    server.once('close', () => clearInterval(inspections))
  })
  receiveOddRequests(server, listener, refuseMalformed)
  return server
}

/** Requests that have arrived. They are handled only after everything that has arrived is received, bodies included. */
function createQueue(handle: RequestHandler, refuse: RequestHandler) {
  let arrived: [ServerRequest, ServerResponse][] = []

  function queue(request: ServerRequest, response: ServerResponse): void {
    Connection.of(request.socket).receive(request)
    if (arrived.length === 0) setImmediate(handleAll)
    arrived.push([request, response])
  }

  function handleAll(): void {
    if (arrived.length === 0) return
    const batch = arrived
    arrived = []
    postTogether(() => {
      for (const [request, response] of batch) {
        const connection = Connection.of(request.socket)
        connection.take(request, response, connection.isSurplus ? refuseSurplus : handle)
      }
    })
  }

  function refuseSurplus(request: ServerRequest, response: ServerResponse): void | Promise<void> {
    response.shouldKeepAlive = false
    return refuse(request, response)
  }

  return { queue, handleAll }
}

/** Receives requests that Node would answer itself, cut short, or not answer at all. */
function receiveOddRequests(server: Server, listener: RequestListener, refuseMalformed: RefuseMalformed): void {
  // Node would silently drop all fields after the thousandth. The size of the header is limited anyway.
  server.maxHeadersCount = 0
  // Node would answer an unknown Expect header itself, with 417 and no envelope. Here the header has no effect.
  server.on('checkExpectation', listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => refuseMalformed(error, socket as Socket))
  // Without this, a client that uses the server as a proxy would be cut off without a response.
  server.on('connect', ({ url }, socket: Duplex) => {
    socket.on('error', () => {})
    const rawPacket = Buffer.from(`CONNECT ${url} HTTP/1.1`)
    refuseMalformed(Object.assign(new Error('No proxy.'), { rawPacket }), socket as Socket)
  })
}

/** Resolves to the server's origin for clients on this machine. Rejects with the error of `listen`. */
export async function listen(server: Server, port: number, host: string): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const { address, port: bound } = server.address() as AddressInfo
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${bound}`
}

/** Connections without a request yet. When a server closes, Node waits for them as if they were busy. */
const unusedSockets = new WeakMap<Server, Set<Socket>>()

/** Accepts no new request, answers those under way, and closes every connection. */
export async function closeServer(server: Server): Promise<void> {
  for (const socket of unusedSockets.get(server) ?? []) socket.destroy()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // Node would keep a connection that becomes idle after the first sweep for its next request.
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  const deadline = setTimeout(() => server.closeAllConnections(), STOP_PATIENCE)
  await closed
  clearInterval(sweep)
  clearTimeout(deadline)
}
