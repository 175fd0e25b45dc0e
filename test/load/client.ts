import { connect, type Socket } from 'node:net'

/** A response as it came over the wire; header names in lower case. */
export interface Answer {
  status: number
  headers: Record<string, string>
  text: string
}

/** How a request ended: with an answer, or with none because the connection was closed, or nothing came in time. */
export type Ending = Answer | 'closed' | 'hung'

/** A connection that is opened when it is needed, and again when it was closed. */
export class Client {
  readonly #port: number
  #socket: Socket | undefined
  #received: Buffer = Buffer.alloc(0)

  constructor(port: number) {
    this.#port = port
  }

  /** Sends one request and resolves to its answer. A stream of events counts as answered with its header. */
  async ask(bytes: Buffer, { headOnly = false, deadline = 30_000 } = {}): Promise<Ending> {
    const fresh = this.#socket === undefined || this.#socket.destroyed
    const socket = fresh ? this.#open() : (this.#socket as Socket)
    const ending = await this.#await(socket, bytes, headOnly, deadline)
    if (ending === 'closed' || ending === 'hung' || isLast(ending)) this.close()
    // An idle connection may be closed by the server at any time; only a new one proves something.
    return ending === 'closed' && !fresh ? this.ask(bytes, { headOnly, deadline }) : ending
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): Socket {
    this.#received = Buffer.alloc(0)
    this.#socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket.on('error', () => {})
    return this.#socket
  }

  #await(socket: Socket, bytes: Buffer, headOnly: boolean, deadline: number): Promise<Ending> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish('hung'), deadline)
      const closed = () => finish(takeAnswer(this.#received, headOnly, true)?.answer ?? 'closed')
      const take = (chunk: Buffer): void => {
        this.#received = Buffer.concat([this.#received, chunk])
        let taken = takeAnswer(this.#received, headOnly, false)
        while (taken !== undefined && taken.answer.status < 200) {
          this.#received = taken.rest
          taken = takeAnswer(this.#received, headOnly, false)
        }
        if (taken === undefined) return
        this.#received = taken.rest
        finish(taken.answer)
      }
      function finish(ending: Ending): void {
        clearTimeout(timer)
        socket.off('data', take).off('close', closed)
        resolve(ending)
      }
      socket.on('data', take).once('close', closed)
      socket.write(bytes)
    })
  }
}

/**
 * Sends bytes on a connection of their own, says that there are no more, and resolves to whatever comes back; to `hung`
 * when the server does not close the connection in time.
 */
export function sendBytes(port: number, bytes: Buffer, deadline = 30_000): Promise<string | 'hung'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    const timer = setTimeout(() => {
      resolve('hung')
      socket.destroy()
    }, deadline)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (chunk.includes('text/event-stream')) socket.destroy()
    })
    socket.once('close', () => {
      clearTimeout(timer)
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
    socket.end(bytes)
  })
}

function isLast({ status, headers }: Answer): boolean {
  return headers['connection'] === 'close' || isStream(headers) || status === 101
}

function isStream(headers: Answer['headers']): boolean {
  return headers['content-type'] === 'text/event-stream'
}

function takeAnswer(bytes: Buffer, headOnly: boolean, ended: boolean): { answer: Answer; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [start = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1])
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(':')[0]?.toLowerCase() ?? '', line.slice(line.indexOf(':') + 1).trim()]),
  )
  const bodiless = headOnly || status < 200 || status === 204 || status === 304 || isStream(headers)
  if (!bodiless && headers['transfer-encoding'] === 'chunked') {
    const body = readChunks(bytes, end + 4)
    return body && { answer: { status, headers, text: body.text }, rest: bytes.subarray(body.end) }
  }
  const length = bodiless ? 0 : Number(headers['content-length'] ?? (ended ? bytes.length - end - 4 : Infinity))
  if (bytes.length < end + 4 + length) return undefined
  const text = bytes.subarray(end + 4, end + 4 + length).toString()
  return { answer: { status, headers, text }, rest: bytes.subarray(end + 4 + length) }
}

/** The text of a body in chunks, and where it ends; `undefined` until all of it is there (RFC 9112 §7.1). */
function readChunks(bytes: Buffer, start: number): { text: string; end: number } | undefined {
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at)
    if (line < 0) return undefined
    const size = Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16)
    at = line + 2 + size + 2
    if (bytes.length < at) return undefined
    if (size === 0) return { text: Buffer.concat(chunks).toString(), end: at }
    chunks.push(bytes.subarray(line + 2, line + 2 + size))
  }
}
