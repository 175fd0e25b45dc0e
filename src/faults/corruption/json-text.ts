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

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a

const OPENING = 1
const CLOSING = 2
const BETWEEN = 3
const SPACE = 4
/** The role of each character outside of strings; others are part of a value. A table is fast for large bodies. */
const ROLES = new Uint8Array(128)
for (const [role, characters] of [
  [OPENING, '{['],
  [CLOSING, '}]'],
  [BETWEEN, ',:'],
  [SPACE, ' \t\r\n'],
] as const) {
  for (const character of characters) ROLES[character.charCodeAt(0)] = role
}

/** The span of the whole value. */
export function documentSpan(text: string): TextSpan {
  const start = skipSpace(text, 0)
  return { start, end: endOfValue(text, start) }
}

/** The span of the value at `steps`, which must exist. */
export function spanAt(text: string, steps: readonly (string | number)[]): TextSpan {
  return steps.reduce<TextSpan>((span, step) => entryAt(text, span, step), documentSpan(text))
}

/** The entries of the object or array that begins at `start`. */
export function* entriesOf(text: string, { start }: Pick<TextSpan, 'start'>): Generator<JsonMember> {
  const keyed = text[start] === '{'
  let from = skipSpace(text, start + 1)
  while (roleAt(text, from) !== CLOSING) {
    let value = from
    let key: string | undefined
    if (keyed) {
      const end = endOfString(text, from)
      key = text.slice(from, end)
      const colon = skipSpace(text, end)
      if (text.charCodeAt(colon) !== COLON) throw new Error(`There is no colon at ${colon}.`)
      value = skipSpace(text, colon + 1)
    }
    const end = endOfValue(text, value)
    yield { from, start: value, end, ...(key !== undefined && { key }) }
    const next = skipSpace(text, end)
    from = text[next] === ',' ? skipSpace(text, next + 1) : next
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
  const lines: string[] = []
  const lineAt = (depth: number) => (lines[depth] ??= line(depth))
  let spaced = ''
  // The text from here on is not written yet.
  let from = skipSpace(text, 0)
  let depth = 0
  for (let at = from; at < text.length; ) {
    const role = roleAt(text, at)
    const end = role === 0 ? endOfValue(text, at) : at + 1
    const next = skipSpace(text, end)
    let space = ''
    if (role === OPENING) {
      depth++
      if (roleAt(text, next) !== CLOSING) space = lineAt(depth)
    } else if (role === BETWEEN) {
      space = text.charCodeAt(at) === COMMA ? comma + lineAt(depth) : colon
    }
    if (roleAt(text, next) === CLOSING) {
      depth--
      if (role !== OPENING) space = lineAt(depth)
    }
    if (space !== '' || next !== end) {
      spaced += text.slice(from, end) + space
      from = next
    }
    at = next
  }
  return spaced + text.slice(from)
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
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start)
  let at = start
  if (roleAt(text, start) !== OPENING) {
    while (at < text.length && roleAt(text, at) === 0) at++
    if (at === start) throw new Error(`There is no value at ${start}.`)
    return at
  }
  for (let depth = 0; at < text.length; at++) {
    const role = roleAt(text, at)
    if (role === OPENING) depth++
    else if (role === CLOSING && --depth === 0) return at + 1
    else if (text.charCodeAt(at) === QUOTE) at = endOfString(text, at) - 1
  }
  throw new Error(`What begins at ${start} does not end.`)
}

function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((quote - before) % 2 === 1) return quote + 1
  }
  throw new Error(`The string at ${start} does not end.`)
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (roleAt(text, at) === SPACE) at++
  return at
}

function roleAt(text: string, at: number): number {
  return ROLES[text.charCodeAt(at)] ?? 0
}
