/** A part of a file, in bytes. */
export interface Extent {
  offset: number
  length: number
}

/** What is found in a HAR file on the way through it. */
export interface EntryListener {
  /** One of `log.entries`, from 1 in the order of the file. Its bytes are there until the listener returns. */
  onEntry(bytes: Buffer, extent: Extent, number: number): void
  /** One of them that cannot be read: `reason` is the rest of a sentence that begins with it. */
  onLostEntry(reason: string, number: number): void
}

/** Where a file stops being what it should be. */
export interface Break {
  /** In bytes from the beginning. */
  offset: number
  /** A few words: `the file ends within an entry`. */
  reason: string
}

export const ENTRY_LIMITS = {
  /** The bytes of one entry, bodies included. */
  bytes: 64 << 20,
  /** How deeply the values in an entry may be nested. A HAR of today's recorders needs about ten levels. */
  depth: 200,
} as const

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA] = [34, 92, 123, 125, 91, 93, 44]
const LONGEST_NAME = 64
const LONGEST_CREATOR = 4096

/** The steps to the list of entries: the document, `log` in it, `entries` in that. */
type Level = 0 | 1 | 2 | 3

/**
 * Finds the entries of a HAR file that comes in pieces, without reading what is in them. It keeps no more than one entry.
 * What stands beside the entries is only looked at as far as is needed to find them.
 */
export class EntryScanner {
  readonly #listener: EntryListener
  /** The bytes before the present piece. */
  #before = 0
  /** How many values are open, and how many of the outermost ones are the steps to the entries. */
  #depth = 0
  #level: Level = 0
  #inString = false
  #isEscaped = false
  /** Within the document or `log`: whether a string is a name, the latest name, and where a string began. */
  #isName = false
  #name = ''
  #capture: Capture | undefined
  #number = 0
  #deepest = 0
  /** Whether something stands in the list that is no object. */
  #isStray = false
  #hasEntries = false
  #hasEnded = false
  #broken: Break | undefined
  #creator: string | undefined

  constructor(listener: EntryListener) {
    this.#listener = listener
  }

  /** Whether there is a list of entries. */
  get hasEntries(): boolean {
    return this.#hasEntries
  }

  /** How many entries there are so far, those included that cannot be read. */
  get count(): number {
    return this.#number
  }

  /** The JSON of `log.creator`, as far as it is there and short. */
  get creator(): string | undefined {
    return this.#creator
  }

