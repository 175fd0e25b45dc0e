import { CUT } from './secret-index.ts'

/** A text, or its meaning after its escapes are decoded. */
export interface ReadText {
  text: string
  /** For each character of `text`, and for its end: the position in the original. Absent for the original itself. */
  places: readonly number[] | undefined
}

/** The maximum number of nested decodings. JSON in a query in JSON is not expected. */
const DEPTH = 2

/**
 * Escapes in JSON, in a URL, and in a JSON pointer (RFC 6901). The first group is the code of a character, the second
 * one the character itself. At the end of a cut text, an escape may be incomplete.
 */
const ESCAPES = [
  new RegExp(String.raw`\\(?:u([0-9a-f]{4})|(["\\/bfnrt])|u?[0-9a-f]{0,3}(?=${CUT}))`, 'gi'),
  new RegExp(`%(?:([0-9a-f]{2})|[0-9a-f]?(?=${CUT}))`, 'gi'),
  /~[01]/g,
]
/** Escapes that have neither the code nor the character that they mean. */
const MEANINGS: Readonly<Record<string, string>> = {
  ...{ '\\b': '\b', '\\f': '\f', '\\n': '\n', '\\r': '\r', '\\t': '\t' },
  ...{ '~0': '~', '~1': '/' },
}

/** The separators of words in a target and in header fields. A secret may contain some of them. */
const SEPARATORS = [/[\s"<>]+/, /[\s"<>?&=,;]+/, /[\s"<>?&=,;/]+/]
/** After how many slashes the rest of a text is one more word. */
const STEPS = 20

/**
 * All readings of a text: the text itself, and its meaning as JSON, as a JSON pointer or percent-encoded. Any of its
 * characters may be escaped, and so may those of an escape.
 */
export function readingsOf(text: string): ReadText[] {
  const readings: ReadText[] = [{ text, places: undefined }]
  // Most texts have no escapes, and the code below would take most of the time.
  if (!/[\\%~]/.test(text)) return readings
  let latest = readings
  for (let depth = 0; depth < DEPTH && latest.length > 0; depth++) {
    const next = latest.flatMap((reading) => ESCAPES.flatMap((form) => readEscapes(reading, form) ?? []))
    latest = next.filter((reading, index) => next.findIndex((other) => other.text === reading.text) === index)
    readings.push(...latest)
  }
  return readings
}

/** `undefined` if nothing is escaped. */
function readEscapes({ text, places: former }: ReadText, form: RegExp): ReadText | undefined {
  const places: number[] = []
  let plain = ''
  let rest = 0
  function take(end: number): void {
    for (let place = rest; place < end; place++) places.push(former?.[place] ?? place)
    plain += text.slice(rest, end)
  }
  for (const { 0: found, 1: code, 2: character = '', index } of text.matchAll(form)) {
    take(index)
    const meaning = code === undefined ? (MEANINGS[found] ?? character) : String.fromCharCode(Number.parseInt(code, 16))
    if (meaning !== '') places.push(former?.[index] ?? index)
    plain += meaning
    rest = index + found.length
  }
  if (rest === 0) return undefined
  take(text.length)
  places.push(former?.[text.length] ?? text.length)
  return { text: plain, places }
}

/** The words of a text. Each of them may be a secret. */
export function wordsOf(text: string): string[] {
  const words = readingsOf(text).flatMap(({ text: reading }) => [
    ...SEPARATORS.flatMap((separator) => reading.split(separator)),
    ...[...reading.matchAll(/\//g)].slice(0, STEPS).map(({ index }) => reading.slice(index + 1)),
  ])
  return [...new Set(words)]
}
