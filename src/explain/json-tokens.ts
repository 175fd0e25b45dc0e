/** A part of a JSON text, from `start` to before `end`. A name is the text before a colon. */
export type JsonToken = { kind: 'open' | 'close' | 'name' | 'scalar'; start: number; end: number } | JsonBreak

/** What JSON needs at a place. `first` is a name or a value, or the end of the empty object or array. */
type Expected = 'value' | 'first' | 'name' | 'colon' | 'next' | 'end'

/** The first place at which a text is no JSON. Nothing stands there if `start` is `end`. */
export interface JsonBreak {
  kind: 'break'
  start: number
  end: number
  /** `syntax` is anything else than what JSON needs there. The other reasons are about the inside of a string. */
  reason: 'syntax' | 'control' | 'escape' | 'unfinished'
  expected: Expected
  /** Where the innermost open object or array begins; `undefined` outside of both. */
  within: number | undefined
}

const SPACE = /[ \t\n\r]*/y
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const LITERALS = new Set(['true', 'false', 'null'])
/** What stands between two places where JSON can have structure. */
const WORD = /[^\s,:{}[\]"]+/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/y

/**
 * The tokens of a JSON text (RFC 8259). If the text is no JSON, the last token is the place where it breaks. The depth
 * of the nesting has no limit.
 */
export function* tokensOf(text: string): Generator<JsonToken, void> {
  const open: number[] = []
  let expected: Expected = 'value'
  let position = 0
  const isObject = (): boolean => text[open.at(-1) ?? -1] === '{'
  const broken = (start: number, end: number, reason: JsonBreak['reason'] = 'syntax'): JsonBreak => {
    return { kind: 'break', start, end, reason, expected, within: open.at(-1) }
  }
  for (;;) {
    position += matchAt(SPACE, text, position).length
    const start = position
    const character = text.charAt(start)
    const wantsName: boolean = expected === 'name' || (expected === 'first' && isObject())
    const wantsValue: boolean = !wantsName && (expected === 'value' || expected === 'first')
    if (character === '') {
      if (expected !== 'end') yield broken(start, start)
      return
    }
    const closes = (expected === 'first' || expected === 'next') && character === (isObject() ? '}' : ']')
    if (closes) {
      yield { kind: 'close', start, end: ++position }
      open.pop()
      expected = open.length === 0 ? 'end' : 'next'
    } else if ((expected === 'next' && character === ',') || (expected === 'colon' && character === ':')) {
      expected = character === ',' && isObject() ? 'name' : 'value'
      position++
    } else if (wantsValue && (character === '{' || character === '[')) {
      yield { kind: 'open', start, end: ++position }
      open.push(start)
      expected = 'first'
    } else if ((wantsValue || wantsName) && character === '"') {
      const string = readString(text, start)
      if (string.reason !== undefined) return yield broken(string.start, string.end, string.reason)
      position = string.end
      yield { kind: wantsName ? 'name' : 'scalar', start, end: position }
      expected = wantsName ? 'colon' : open.length === 0 ? 'end' : 'next'
    } else {
      const word = matchAt(WORD, text, start)
      if (!wantsValue || !(LITERALS.has(word) || NUMBER.test(word)))
        return yield broken(start, start + Math.max(1, word.length))
      position += word.length
      yield { kind: 'scalar', start, end: position }
      expected = open.length === 0 ? 'end' : 'next'
    }
  }
}

/** The end of the string that begins at `start`, or the place where it is no string of JSON. */
function readString(text: string, start: number): { start: number; end: number; reason?: JsonBreak['reason'] } {
  for (let position = start + 1; position < text.length; position++) {
    const character = text.charAt(position)
    if (character === '"') return { start, end: position + 1 }
    if (character < ' ') return { start: position, end: position + 1, reason: 'control' }
    if (character !== '\\') continue
    const escaped = matchAt(ESCAPE, text, position)
    if (escaped === '') {
      const end = Math.min(position + 2, text.length)
      return { start: position, end, reason: end === text.length ? 'unfinished' : 'escape' }
    }
    position += escaped.length - 1
  }
  return { start: text.length, end: text.length, reason: 'unfinished' }
}

function matchAt(pattern: RegExp, text: string, position: number): string {
  pattern.lastIndex = position
  return pattern.exec(text)?.[0] ?? ''
}

/** The part of a valid JSON text that is the value at these steps; `undefined` if there is none. */
export function sourceAt(text: string, steps: readonly string[]): string | undefined {
  /** For each open object or array, the name or the index of its present value. */
  const path: (string | number)[] = []
  const isOnTheWay = () => path.length <= steps.length && path.every((step, index) => String(step) === steps[index])
  let began: number | undefined
  let found: string | undefined
  for (const { kind, start, end } of tokensOf(text)) {
    const last = path.length - 1
    if (kind === 'break') return undefined
    if (kind === 'name') {
      path[last] = JSON.parse(text.slice(start, end)) as string
      // Of several fields with the same name, the last one counts.
      if (isOnTheWay()) found = undefined
    } else if (kind === 'close') {
      path.pop()
      if (began === undefined || path.length !== steps.length) continue
      found = text.slice(began, end)
      began = undefined
    } else {
      if (typeof path[last] === 'number') path[last] += 1
      const isMeant = path.length === steps.length && isOnTheWay()
      if (isMeant && kind === 'scalar') found = text.slice(start, end)
      if (isMeant && kind === 'open') began = start
      if (kind === 'open') path.push(text[start] === '[' ? -1 : '')
    }
  }
  return found
}

/** The second name of two that are the same in one object. The first such one of a valid JSON text. */
export function repeatedName(text: string): { start: number; end: number } | undefined {
  const open: Set<string>[] = []
  for (const { kind, start, end } of tokensOf(text)) {
    if (kind === 'open') open.push(new Set())
    if (kind === 'close') open.pop()
    if (kind !== 'name') continue
    // Two spellings with different escapes are one name.
    const name = JSON.parse(text.slice(start, end)) as string
    const names = open.at(-1)
    if (names?.has(name)) return { start, end }
    names?.add(name)
  }
  return undefined
}
