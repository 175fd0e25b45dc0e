import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { attempt } from '../../ground/awaitable.ts'
import { interceptClose } from './node-internals.ts'
import { postTogether } from './outbox.ts'

/** How many requests of one connection are handled before those of others have their turn. */
const TURN = 10
/**
 * In milliseconds, how long the server still reads, and ignores, what a client sends after its last response. A
 * connection that is closed with unread bytes is reset, and the client may lose the response.
 */
const LINGER = 10_000

/** Answers a request. If that takes time, the promise resolves once everything that the request changes is changed. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const connections = new WeakMap<Socket, Connection>()

/** What is known of a connection. It keeps one client from using up what belongs to all. */
export class Connection {
  readonly #socket: Socket
  /** How many requests have come in and are not answered yet. */
  #unanswered = 0
  /** How many of them are being handled. */
  #started = 0
  /** What to do once all of them are answered. */
  #afterAll: (() => void) | undefined
  /** Whether one of them has to wait for something. */
  #waiting = false
  /** Those whose turn is still to come. While there are any, nothing more is read. */
  #deferred: (() => void)[] = []
  /** The last one that came in. */
  #latest: IncomingMessage | undefined
  #lingering: NodeJS.Timeout | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    // Node resumes reading for reasons of its own, for example when somebody reads a body.
    socket.on('resume', () => {
      if (this.#deferred.length > 0) socket.pause()
    })
    interceptClose(socket, (destroySoon) => {
      if (this.#latest === undefined || this.#latest.complete) destroySoon()
      else this.end()
    })
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

  /** Whether everything that still comes in is ignored, because its response was the last one. */
  get lingers(): boolean {
    return this.#lingering !== undefined
  }

  /** Takes note of a request that has come in. */
  receive(request: IncomingMessage): void {
    this.#unanswered++
    this.#latest = request
  }

  /**
   * Does something once all requests that have come in completely are answered. The last one may be incomplete: if its
   * body cannot be read, it may never be answered.
   */
  afterAnswers(act: () => void): void {
    this.#afterAll ??= act
    this.#actAfterAll()
  }

  /**
   * Handles a request when it is its turn. A client may send thousands of requests without waiting for responses. They
   * neither keep other clients waiting nor fill the memory, and none overtakes an earlier one, which may be a change
   * (RFC 9112 §9.3.2).
   */
  take(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    if (!this.#waiting && this.#started < TURN && this.#deferred.length === 0) {
      this.#start(request, response, handle)
      return
    }
    this.#deferred.push(() => this.#start(request, response, handle))
    this.#socket.pause()
  }

  /** Takes note that the response to a request is out. */
  finish(request: IncomingMessage): void {
    this.#unanswered--
    this.#started--
    // On the next tick, Node is ready for the next response.
    if (this.#afterAll !== undefined) process.nextTick(() => this.#actAfterAll())
    if (this.#started === 0 && this.#deferred.length > 0) setImmediate(() => this.#proceed())
    if (request.complete || this.#socket.destroyed || this.lingers) return
    this.#linger()
    request.once('end', () => {
      if (this.#socket.writable) this.#stopLingering()
      else this.#socket.destroySoon()
    })
  }

  /** Sends the last bytes and closes the connection, when the client does so as well or else a little later. */
  end(bytes = ''): void {
    this.#socket.end(bytes)
    this.#linger()
  }

  #actAfterAll(): void {
    const ahead = this.#unanswered - (this.#latest?.complete === false ? 1 : 0)
    if (ahead > 0) return
    const act = this.#afterAll
    this.#afterAll = undefined
    act?.()
  }

  #start(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    this.#started++
    // A handler that throws or rejects has a bug. No other request may suffer from it.
    const fail = () => void response.destroy()
    const handling = attempt<void>(() => handle(request, response), fail)
    if (handling === undefined) return
    this.#waiting = true
    void handling.then(() => {
      this.#waiting = false
      if (this.#deferred.length > 0) this.#proceed()
    })
  }

  #proceed(): void {
    if (this.#socket.destroyed) return
    // The responses are sent before anything else happens to the connection, such as a fault that ends it.
    postTogether(() => {
      while (!this.#waiting && this.#started < TURN && this.#deferred.length > 0) this.#deferred.shift()?.()
    })
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
