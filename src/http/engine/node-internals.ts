import { IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express, { type Request, type Response } from 'express'
import type { Arrival } from '../reception.ts'

// Everything in this file relies on parts of Node.js and of Express that neither of them documents. Each piece says what
// it is for, and what it is worth as a share of the time of a small request. A test for each of them, in
// test/http/engine/node-internals.test.ts, fails when such a part changes.

/** Bytes of a body that may arrive in one pass of the event loop and are held until somebody wants them. */
const HELD = 256 * 1024

/** What Node's HTTP server needs to serve an Express application. */
export interface Application {
  listener: RequestListener
  classes: { IncomingMessage: typeof IncomingMessage; ServerResponse: typeof ServerResponse<IncomingMessage> }
}

/**
 * An Express application that hands each request to `dispatch`, and tells `finish` of each response that is out.
 *
 * Of Express, only the application itself is used. It receives every request, links it with its response, and both have
 * its prototypes, so that code written for Express finds what it expects. The rest is not used: the contract says where
 * requests go, so that Express' router would only pass each of them on (5 %); its body parsers read streams, which takes
 * longer than to take a body that has already arrived; `etag` would hash each body; and the service does not send the
 * field `X-Powered-By`.
 */
export function createApplication(
  dispatch: (request: IncomingMessage, response: ServerResponse) => void,
  finish: (request: IncomingMessage, socket: Socket) => void,
): Application {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  Object.defineProperty(app, 'router', { value: { handle: dispatch } })
  const AppRequest = createRequestClass()
  const AppResponse = createResponseClass(finish)
  // Express sets the prototype of every request and response. For an object that had another one before, the engine
  // then forgets everything that it has optimised: 60 %. These have the right one from the beginning (nodejs/node#37457).
  Object.setPrototypeOf(AppRequest.prototype, app.request)
  Object.setPrototypeOf(AppResponse.prototype, app.response)
  Object.assign(app, { request: AppRequest.prototype, response: AppResponse.prototype })
  return {
    listener: (request, response) => app(request as Request, response as Response, unrouted),
    classes: { IncomingMessage: AppRequest, ServerResponse: AppResponse },
  }
}

/** What Express calls where its router takes no request; given to it, because it would create one for each request. */
function unrouted(): void {}

/**
 * Requests that hold their body until somebody reads them as a stream. Most bodies have arrived completely before they
 * are read, and the streams of Node take longer for such a body than everything else that happens to it.
 */
function createRequestClass(): typeof IncomingMessage {
  return class HeldRequest extends IncomingMessage implements Arrival {
    arrived: Buffer | undefined
    isWhole = false
    /** Unless it is set, Node reads the rest of the body as a stream once the response is out. */
    declare _consuming: boolean
    /** Everything that has arrived, where it is more than one piece. */
    #pieces: Buffer[] | undefined
    #held = 0
    #streams = false

    // Node calls this with each piece of the body, and with `null` at its end.
    override push(chunk: Buffer | null): boolean {
      if (this.#streams) return super.push(chunk)
      if (chunk === null) {
        this.isWhole = true
        if (this.#pieces !== undefined) this.arrived = Buffer.concat(this.#pieces)
        // Nothing is left on the wire for Node to read.
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

    // Node calls this when somebody reads the request as a stream.
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
}

/** Responses that tell when they are out. A listener would have to be added to each of them, which costs more. */
function createResponseClass(finish: (request: IncomingMessage, socket: Socket) => void) {
  return class AppResponse extends ServerResponse<IncomingMessage> {
    // Node calls this when a response is out, and before it makes way for the next one on the connection.
    override detachSocket(socket: Socket): void {
      super.detachSocket(socket)
      finish(this.req, socket)
    }
  }
}

/** What Node has written of a header and not sent yet; it ends with an empty line. */
type Unsent = { _header: string }

/**
 * Adds whole lines to the header of a response after `writeHead`. Of fields that go through `writeHead`, Node examines
 * each character, so only surely well-formed ones may be added like this.
 */
export function addFields(response: ServerResponse, lines: string): void {
  const unsent = response as unknown as Unsent
  unsent._header = `${unsent._header.slice(0, -2)}${lines}\r\n`
}

/**
 * Ends a response with a body of which each character is one byte. Header and body are one string then, for which Node
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

/** How many bytes of body a response has announced in its header; 0 until then, and where it has no body. */
export function announcedLength(response: ServerResponse): number {
  const { _hasBody: hasBody, _contentLength: length } = response as unknown as Announced
  return hasBody ? (length ?? 0) : 0
}

type Announced = { _hasBody: boolean; _contentLength: number | null }

/** What Node knows of the traffic on a connection. The handle is absent once the connection is closed. */
interface Wire {
  _bytesDispatched: number
  _handle: { readonly reading: boolean; readonly writeQueueSize: number; readonly bytesRead: number } | null
}

/** How many bytes were given to the system and are still in this process, because the client reads too slowly. */
export function unsentOn(socket: Socket): number {
  return (socket as unknown as Wire)._handle?.writeQueueSize ?? 0
}

/** How many bytes the client has sent that were read, and how many were sent to it. */
export function passedOn(socket: Socket): number {
  const { _bytesDispatched: dispatched } = socket as unknown as Wire
  return socket.bytesRead + dispatched - unsentOn(socket)
}

/** Whether what the client sends is read now, so that its end is noticed as well. */
export function isReading(socket: Socket): boolean {
  return (socket as unknown as Wire)._handle?.reading ?? false
}

/**
 * Decides whether Node closes a connection at once when its client has closed its side, or after the last response. To be
 * called just before Node does, for each connection anew: Node asks the server.
 */
export function keepOpenAtEnd(server: Server, keepsOpen: boolean): void {
  ;(server as Server & { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = keepsOpen
}

/**
 * Decides how a connection is closed after its last response. Node does that with `destroySoon`, whether the request was
 * read or not; `close` is called in its place, and with what Node would have done.
 */
export function interceptClose(socket: Socket, close: (destroySoon: () => void) => void): void {
  socket.destroySoon = () => close(() => Socket.prototype.destroySoon.call(socket))
}
