import { findFirst } from '../../ground/search.ts'
import { CUT } from './spellings.ts'

/** A shorter secret is not searched for: every `x` would match in nearly every text. */
const SHORTEST = 3
/** A secret of at most this length is found only if it stands alone, because it may be part of an ordinary word. */
export const SHORT = 7

/**
 * The maximum number of compared characters for each character of a text. Secrets from real life take one or two. Only
 * a text that is made to be expensive takes more. All of it is hidden.
 */
const MOST_STEPS = 16
const FEW_STEPS = 10_000
const ALONE = /[\w.-]/
const BEYOND_ASCII = /[^ -~]/
const BASE64 = /[0-9A-Za-z+/_-]/

/** Is called with the part of a text from `start` to `end`. */
type Note = (start: number, end: number) => void

/**
 * Finds secrets in a text in one pass. The time depends on the length of the text and hardly on the number of secrets.
 * Upper and lower case are equal, because a text may have been part of a hostname.
 */
export class SecretIndex {
  /**
   * Spelling in small letters → how many characters on each side of it are also secret. One is beside the inner part of
   * a base64 text: it encodes a part of the secret and something else.
   */
  readonly #margins = new Map<string, number>()
  /** The spellings by their first three characters, sorted. */
  readonly #sorted = new Map<number, string[]>()
  /** A bit for each of these beginnings, see `bitOf`; made when it is needed. */
  #beginnings: Uint32Array | undefined

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  get isEmpty(): boolean {
    return this.#margins.size === 0
  }

  add(secret: string): void {
    this.#insert(fold(secret), 0)
    for (const spelling of spellInBase64(secret)) this.#insert(fold(spelling), 1)
  }

  has(secret: string): boolean {
    return this.#margins.has(fold(secret))
  }

  /** Calls `note` for every secret in the text, and for the beginning of a secret at the end of a cut text. */
  find(text: string, note: Note): void {
    if (this.isEmpty) return
    const folded = fold(text)
    const isCut = folded.includes(CUT)
    this.#beginnings ??= bitsOf(this.#sorted.keys())
    const beginnings = this.#beginnings
    let steps = MOST_STEPS * text.length + FEW_STEPS
    let root = rootAt(folded, 0)
    for (let start = 0; start <= folded.length - SHORTEST; start++) {
      if (start > 0) root = nextRoot(root, folded.charCodeAt(start + 2))
      // Nearly every place of a text ends here. A look into the map takes many times as long.
      const bit = bitOf(root)
      if ((((beginnings[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0) continue
      const spellings = this.#sorted.get(root)
      if (spellings === undefined) continue
      steps -= this.#match(spellings, folded, start, isCut, note)
      if (steps >= 0) continue
      note(0, text.length)
      return
    }
  }

  #insert(spelling: string, margin: number): void {
    if (spelling.length < SHORTEST) return
    const known = this.#margins.get(spelling)
    this.#margins.set(spelling, Math.max(known ?? 0, margin))
    if (known !== undefined) return
    const root = rootAt(spelling, 0)
    const list = this.#sorted.get(root) ?? []
    const place = findFirst(0, list.length, (index) => (list[index] ?? '') < spelling)
    list.splice(place, 0, spelling)
    this.#sorted.set(root, list)
    this.#beginnings = undefined
  }

  /**
   * Calls `note` for the longest spelling at `start`, or for the beginning of a longer one that the text cuts off, which
   * only a text with `isCut` does. Returns the number of characters that it compared.
   */
  #match(spellings: readonly string[], text: string, start: number, isCut: boolean, note: Note): number {
    const codeAt = (index: number, place: number) => (spellings[index] ?? '').charCodeAt(place)
    let [low, high] = [0, spellings.length]
    let shared = 0
    let found = ''
    for (let length = 0; low < high; length++) {
      shared = length
      // All spellings from `low` to `high` have these characters in common with the text. If one of them ends here, it is the first.
      const first = spellings[low] ?? ''
      if (first.length === length) {
        if (length > SHORT || standsAlone(text, start, start + length)) found = first
        low++
      } else if (high - low === 1 && !isCut && first.length > text.length - start) break
      const code = text.charCodeAt(start + length)
      if (codeAt(low, length) !== code) low = findFirst(low, high, (index) => codeAt(index, length) < code)
      if (codeAt(high - 1, length) !== code) high = findFirst(low, high, (index) => codeAt(index, length) <= code)
    }
    const end = start + found.length
    // A secret may have the sign of a cut in itself, so only the place where the shared characters end counts.
    if (shared > Math.max(found.length, SHORT) && text[start + shared] === CUT) note(start, start + shared)
    else if (found !== '') {
      const margin = this.#margins.get(found) ?? 0
      const countBeside = (place: number) => (BASE64.test(text.charAt(place)) ? margin : 0)
      note(start - countBeside(start - 1), end + countBeside(end))
    }
    return shared
  }
}

/** Seven bits of each of three characters. */
function rootAt(text: string, start: number): number {
  const [one, two, three] = [text.charCodeAt(start), text.charCodeAt(start + 1), text.charCodeAt(start + 2)]
  return ((one & 127) << 14) | ((two & 127) << 7) | (three & 127)
}

/** The root at the next place of a text, of which `code` is the third character. */
function nextRoot(root: number, code: number): number {
  return ((root << 7) & 0x1f_ff80) | (code & 127)
}

/** One of 4,096 bits. Several roots share a bit. */
function bitOf(root: number): number {
  return (root ^ (root >>> 9)) & 4_095
}

function bitsOf(roots: Iterable<number>): Uint32Array {
  const bits = new Uint32Array(128)
  for (const root of roots) bits[bitOf(root) >>> 5] = (bits[bitOf(root) >>> 5] ?? 0) | (1 << (bitOf(root) & 31))
  return bits
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !ALONE.test(text.charAt(start - 1)) && !ALONE.test(text.charAt(end))
}

/** A text in small letters. Only ASCII: in other alphabets, a text may change its length. */
function fold(text: string): string {
  return BEYOND_ASCII.test(text) ? text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text.toLowerCase()
}

/**
 * The forms of a secret within a base64 text, in either alphabet (RFC 4648): one for each position of its first byte in
 * a group of three. A form has only the characters that encode nothing but the secret. One more character at each end
 * encodes a part of it. A secret that is as short as ordinary words has no form.
 */
function spellInBase64(secret: string): string[] {
  const bytes = Buffer.from(`  ${secret}`)
  return [0, 1, 2].flatMap((before) => {
    const bits = (bytes.length - 2 + before) * 8
    const inner = bytes.toString('base64', 2 - before).slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6))
    return inner.length > SHORT ? [inner, inner.replaceAll('+', '-').replaceAll('/', '_')] : []
  })
}
