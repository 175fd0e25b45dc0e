import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Duplex, finished } from 'node:stream'
import { hasBody } from '../contract/body.ts'
import type { Problem } from '../domain/errors.ts'
import { type Arrival, type Delivery, textOf } from '../ground/message.ts'
import { clearInterval, clearTimeout, nextTick, setImmediate, setInterval, setTimeout } from '../ground/timers.ts'
import type { Service } from '../service/answer.ts'
import { sendAll } from './carrier.ts'

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
/** In characters, how much of a request is searched for its first line. */
const FIRST_LINE = 4_096
/**
 * In milliseconds, how long the server still reads, and ignores, what a client sends after its last response. A
 * connection that is closed with unread bytes is reset, and the client may lose the response.
 */
const LINGER = 10_000

/** Answers a request. Resolves when the answer is given to the connection. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** The last request of a connection, and its response, whatever has become of them. */
interface HttpExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Absent if the answer is given. */
  handling: Promise<void> | undefined
}

/**
 * Node's HTTP server. It answers every request in the usual envelope, also where Node would answer by itself: `refuse`
 * does so for input that is no HTTP. Neither function rejects.
 */
export function createHttpServer(handle: RequestHandler, refuse: Service): Server {
  const latest = new Map<Duplex, HttpExchange | undefined>()
  const underWay = new Set<Promise<void>>()
  /** Connections that were refused. The rest of their input is not refused again. */
  const refused = new WeakSet<Duplex>()

  /** No request overtakes an earlier one of its connection, which may be a change (RFC 9112 §9.3.2). */
  function take(request: IncomingMessage, response: ServerResponse): void {
    const former = latest.get(request.socket)?.handling
    const exchange: HttpExchange = { request, response, handling: undefined }
    latest.set(request.socket, exchange)
    const isAtOnce = former === undefined && !hasBody(request)
    const handling = (isAtOnce ? handle(request, response) : handleLater(exchange, former)).then(() => {
      exchange.handling = undefined
      underWay.delete(handling)
    })
    exchange.handling = handling
    underWay.add(handling)
  }

  /** A body that comes together with the header is there on the next tick, so that it need not be awaited. */
  async function handleLater({ request, response }: HttpExchange, former: Promise<void> | undefined): Promise<void> {
    await (former ?? new Promise<void>(nextTick))
    await handle(request, response)
  }

  /** Refuses input that is not HTTP, and closes the connection. */
  function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
    // The response to the last request of a connection closes it. Nothing after that request is answered.
    if (error.code === 'HPE_CLOSED_CONNECTION' || refused.has(socket)) return
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
    refused.add(socket)
    const last = latest.get(socket)
    // First, the service learns that the client has left, if that is the reason; and what it has answered is sent whole.
    setImmediate(() => {
      sendAll()
      afterAnswers(last, () => void answerMalformed(error, socket, last))
    })
  }

  async function answerMalformed(
    error: NodeJS.ErrnoException,
    socket: Duplex,
    last: HttpExchange | undefined,
  ): Promise<void> {
    if (!socket.writable) return
    // A request whose body is malformed may have its response.
    const isAnswered = last?.request.complete === false && last.response.headersSent
    socket.end(isAnswered ? '' : write(await refuse(malformedArrival(error))))
    socket.resume()
    // Not a timeout of the socket, which each byte would begin again.
    const patience = setTimeout(() => socket.destroy(), LINGER)
    socket.once('close', () => clearTimeout(patience))
  }

  const server = createServer({ ...TIMEOUTS, requireHostHeader: false }, take)
  // Node would silently drop all fields after the thousandth. The size of the header is limited anyway.
  server.maxHeadersCount = 0
  // Node would answer an unknown Expect header itself, with 417 and no envelope. Here the header has no effect.
  server.on('checkExpectation', take)
  server.on('clientError', refuseMalformed)
  // Without this, a client that uses the server as a proxy would be cut off without a response.
  server.on('connect', ({ url }, socket: Duplex) => {
    socket.on('error', () => {})
    const rawPacket = Buffer.from(`CONNECT ${url} HTTP/1.1`)
    refuseMalformed(Object.assign(new Error('No proxy.'), { rawPacket }), socket)
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

/**
 * Acts when all responses that can be given are sent: they may report changes. A request may never be answered if its
 * body cannot be read.
 */
function afterAnswers(last: HttpExchange | undefined, act: () => void): void {
  if (last === undefined || (!last.request.complete && !last.response.headersSent)) {
    act()
    return
  }
  if (!last.request.complete) last.response.end()
  finished(last.response, act)
}

/** What is known of input that is no HTTP: method and target, if it begins like a request. */
function malformedArrival({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): Arrival {
  const start = rawPacket?.subarray(0, FIRST_LINE).toString('latin1') ?? ''
  const [, method = '', url = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}) (\S+) HTTP\/\d/.exec(start) ?? []
  const known = { method, url, httpVersion: '1.1', headers: {}, rawHeaders: [], body: Buffer.alloc(0) }
  return { ...known, problem: problemOf(code), isAbandoned: false, wait: () => Promise.resolve() }
}

function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return { code: 'request_too_large', reason: 'large-header' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { code: 'invalid_request_body', reason: 'timeout' }
  return { code: 'invalid_request_body', reason: 'malformed' }
}

/** The last response of a connection. */
function write(delivery: Delivery | undefined): string {
  if (delivery === undefined || 'lost' in delivery) return ''
  const { status, headers, body } = delivery
  const fields = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []))
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...fields, 'Connection: close', '', textOf(body)].join('\r\n')
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
