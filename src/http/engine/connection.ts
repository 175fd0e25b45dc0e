import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { attempt } from '../../ground/awaitable.ts'
import { announcedLength, interceptClose, isReading, passedOn, type ServerRequest, unsentOn } from './node-internals.ts'
import { postTogether } from './outbox.ts'

/** How many requests of one connection are handled before other connections get a turn. */
const TURN = 10
/** How many requests may be received before they are handled: megabytes of them may be read at once. */
const RECEIVED = 100
/**
 * In milliseconds, how long the server still reads, and ignores, what a client sends after its last response. A
 * connection that is closed with unread bytes is reset, and the client may lose the response.
 */
const LINGER = 10_000

/** How much of the shared resources one connection may use. */
export interface ConnectionLimits {
  /** In milliseconds, how often the server checks whether the client is still there and whether data passes. */
  inspectEvery: number
  /**
   * In bytes, how much is read ahead while a request takes time. The server notices that a client has left only after it
   * has read everything that the client has sent before.
   */
  readAhead: number
  /** In bytes, how many responses may wait before no further request of the connection is handled. */
  unsent: number
  /** In milliseconds, how long a client may read no response data, or send more than is read. */
  stuck: number
  /** In milliseconds, how long no data at all may pass. A fault delays a response for a shorter time. */
  silent: number
  /** In milliseconds, how long a half-closed connection is kept while no data passes. */
  halfClosed: number
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  inspectEvery: 2_000,
  readAhead: 65_536,
  unsent: 1_048_576,
  stuck: 2 * 60_000,
  silent: 30 * 60_000,
  halfClosed: 5_000,
}

/** Answers a request. If that takes time, the promise resolves after the last change that the request makes. */
export type RequestHandler = (request: ServerRequest, response: ServerResponse) => void | Promise<void>

const connections = new WeakMap<Socket, Connection>()

/** The state of a connection. It keeps one client from using up the shared resources. */
export class Connection {
  /** Whether it exceeds the limit. Then each of its requests is refused, and it is closed. */
  isSurplus = false
  readonly #socket: Socket
  readonly #limits: ConnectionLimits
  /** How many received requests are not answered yet. */
  #unanswered = 0
  /** How many of them are being handled. */
  #started = 0
  /** What to do once all of them are answered. */
  #afterAll: (() => void) | undefined
  /** Whether one of them has to wait. */
  #waiting = false
  /** Requests that wait for their turn. Nothing more is read while there are any. */
  #deferred: (() => void)[] = []
  /** Whether more is read nevertheless. */
  #readsAhead = false
  /** At how many read bytes of the connection the reading ahead ends. */
  #ahead = 0
  /** Whether so many requests have been received that reading pauses until they get their turn. */
  #isFull = false
  /** The last received request. */
  #latest: IncomingMessage | undefined
  /** The announced bytes of the started responses, without the latest one, whose length may be unknown yet. */
  #unsent = 0
  #latestResponse: ServerResponse | undefined
  /** What had passed at the last check, and for how many milliseconds this is unchanged. */
  #passed = -1
  #still = 0
  #lingering: NodeJS.Timeout | undefined

  private constructor(socket: Socket, limits: ConnectionLimits) {
    this.#socket = socket
    this.#limits = limits
    // Node may resume reading, for example when a handler reads a body.
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

  /** Whether all further input is ignored, because the last response was given. */
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

  /** Records a received request. */
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
   * Acts once all completely received requests are answered. The last one may be incomplete: if its body cannot be
   * read, it may never be answered.
   */
  afterAnswers(act: () => void): void {
    this.#afterAll ??= act
    this.#actAfterAll()
  }

  /**
   * Handles a request when it is its turn. A client may send thousands of requests without waiting for responses. They
   * must neither delay other clients nor fill the memory. No request overtakes an earlier one, which may be a change
   * (RFC 9112 §9.3.2).
   */
  take(request: ServerRequest, response: ServerResponse, handle: RequestHandler): void {
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
   * Closes the connection if its client is gone, or has kept it for too long without progress. While the server does
   * not read, it does not notice that a client leaves.
   */
  inspect(): void {
    const socket = this.#socket
    const { inspectEvery, stuck, silent, halfClosed } = this.#limits
    const passed = passedOn(socket)
    if (passed !== this.#passed) {
      this.#passed = passed
      this.#still = 0
      return
    }
    this.#still += inspectEvery
    const hasMore = this.#deferred.length > 0 && !isReading(socket) && socket.bytesRead >= this.#ahead
    const quiet = socket.readableEnded ? halfClosed : silent
    if (this.#still >= (unsentOn(socket) > 0 || hasMore ? stuck : quiet)) {
      socket.destroy()
      return
    }
    if (isReading(socket) || !socket.writable) return
    // Sends nothing, but fails if the client has reset the connection.
    socket.write('')
    if (this.#deferred.length === 0 || hasMore) return
    this.#readsAhead = true
    socket.resume()
  }

  /** Records that the response to a request is sent. */
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

  /** Sends the last bytes and closes the connection: when the client closes it too, or a little later. */
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

  #start(request: ServerRequest, response: ServerResponse, handle: RequestHandler): void {
    this.#started++
    this.#latestResponse = response
    // A handler that throws or rejects has a bug, which must not affect other requests.
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
    // The responses are sent before any other action on the connection, such as a fault that ends it.
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
