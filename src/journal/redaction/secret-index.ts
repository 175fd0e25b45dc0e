/** The replacement for the end of a cut text. */
export const CUT = '…'
/** A shorter secret is not searched for: every `x` would match in nearly every text. */
const SHORTEST = 3
/** A secret of at most this length is found only if it stands alone, because it may be part of an ordinary word. */
export const SHORT = 7

/** The bits of three characters. Each has seven bits. */
const THREE = (1 << 21) - 1
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
    this.#addSpelling({ text: fold(secret), isEncoded: false })
    for (const text of spellInBase64(secret)) this.#addSpelling({ text: fold(text), isEncoded: true })
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
    let root = 0
    const isCut = folded.includes(CUT)
    let steps = MOST_STEPS * text.length + FEW_STEPS
    for (let last = 0; last < folded.length; last++) {
      root = ((root << 7) | (folded.charCodeAt(last) & 127)) & THREE
      const start = last - 2
      const list = start < 0 ? undefined : this.#spellings.get(root)
      if (list === undefined) continue
      steps -= match(list, folded, start, isCut, note)
      if (steps < 0) {
        note(0, text.length)
        return
      }
    }
  }

  #addSpelling(spelling: Spelling): void {
    const { text } = spelling
    if (text.length < SHORTEST) return
    const root = rootOf(text)
    const list = this.#spellings.get(root) ?? []
    const place = countUpTo(text, list)
    const known = list[place - 1]
    if (known?.text === text) known.isEncoded ||= spelling.isEncoded
    else list.splice(place, 0, spelling)
    this.#spellings.set(root, list)
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
  if (cut > end && most > SHORT && text[cut] === CUT) note(start, cut)
  else if (spelling?.isEncoded) note(before(text, start), behind(text, end))
  else if (end > start) note(start, end)
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

/** The beginning of a secret in base64. `start` is the first character that encodes nothing but the secret. */
function before(text: string, start: number): number {
  return BASE64.test(text.charAt(start - 1)) ? start - 1 : start
}

function behind(text: string, end: number): number {
  return BASE64.test(text.charAt(end)) ? end + 1 : end
}

function rootOf(text: string): number {
  let root = 0
  for (let index = 0; index < SHORTEST; index++) root = (root << 7) | (text.charCodeAt(index) & 127)
  return root
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
  const spellings = new Set<string>()
  const bytes = Buffer.from(`  ${secret}`)
  for (let before = 0; before < 3; before++) {
    const bits = (bytes.length - 2 + before) * 8
    const inner = bytes.toString('base64', 2 - before).slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6))
    if (inner.length <= SHORT) continue
    spellings.add(inner)
    if (/[+/]/.test(inner)) spellings.add(inner.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return [...spellings]
}
