import { type ClientRequest, IncomingMessage, type OutgoingMessage, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Arrival } from '../arrival.ts'
import { waitOn } from './waiting.ts'

// Everything in this file relies on undocumented parts of Node.js. Each comment gives the purpose, and the gain as a share
// of the time of a small request. For each part, a test in test/http/engine/node-internals.test.ts fails when the part
// changes.

/** In bytes, how much of a body may arrive in one pass of the event loop and is held until it is read. */
const HELD = 256 * 1024

/** A request of the server. Nothing is copied to make an arrival of it. */
export type ServerRequest = IncomingMessage & Arrival

/**
 * Requests that hold their body until it is read as a stream. Most bodies have arrived completely before they are read.
 * For such a body, the streams of Node take longer than everything else that happens to it.
 */
export class ArrivingRequest extends IncomingMessage implements Arrival {
  arrived: Buffer | undefined
  isWhole = false
  /** Unless it is set, Node reads the rest of the body as a stream after the response. */
  declare _consuming: boolean
  /** The arrived pieces, if there are more than one. */
  #pieces: Buffer[] | undefined
  #held = 0
  #streams = false

  get rest(): this {
    return this
  }

  get isAbandoned(): boolean {
    return this.socket.destroyed
  }

  wait(milliseconds: number | undefined, stopping: AbortSignal): Promise<void> {
    return waitOn(this.socket, milliseconds, stopping)
  }

