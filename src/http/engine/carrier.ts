import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Awaitable } from '../../ground/awaitable.ts'
import type { Arrival } from '../arrival.ts'
import { bytesOf } from '../content.ts'
import type { Delivery, Loss, Response } from '../delivery.ts'
import type { Log } from '../log.ts'
import { inPieces } from '../pieces.ts'
import type { ServerRequest } from './node-internals.ts'
import { post } from './outbox.ts'

/** The part of an exchange that is needed to end it. */
interface CarriedExchange {
  request: ServerRequest
  response: ServerResponse
  stopping: AbortSignal
}

export interface CarrierDeps {
  answer(arrival: Arrival): Awaitable<Delivery | undefined>
  stopping: AbortSignal
  log: Log
}

/**
 * Creates the function that gives requests to the service, and carries out its decision. It returns a promise only if a
 * step takes time.
 */
export function createCarrier({ answer, stopping, log }: CarrierDeps) {
  /** Connections that a fault has ended. */
  const ended = new WeakSet<Socket>()

  return function serve(request: ServerRequest, response: ServerResponse): void | Promise<void> {
    // Later requests on a connection that a fault has ended are lost with it.
    if (ended.has(request.socket)) return undefined
    const delivery = answer(request)
    // Most requests wait for nothing, so no function is made for them.
    if (!(delivery instanceof Promise)) return carrySafely(delivery, request, response)
    return delivery.then((late) => carrySafely(late, request, response))
  }

  function carrySafely(delivery: Delivery | undefined, request: ServerRequest, response: ServerResponse) {
    try {
      const carried = carry(delivery, request, response)
      return carried instanceof Promise ? carried.catch((err: unknown) => fail(err, response)) : carried
    } catch (err) {
      return fail(err, response)
    }
  }

  function fail(err: unknown, response: ServerResponse): void {
    log.error({ err }, 'The response could not be sent.')
    response.destroy()
  }

  function carry(delivery: Delivery | undefined, request: ServerRequest, response: ServerResponse) {
    if (delivery === undefined) return undefined
    if ('lost' in delivery) {
      ended.add(request.socket)
      return lose[delivery.lost]({ request, response, stopping })
    }
    const { transmission } = delivery
    if (transmission === undefined) return post(response, delivery, request.method === 'HEAD')
    if (transmission.way === 'slowly') {
      return sendSlowly({ request, response, stopping }, delivery, transmission.milliseconds)
    }
    ended.add(request.socket)
    return sendHalf({ request, response, stopping }, delivery)
  }
}

/** Ends the connection without a response. */
const lose: Readonly<Record<Loss['lost'], (wire: CarriedExchange) => Promise<void>>> = {
  async reset({ request }) {
    request.socket.resetAndDestroy()
  },

  async hang({ request, stopping }) {
    request.resume()
    await request.wait(undefined, stopping)
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

/** Sends half of the body, and then closes the connection. */
async function sendHalf(
  { request, response, stopping }: CarriedExchange,
  { status, headers, body }: Response,
): Promise<void> {
  response.writeHead(status, headers)
  response.flushHeaders()
  // If a request was refused early, its body may be unread.
  await readRest(request, stopping)
  const half = bytesOf(body).subarray(0, body.size >> 1)
  if (half.length > 0 && !request.socket.destroyed) {
    await new Promise<void>((resolve) => response.write(half, () => resolve()))
  }
  request.socket.destroySoon()
}

/** Sends the body in small pieces. */
async function sendSlowly(
  { request, response, stopping }: CarriedExchange,
  { status, headers, body }: Response,
  milliseconds: number,
): Promise<void> {
  response.writeHead(status, headers)
  const pause = (between: number) => request.wait(between, stopping)
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
