/** The replacement for the end of a cut text. */
export const CUT = '…'
/** A shorter secret is not searched for: every `x` would match in nearly every text. */
const SHORTEST = 3
/** A secret of at most this length is found only if it stands alone, because it may be part of an ordinary word. */
export const SHORT = 7

/**
 * The maximum number of compared characters for each character of a text. Secrets from real life take one or two. Only
 * a text that is made to be expensive takes more, and all of it is hidden.
 */
const MOST_STEPS = 64
const FEW_STEPS = 10_000
const ALONE = /[\w.-]/
const BEYOND_ASCII = /[^ -~]/
const BASE64 = /[0-9A-Za-z+/_-]/

/** A text that a secret may have, in small letters. */
interface Spelling {
  text: string
  /** Whether it is the inner part of a base64 text. The characters beside it are also secret. */
  isEncoded: boolean
}

/** Is called with the part of a text from `start` to `end`. */
type Note = (start: number, end: number) => void

/**
 * Finds secrets in a text in one pass. The time depends on the length of the text and hardly on the number of secrets.
 * Upper and lower case are equal, because a text may have been part of a hostname.
 */
export class SecretIndex {
  /** By their first three characters, in the order of their texts. */
  readonly #spellings = new Map<number, Spelling[]>()

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  get isEmpty(): boolean {
    return this.#spellings.size === 0
  }

  add(secret: string): void {
    for (const spelling of new Set([secret, ...spellInBase64(secret)])) {
      const isEncoded = spelling !== secret
      const text = fold(spelling)
      if (text.length < SHORTEST) continue
      const root = rootOf(text)
      const list = this.#spellings.get(root) ?? []
      const place = countUpTo(text, list)
      const known = list[place - 1]
      if (known?.text === text) known.isEncoded ||= isEncoded
      else list.splice(place, 0, { text, isEncoded })
      this.#spellings.set(root, list)
    }
  }

  has(secret: string): boolean {
    const text = fold(secret)
    const list = this.#spellings.get(rootOf(text)) ?? []
    return list[countUpTo(text, list) - 1]?.text === text
  }

  /** Calls `note` for every secret in the text, and for the beginning of a secret at the end of a cut text. */
  find(text: string, note: Note): void {
    if (this.isEmpty) return
    const folded = fold(text)
    const isCut = folded.includes(CUT)
    let steps = MOST_STEPS * text.length + FEW_STEPS
    let root = rootOf(folded)
    for (let start = 0; start <= folded.length - SHORTEST; start++) {
      if (start > 0) root = append(root, folded.charCodeAt(start + 2))
      const list = this.#spellings.get(root)
      if (list === undefined) continue
      steps -= match(list, folded, start, isCut, note)
      if (steps < 0) {
        note(0, text.length)
        return
      }
    }
  }
}

/**
 * Calls `note` for the longest spelling at `start`, or for the beginning of a longer one that the text cuts off, which
 * only a text with `isCut` does. Returns the number of characters that it compared.
 */
function match(list: readonly Spelling[], text: string, start: number, isCut: boolean, note: Note): number {
  let end = start
  let rest = text.slice(start)
  const place = countUpTo(rest, list)
  let spelling = list[place - 1]
  // Of all spellings, one of these two neighbours shares most characters with the text.
  let most = isCut ? countShared(list[place]?.text ?? '', rest) : 0
  let compared = most
  while (spelling !== undefined) {
    const { length } = spelling.text
    const shared = countShared(spelling.text, rest)
    compared += shared
    most = Math.max(most, shared)
    if (shared === length && (length > SHORT || standsAlone(text, start, start + length))) {
      end = start + length
      break
    }
    // The next one to try is in what this one shares with the text.
    rest = rest.slice(0, Math.min(shared, length - 1))
    spelling = list[countUpTo(rest, list) - 1]
  }
  // A secret may have the sign of a cut in itself, so only the place where the shared characters end counts.
  const cut = start + most
  if (cut > end && most > SHORT && text[cut] === CUT) {
    note(start, cut)
    return compared
  }
  // Of a base64 text, each character beside a spelling encodes a part of the secret and something else.
  const countBeside = (place: number) => (spelling?.isEncoded && BASE64.test(text.charAt(place)) ? 1 : 0)
  if (end > start) note(start - countBeside(start - 1), end + countBeside(end))
  return compared
}

/** How many spellings are not after a text. They are those that equal it, begin it or are less. */
function countUpTo(text: string, list: readonly Spelling[]): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((list[middle] as Spelling).text <= text) low = middle + 1
    else high = middle
  }
  return low
}

function countShared(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let count = 0
  while (count < most && one.charCodeAt(count) === other.charCodeAt(count)) count++
  return count
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !ALONE.test(text.charAt(start - 1)) && !ALONE.test(text.charAt(end))
}

/** The first three characters of a text. */
function rootOf(text: string): number {
  return [0, 1, 2].reduce((root, place) => append(root, text.charCodeAt(place)), 0)
}

/** Keeps seven bits of each of the last three characters. */
function append(root: number, character: number): number {
  return ((root << 7) | (character & 127)) & 0x1f_ff_ff
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
