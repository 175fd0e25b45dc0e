import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionFault } from '../domain/faults.ts'
import { bytesOf, type Content } from '../http/content.ts'
import type { Delivery, Headers } from '../http/engine/outbox.ts'

/** Into how many pieces a dripping body is cut, and how long they take together unless a rule says, in milliseconds. */
const DRIPS = 20
export const DRIPPING = 2_000

/** RFC 9110 §8.6: an answer with one of these statuses has no Content-Length. */
const WITHOUT_LENGTH = new Set([204, 304])

/** Sends half of an answer's body, and then closes the connection. */
export async function sendHalf(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Delivery,
  stopping: AbortSignal,
): Promise<void> {
  response.writeHead(status, headers)
  response.flushHeaders()
  // What was refused early may have a body that nobody has read.
  await readPast(request, stopping)
  const half = bytesOf(body).subarray(0, body.size >> 1)
  if (half.length > 0 && !request.socket.destroyed) {
    await new Promise<void>((resolve) => response.write(half, () => resolve()))
  }
  request.socket.destroySoon()
}

/** Sends the body of an answer drop by drop, over `duration` milliseconds. */
export async function sendDripping(
  { socket }: IncomingMessage,
  response: ServerResponse,
  { status, headers, body }: Delivery,
  duration: number,
  stopping: AbortSignal,
): Promise<void> {
  response.writeHead(status, headers)
  const bytes = bytesOf(body)
  const size = Math.max(1, Math.ceil(bytes.length / DRIPS))
  const gaps = Math.max(1, Math.ceil(bytes.length / size) - 1)
  for (let start = 0; start < bytes.length && !socket.destroyed; start += size) {
    if (start > 0) await pause(duration / gaps, socket, stopping)
    response.write(bytes.subarray(start, start + size))
  }
  response.end()
}

/** Lets a connection go without an answer; of `hang`, not before the client or the server gives up. */
export async function cutConnection(
  request: IncomingMessage,
  how: Exclude<ConnectionFault, 'truncate' | 'drip'>,
  stopping: AbortSignal,
): Promise<void> {
  const { socket } = request
  if (how === 'reset') {
    socket.resetAndDestroy()
    return
  }
  if (how === 'hang') {
    request.resume()
    await pause(undefined, socket, stopping)
  } else await readPast(request, stopping)
  // What was answered before on the same connection may be on its way.
  socket.destroySoon()
}

/** Reads what is left of a request: closed with bytes unread, a connection would be reset. */
async function readPast(request: IncomingMessage, stopping: AbortSignal): Promise<void> {
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

/** Waits for so many milliseconds, or for good; not beyond the end of the connection or of the server. */
export function pause(milliseconds: number | undefined, socket: Socket, stopping: AbortSignal): Promise<void> {
  if (milliseconds === 0 || socket.destroyed || stopping.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      socket.off('close', finish)
      stopping.removeEventListener('abort', finish)
      resolve()
    }
    socket.once('close', finish)
    stopping.addEventListener('abort', finish, { once: true })
  })
}

/** The header of an answer that is not the service's: its own fields take the place of the `usual` ones. */
export function replaceHeaders(
  usual: Headers,
  { status, headers: own, body }: { status: number; headers: Readonly<Record<string, string>>; body: Content },
): Headers {
  const replaced = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  if (body.size === 0) replaced.add('content-type')
  if (WITHOUT_LENGTH.has(status)) replaced.add('content-length')
  const headers: Headers = []
  for (let index = 0; index < usual.length; index += 2) {
    const [name = '', value = ''] = usual.slice(index, index + 2)
    if (!replaced.has(String(name).toLowerCase())) headers.push(name, value)
  }
  return headers.concat(...Object.entries(own))
}
