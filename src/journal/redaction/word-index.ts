/** The replacement for the end of a cut text. */
export const CUT = '…'
/** A shorter word is not searched for: every `x` would match in nearly every text. */
const SHORTEST = 3
/** A word of at most this length is found only if it stands alone, because it may be part of an ordinary word. */
export const SHORT = 7

/** The bits of the last three characters. Each has seven bits. */
const LAST_THREE = (1 << 21) - 1
/**
 * The maximum number of search steps for each character of a text. Words from real life take one or two. Only a text
 * that is made to be expensive takes more, and all of it is hidden.
 */
const MOST_STEPS = 64
const FEW_STEPS = 10_000
const ALONE = /[\w.-]/
const BEYOND_ASCII = /[^ -~]/
const BASE64 = /[0-9A-Za-z+/_-]/

/** A node in a tree of words. Words with the same beginning share the nodes of that beginning. */
interface WordNode {
  /** The characters from the parent node to this one. */
  label: string
  /** By their first characters; absent if no longer word begins like this. */
  children: Map<number, WordNode> | undefined
  /** How often the word that ends here was added. */
  added: number
  /** How often the word was added as base64. */
  encoded: number
}

/** Is called with the part of a text from `start` to `end`. */
type Note = (start: number, end: number) => void

/**
 * Finds words in a text in one pass. The time depends on the length of the text and hardly on the number of words. A
 * word can be added and removed at any time, in a time that depends only on its length. Upper and lower case are equal,
 * because a text may have been part of a hostname.
 */
export class WordIndex {
  /** By the first three characters of the words. */
  readonly #roots = new Map<number, WordNode>()

  get isEmpty(): boolean {
    return this.#roots.size === 0
  }

  /** `encoded` means that the word is the inner part of a base64 text. The characters beside it are also secret. */
  add(word: string, encoded = false): void {
    if (word.length < SHORTEST) return
    const folded = foldText(word)
    const beginning = rootOf(folded)
    let root = this.#roots.get(beginning)
    if (root === undefined) {
      root = createNode('')
      this.#roots.set(beginning, root)
    }
    const node = descend(root, folded)
    node.added++
    if (encoded) node.encoded++
  }

  remove(word: string, encoded = false): void {
    const folded = foldText(word)
    const trail = this.#trailTo(folded)
    const node = trail?.at(-1)
    if (trail === undefined || node === undefined || node.added === 0) return
    node.added--
    if (encoded) node.encoded--
    for (let depth = trail.length - 1; depth >= 0; depth--) {
      const { added, children, label } = trail[depth] as WordNode
      if (added > 0 || (children !== undefined && children.size > 0)) return
      const above = trail[depth - 1]
      if (above === undefined) this.#roots.delete(rootOf(folded))
      else above.children?.delete(label.charCodeAt(0))
    }
  }

  has(word: string): boolean {
    const node = this.#trailTo(foldText(word))?.at(-1)
    return node !== undefined && node.added > 0
  }

  /** Calls `note` for every word in the text, and for the beginning of a word at the end of a cut text. */
  find(text: string, note: Note): void {
    if (this.isEmpty) return
    let lastThree = 0
    let steps = MOST_STEPS * text.length + FEW_STEPS
    for (let last = 0; last < text.length; last++) {
      lastThree = ((lastThree << 7) | (fold(text.charCodeAt(last)) & 127)) & LAST_THREE
      const start = last - 2
      const root = start < 0 ? undefined : this.#roots.get(lastThree)
      if (root === undefined) continue
      steps -= follow(root, text, start, note)
      if (steps < 0) {
        note(0, text.length)
        return
      }
    }
  }

  /** The nodes from the root to the end of a word; `undefined` if no word ends there. */
  #trailTo(folded: string): WordNode[] | undefined {
    let node = this.#roots.get(rootOf(folded))
    const trail: WordNode[] = []
    for (let at = 0; node !== undefined; at += node.label.length) {
      trail.push(node)
      if (at === folded.length) return trail
      node = node.children?.get(folded.charCodeAt(at))
      if (node === undefined || !folded.startsWith(node.label, at)) return undefined
    }
    return undefined
  }
}

/** The node at the end of a word. It is created if it does not exist. */
function descend(root: WordNode, folded: string): WordNode {
  let node = root
  for (let at = 0; at < folded.length; ) {
    const next = node.children?.get(folded.charCodeAt(at))
    if (next === undefined) {
      const leaf = createNode(folded.slice(at))
      adopt(node, leaf)
      return leaf
    }
    const shared = countShared(next.label, folded, at)
    node = shared === next.label.length ? next : split(node, next, shared)
    at += shared
  }
  return node
}

/** Inserts a node between two others, after `length` characters of the lower one's label. */
function split(above: WordNode, below: WordNode, length: number): WordNode {
  const middle = createNode(below.label.slice(0, length))
  below.label = below.label.slice(length)
  adopt(middle, below)
  adopt(above, middle)
  return middle
}

function adopt(above: WordNode, below: WordNode): void {
  above.children ??= new Map()
  above.children.set(below.label.charCodeAt(0), below)
}

function countShared(label: string, text: string, from: number): number {
  let count = 0
  while (count < label.length && from + count < text.length && label[count] === text[from + count]) count++
  return count
}

/** Calls `note` for the longest word at `start`. Returns the number of characters that it compared. */
function follow(root: WordNode, text: string, start: number, note: Note): number {
  let node = root
  let at = start
  let end = start
  let isEncoded = false
  for (;;) {
    if (node.added > 0 && (at - start > SHORT || standsAlone(text, start, at))) {
      end = at
      isEncoded = node.encoded > 0
    }
    const next = node.children?.get(fold(text.charCodeAt(at)))
    const shared = next === undefined ? 0 : countFolded(next.label, text, at)
    at += shared
    if (next === undefined || shared < next.label.length) break
    node = next
  }
  if (at > end && at - start > SHORT && text[at] === CUT) note(start, at)
  else if (end > start && isEncoded) note(before(text, start), behind(text, end))
  else if (end > start) note(start, end)
  return at - start
}

function countFolded(label: string, text: string, from: number): number {
  let count = 0
  while (count < label.length && label.charCodeAt(count) === fold(text.charCodeAt(from + count))) count++
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

function createNode(label: string): WordNode {
  return { label, children: undefined, added: 0, encoded: 0 }
}

function rootOf(folded: string): number {
  let root = 0
  for (let index = 0; index < SHORTEST; index++) root = (root << 7) | (folded.charCodeAt(index) & 127)
  return root
}

function foldText(text: string): string {
  return BEYOND_ASCII.test(text) ? text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text.toLowerCase()
}

/** Converts a capital letter to a small one. Only ASCII: in other alphabets, a text may change its length. */
function fold(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code
}
