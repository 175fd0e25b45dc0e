/** Finds values in a text that is known to be JSON, and changes them without touching the rest of the text. */

/** From `start` up to `end`, exclusive. */
export interface TextSpan {
  start: number
  end: number
}

/** A member of an object or an item of an array; the span is that of its value. */
export interface JsonMember extends TextSpan {
  /** The beginning of the key, or of the value if there is no key. */
  from: number
  /** The key as it is written, with its quotes. */
  key?: string
}

/** A string, a bracket, a comma or colon, or another value. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g
const SPACE = /\s*/y
const COLON = /\s*:\s*/y
const COMMA = /\s*,?\s*/y

/** The span of the whole value. */
export function documentSpan(text: string): TextSpan {
  const start = skip(SPACE, text, 0)
  return { start, end: endOfValue(text, start) }
}

/** The span of the value at `steps`, which must exist. */
export function spanAt(text: string, steps: readonly (string | number)[]): TextSpan {
  return steps.reduce<TextSpan>((span, step) => entryAt(text, span, step), documentSpan(text))
}

/** The entries of the object or array that begins at `start`. */
export function* entriesOf(text: string, { start }: Pick<TextSpan, 'start'>): Generator<JsonMember> {
  const keyed = text[start] === '{'
  let from = skip(SPACE, text, start + 1)
  while (text[from] !== '}' && text[from] !== ']') {
    const keyEnd = keyed ? endOfValue(text, from) : from
    const value = keyed ? skip(COLON, text, keyEnd) : from
    const end = endOfValue(text, value)
    yield { from, start: value, end, ...(keyed && { key: text.slice(from, keyEnd) }) }
    from = skip(COMMA, text, end)
  }
}

export function textOf(text: string, { start, end }: TextSpan): string {
  return text.slice(start, end)
}

export function replaceSpan(text: string, { start, end }: TextSpan, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}

/** Removes an entry with its comma. */
export function removeEntry(text: string, container: TextSpan, step: string | number): string {
  const entries = [...entriesOf(text, container)]
  const index = entries.findIndex((entry, place) => isAt(entry, place, step))
  const [before, entry, after] = [entries[index - 1], entries[index], entries[index + 1]]
  if (entry === undefined) throw new Error(`There is nothing at ${step}.`)
  if (after !== undefined) return replaceSpan(text, { start: entry.from, end: after.from }, '')
  return replaceSpan(text, { start: before?.end ?? entry.from, end: entry.end }, '')
}

/** Inserts an entry before the one at `index`, or at the end. A member includes its key. */
export function insertEntry(text: string, container: TextSpan, index: number, entry: string): string {
  const entries = [...entriesOf(text, container)]
  const [next, last] = [entries[index], entries.at(-1)]
  if (next !== undefined) return replaceSpan(text, { start: next.from, end: next.from }, `${entry},`)
  const at = last?.end ?? container.start + 1
  return replaceSpan(text, { start: at, end: at }, last === undefined ? entry : `,${entry}`)
}

/** White space: `line` before each value at that depth, `comma` and `colon` after these characters. */
export interface Spacing {
  line: (depth: number) => string
  comma: string
  colon: string
}

/** The text with other white space between its values. Its meaning is the same. */
export function respace(text: string, { line, comma, colon }: Spacing): string {
  let spaced = ''
  let depth = 0
  let before = ''
  TOKEN.lastIndex = 0
  for (const [token] of text.matchAll(TOKEN)) {
    const change = depthChange(token)
    if (change < 0) depth--
    // An empty object or array stays without white space.
    if (before === ',') spaced += comma + line(depth)
    else if (before === ':') spaced += colon
    else if (depthChange(before) > 0 !== change < 0) spaced += line(depth)
    spaced += token
    if (change > 0) depth++
    before = token
  }
  return spaced
}

function entryAt(text: string, container: TextSpan, step: string | number): JsonMember {
  let index = 0
  for (const entry of entriesOf(text, container)) if (isAt(entry, index++, step)) return entry
  throw new Error(`There is nothing at ${step}.`)
}

function isAt({ key }: JsonMember, index: number, step: string | number): boolean {
  return key === undefined ? index === step : JSON.parse(key) === step
}

function endOfValue(text: string, start: number): number {
  TOKEN.lastIndex = start
  let depth = 0
  for (let token = TOKEN.exec(text); token !== null && (depth > 0 || token.index === start); token = TOKEN.exec(text)) {
    depth += depthChange(token[0])
    if (depth === 0) return TOKEN.lastIndex
  }
  throw new Error(`There is no whole value at ${start}.`)
}

function depthChange(token: string): number {
  if (token === '{' || token === '[') return 1
  return token === '}' || token === ']' ? -1 : 0
}

/** The position after a separator at a position. */
function skip(separator: RegExp, text: string, start: number): number {
  separator.lastIndex = start
  if (!separator.test(text)) throw new Error(`There is no separator at ${start}.`)
  return separator.lastIndex
}
