import { CUT, SHORT } from './word-index.ts'

/** A text, or its meaning after its escapes are decoded. */
export interface ReadText {
  text: string
  /** For each character of `text`, and for its end: the position in the original. Absent for the original itself. */
  places: readonly number[] | undefined
}

/** The maximum number of nested decodings. JSON in a query in JSON is not expected. */
const DEPTH = 2
/** At the end of a cut text, an escape may be incomplete. */
const JSON_ESCAPE = new RegExp(String.raw`\\(?:u([0-9a-f]{4})|(["\\/bfnrt])|u?[0-9a-f]{0,3}(?=${CUT}))`, 'gi')
const PERCENT_ESCAPE = new RegExp(`%(?:([0-9a-f]{2})|[0-9a-f]?(?=${CUT}))`, 'gi')
/** Within a JSON pointer (RFC 6901). */
const POINTER_ESCAPE = /~([01])/g
/** Whether the text may contain escapes. */
const ESCAPED = /[\\%~]/
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** The separators of words in a target and in header fields. A secret may contain some of them. */
const SEPARATORS = [/[\s"<>]+/, /[\s"<>?&=,;]+/, /[\s"<>?&=,;/]+/]
/** The number of path steps that are checked, each together with the text after it. */
const STEPS = 20

/**
 * All readings of a text: the text itself, and its meaning as JSON, as a JSON pointer or percent-encoded. Any of its
 * characters may be escaped, and so may those of an escape.
 */
export function readingsOf(text: string): ReadText[] {
  const readings: ReadText[] = [{ text, places: undefined }]
  // This is the usual case, and the code below would take most of the time.
  if (!ESCAPED.test(text)) return readings
  let latest = readings
  for (let depth = 0; depth < DEPTH && latest.length > 0; depth++) {
    const next = latest
      .flatMap((reading) => [readJsonEscapes(reading), readPercentEscapes(reading), readPointerEscapes(reading)])
      .filter((reading) => reading !== undefined)
    latest = next.filter((reading, index) => next.findIndex((other) => other.text === reading.text) === index)
    readings.push(...latest)
  }
  return readings
}

function readJsonEscapes(reading: ReadText): ReadText | undefined {
  if (!reading.text.includes('\\')) return undefined
  return readEscapes(reading, JSON_ESCAPE, ([, code, character = '']) =>
    code === undefined ? (CONTROLS[character] ?? character) : characterOf(code),
  )
}

function readPercentEscapes(reading: ReadText): ReadText | undefined {
  if (!reading.text.includes('%')) return undefined
  return readEscapes(reading, PERCENT_ESCAPE, ([, code]) => (code === undefined ? '' : characterOf(code)))
}

function readPointerEscapes(reading: ReadText): ReadText | undefined {
  if (!reading.text.includes('~')) return undefined
  return readEscapes(reading, POINTER_ESCAPE, ([, code]) => (code === '1' ? '/' : '~'))
}

/** `undefined` if nothing is escaped. */
function readEscapes(
  { text, places: former }: ReadText,
  form: RegExp,
  read: (found: RegExpExecArray) => string,
): ReadText | undefined {
  const places: number[] = []
  let plain = ''
  let rest = 0
  function take(end: number): void {
    for (let place = rest; place < end; place++) places.push(former?.[place] ?? place)
    plain += text.slice(rest, end)
  }
  for (const found of text.matchAll(form)) {
    take(found.index)
    const character = read(found)
    if (character !== '') places.push(former?.[found.index] ?? found.index)
    plain += character
    rest = found.index + found[0].length
  }
  if (rest === 0) return undefined
  take(text.length)
  places.push(former?.[text.length] ?? text.length)
  return { text: plain, places }
}

function characterOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16))
}

/** The words of a text. Each of them may be a secret. */
export function wordsOf(text: string): string[] {
  const words = readingsOf(text).flatMap(({ text: reading }) => [
    ...SEPARATORS.flatMap((separator) => reading.split(separator)),
    ...endsOf(reading),
  ])
  return [...new Set(words)]
}

/** The text after each of the first slashes. */
function endsOf(text: string): string[] {
  const ends: string[] = []
  for (let slash = text.indexOf('/'); slash >= 0 && ends.length < STEPS; slash = text.indexOf('/', slash + 1)) {
    ends.push(text.slice(slash + 1))
  }
  return ends
}

/**
 * The forms of a secret within a base64 text, in either alphabet (RFC 4648): one for each position of its first byte in
 * a group of three. A form has only the characters that encode nothing but the secret. One more character at each end
 * encodes a part of it. A secret that is as short as ordinary words has no form.
 */
export function spellInBase64(secret: string): string[] {
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
