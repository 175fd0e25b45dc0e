/** The head of a message as it was sent. */
export interface MessageHead {
  startLine: string
  /** In their order, with the names as they were sent. */
  fields: readonly HeaderField[]
}

export type HeaderField = readonly [name: string, value: string]

/** Where a body ends. A number is the length in bytes. */
export type Framing = number | 'chunked' | 'until close'

/** Why a reader stops following a connection, as the end of a sentence that begins with `it`. */
export interface Lost {
  lost: string
}

/** Receives what a reader finds in one direction. */
export interface MessageListener {
  /** The first bytes of a message are here. */
  begin(): void
  /** The head is complete. Returns the framing of the body, or why the connection is not followed any further. */
  head(head: MessageHead): Framing | Lost
  /** A part of the body, without chunk framing. It is valid only during the call. */
  body(bytes: Buffer): void
  end(): void
  /** The following bytes are not understood, and the reader reports nothing more about them. */
  lose(reason: string): void
  /** Some of these bytes are passed on. */
  unread(): void
}

/** How a request may be changed before it is passed on. */
export interface RequestEditor {
  /**
   * Whether a request with this target must not be passed on. `isWhole`: whether the target is complete. `undefined` if
   * the rest of the target decides.
   */
  diverts(target: string, isWhole: boolean): boolean | undefined
  /** The replacement for the value of a Host field. */
  hostFor(value: string): string
}

/** How many bytes a head may have. A longer head is passed on without reading. Servers accept 8 to 64 KiB. */
export const HEAD_LIMIT = 128 << 10

const LF = 0x0a
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const FIELD = new RegExp(`^(${TOKEN}):[ \\t]*(.*?)[ \\t]*$`)
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters may not be in a head
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/
const REQUEST_START = new RegExp(`^${TOKEN} [!-~\\u0080-\\u00ff]+ HTTP/1\\.[01]$`)
/** The possible beginnings of a request line whose target is not known yet. */
const REQUEST_BEGINNING = new RegExp(`^(?:\\r|${TOKEN}(?: [!-~\\u0080-\\u00ff]*)?)?$`)
/** How many characters of a request line may be held back. */
const HELD_LIMIT = 1024
const RESPONSE_START = /^HTTP\/1\.[01] \d{3}(?: .*)?$/

/**
 * Follows the messages of one direction of an HTTP/1.1 connection while their bytes are passed on. It never delays
 * bytes that could be passed on, and keeps nothing of a body. If it does not understand the bytes, it reports this once
 * and passes on everything that follows.
 */
export class MessageReader {
  readonly #listener: MessageListener
  readonly #editor: RequestEditor | undefined
  #state: 'line' | 'body' | 'chunk' | 'rest' | 'lost' = 'line'
  #expects: 'start' | 'field' | 'size' | 'data end' | 'trailer' = 'start'
  #startLine = ''
  #fields: HeaderField[] = []
  #headSize = 0
  /** The bytes of the unfinished line. */
  #line: Buffer[] = []
  /** The bytes of the line that are held back. */
  #held: Buffer[] = []
  /** Whether the rest of the line is passed on at once. */
  #isReleased = false
  /** How many bytes of the body or the chunk are still missing. */
  #left = 0
  #out: Buffer[] = []

  /** With an editor, it reads requests; without one, responses. */
  constructor(listener: MessageListener, editor?: RequestEditor) {
    this.#listener = listener
    this.#editor = editor
  }

  /** Whether the next byte begins a message. */
  get isBetween(): boolean {
    return this.#state === 'line' && this.#expects === 'start' && this.#line.length === 0
  }

  get isLost(): boolean {
    return this.#state === 'lost'
  }