  /** Looks at the next piece. Returns `false` when nothing that comes later can be read. */
  push(piece: Buffer): boolean {
    const end = piece.length
    for (let at = 0; at < end; at++) {
      const byte = piece[at] as number
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) this.#endString(piece, at)
        continue
      }
      if (byte <= 32) continue
      if (this.#depth === this.#level) {
        if (!this.#readOutside(byte, at)) return false
      } else if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++this.#depth > this.#deepest) this.#deepest = this.#depth
      } else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --this.#depth === this.#level) {
        this.#endValue(piece, at)
      }
    }
    this.#capture?.keep(piece, end)
    this.#before += end
    return true
  }

  /** To be called after the last piece: what is wrong with the file, if anything is. */
  end(): Break | undefined {
    if (this.#broken !== undefined || this.#hasEnded) return this.#broken
    const isWithin = this.#level === 3 && this.#depth > 3
    return {
      offset: this.#before,
      reason: isWithin ? 'the file ends within an entry' : 'the end of the file is missing',
    }
  }

  /** A byte that is not within a value: of the document, of `log`, or of the list. */
  #readOutside(byte: number, at: number): boolean {
    const level = this.#level
    if (this.#hasEnded) return this.#break(at, 'there is more after the end of the document')
    if (level === 0) {
      if (byte !== OPEN_OBJECT) return this.#break(at, 'the document is not an object')
      this.#descend(1)
    } else if (byte === (level === 3 ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.#endStray()
      this.#depth--
      this.#level = (level - 1) as Level
      this.#hasEnded = this.#level === 0
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      return this.#break(at, 'a bracket closes what was not opened')
    } else if (byte === COMMA) {
      this.#endStray()
      this.#isName = level < 3
    } else if (byte === QUOTE) this.#beginString(at)
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#beginValue(byte, at)
    else if (level === 3) this.#isStray = true
    return true
  }

  #descend(level: Level): void {
    this.#level = level
    this.#depth++
    this.#isName = level < 3
    this.#name = ''
  }

  #beginString(at: number): void {
    this.#inString = true
    if (this.#level === 3) this.#isStray = true
    else if (this.#isName) this.#capture = new Capture(this.#before + at, at, LONGEST_NAME)
  }

  #endString(piece: Buffer, at: number): void {
    this.#inString = false
    if (this.#depth !== this.#level || !this.#isName) return
    this.#name = this.#capture?.end(piece, at)?.subarray(1, -1).toString() ?? ''
    this.#capture = undefined
    this.#isName = false
  }

  #beginValue(byte: number, at: number): void {
    const isObject = byte === OPEN_OBJECT
    const leadsTo = this.#stepAt(isObject)
    if (leadsTo !== undefined) {
      this.#descend(leadsTo)
      return
    }
    this.#depth++
    this.#deepest = this.#depth
    if (this.#level === 3 && isObject) this.#capture = new Capture(this.#before + at, at, ENTRY_LIMITS.bytes)
    else if (this.#level === 3) this.#isStray = true
    else if (this.#level === 2 && this.#name === 'creator') {
      this.#capture = new Capture(this.#before + at, at, LONGEST_CREATOR)
    }
  }

  /** The level of a value that begins here, if it is a step to the entries. */
  #stepAt(isObject: boolean): Level | undefined {
    if (this.#level === 1 && this.#name === 'log' && isObject) return 2
    if (this.#level !== 2 || this.#name !== 'entries' || isObject) return undefined
    this.#hasEntries = true
    return 3
  }

  #endValue(piece: Buffer, at: number): void {
    const capture = this.#capture
    this.#capture = undefined
    if (capture === undefined) return
    const bytes = capture.end(piece, at)
    if (this.#level !== 3) {
      this.#creator = bytes?.toString()
      return
    }
    const number = ++this.#number
    if (bytes === undefined) this.#listener.onLostEntry(`is larger than ${ENTRY_LIMITS.bytes} bytes`, number)
    else if (this.#deepest - 3 > ENTRY_LIMITS.depth) {
      this.#listener.onLostEntry(`is nested more deeply than ${ENTRY_LIMITS.depth} levels`, number)
    } else this.#listener.onEntry(bytes, { offset: capture.offset, length: bytes.length }, number)
  }

  #endStray(): void {
    if (!this.#isStray) return
    this.#isStray = false
    this.#listener.onLostEntry('is no object', ++this.#number)
  }

  #break(at: number, reason: string): false {
    this.#broken = { offset: this.#before + at, reason }
    return false
  }
}

/** The bytes of a value that may lie in several pieces. */
class Capture {
  readonly offset: number
  readonly #limit: number
  readonly #parts: Buffer[] = []
  #size = 0
  /** Where it begins in the present piece. */
  #start: number

  constructor(offset: number, start: number, limit: number) {
    this.offset = offset
    this.#start = start
    this.#limit = limit
  }

  /** Copies what is in a piece, whose memory is used again. */
  keep(piece: Buffer, end: number): void {
    const size = end - this.#start
    this.#size += size
    if (this.#size > this.#limit) this.#parts.length = 0
    else this.#parts.push(Buffer.from(piece.subarray(this.#start, end)))
    this.#start = 0
  }

  /** All of it, up to and with the byte at `at`; `undefined` if it is larger than the limit. */
  end(piece: Buffer, at: number): Buffer | undefined {
    const last = piece.subarray(this.#start, at + 1)
    if (this.#size + last.length > this.#limit) return undefined
    return this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
  }
}
