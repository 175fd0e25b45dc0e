import { define, type Json } from '../ground/json.ts'

/** This is deeper than any body of the service. A text with deeper nesting is no JSON with a mistake. */
const DEPTH = 16

/** The text is too different from JSON. */
class Beyond extends Error {}

/** The value at the position where a text ends too early. */
const UNFINISHED = Symbol('unfinished')

/**
 * The value of a text that is nearly JSON; `undefined` if it is not. It tolerates comments, missing and extra commas,
 * and other quotes or none. It also tolerates literals of other languages, raw line breaks in strings, text after the
 * value, and a missing end. A value that is cut off in the middle is left out.
 */
export function parseNearlyJson(text: string): unknown {
  try {
    const value = new Reader(text).read()
    return value === UNFINISHED ? undefined : value
  } catch (error) {
    if (error instanceof Beyond) return undefined
    throw error
  }
}

const WORDS: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  null: null,
  None: null,
  undefined: null,
}
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }
const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", '`': '`', '“': '”', '‘': '’' }
const GAP = /\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.-])/y
const WORD = /[^\s"'`{}[\],:/]+/y

class Reader {
  readonly #text: string
  #position = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): unknown {
    this.#skipGaps()
    // A single word is no JSON with a mistake.
    if (!'{["'.includes(this.#next() || ' ')) throw new Beyond()
    return this.#value(DEPTH)
  }

  #value(depth: number): unknown {
    if (depth === 0) throw new Beyond()
    this.#skipGaps()
    const next = this.#next()
    if (next === '') return UNFINISHED
    if (next === '{') return this.#object(depth)
    if (next === '[') return this.#array(depth)
    if (CLOSING[next] !== undefined) return this.#string()
    const number = this.#take(NUMBER)
    if (number === '') return this.#word()
    return this.#next() === '' ? UNFINISHED : Number(number)
  }

  #object(depth: number): Json {
    const object: Json = {}
    this.#position++
    while (this.#isWithin('}')) {
      const key = CLOSING[this.#next()] === undefined ? this.#word() : this.#string()
      if (key === UNFINISHED) break
      this.#skipGaps()
      if (this.#next() === '') break
      if (this.#next() !== ':') throw new Beyond()
      this.#position++
      const value = this.#value(depth - 1)
      if (value === UNFINISHED) break
      define(object, String(key), value)
    }
    return object
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = []
    this.#position++
    while (this.#isWithin(']')) {
      const value = this.#value(depth - 1)
      if (value === UNFINISHED) break
      array.push(value)
    }
    return array
  }

  /** Skips commas and comments. Returns false at the end of the text and at a closing bracket, which it also skips. */
  #isWithin(closing: string): boolean {
    this.#skipGaps()
    while (this.#next() === ',') {
      this.#position++
      this.#skipGaps()
    }
    if (this.#next() !== closing) return this.#next() !== ''
    this.#position++
    return false
  }

  #string(): string | typeof UNFINISHED {
    const closing = CLOSING[this.#next()]
    let string = ''
    for (this.#position++; this.#next() !== ''; this.#position++) {
      if (this.#next() === closing) {
        this.#position++
        return string
      }
      string += this.#next() === '\\' ? this.#escaped() : this.#next()
    }
    return UNFINISHED
  }

  #escaped(): string {
    this.#position++
    const unit = this.#text.slice(this.#position + 1, this.#position + 5)
    if (this.#next() !== 'u' || !/^[0-9a-f]{4}$/i.test(unit)) return ESCAPES[this.#next()] ?? this.#next()
    this.#position += 4
    return String.fromCharCode(Number.parseInt(unit, 16))
  }

  #word(): unknown {
    const word = this.#take(WORD)
    if (word === '') throw new Beyond()
    if (this.#next() === '') return UNFINISHED
    return Object.hasOwn(WORDS, word) ? WORDS[word] : word
  }

  #skipGaps(): void {
    while (this.#take(GAP) !== '');
  }

  #next(): string {
    return this.#text.charAt(this.#position)
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#position
    const [taken = ''] = pattern.exec(this.#text) ?? []
    this.#position += taken.length
    return taken
  }
}