  /**
   * Reads the bytes that arrived. Returns the bytes to pass on now. If a request must not be passed on, it also returns
   * all bytes from the start of that request; nothing may be read after that.
   */
  read(chunk: Buffer): { passed: readonly Buffer[]; diverted?: Buffer } {
    this.#out = []
    let at = 0
    while (at < chunk.length) {
      if (this.#state === 'line') {
        const next = this.#readLine(chunk, at)
        if (next < 0) return { passed: this.#out, diverted: Buffer.concat([...this.#held, chunk.subarray(at)]) }
        at = next
      } else if (this.#state === 'body' || this.#state === 'chunk') at = this.#readBody(chunk, at)
      else {
        const rest = chunk.subarray(at)
        this.#pass(rest)
        if (this.#state === 'rest') this.#listener.body(rest)
        else this.#listener.unread()
        at = chunk.length
      }
    }
    return { passed: this.#out }
  }

  /** No more bytes come. Returns the bytes that were held back. */
  finish(): readonly Buffer[] {
    this.#out = []
    if (this.#state === 'rest') {
      this.#state = 'line'
      this.#listener.end()
    } else if (this.#state !== 'lost') {
      if (!this.isBetween) this.lose('ended before it was complete')
    }
    return this.#out
  }

  /** From now on, bytes are passed on without reading. */
  lose(reason: string): void {
    if (this.#state === 'lost') return
    this.#passHeld()
    this.#line = []
    this.#fields = []
    this.#state = 'lost'
    this.#listener.lose(reason)
  }

  /** Returns where to continue, or -1 if the request that begins with this line must not be passed on. */
  #readLine(chunk: Buffer, at: number): number {
    const feed = chunk.indexOf(LF, at)
    const end = feed < 0 ? chunk.length : feed + 1
    const piece = at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end)
    if (this.isBetween) this.#listener.begin()
    this.#headSize += piece.length
    if (this.#headSize > HEAD_LIMIT) {
      this.lose(`has a header of more than ${HEAD_LIMIT >> 10} KiB`)
      return at
    }
    this.#line.push(piece)
    if (feed < 0) {
      if (!this.#isReleased && this.#expects === 'start' && this.#diverts()) return this.#divert()
      this.#held.push(piece)
      if (this.#isReleased || !this.#mustHold()) this.#release()
      return end
    }
    if (!this.#isReleased && this.#expects === 'start' && this.#diverts()) return this.#divert()
    this.#held.push(piece)
    const line = this.#lineText()
    if (line.at(-2) === '\r') this.#takeLine(line.slice(0, -2))
    else this.lose('has a line that ends without CR')
    return end
  }

  #lineText(): string {
    const [first, ...more] = this.#line
    if (first === undefined) return ''
    return (more.length === 0 ? first : Buffer.concat(this.#line)).toString('latin1')
  }

  #takeLine(sent: string): void {
    const text = this.#expects === 'field' ? this.#editHost(sent) : sent
    this.#passHeld()
    this.#line = []
    this.#isReleased = false
    if (CONTROL.test(text)) {
      this.lose('has a control character in its header')
      return
    }
    if (this.#expects === 'start') this.#takeStart(text)
    else if (this.#expects === 'size') this.#takeSize(text)
    else if (this.#expects === 'data end') this.#endChunk(text)
    else if (text === '') this.#endFields()
    else this.#takeField(text)
  }

  #takeStart(text: string): void {
    // Servers treat an empty line before a request as the end of the previous body.
    if (text === '' && this.#editor !== undefined) return
    const isRight = (this.#editor === undefined ? RESPONSE_START : REQUEST_START).test(text)
    if (!isRight) {
      this.lose('does not begin as a message of HTTP/1.1')
      return
    }
    this.#startLine = text
    this.#expects = 'field'
  }

  /** A header line or a trailer line after the last chunk. */
  #takeField(text: string): void {
    const [, name, value] = FIELD.exec(text) ?? []
    if (name === undefined || value === undefined) this.lose('has a line in its header that is no header field')
    else if (this.#expects === 'field') this.#fields.push([name, value])
  }

  #endFields(): void {
    if (this.#expects === 'field') this.#endHead()
    else this.#endMessage()
  }

  #endChunk(text: string): void {
    if (text !== '') this.lose('has a chunk that is longer than its size')
    this.#expects = 'size'
    this.#headSize = 0
  }

  /** The line as it is passed on: the value of a Host field may be replaced. */
  #editHost(line: string): string {
    const [, beginning = '', value = '', ending = ''] = /^(host:[ \t]*)(.*?)([ \t]*)$/i.exec(line) ?? []
    if (this.#editor === undefined || beginning === '' || CONTROL.test(line)) return line
    const other = this.#editor.hostFor(value)
    if (other === value) return line
    const edited = `${beginning}${other}${ending}`
    this.#held = [Buffer.from(`${edited}\r\n`, 'latin1')]
    return edited
  }

  #takeSize(text: string): void {
    const size = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(text)?.[1]
    if (size === undefined) {
      this.lose('has a chunk without a valid size')
      return
    }
    this.#left = Number.parseInt(size, 16)
    this.#headSize = 0
    if (this.#left === 0) this.#expects = 'trailer'
    else this.#state = 'chunk'
  }

  #endHead(): void {
    const framing = this.#listener.head({ startLine: this.#startLine, fields: this.#fields })
    this.#fields = []
    this.#headSize = 0
    if (typeof framing === 'object') this.lose(framing.lost)
    else if (framing === 'chunked') this.#expects = 'size'
    else if (framing === 'until close') this.#state = 'rest'
    else if (framing === 0) this.#endMessage()
    else {
      this.#left = framing
      this.#state = 'body'
    }
  }

  #readBody(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#left)
    const part = chunk.subarray(at, end)
    this.#pass(part)
    this.#left -= part.length
    this.#listener.body(part)
    if (this.#left > 0) return end
    if (this.#state === 'chunk') {
      this.#state = 'line'
      this.#expects = 'data end'
    } else this.#endMessage()
    return end
  }

  #endMessage(): void {
    this.#state = 'line'
    this.#expects = 'start'
    this.#headSize = 0
    this.#listener.end()
  }

  /** Whether the line, as far as it has arrived, may have to be changed or diverted. */
  #mustHold(): boolean {
    if (this.#editor === undefined) return false
    const text = this.#lineText()
    if (this.#expects === 'field') return 'host:'.startsWith(text.slice(0, 5).toLowerCase())
    if (this.#expects !== 'start' || text.length > HELD_LIMIT) return false
    // In another protocol, a line may never end.
    if (!REQUEST_BEGINNING.test(text)) return false
    const target = text.split(' ', 2)[1]
    return target === undefined || this.#editor.diverts(target, false) === undefined
  }

  /** Whether the request that begins with this line certainly must not be passed on. */
  #diverts(): boolean {
    if (this.#editor === undefined) return false
    const [, target, rest] = /^\S* (\S*)(\s?)/.exec(this.#lineText()) ?? []
    return target !== undefined && this.#editor.diverts(target, rest !== '') === true
  }

  #divert(): -1 {
    this.#line = []
    return -1
  }

  #release(): void {
    this.#isReleased = true
    this.#passHeld()
  }

  #passHeld(): void {
    for (const piece of this.#held) this.#pass(piece)
    this.#held = []
  }

  /** Joins pieces that are adjacent in memory, so that most bytes that arrive together are sent together. */
  #pass(piece: Buffer): void {
    const last = this.#out.at(-1)
    if (last !== undefined && last.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset) {
      this.#out[this.#out.length - 1] = Buffer.from(last.buffer, last.byteOffset, last.length + piece.length)
    } else if (piece.length > 0) this.#out.push(piece)
  }
}
