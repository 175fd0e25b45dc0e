import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { attempt } from '../../ground/awaitable.ts'
import { postTogether } from './outbox.ts'

/** Requests of one connection that are dealt with before those of others have their turn. */
const TURN = 10
/**
 * In milliseconds, how long what a client still sends is read past after its last answer. A connection that is closed
 * with bytes unread is reset, and the client may lose the answer.
 */
const LINGER = 10_000

/** Deals with a request. Where that takes time, the promise resolves once whatever it changes is changed. */
export type Deal = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

const connections = new WeakMap<Socket, Connection>()

/** What is known of a connection, and what keeps one client from taking what belongs to all. */
export class Connection {
  readonly #socket: Socket
  /** How many requests have come in and are not answered yet. */
  #owed = 0
  /** How many of them have had their turn. */
  #inTurn = 0
  /** What is to be done once all are answered. */
  #last: (() => void) | undefined
  /** Whether one of them takes its time. */
  #dealing = false
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

  /** Takes note of a request that has come in. */
  receive(request: IncomingMessage): void {
    this.#owed++
    this.#request = request
  }

  /**
   * Does something once all requests are answered that have come in whole. The last one need not be: where its body
   * cannot be read, it may never have an answer.
   */
  afterAnswers(act: () => void): void {
    this.#last ??= act
    this.#actLast()
  }

  /**
   * Has a request dealt with in its turn. A client may send thousands without waiting for answers: they neither keep
   * other clients waiting nor fill the memory, and none overtakes one that was sent before it, because that may be a
   * change (RFC 9112 §9.3.2).
   */
  take(request: IncomingMessage, response: ServerResponse, deal: Deal): void {
    if (!this.#dealing && this.#inTurn < TURN && this.#deferred.length === 0) {
      this.#start(request, response, deal)
      return
    }
    this.#deferred.push(() => this.#start(request, response, deal))
    this.#socket.pause()
  }

  /** Takes note that a request has been answered. */
  finish(request: IncomingMessage): void {
    this.#owed--
    this.#inTurn--
    // Not before Node has made way for the next answer.
    if (this.#last !== undefined) process.nextTick(() => this.#actLast())
    if (this.#inTurn === 0 && this.#deferred.length > 0) setImmediate(() => this.#proceed())
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

  #actLast(): void {
    const ahead = this.#owed - (this.#request?.complete === false ? 1 : 0)
    if (ahead > 0) return
    const act = this.#last
    this.#last = undefined
    act?.()
  }

  #start(request: IncomingMessage, response: ServerResponse, deal: Deal): void {
    this.#inTurn++
    // Neither throws nor rejects, or else that is a bug, and no other request is to suffer from it.
    const fail = () => void response.destroy()
    const dealing = attempt<void>(() => deal(request, response), fail)
    if (dealing === undefined) return
    this.#dealing = true
    void dealing.then(() => {
      this.#dealing = false
      if (this.#deferred.length > 0) this.#proceed()
    })
  }

  #proceed(): void {
    if (this.#socket.destroyed) return
    // Sent before anything else happens to the connection, such as a fault that cuts it.
    postTogether(() => {
      while (!this.#dealing && this.#inTurn < TURN && this.#deferred.length > 0) this.#deferred.shift()?.()
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
