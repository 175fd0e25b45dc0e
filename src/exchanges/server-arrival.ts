import type { IncomingMessage } from 'node:http'
import type { Arrival } from '../ground/message.ts'
import { waitUntil } from '../ground/timers.ts'

/** The arrival of a request of Node's HTTP server. Its target may be only the part that belongs to the service. */
export class ServerArrival implements Arrival {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly httpVersion: string
  readonly headers: Arrival['headers']
  readonly rawHeaders: string[]
  readonly #request: IncomingMessage
  #body: Arrival['body'] | undefined

  /** `body` is given if a middleware has read it. */
  constructor(request: IncomingMessage, url = request.url, headers = request.headers, body?: Buffer) {
    this.method = request.method
    this.url = url
    this.httpVersion = request.httpVersion
    this.headers = headers
    this.rawHeaders = request.rawHeaders
    this.#body = body
    this.#request = request
  }

  get body(): Arrival['body'] {
    this.#body ??= takeBody(this.#request)
    return this.#body
  }

  get isAbandoned(): boolean {
    return this.#request.socket.destroyed
  }

  async wait(milliseconds: number | undefined, ...endings: readonly (AbortSignal | undefined)[]): Promise<void> {
    const { socket } = this.#request
    if (socket.destroyed) return
    const leaving = new AbortController()
    const finish = () => leaving.abort()
    // A client that gives up looks like one that has only finished sending. Only faults make requests wait here, and
    // clients give up because of them.
    const leave = () => void socket.end()
    socket.once('close', finish).once('end', leave)
    await waitUntil(milliseconds, leaving.signal, ...endings)
    socket.off('close', finish).off('end', leave)
  }
}

/**
 * A body that comes together with its header is taken as one piece: the events of a stream take longer than everything
 * else that happens to such a body. The length of a body in chunks is unknown.
 */
function takeBody(request: IncomingMessage): Arrival['body'] {
  const { readableLength, readableEnded } = request
  // A middleware has read it to its end, and found it empty. Its end would never come again.
  if (readableEnded) return Buffer.alloc(0)
  if (readableLength === 0 || readableLength !== Number(request.headers['content-length'])) return request
  return request.read() ?? request
}
