import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { finished } from 'node:stream/promises'
import type { Log } from '../ground/log.ts'
import {
  type Arrival,
  bytesOf,
  type Content,
  type Delivery,
  type Headers,
  type Loss,
  type Response,
  type Transmission,
} from '../ground/message.ts'
import { setImmediate } from '../ground/timers.ts'
import type { Service } from '../service/answer.ts'

/** The part of an exchange that is needed to end it. */
interface CarriedExchange {
  arrival: Arrival
  request: IncomingMessage
  response: ServerResponse
  stopping: AbortSignal
}

export interface CarrierDeps {
  answer: Service
  /** Writes the header of a response. @throws TypeError for a malformed field */
  writeHeader?(response: ServerResponse, status: number, headers: Headers): void
  stopping: AbortSignal
  log: Log
}

/** Creates the function that gives requests to the service, and carries out its decision on their connection. */
export function createCarrier({ answer, writeHeader = writeAtOnce, stopping, log }: CarrierDeps) {
  /** Connections that a fault has ended. */
  const ended = new WeakSet<Socket>()

  return async function serve(arrival: Arrival, request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Later requests on a connection that a fault has ended are lost with it.
    if (ended.has(request.socket)) return
    try {
      const delivery = await answer(arrival)
      const waiting = delivery && carry(delivery, { arrival, request, response, stopping })
      if (waiting !== undefined) await waiting
    } catch (err) {
      fail(err, response)
    }
  }

  /** A bug, or a malformed field, affects no other request. */
  function fail(err: unknown, response: ServerResponse): void {
    log.error({ err }, 'The response could not be sent.')
    breakOff(response)
  }

  /** @throws TypeError for a malformed field */
  function carry(delivery: Delivery, exchange: CarriedExchange): void | Promise<void> {
    const { request, response } = exchange
    if ('lost' in delivery) {
      ended.add(request.socket)
      sendAll()
      return lose[delivery.lost](exchange, delivery.until)
    }
    writeHeader(response, delivery.status, delivery.headers)
    const { transmission } = delivery
    if (transmission === undefined && (request.complete || !closesAfter(request))) {
      if (ready.length === 0) setImmediate(sendAll)
      ready.push({ response, body: delivery.body, fail })
      return undefined
    }
    sendAll()
    if (transmission === undefined) return sendAfterRequest(exchange, delivery)
    if (transmission.way === 'slowly') return sendSlowly(exchange, delivery, transmission)
    ended.add(request.socket)
    return sendHalf(exchange, delivery)
  }
}

/** Ends the connection in place of a response, when those before it are sent. */
export function breakOff(response: ServerResponse): void {
  response.destroy()
  // Before its turn, a response has no connection. Later versions of Node.js do not end one that it gets then.
  if (response.socket === null) response.once('socket', (socket: Socket) => void socket.destroy())
}

/** A header in one list is what Node writes fastest. */
function writeAtOnce(response: ServerResponse, status: number, headers: Headers): void {
  response.writeHead(status, headers)
}

/** A response with a written header, its body, and what to do if it cannot be sent. */
interface PreparedResponse {
  response: ServerResponse
  body: Content
  fail(error: unknown, response: ServerResponse): void
}

/**
 * Responses that are sent together, after everything that has arrived by now is answered. So a client that waits for
 * several of them is woken only once, which would else take a fifth of the time of a small request.
 */
let ready: PreparedResponse[] = []

/** Sends all responses now: before something else happens to their connections. */
export function sendAll(): void {
  const responses = ready
  ready = []
  for (const { response, body, fail } of responses) {
    // A middleware that has replaced `end` may throw, which must not lose the other responses.
    try {
      end(response, body)
    } catch (error) {
      fail(error, response)
    }
  }
}

/** Sends the body after its header. Node leaves it out where a response has none. */
function end(response: ServerResponse, body: Content): void {
  const { held, size } = body
  // Node joins a header and a text of this encoding, so that both are sent as one piece.
  if (typeof held === 'string' && held.length === size) response.end(held, 'latin1')
  else response.end(bytesOf(body))
}

/** Sends the body to a client that still sends its request, and does not end before it has. */
async function sendAfterRequest(exchange: CarriedExchange, { body }: Response): Promise<void> {
  const { request, response, stopping } = exchange
  response.write(bytesOf(body))
  await readRest(request, stopping)
  response.end()
}

/** Whether the client ends the connection with this request (RFC 9112 §9.3). */
function closesAfter({ headers: { connection = '' }, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.0' ? !/keep-alive/i.test(connection) : /close/i.test(connection)
}

/** Ends the connection without a response. */
const lose: Readonly<
  Record<Loss['lost'], (exchange: CarriedExchange, until: AbortSignal | undefined) => void | Promise<void>>
> = {
  reset({ request: { socket } }) {
    // Only a plain TCP connection can be reset; Node refuses to reset one with TLS.
    if ('encrypted' in socket) socket.destroy()
    else socket.resetAndDestroy()
  },

  async hang({ arrival, request, stopping }, until) {
    request.resume()
    await arrival.wait(undefined, stopping, until)
    request.socket.destroySoon()
  },

  async close({ request, stopping }) {
    await readRest(request, stopping)
    // Responses to earlier requests of the connection may still be under way.
    request.socket.destroySoon()
  },

  failure({ response }) {
    breakOff(response)
  },
}

/** Sends half of the body after its header, and then closes the connection. */
async function sendHalf({ request, response, stopping }: CarriedExchange, { body }: Response): Promise<void> {
  response.flushHeaders()
  // If a request was refused early, its body may be unread.
  await readRest(request, stopping)
  const half = bytesOf(body).subarray(0, body.size >> 1)
  if (half.length > 0 && !request.socket.destroyed) {
    await new Promise<void>((resolve) => response.write(half, () => resolve()))
  }
  request.socket.destroySoon()
}

/** The number of pieces of a body that is sent slowly. */
const PIECES = 20

/** Sends the body after its header, in small pieces, of which the last one comes after the given milliseconds. */
async function sendSlowly(
  { arrival, request, response, stopping }: CarriedExchange,
  { body }: Response,
  { milliseconds, until }: Extract<Transmission, { way: 'slowly' }>,
): Promise<void> {
  const bytes = bytesOf(body)
  const size = Math.max(1, Math.ceil(bytes.length / PIECES))
  const gaps = Math.max(1, Math.ceil(bytes.length / size) - 1)
  for (let start = 0; start < bytes.length; start += size) {
    if (start > 0) await arrival.wait(milliseconds / gaps, stopping, until)
    if (until?.aborted) return void request.socket.destroySoon()
    if (request.socket.destroyed) break
    response.write(bytes.subarray(start, start + size))
  }
  response.end()
}

/** Reads the rest of a request: a connection that is closed with unread bytes would be reset. */
async function readRest(request: IncomingMessage, signal: AbortSignal): Promise<void> {
  request.resume()
  if (request.complete || request.destroyed || signal.aborted) return
  // A client that leaves, and the end of the server, end the reading too.
  await finished(request, { signal }).catch(() => {})
}
