import { connect, type NetConnectOpts, type Socket } from 'node:net'

/** A reply of Redis; an error is a value here, because tests ask for errors too. */
export type Reply = string | number | null | RedisError | Reply[]

export class RedisError extends Error {
  override name = 'RedisError'
}

/**
 * A connection that speaks RESP2 and nothing more, so that what tests see of a server does not depend on the client that
 * they test.
 */
export class RedisConnection {
  readonly #socket: Socket
  #received = Buffer.alloc(0)
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
    const bulk = words.map((word) => `$${Buffer.byteLength(`${word}`)}\r\n${word}\r\n`)
    return new Promise((resolve, reject) => {
      if (this.#isOver) return reject(new Error('The connection to Redis is closed.'))
      this.#waiting.push({ resolve, reject })
      this.#socket.ref()
      this.#socket.write(`*${words.length}\r\n${bulk.join('')}`)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    for (;;) {
      const parsed = parseReply(this.#received, 0)
      if (parsed === undefined) return
      this.#received = this.#received.subarray(parsed.end)
      this.#waiting.shift()?.resolve(parsed.reply)
      if (this.#waiting.length === 0) this.#socket.unref()
    }
  }
}

/** The reply that begins at `start`, and where the next one begins; `undefined` while it is not whole. */
function parseReply(bytes: Buffer, start: number): { reply: Reply; end: number } | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const next = lineEnd + 2
  switch (bytes.toString('latin1', start, start + 1)) {
    case '+':
      return { reply: line, end: next }
    case '-':
      return { reply: new RedisError(line), end: next }
    case ':':
      return { reply: Number(line), end: next }
    case '$': {
      const length = Number(line)
      if (length < 0) return { reply: null, end: next }
      const end = next + length + 2
      return bytes.length < end ? undefined : { reply: bytes.toString('utf8', next, next + length), end }
    }
    case '*': {
      const replies: Reply[] = []
      if (Number(line) < 0) return { reply: null, end: next }
      let at = next
      while (replies.length < Number(line)) {
        const parsed = parseReply(bytes, at)
        if (parsed === undefined) return undefined
        replies.push(parsed.reply)
        at = parsed.end
      }
      return { reply: replies, end: at }
    }
    default:
      throw new Error(`No reply of RESP2 begins so: ${JSON.stringify(bytes.toString('utf8', start, start + 40))}`)
  }
}
