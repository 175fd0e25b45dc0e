import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConnectionFault } from '../domain/faults.ts'

export type Headers = Record<string, string | number>

/** An answer, ready for the wire. */
export interface Delivery {
  status: number
  headers: Headers
  body: Buffer
}

/** Into how many pieces a dripping body is cut, and how long they take together unless a rule says, in milliseconds. */
const DRIPS = 20
const DRIPPING = 2_000

/** Bytes of the longest body that is joined to its header. */
const SHORT = 4_096

/** Sends an answer whole. */
export function send(response: ServerResponse, { status, headers, body }: Delivery, bodiless: boolean): void {
  response.writeHead(status, headers)
  if (bodiless) response.end()
  else if (body.length > SHORT) response.end(body)
  // As text it is joined to the header and written in one go: 6 % of the time of a small answer.
  else response.end(body.toString('latin1'), 'latin1')
}

/** Sends an answer as a bad connection would: half of it, or drop by drop over `duration` milliseconds. */
export async function sendBadly(
  response: ServerResponse,
  { status, headers, body }: Delivery,
  how: 'truncate' | 'drip',
  duration: number | undefined,
  stopping: AbortSignal,
): Promise<void> {
  response.writeHead(status, headers)
  if (how === 'truncate') {
    await new Promise<void>((resolve) => response.write(body.subarray(0, body.length >> 1), () => resolve()))
    response.destroy()
    return
  }
  const size = Math.max(1, Math.ceil(body.length / DRIPS))
  for (let start = 0; start < body.length && !response.destroyed; start += size) {
    if (start > 0) await pause((duration ?? DRIPPING) / DRIPS, response, stopping)
    response.write(body.subarray(start, start + size))
  }
  response.end()
}

/** Lets a connection go without an answer; of `hang`, not before the client or the server gives up. */
export async function cutConnection(
  request: IncomingMessage,
  response: ServerResponse,
  how: Exclude<ConnectionFault, 'truncate' | 'drip'>,
  stopping: AbortSignal,
): Promise<void> {
  const { socket } = request
  if (how === 'reset') {
    socket.resetAndDestroy()
    return
  }
  // Closed with bytes unread, a connection would be reset.
  request.resume()
  if (how === 'hang') await pause(undefined, response, stopping)
  else if (!request.complete) await new Promise<void>((resolve) => request.once('close', resolve).once('end', resolve))
  socket.destroy()
}

/** Waits for so many milliseconds, or for good; not beyond the end of the connection or of the server. */
export function pause(
  milliseconds: number | undefined,
  response: ServerResponse,
  stopping: AbortSignal,
): Promise<void> {
  if (response.destroyed || stopping.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds)
    function finish(): void {
      clearTimeout(timer)
      response.off('close', finish)
      stopping.removeEventListener('abort', finish)
      resolve()
    }
    response.once('close', finish)
    stopping.addEventListener('abort', finish, { once: true })
  })
}