  // Node calls this with each piece of the body, and with `null` at its end.
  override push(chunk: Buffer | null): boolean {
    if (this.#streams) return super.push(chunk)
    if (chunk === null) {
      this.isWhole = true
      if (this.#pieces !== undefined) this.arrived = Buffer.concat(this.#pieces)
      // Node has nothing left to read from the connection.
      this._consuming = true
      return false
    }
    this.#held += chunk.length
    if (this.#held > HELD) this.#stream()
    if (this.#streams) return super.push(chunk)
    if (this.arrived === undefined) this.arrived = chunk
    else {
      this.#pieces ??= [this.arrived]
      this.#pieces.push(chunk)
    }
    return true
  }

  // Node calls this when a reader uses the request as a stream.
  override _read(size: number): void {
    this.#stream()
    super._read(size)
  }

  #stream(): void {
    if (this.#streams) return
    this.#streams = true
    this._consuming = false
    const pieces = this.#pieces ?? (this.arrived === undefined ? [] : [this.arrived])
    for (const piece of pieces) super.push(piece)
    if (this.isWhole) super.push(null)
  }
}

/** Responses that report when they are sent. A listener for each of them would cost more. */
export function createResponseClass(
  finish: (request: ArrivingRequest, socket: Socket) => void,
): typeof ServerResponse<ArrivingRequest> {
  return class ReportingResponse extends ServerResponse<ArrivingRequest> {
    // Node calls this when a response is sent, before the next one gets the connection.
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket)
      finish(this.req, socket)
    }
  }
}

/** The header that Node has written but not sent yet; it ends with an empty line. */
type Unsent = { _header: string }

/**
 * Adds whole lines to the header of a response after `writeHead`. Node examines each character of fields that go
 * through `writeHead`. Here it does not, so the added fields must be well-formed.
 */
export function addFields(response: ServerResponse, lines: string): void {
  const unsent = response as unknown as Unsent
  unsent._header = `${unsent._header.slice(0, -2)}${lines}\r\n`
}

/**
 * Ends a response with a body in which each character is one byte. Header and body are then one string, for which Node
 * needs neither a list of chunks nor `writev`: 6 %.
 */
export function endWithHeader(response: ServerResponse, body: string): void {
  const unsent = response as unknown as Unsent
  unsent._header += body
  response.end()
}

/** The response that Node is sending on a connection, if there is one. */
export function responseOn(socket: Socket): ServerResponse | undefined {
  return (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined
}

/** The body length that the header of a response announces, in bytes; 0 before the header, and without a body. */
export function announcedLength(response: ServerResponse): number {
  const { _hasBody: hasBody, _contentLength: length } = response as unknown as Announced
  return hasBody ? (length ?? 0) : 0
}

type Announced = { _hasBody: boolean; _contentLength: number | null }

/** Node's data about the traffic on a connection. The handle is absent once the connection is closed. */
interface SocketInternals {
  _bytesDispatched: number
  _handle: { readonly reading: boolean; readonly writeQueueSize: number; readonly bytesRead: number } | null
}

/** How many bytes that were given to the system are still in this process, because the client reads too slowly. */
export function unsentOn(socket: Socket): number {
  return (socket as unknown as SocketInternals)._handle?.writeQueueSize ?? 0
}

/** The number of bytes that were read from the client and sent to it. */
export function passedOn(socket: Socket): number {
  const { _bytesDispatched: dispatched } = socket as unknown as SocketInternals
  return socket.bytesRead + dispatched - unsentOn(socket)
}

/** Whether the server reads from the client now, so that it also notices the end of the connection. */
export function isReading(socket: Socket): boolean {
  return (socket as unknown as SocketInternals)._handle?.reading ?? false
}

/**
 * Decides what Node does when the client of a connection closes its side: it closes our side at once, or only after the
 * last response. Node reads this from the server, not from the connection, so it must be set just before, each time.
 */
export function keepOpenAtEnd(server: Server, keepsOpen: boolean): void {
  ;(server as Server & { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = keepsOpen
}

/**
 * Replaces what Node does to close a connection after its last response, even if the last request is not read to its
 * end. `close` gets the function by which Node would close the connection.
 */
export function interceptClose(socket: Socket, close: (destroySoon: () => void) => void): void {
  socket.destroySoon = () => close(() => Socket.prototype.destroySoon.call(socket))
}

/** What Node has of a message before it is sent. */
interface UnsentMessage {
  _storeHeader(startLine: string, fields: readonly string[]): void
  _send(text: string, encoding: 'latin1'): boolean
  _writeRaw(text: string, encoding: 'latin1'): boolean
  _sent100: boolean
}

/** Fields that Node adds to a message, unless they were removed before. */
const ADDED = ['connection', 'content-length', 'transfer-encoding', 'date']

/**
 * Sends a request with this header, in which names and values alternate. Node would add a field, or, with `setHeader`,
 * join repeated fields and forget their order. The header says how long the body is (`Content-Length` or chunks).
 */
export function sendRequestHeader(request: ClientRequest, startLine: string, fields: readonly string[]): void {
  for (const name of ADDED) request.removeHeader(name)
  ;(request as unknown as UnsentMessage)._storeHeader(`${startLine}\r\n`, fields)
  flushHeader(request)
}

/** Sends the header before the body is there. Node's own `flushHeaders` writes characters beyond ASCII as UTF-8. */
export function flushHeader(message: OutgoingMessage): void {
  ;(message as unknown as UnsentMessage)._send('', 'latin1')
}

/** Gives a response this header, without fields of Node's own. @throws TypeError if Node does not send such a header */
export function setResponseHeader(
  response: ServerResponse,
  { statusCode = 0, statusMessage, rawHeaders }: Pick<IncomingMessage, 'statusCode' | 'statusMessage' | 'rawHeaders'>,
): void {
  for (const name of ADDED)
    response.removeHeader(name)
    // After `Expect: 100-continue` without an interim response, Node would close the connection.
  ;(response as unknown as UnsentMessage)._sent100 = true
  response.writeHead(statusCode, statusMessage, rawHeaders)
}

/** Sends an interim response (1xx) before a response, with any status and fields. */
export function sendInterim(response: ServerResponse, head: string): void {
  ;(response as unknown as UnsentMessage)._writeRaw(head, 'latin1')
}
