import type { Socket } from 'node:net'
import { Connection, type ConnectionLimits, type RequestHandler } from './connection.ts'

/** The limit of connections, and what happens at the limit. */
export interface CrowdOptions {
  /** How many connections there may be at the same time. */
  limit: number
  /** Answers the first request of a surplus connection. The connection is closed with the response. */
  refuse: RequestHandler
  /** Called at the first refusal, and once there is room again, with the number of refusals. */
  began(): void
  ended(refused: number): void
}

/** In milliseconds, how long a surplus connection may be silent: others wait for its place. */
const PATIENCE = 1_000
/** There is room again below this share of the limit, so that a few clients that come and go are one event. */
const ROOM = 0.9

/** How many surplus connections may wait for their refusal at the same time; any other is reset. */
export function surplusFor(limit: number): number {
  return Math.max(16, Math.ceil(limit / 10))
}

/** The connections of a server, whose number is limited. */
export class Crowd {
  readonly #options: CrowdOptions
  readonly #connections = new Set<Connection>()
  #surplus = 0
  #refused = 0

  constructor(options: CrowdOptions) {
    this.#options = options
  }

  /** Admits a new connection; `undefined` if it is reset. */
  admit(socket: Socket, limits: ConnectionLimits): Connection | undefined {
    const { limit } = this.#options
    if (this.#connections.size - this.#surplus >= limit) {
      if (this.#refused++ === 0) this.#options.began()
      if (this.#surplus >= surplusFor(limit)) {
        socket.resetAndDestroy()
        return undefined
      }
      return this.#addSurplus(socket, Connection.of(socket, limits))
    }
    const connection = Connection.of(socket, limits)
    this.#add(socket, connection)
    return connection
  }

  inspectAll(): void {
    for (const connection of this.#connections) connection.inspect()
  }

  #add(socket: Socket, connection: Connection): void {
    this.#connections.add(connection)
    socket.once('close', () => {
      this.#connections.delete(connection)
      if (connection.isSurplus) this.#surplus--
      if (this.#refused === 0 || this.#connections.size > this.#options.limit * ROOM) return
      this.#options.ended(this.#refused)
      this.#refused = 0
    })
  }

  #addSurplus(socket: Socket, connection: Connection): Connection {
    connection.isSurplus = true
    this.#surplus++
    this.#add(socket, connection)
    const patience = setTimeout(() => {
      if (!connection.isUsed) socket.destroy()
    }, PATIENCE)
    socket.once('close', () => clearTimeout(patience))
    return connection
  }
}
