import { CUT, SHORT } from './word-index.ts'

/** A text, or what it says where some of its characters are escaped. */
export interface Reading {
  text: string
  /** For each character of `text`, and for its end, where that begins in the original; absent for the original. */
  places: readonly number[] | undefined
}

/** How often a text is read anew. JSON in a query in JSON is not to be expected. */
const DEPTH = 2
/** At the end of a text that was cut off, an escape may be incomplete. */
const JSON_ESCAPE = new RegExp(String.raw`\\(?:u([0-9a-f]{4})|(["\\/bfnrt])|u?[0-9a-f]{0,3}(?=${CUT}))`, 'gi')
const PERCENT_ESCAPE = new RegExp(`%(?:([0-9a-f]{2})|[0-9a-f]?(?=${CUT}))`, 'gi')
/** Within a JSON pointer (RFC 6901). */
const POINTER_ESCAPE = /~([01])/g
/** Whether anything may be escaped. */
const ESCAPED = /[\\%~]/
const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/** What separates words in a target and in header fields. A secret may contain some of it. */
const SEPARATORS = [/[\s"<>]+/, /[\s"<>?&=,;]+/, /[\s"<>?&=,;/]+/]
/** How many steps of a path are looked at, each with everything behind it. */
const STEPS = 20

/**
 * All that a text says: the text itself, and what it says as JSON, as a JSON pointer or percent-encoded. Any of its
 * characters may be escaped, and also those of an escape.
 */
export function readingsOf(text: string): Reading[] {
  const readings: Reading[] = [{ text, places: undefined }]
  // The usual case, in which what follows would take most of the time.
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

function readJsonEscapes(reading: Reading): Reading | undefined {
  if (!reading.text.includes('\\')) return undefined
  return readEscapes(reading, JSON_ESCAPE, ([, code, character = '']) =>
    code === undefined ? (CONTROLS[character] ?? character) : characterOf(code),
  )
}

function readPercentEscapes(reading: Reading): Reading | undefined {
  if (!reading.text.includes('%')) return undefined
  return readEscapes(reading, PERCENT_ESCAPE, ([, code]) => (code === undefined ? '' : characterOf(code)))
}

function readPointerEscapes(reading: Reading): Reading | undefined {
  if (!reading.text.includes('~')) return undefined
  return readEscapes(reading, POINTER_ESCAPE, ([, code]) => (code === '1' ? '/' : '~'))
}

/** `undefined` where nothing is escaped. */
function readEscapes(
  { text, places: former }: Reading,
  form: RegExp,
  read: (found: RegExpExecArray) => string,
): Reading | undefined {
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

/** The words of a text, any of which may be a secret. */
export function wordsOf(text: string): string[] {
  const words = readingsOf(text).flatMap(({ text: reading }) => [
    ...SEPARATORS.flatMap((separator) => reading.split(separator)),
    ...endsOf(reading),
  ])
  return [...new Set(words)]
}

/** What follows each of the first slashes. */
function endsOf(text: string): string[] {
  const ends: string[] = []
  for (let slash = text.indexOf('/'); slash >= 0 && ends.length < STEPS; slash = text.indexOf('/', slash + 1)) {
    ends.push(text.slice(slash + 1))
  }
  return ends
}

/**
 * What a secret looks like within a base64 text, in either alphabet (RFC 4648): one way for each place of its first byte
 * in a group of three. Only characters that hold nothing but the secret are in it; one more at each end holds a part of
 * it. A secret that is so short that ordinary words look like it has none.
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
