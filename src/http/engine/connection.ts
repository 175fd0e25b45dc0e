import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { attempt } from '../../ground/awaitable.ts'
import { announcedLength, interceptClose, isReading, passedOn, unsentOn } from './node-internals.ts'
import { postTogether } from './outbox.ts'

/** How many requests of one connection are handled before those of others have their turn. */
export const TURN = 10
/** How many may be received before they are handled: the system may have megabytes of them, and reads them at once. */
const RECEIVED = 100
/**
 * In milliseconds, how long the server still reads, and ignores, what a client sends after its last response. A
 * connection that is closed with unread bytes is reset, and the client may lose the response.
 */
export const LINGER = 10_000

/** What one connection may take of what belongs to all. */
export interface ConnectionLimits {
  /** In milliseconds, how often the server looks whether the client is still there and whether anything passes. */
  look: number
  /**
   * How many bytes of requests are read behind one that takes its time. The end of a connection is behind everything
   * that the client has sent, so it is noticed only as far as is read.
   */
  readAhead: number
  /** How many bytes of responses may wait before no further request of the connection is handled. */
  unsent: number
  /** In milliseconds, how long a client may read nothing of what is sent to it, or have more to send than is read. */
  stuck: number
  /** In milliseconds, how long nothing at all may pass. A fault delays a response for a shorter time. */
  silent: number
  /** In milliseconds, how long a client that has closed its side of the connection is kept while nothing passes. */
  halfClosed: number
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  look: 2_000,
  readAhead: 65_536,
  unsent: 1_048_576,
  stuck: 2 * 60_000,
  silent: 30 * 60_000,
  halfClosed: 5_000,
}

/** Answers a request. If that takes time, the promise resolves once everything that the request changes is changed. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const connections = new WeakMap<Socket, Connection>()

/** What is known of a connection. It keeps one client from using up what belongs to all. */
export class Connection {
  /** Whether it is one more than there may be. Each of its requests is refused, and it is closed. */
  isSurplus = false
  readonly #socket: Socket
  readonly #limits: ConnectionLimits
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
  /** Whether more is read all the same, and up to how many bytes of the connection. */
  #readsAhead = false
  #ahead = 0
  /** Whether so many have been received that nothing more is read until they have their turn. */
  #isFull = false
  /** The last one that came in. */
  #latest: IncomingMessage | undefined
  /** The bytes of the responses that are not out yet, but for the latest one. */
  #unsent = 0
  #latestResponse: ServerResponse | undefined
  /** What had passed at the last look, and for how many milliseconds it is the same. */
  #passed = -1
  #still = 0
  #lingering: NodeJS.Timeout | undefined

  private constructor(socket: Socket, limits: ConnectionLimits) {
    this.#socket = socket
    this.#limits = limits
    // Node resumes reading for reasons of its own, for example when somebody reads a body.
    socket.on('resume', () => {
      if (this.#isFull || (this.#deferred.length > 0 && !this.#readsAhead)) socket.pause()
    })
    interceptClose(socket, (destroySoon) => {
      if (this.#latest === undefined || this.#latest.complete) destroySoon()
      else this.end()
    })
    socket.once('close', () => this.#stopLingering())
  }

  static of(socket: Socket, limits: ConnectionLimits = CONNECTION_LIMITS): Connection {
    let connection = connections.get(socket)
    if (connection === undefined) {
      connection = new Connection(socket, limits)
      connections.set(socket, connection)
    }
    return connection
  }

  /** Whether everything that still comes in is ignored, because its response was the last one. */
  get lingers(): boolean {
    return this.#lingering !== undefined
  }

  /** Whether a request has come in. */
  get isUsed(): boolean {
    return this.#latest !== undefined
  }

  /** Whether a request waits for the beginning of its response, or for its turn. */
  get awaitsAnswer(): boolean {
    return this.#deferred.length > 0 || (this.#waiting && this.#latestResponse?.headersSent === false)
  }

  /** Takes note of a request that has come in. */
  receive(request: IncomingMessage): void {
    this.#unanswered++
    this.#latest = request
    if (this.#readsAhead) this.#endReadingAhead()
    else if (this.#unanswered > RECEIVED && !this.#isFull) {
      this.#isFull = true
      this.#socket.pause()
    }
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
    if (this.#deferred.length === 0) {
      if (this.#mayStart()) {
        this.#start(request, response, handle)
        if (this.#isFull) {
          this.#isFull = false
          this.#socket.resume()
        }
        return
      }
      this.#ahead = this.#socket.bytesRead + this.#limits.readAhead
    }
    this.#deferred.push(() => this.#start(request, response, handle))
    this.#isFull = false
    if (!this.#readsAhead) this.#socket.pause()
  }

  /**
   * Closes the connection when its client is gone, or has kept it for too long without any progress. While nothing is
   * read, a client that leaves is not noticed by itself.
   */
  look(): void {
    const socket = this.#socket
    const { look, stuck, silent, halfClosed } = this.#limits
    const passed = passedOn(socket)
    if (passed !== this.#passed) {
      this.#passed = passed
      this.#still = 0
      return
    }
    this.#still += look
    const hasMore = this.#deferred.length > 0 && !isReading(socket) && socket.bytesRead >= this.#ahead
    const quiet = socket.readableEnded ? halfClosed : silent
    if (this.#still >= (unsentOn(socket) > 0 || hasMore ? stuck : quiet)) {
      socket.destroy()
      return
    }
    if (isReading(socket) || !socket.writable) return
    // Sends nothing, but fails where the client has reset the connection.
    socket.write('')
    if (this.#deferred.length === 0 || hasMore) return
    this.#readsAhead = true
    socket.resume()
  }

  /** Takes note that the response to a request is out. */
  finish(request: IncomingMessage): void {
    this.#unanswered--
    this.#started--
    if (this.#started === 0) {
      this.#unsent = 0
      this.#latestResponse = undefined
    }
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

  #endReadingAhead(): void {
    if (this.#socket.bytesRead < this.#ahead) return
    this.#readsAhead = false
    this.#socket.pause()
  }

  #mayStart(): boolean {
    if (this.#waiting || this.#started >= TURN) return false
    if (this.#latestResponse !== undefined) {
      this.#unsent += announcedLength(this.#latestResponse)
      this.#latestResponse = undefined
    }
    return this.#unsent <= this.#limits.unsent
  }

  #start(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
    this.#started++
    this.#latestResponse = response
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
      while (this.#deferred.length > 0 && this.#mayStart()) this.#deferred.shift()?.()
    })
    if (this.#deferred.length > 0) return
    this.#readsAhead = false
    this.#socket.resume()
  }

  #linger(): void {
    this.#lingering ??= setTimeout(() => this.#socket.destroy(), LINGER)
  }

  #stopLingering(): void {
    clearTimeout(this.#lingering)
    this.#lingering = undefined
  }
}
