/** A part of a file, in bytes. */
export interface Extent {
  offset: number
  length: number
}

/** Receives what the scanner finds in a HAR file. */
export interface EntryListener {
  /** An entry of `log.entries`, numbered from 1 in file order. Its bytes are valid until the listener returns. */
  onEntry(bytes: Buffer, extent: Extent, number: number): void
  /** An entry that cannot be read. `reason` continues a sentence whose subject is the entry. */
  onLostEntry(reason: string, number: number): void
}

/** Where a file stops being valid. */
export interface Break {
  /** In bytes from the beginning. */
  offset: number
  /** A short phrase: `the file ends within an entry`. */
  reason: string
}

export const ENTRY_LIMITS = {
  /** The bytes of one entry, bodies included. */
  bytes: 64 << 20,
  /** How deeply the values in an entry may be nested. Present HAR recorders need about ten levels. */
  depth: 200,
} as const

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA] = [34, 92, 123, 125, 91, 93, 44]
const LONGEST_NAME = 64
const LONGEST_CREATOR = 4096

/** The levels above the entries: 1 is the document, 2 is `log` in it, 3 is `entries` in that. */
type ScanLevel = 0 | 1 | 2 | 3

/**
 * Finds the entries of a HAR file that comes in pieces, without parsing them. It keeps at most one entry in memory. It
 * examines the rest of the file only as far as this is needed to find the entries.
 */
export class EntryScanner {
  /** Whether the file has a list of entries. */
  hasEntries = false
  /** How many entries were found so far, including those that cannot be read. */
  count = 0
  /** The JSON of `log.creator`, if it was found and is short. */
  creator: string | undefined
  readonly #listener: EntryListener
  /** The bytes before the present piece. */
  #before = 0
  /** `#depth` counts the open values. `#level` counts the outermost of them that lead to the entries. */
  #depth = 0
  #level: ScanLevel = 0
  #inString = false
  #isEscaped = false
  /** Within the document or `log`: whether a string is a name, the latest name, and where a string began. */
  #isName = false
  #name = ''
  #capture: Capture | undefined
  #deepest = 0
  /** Whether the list contains something other than objects. */
  #isStray = false
  #hasEnded = false
  #broken: Break | undefined

  constructor(listener: EntryListener) {
    this.#listener = listener
  }

  /** Scans the next piece. Returns `false` if nothing after it can be read. */
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

  /** Must be called after the last piece. Returns what is wrong with the file, if anything. */
  end(): Break | undefined {
    if (this.#broken !== undefined || this.#hasEnded) return this.#broken
    const isWithin = this.#level === 3 && this.#depth > 3
    return {
      offset: this.#before,
      reason: isWithin ? 'the file ends within an entry' : 'the end of the file is missing',
    }
  }

  /** Reads a byte between the values of the document, of `log` or of the list. */
  #readOutside(byte: number, at: number): boolean {
    const level = this.#level
    if (this.#hasEnded) return this.#break(at, 'there is more after the end of the document')
    if (level === 0) {
      if (byte !== OPEN_OBJECT) return this.#break(at, 'the document is not an object')
      this.#descend(1)
    } else if (byte === (level === 3 ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.#endStray()
      this.#depth--
      this.#level = (level - 1) as ScanLevel
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

  #descend(level: ScanLevel): void {
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
  #stepAt(isObject: boolean): ScanLevel | undefined {
    if (this.#level === 1 && this.#name === 'log' && isObject) return 2
    if (this.#level !== 2 || this.#name !== 'entries' || isObject) return undefined
    this.hasEntries = true
    return 3
  }

  #endValue(piece: Buffer, at: number): void {
    const capture = this.#capture
    this.#capture = undefined
    if (capture === undefined) return
    const bytes = capture.end(piece, at)
    if (this.#level !== 3) {
      this.creator = bytes?.toString()
      return
    }
    const number = ++this.count
    if (bytes === undefined) this.#listener.onLostEntry(`is larger than ${ENTRY_LIMITS.bytes} bytes`, number)
    else if (this.#deepest - 3 > ENTRY_LIMITS.depth) {
      this.#listener.onLostEntry(`is nested more deeply than ${ENTRY_LIMITS.depth} levels`, number)
    } else this.#listener.onEntry(bytes, { offset: capture.offset, length: bytes.length }, number)
  }

  #endStray(): void {
    if (!this.#isStray) return
    this.#isStray = false
    this.#listener.onLostEntry('is no object', ++this.count)
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
  /** Where the value begins in the present piece. */
  #start: number

  constructor(offset: number, start: number, limit: number) {
    this.offset = offset
    this.#start = start
    this.#limit = limit
  }

  /** Copies the bytes in a piece, because the memory of the piece is reused. */
  keep(piece: Buffer, end: number): void {
    const size = end - this.#start
    this.#size += size
    if (this.#size > this.#limit) this.#parts.length = 0
    else this.#parts.push(Buffer.from(piece.subarray(this.#start, end)))
    this.#start = 0
  }

  /** The whole value, including the byte at `at`; `undefined` if it is larger than the limit. */
  end(piece: Buffer, at: number): Buffer | undefined {
    const last = piece.subarray(this.#start, at + 1)
    if (this.#size + last.length > this.#limit) return undefined
    return this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last])
  }
}
