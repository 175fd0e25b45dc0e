import { CUT } from './secret-index.ts'

/** A text, or its meaning after its escapes are decoded. */
export interface ReadText {
  text: string
  /** For each character of `text`, and for its end: the position in the original. Absent for the original itself. */
  places: readonly number[] | undefined
}

/** The maximum number of nested decodings. JSON in a query in JSON is not expected. */
const DEPTH = 2
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** Escapes that begin with `mark`. At the end of a cut text, an escape may be incomplete. */
interface EscapeForm {
  mark: string
  form: RegExp
  read(found: RegExpExecArray): string
}

const ESCAPES: readonly EscapeForm[] = [
  {
    mark: '\\',
    form: new RegExp(String.raw`\\(?:u([0-9a-f]{4})|(["\\/bfnrt])|u?[0-9a-f]{0,3}(?=${CUT}))`, 'gi'),
    read: ([, code, character = '']) => (code === undefined ? (CONTROLS[character] ?? character) : characterOf(code)),
  },
  {
    mark: '%',
    form: new RegExp(`%(?:([0-9a-f]{2})|[0-9a-f]?(?=${CUT}))`, 'gi'),
    read: ([, code]) => (code === undefined ? '' : characterOf(code)),
  },
  // Within a JSON pointer (RFC 6901).
  { mark: '~', form: /~([01])/g, read: ([, code]) => (code === '1' ? '/' : '~') },
]

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
  // Most texts have no escapes, and the code below would take most of the time.
  if (!/[\\%~]/.test(text)) return readings
  let latest = readings
  for (let depth = 0; depth < DEPTH && latest.length > 0; depth++) {
    const next = latest.flatMap((reading) => ESCAPES.flatMap((escapes) => readEscapes(reading, escapes) ?? []))
    latest = next.filter((reading, index) => next.findIndex((other) => other.text === reading.text) === index)
    readings.push(...latest)
  }
  return readings
}

/** `undefined` if nothing is escaped. */
function readEscapes({ text, places: former }: ReadText, { mark, form, read }: EscapeForm): ReadText | undefined {
  if (!text.includes(mark)) return undefined
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
