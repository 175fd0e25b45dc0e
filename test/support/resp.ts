/**
 * Where the value of RESP2 or RESP3 that begins at `start` ends; `undefined` while it is not whole. What a client sends is
 * a list of texts, which looks the same.
 */
function endOfValue(bytes: Buffer, start: number): number | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const next = lineEnd + 2
  const size = Number(bytes.toString('latin1', start + 1, lineEnd))
  switch (bytes.toString('latin1', start, start + 1)) {
    case '$':
    case '!':
    case '=':
      if (size < 0) return next
      return bytes.length < next + size + 2 ? undefined : next + size + 2
    case '*':
    case '~':
    case '>':
      return endOfValues(bytes, next, size)
    case '%':
      return endOfValues(bytes, next, 2 * size)
    case '|': {
      // Attributes stand before the value that they are about.
      const end = endOfValues(bytes, next, 2 * size)
      return end === undefined ? undefined : endOfValue(bytes, end)
    }
    default:
      return next
  }
}

function endOfValues(bytes: Buffer, start: number, count: number): number | undefined {
  let end: number | undefined = start
  for (let index = 0; index < count && end !== undefined; index++) end = endOfValue(bytes, end)
  return end
}

/** Takes whole values off a stream of bytes that comes in pieces. */
export class Values {
  #rest: Buffer = Buffer.alloc(0)

  /** The values that are whole now, each as its bytes. */
  take(piece: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    const values: Buffer[] = []
    for (let end = endOfValue(this.#rest, 0); end !== undefined; end = endOfValue(this.#rest, 0)) {
      values.push(this.#rest.subarray(0, end))
      this.#rest = this.#rest.subarray(end)
    }
    return values
  }
}

/** A reply of Redis in RESP2; an error is a value here, because tests ask for errors too. */
export type Reply = string | number | null | RedisError | Reply[]

export class RedisError extends Error {
  override name = 'RedisError'
}

/** Reads a reply of RESP2 of which all bytes are there. */
export function readReply(bytes: Buffer): Reply {
  return replyAt(bytes, 0).reply
}

function replyAt(bytes: Buffer, start: number): { reply: Reply; end: number } {
  const next = bytes.indexOf('\r\n', start) + 2
  const line = bytes.toString('utf8', start + 1, next - 2)
  switch (bytes.toString('latin1', start, start + 1)) {
    case '+':
      return { reply: line, end: next }
    case '-':
      return { reply: new RedisError(line), end: next }
    case ':':
      return { reply: Number(line), end: next }
    case '$': {
      const end = next + Number(line)
      return end < next ? { reply: null, end: next } : { reply: bytes.toString('utf8', next, end), end: end + 2 }
    }
    case '*': {
      if (Number(line) < 0) return { reply: null, end: next }
      const replies: Reply[] = []
      let end = next
      while (replies.length < Number(line)) {
        const one = replyAt(bytes, end)
        replies.push(one.reply)
        end = one.end
      }
      return { reply: replies, end }
    }
    default:
      throw new Error(`No reply of RESP2 begins so: ${JSON.stringify(bytes.toString('utf8', start, start + 40))}`)
  }
}

/** The first words of a command: its name in upper case, and so many of its arguments. */
export function wordsOf(command: Buffer, count = 3): string[] {
  const words: string[] = []
  let at = command.indexOf('\r\n') + 2
  while (words.length < count && at < command.length) {
    const lineEnd = command.indexOf('\r\n', at)
    const end = lineEnd + 2 + Number(command.toString('latin1', at + 1, lineEnd))
    words.push(command.toString('utf8', lineEnd + 2, end))
    at = end + 2
  }
  const [name = '', ...rest] = words
  return [name.toUpperCase(), ...rest]
}

/** A command as it is sent. */
export function writeCommand(words: readonly (string | number)[]): string {
  const texts = words.map((word) => `$${Buffer.byteLength(`${word}`)}\r\n${word}\r\n`)
  return `*${words.length}\r\n${texts.join('')}`
}
