/** A part of a file, in bytes. */
export interface Extent {
  offset: number
  length: number
}

/** An entry of `log.entries`, numbered from 1 in file order. */
export interface FoundEntry extends Extent {
  number: number
  /** Why it cannot be read; it continues a sentence whose subject is the entry. */
  problem?: string
}

/** Where a file stops being valid. */
export interface Break {
  /** In bytes from the beginning. */
  offset: number
  /** A short phrase: `the file ends within an entry`. */
  reason: string
}

const ENTRY_LIMITS = {
  /** The bytes of one entry, bodies included. */
  bytes: 64 << 20,
  /** How deeply the values in an entry may be nested. Present HAR recorders need about ten levels. */
  depth: 200,
} as const

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA] = [34, 92, 123, 125, 91, 93, 44]
/** No name that leads to the entries is longer. */
const LONGEST_NAME = 16

/** The levels above the entries: 1 is the document, 2 is `log` in it, 3 is `entries` in that. */
type ScanLevel = 0 | 1 | 2 | 3

/**
 * Finds the entries of a HAR file that comes in pieces, without parsing them: it says where each of them is. It
 * examines the rest of the file only as far as this is needed to find the entries.
 */
export class EntryScanner {
  /** Whether the file has a list of entries. */
  hasEntries = false
  /** How many entries were found so far, including those that cannot be read. */
  count = 0
  /** Where `log.creator` is, if it was found. */
  creator: Extent | undefined
  #found: FoundEntry[] = []
  /** The bytes before the present piece. */
  #before = 0
  /** `#depth` counts the open values. `#level` counts the outermost of them that lead to the entries. */
  #depth = 0
  #level: ScanLevel = 0
  #inString = false
  #isEscaped = false
  /** Within the document or `log`: whether the next string is a name, and the beginning of the latest name. */
  #isName = false
  #name = ''
  /** Where the latest value of the present level began, and how deep it is. */
  #start = 0
  #deepest = 0
  /** Whether the list contains something other than objects. */
  #isStray = false
  #hasEnded = false
  #broken: Break | undefined

  /** Whether nothing after the present piece can be read. */
  get isBroken(): boolean {
    return this.#broken !== undefined
  }

  /** Scans the next piece. Returns the entries that end in it. */
  push(piece: Buffer): readonly FoundEntry[] {
    this.#found = []
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number
      if (this.#inString) this.#readInString(byte)
      else if (byte <= 32) continue
      else if (this.#depth === this.#level) {
        if (!this.#readOutside(byte, this.#before + at)) break
      } else if (byte === QUOTE) this.#inString = true
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (++this.#depth > this.#deepest) this.#deepest = this.#depth
      } else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --this.#depth === this.#level) {
        this.#endValue(this.#before + at + 1)
      }
    }
    this.#before += piece.length
    return this.#found
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

  #readInString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) {
      this.#inString = false
      if (this.#depth === this.#level) this.#isName = false
    } else if (this.#isName && this.#depth === this.#level && this.#name.length < LONGEST_NAME) {
      this.#name += String.fromCharCode(byte)
    }
  }

  /** Reads a byte between the values of the document, of `log` or of the list. */
  #readOutside(byte: number, offset: number): boolean {
    const level = this.#level
    if (this.#hasEnded) return this.#break(offset, 'there is more after the end of the document')
    if (level === 0) {
      if (byte !== OPEN_OBJECT) return this.#break(offset, 'the document is not an object')
      this.#descend(1)
    } else if (byte === (level === 3 ? CLOSE_ARRAY : CLOSE_OBJECT)) {
      this.#endStray()
      this.#depth--
      this.#level = (level - 1) as ScanLevel
      this.#hasEnded = this.#level === 0
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      return this.#break(offset, 'a bracket closes what was not opened')
    } else if (byte === COMMA) {
      this.#endStray()
      this.#expectName()
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#beginValue(byte === OPEN_OBJECT, offset)
    else {
      this.#inString = byte === QUOTE
      this.#isStray = level === 3
    }
    return true
  }

  #descend(level: ScanLevel): void {
    this.#level = level
    this.#depth++
    this.#expectName()
  }

  #expectName(): void {
    this.#isName = this.#level < 3
    this.#name = ''
  }

  #beginValue(isObject: boolean, offset: number): void {
    if (this.#level === 1 && this.#name === 'log' && isObject) this.#descend(2)
    else if (this.#level === 2 && this.#name === 'entries' && !isObject) {
      this.hasEntries = true
      this.#descend(3)
    } else {
      this.#deepest = ++this.#depth
      this.#start = offset
      if (this.#level === 3 && !isObject) this.#isStray = true
    }
  }

  #endValue(end: number): void {
    const extent = { offset: this.#start, length: end - this.#start }
    if (this.#level === 2 && this.#name === 'creator') this.creator = extent
    if (this.#level !== 3 || this.#isStray) return
    const problem =
      extent.length > ENTRY_LIMITS.bytes
        ? `is larger than ${ENTRY_LIMITS.bytes} bytes`
        : this.#deepest - 3 > ENTRY_LIMITS.depth
          ? `is nested more deeply than ${ENTRY_LIMITS.depth} levels`
          : undefined
    this.#found.push({ ...extent, number: ++this.count, ...(problem !== undefined && { problem }) })
  }

  #endStray(): void {
    if (!this.#isStray) return
    this.#isStray = false
    this.#found.push({ offset: this.#start, length: 0, number: ++this.count, problem: 'is no object' })
  }

  #break(offset: number, reason: string): false {
    this.#broken = { offset, reason }
    return false
  }
}
