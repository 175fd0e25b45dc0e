import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Awaitable } from '../../ground/awaitable.ts'
import type { Arrival } from '../arrival.ts'
import { bytesOf } from '../content.ts'
import type { Delivery, Loss, Response } from '../delivery.ts'
import type { Log } from '../log.ts'
import { inPieces } from '../pieces.ts'

/** The part of an exchange that is needed to end it. */
interface CarriedExchange {
  arrival: Arrival
  request: IncomingMessage
  response: ServerResponse
  stopping: AbortSignal
}

/** How a door writes responses. Both methods throw a TypeError for a malformed field. */
export interface ResponseWriter {
  /** Writes the header alone. */
  begin(response: ServerResponse, delivery: Response): void
  /** Writes all of it, or the header alone if it is `bodiless`. */
  send(response: ServerResponse, delivery: Response, bodiless: boolean): void
}

export interface CarrierDeps {
  answer(arrival: Arrival): Awaitable<Delivery | undefined>
  writer: ResponseWriter
  stopping: AbortSignal
  log: Log
}

/**
 * Creates the function that gives requests to the service, and carries out its decision on their connection. It returns
 * a promise only if a step takes time.
 */
export function createCarrier({ answer, writer, stopping, log }: CarrierDeps) {
  /** Connections that a fault has ended. */
  const ended = new WeakSet<Socket>()

  /** The server's own requests are their arrivals themselves. */
  return function serve(arrival: Arrival, request: IncomingMessage, response: ServerResponse): void | Promise<void> {
    // Later requests on a connection that a fault has ended are lost with it.
    if (ended.has(request.socket)) return undefined
    const delivery = answer(arrival)
    // Most requests wait for nothing, so no function is made for them.
    if (!(delivery instanceof Promise)) return carrySafely(delivery, arrival, request, response)
    return delivery.then((late) => carrySafely(late, arrival, request, response))
  }

  function carrySafely(
    delivery: Delivery | undefined,
    arrival: Arrival,
    request: IncomingMessage,
    response: ServerResponse,
  ) {
    try {
      const carried = carry(delivery, arrival, request, response)
      return carried instanceof Promise ? carried.catch((err: unknown) => fail(err, response)) : carried
    } catch (err) {
      return fail(err, response)
    }
  }

  function fail(err: unknown, response: ServerResponse): void {
    log.error({ err }, 'The response could not be sent.')
    response.destroy()
  }

  function carry(
    delivery: Delivery | undefined,
    arrival: Arrival,
    request: IncomingMessage,
    response: ServerResponse,
  ): void | Promise<void> {
    if (delivery === undefined) return undefined
    if ('lost' in delivery) {
      ended.add(request.socket)
      return lose[delivery.lost]({ arrival, request, response, stopping })
    }
    const { transmission } = delivery
    if (transmission === undefined) return writer.send(response, delivery, request.method === 'HEAD')
    writer.begin(response, delivery)
    if (transmission.way === 'slowly') {
      return sendSlowly({ arrival, request, response, stopping }, delivery, transmission.milliseconds)
    }
    ended.add(request.socket)
    return sendHalf({ arrival, request, response, stopping }, delivery)
  }
}

/** Ends the connection without a response. */
const lose: Readonly<Record<Loss['lost'], (wire: CarriedExchange) => Promise<void>>> = {
  async reset({ request: { socket } }) {
    // Only a plain TCP connection can be reset; Node refuses to reset one with TLS.
    if ('encrypted' in socket) socket.destroy()
    else socket.resetAndDestroy()
  },

  async hang({ arrival, request, stopping }) {
    request.resume()
    await arrival.wait(undefined, stopping)
    request.socket.destroySoon()
  },

  async close({ request, stopping }) {
    await readRest(request, stopping)
    // Responses to earlier requests of the connection may still be under way.
    request.socket.destroySoon()
  },

  async failure({ response }) {
    response.destroy()
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

/** Sends the body after its header, in small pieces. */
async function sendSlowly(
  { arrival, request, response, stopping }: CarriedExchange,
  { body }: Response,
  milliseconds: number,
): Promise<void> {
  const pause = (between: number) => arrival.wait(between, stopping)
  for await (const piece of inPieces(bytesOf(body), milliseconds, pause)) {
    if (request.socket.destroyed) break
    response.write(piece)
  }
  response.end()
}

/** Reads the rest of a request: a connection that is closed with unread bytes would be reset. */
async function readRest(request: IncomingMessage, stopping: AbortSignal): Promise<void> {
  request.resume()
  if (request.complete || request.destroyed || stopping.aborted) return
  await new Promise<void>((resolve) => {
    function finish(): void {
      request.off('end', finish).off('close', finish)
      stopping.removeEventListener('abort', finish)
      resolve()
    }
    request.once('end', finish).once('close', finish)
    stopping.addEventListener('abort', finish, { once: true })
  })
}
