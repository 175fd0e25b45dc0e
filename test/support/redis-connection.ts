import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { type Reply, readReply, Values, writeCommand } from './resp.ts'

/**
 * A connection that speaks RESP2 and nothing more, so that what tests see of a server does not depend on the client that
 * they test.
 */
export class RedisConnection {
  readonly #socket: Socket
  readonly #replies = new Values()
  #waiting: { resolve: (reply: Reply) => void; reject: (error: Error) => void }[] = []
  #isOver = false

  constructor(where: NetConnectOpts) {
    this.#socket = connect(where)
    this.#socket.unref()
    this.#socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => {
      this.#isOver = true
      for (const { reject } of this.#waiting.splice(0)) reject(new Error('Redis has closed the connection.'))
    })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Sends a command and resolves to the reply; rejects when the connection ends before it. */
  command(...words: readonly (string | number)[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new Error('The connection to Redis is closed.'))
      this.#waiting.push({ resolve, reject })
      this.#socket.ref()
      this.#socket.write(writeCommand(words))
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    for (const reply of this.#replies.take(chunk)) this.#waiting.shift()?.resolve(readReply(reply))
    if (this.#waiting.length === 0) this.#socket.unref()
  }
}
