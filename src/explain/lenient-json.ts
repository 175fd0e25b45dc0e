import { define, type Json } from '../ground/json.ts'

/** Deeper than any body of the service; what is nested deeper is no slip of the pen. */
const DEPTH = 16

/** The text is not even nearly JSON. */
class Beyond extends Error {}

/** What stands where a text breaks off. */
const UNFINISHED = Symbol('unfinished')

/**
 * The value that a text nearly spells in JSON, `undefined` where it is no slip of the pen. Forgiven are comments,
 * commas too many or too few, quotes of other kinds or none, words of other languages, raw line breaks in strings,
 * whatever follows the value, and an end that is missing: what breaks off in the middle is left out with it.
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
    // A word alone is no JSON that went wrong but something else.
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

  /** Skips commas and comments, and the closing bracket where it stands; false there and at the end of the text. */
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
