import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { bytesOf } from '../http/content.ts'
import type { Delivery } from '../http/engine/outbox.ts'

/** An exchange as far as it takes to end it. */
interface Wire {
  request: IncomingMessage
  response: ServerResponse
  /** Aborted when the server stops; nothing waits any longer then. */
  stopping: AbortSignal
}

/** Ends the connection without a response. */
export type Cut = (wire: Wire) => Promise<void>

/** Sends a response. `duration`, in milliseconds, is how long that takes. */
export type Send = (wire: Wire, delivery: Delivery, duration: number) => Promise<void>

/** Into how many pieces a body is cut that is sent slowly. */
const PIECES = 20

/** Resets the connection (TCP RST). */
export const resetConnection: Cut = async ({ request }) => {
  request.socket.resetAndDestroy()
}

/** Leaves the connection open and silent, until the client or the server gives up. */
export const leaveOpen: Cut = async ({ request, stopping }) => {
  const { socket } = request
  request.resume()
  await pause(undefined, socket, stopping)
  socket.destroySoon()
}

/** Closes the connection, once the request is read. */
export const closeConnection: Cut = async ({ request, stopping }) => {
  await readRest(request, stopping)
  // Responses to earlier requests of the connection may still be on their way.
  request.socket.destroySoon()
}

/** Sends half of the body, and then closes the connection. */
export const sendHalf: Send = async ({ request, response, stopping }, { status, headers, body }) => {
  response.writeHead(status, headers)
  response.flushHeaders()
  // A request that was refused early may have a body that nobody has read.
  await readRest(request, stopping)
  const half = bytesOf(body).subarray(0, body.size >> 1)
  if (half.length > 0 && !request.socket.destroyed) {
    await new Promise<void>((resolve) => response.write(half, () => resolve()))
  }
  request.socket.destroySoon()
}

/** Sends the body in small pieces. */
export const sendSlowly: Send = async ({ request, response, stopping }, { status, headers, body }, duration) => {
  const { socket } = request
  response.writeHead(status, headers)
  const bytes = bytesOf(body)
  const size = Math.max(1, Math.ceil(bytes.length / PIECES))
  const gaps = Math.max(1, Math.ceil(bytes.length / size) - 1)
  for (let start = 0; start < bytes.length && !socket.destroyed; start += size) {
    if (start > 0) await pause(duration / gaps, socket, stopping)
    response.write(bytes.subarray(start, start + size))
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

/** Waits for so many milliseconds, or without limit; at most until the connection or the server ends. */
export function pause(milliseconds: number | undefined, socket: Socket, stopping: AbortSignal): Promise<void> {
  if (milliseconds === 0 || socket.destroyed || stopping.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      socket.off('close', finish).off('end', leave)
      stopping.removeEventListener('abort', finish)
      resolve()
    }
    // A client that closes its side while an answer is held back waits for it no longer.
    function leave(): void {
      socket.end()
    }
    socket.once('close', finish)
    if (socket.readableEnded) leave()
    else socket.once('end', leave)
    stopping.addEventListener('abort', finish, { once: true })
  })
}
