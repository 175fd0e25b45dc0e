import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/** Requests of one connection that are dealt with before others have their turn. */
const TURN = 10
/**
 * In milliseconds, how long what a client still sends is read past after its last answer. A connection that is closed
 * with bytes unread is reset, and the client may lose the answer.
 */
const LINGER = 10_000

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const connections = new WeakMap<Socket, Connection>()

/** What is known of a connection, and what keeps one client from taking what belongs to all. */
export class Connection {
  readonly #socket: Socket
  /** How many requests are being dealt with. */
  #busy = 0
  /** Those whose turn is yet to come. While there are any, nothing more is read. */
  #deferred: (() => void)[] = []
  /** The last to come in. */
  #request: IncomingMessage | undefined
  #lingering: NodeJS.Timeout | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    // Node goes on reading for reasons of its own, such as a body that somebody reads.
    socket.on('resume', () => {
      if (this.#deferred.length > 0) socket.pause()
    })
    // With it Node closes a connection after its last answer, read or not.
    socket.destroySoon = () => {
      if (this.#request === undefined || this.#request.complete) Socket.prototype.destroySoon.call(socket)
      else this.end()
    }
    socket.once('close', () => this.#stopLingering())
  }

  static of(socket: Socket): Connection {
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = new Connection(socket)
      connections.set(socket, connection)
    }
    return connection
  }

  /** Whether what still comes in has had its answer, so that there is nothing to say about it. */
  get lingers(): boolean {
    return this.#lingering !== undefined
  }

  /**
   * Has a request dealt with in its turn. A client may send thousands without waiting for answers: they neither keep
   * other clients waiting nor fill the memory.
   */
  take(request: IncomingMessage, response: ServerResponse, deal: Handler): void {
    this.#request = request
    if (this.#busy < TURN && this.#deferred.length === 0) {
      this.#busy++
      deal(request, response)
      return
    }
    this.#deferred.push(() => deal(request, response))
    this.#socket.pause()
  }

  /** Takes note that a request has been answered. */
  finish(request: IncomingMessage): void {
    this.#busy--
    if (this.#busy === 0 && this.#deferred.length > 0) setImmediate(() => this.#nextTurn())
    if (request.complete || this.#socket.destroyed || this.lingers) return
    this.#linger()
    request.once('end', () => {
      if (this.#socket.writable) this.#stopLingering()
      else this.#socket.destroySoon()
    })
  }

  /** Sends the last bytes and closes the connection: when the client does so as well, or else a little later. */
  end(bytes = ''): void {
    this.#socket.end(bytes)
    this.#linger()
  }

  #nextTurn(): void {
    if (this.#socket.destroyed) return
    for (const deal of this.#deferred.splice(0, TURN)) {
      this.#busy++
      deal()
    }
    if (this.#deferred.length === 0) this.#socket.resume()
  }

  #linger(): void {
    this.#lingering ??= setTimeout(() => this.#socket.destroy(), LINGER)
  }

  #stopLingering(): void {
    clearTimeout(this.#lingering)
    this.#lingering = undefined
  }
}
