/** A shorter secret is not searched for: every `x` would match in nearly every text. */
const SHORTEST = 3
/** A secret of at most this length is found only if it stands alone, because it may be part of an ordinary word. */
export const SHORT = 7
const ALONE = /[\w.-]/
const BEYOND_ASCII = /[^ -~]/

/**
 * The known secrets. They are found in a text in one pass, whose time depends on the length of the text and hardly on
 * the number of secrets. Upper and lower case are equal, because a text may have been part of a hostname.
 */
export class Secrets {
  readonly #secrets = new Set<string>()
  /** The spellings by the number that their first three characters give, see `rootAfter`. */
  readonly #spellings = new Map<number, string[]>()
  /** One bit for each of these numbers, because most texts have none of them. */
  readonly #roots = new Uint32Array(128)
  #longest = 0

  constructor(secrets: Iterable<string> = []) {
    for (const secret of secrets) this.add(secret)
  }

  get size(): number {
    return this.#secrets.size
  }

  /** The length of the longest spelling. */
  get longest(): number {
    return this.#longest
  }

  add(secret: string): void {
    if (secret.length < SHORTEST || this.has(secret)) return
    this.#secrets.add(fold(secret))
    for (const spelling of spell(secret)) {
      this.#longest = Math.max(this.#longest, spelling.length)
      const root = rootOf(spelling)
      this.#roots[root >>> 5] = (this.#roots[root >>> 5] ?? 0) | (1 << (root & 31))
      this.#spellings.set(root, [...(this.#spellings.get(root) ?? []), spelling])
    }
  }

  /** Forgets a secret. What was found by its spellings is found by those of other secrets still. */
  delete(secret: string): void {
    if (!this.#secrets.delete(fold(secret))) return
    for (const spelling of spell(secret)) {
      const root = rootOf(spelling)
      const spellings = this.#spellings.get(root) ?? []
      this.#spellings.set(root, spellings.toSpliced(spellings.indexOf(spelling), 1))
    }
  }

  has(secret: string): boolean {
    return this.#secrets.has(fold(secret))
  }

  /** The first place, not before `from`, where a secret seems to begin; -1 if there is none. It creates no object. */
  nextIn(text: string, from = 0): number {
    let root = 0
    for (let place = from; place < text.length; place++) {
      root = rootAfter(root, text.charCodeAt(place))
      if (((this.#roots[root >>> 5] ?? 0) & (1 << (root & 31))) === 0) continue
      const start = place + 1 - SHORTEST
      if (start < from) continue
      for (const spelling of this.#spellings.get(root) ?? []) if (seemsToBeginAt(start, text, spelling)) return start
    }
    return -1
  }

  /** Calls `note` for every secret in the text. */
  find(text: string, note: (start: number, end: number) => void): void {
    let start = this.nextIn(text)
    if (start < 0) return
    const folded = fold(text)
    for (; start >= 0; start = this.nextIn(text, start + 1)) {
      for (const spelling of this.#spellings.get(rootOf(folded, start)) ?? []) {
        const end = start + spelling.length
        if (folded.startsWith(spelling, start) && (spelling.length > SHORT || standsAlone(text, start, end)))
          note(start, end)
      }
    }
  }
}

function rootOf(text: string, start = 0): number {
  let root = 0
  for (let place = start; place < start + SHORTEST; place++) root = rootAfter(root, text.charCodeAt(place))
  return root
}

/** A number that depends on a character and the two before it. It is the same for capital and small letters. */
function rootAfter(root: number, code: number): number {
  return ((root << 4) ^ (code | CASE)) & 0xfff
}

/** The bit in which capital letters differ from small ones. It joins a few other characters too. */
const CASE = 0x20

function seemsToBeginAt(start: number, text: string, spelling: string): boolean {
  for (let place = 0; place < spelling.length; place++) {
    if ((text.charCodeAt(start + place) | CASE) !== (spelling.charCodeAt(place) | CASE)) return false
  }
  return true
}

function standsAlone(text: string, start: number, end: number): boolean {
  return !ALONE.test(text.charAt(start - 1)) && !ALONE.test(text.charAt(end))
}

/** A text in small letters. Only ASCII: in other alphabets, a text may change its length. */
function fold(text: string): string {
  return BEYOND_ASCII.test(text) ? text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text.toLowerCase()
}

/** The secret as it is, as the bytes of UTF-8, with the spaces of a form in a URL, and in a JSON pointer (RFC 6901). */
function spell(secret: string): Set<string> {
  const bytes = Buffer.from(secret).toString('latin1')
  const forms = [bytes, bytes.replaceAll(' ', '+')]
  return new Set([secret, ...forms, secret.replaceAll('~', '~0').replaceAll('/', '~1')].map(fold))
}
