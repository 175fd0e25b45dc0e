import { findFirst } from '../../ground/search.ts'

/** The replacement for the end of a cut text. */
export const CUT = '…'

/** A text, or its meaning after its escapes are decoded. */
export interface ReadText {
  text: string
  /** The position in the original of a character of `text`, or of its end. */
  placeOf(place: number): number
}

/** The maximum number of nested decodings. JSON in a query in JSON is not expected. */
const DEPTH = 2

/** What a character after a backslash means in JSON. JSON has no escapes with capital letters, but other texts may. */
const MEANINGS: Readonly<Record<string, string>> = {
  ...{ '"': '"', '\\': '\\', '/': '/', B: 'B', F: 'F', N: 'N', R: 'R', T: 'T' },
  ...{ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' },
}

/**
 * Escapes in JSON, in a URL, and in a JSON pointer (RFC 6901), with their meanings. At the end of a cut text, an escape
 * may be incomplete. Its meaning is empty.
 */
const ESCAPES: readonly (readonly [form: RegExp, meaningOf: (found: string) => string])[] = [
  [
    new RegExp(String.raw`\\(?:u[0-9a-f]{4}|["\\/bfnrt]|u?[0-9a-f]{0,3}(?=${CUT}))`, 'gi'),
    (found) => (found.length === 6 ? readCode(found.slice(2)) : (MEANINGS[found.slice(1)] ?? '')),
  ],
  [
    new RegExp(`%(?:[0-9a-f]{2}|[0-9a-f]?(?=${CUT}))`, 'gi'),
    (found) => (found.length === 3 ? readCode(found.slice(1)) : ''),
  ],
  [/~[01]/g, (found) => (found === '~0' ? '~' : '/')],
]

/** The separators of words in a target and in header fields. A secret may contain some of them. */
const SEPARATORS = [/[\s"<>]+/, /[\s"<>?&=,;]+/, /[\s"<>?&=,;/]+/]
/** After how many slashes the rest of a text is one more word. */
const STEPS = 20

/**
 * All readings of a text: the text itself, and its meaning as JSON, as a JSON pointer or percent-encoded. Any of its
 * characters may be escaped, and so may those of an escape.
 */
export function readingsOf(text: string): ReadText[] {
  const readings: ReadText[] = [{ text, placeOf: (place) => place }]
  // Most texts have no escapes, and the code below would take most of the time.
  if (!/[\\%~]/.test(text)) return readings
  for (let depth = 0, first = 0; depth < DEPTH; depth++) {
    const latest = readings.slice(first)
    first = readings.length
    for (const reading of latest.flatMap((former) => ESCAPES.map((escapes) => decode(former, ...escapes)))) {
      if (readings.every((known) => known.text !== reading.text)) readings.push(reading)
    }
  }
  return readings
}

function decode(former: ReadText, form: RegExp, meaningOf: (found: string) => string): ReadText {
  /** Where the meaning of each escape ends, and how much longer the escapes up to there are than their meanings. */
  const ends: number[] = []
  const excesses: number[] = []
  let excess = 0
  const text = former.text.replaceAll(form, (found, index: number) => {
    const meaning = meaningOf(found)
    ends.push(index - excess + meaning.length)
    excess += found.length - meaning.length
    excesses.push(excess)
    return meaning
  })
  function placeOf(place: number): number {
    const count = findFirst(0, ends.length, (number) => (ends[number] ?? 0) <= place)
    return former.placeOf(place + (excesses[count - 1] ?? 0))
  }
  return { text, placeOf }
}

function readCode(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16))
}

/** The words of a text. Each of them may be a secret. */
export function wordsOf(text: string): string[] {
  const words = readingsOf(text).flatMap(({ text: reading }) => [
    ...SEPARATORS.flatMap((separator) => reading.split(separator)),
    ...[...reading.matchAll(/\//g)].slice(0, STEPS).map(({ index }) => reading.slice(index + 1)),
  ])
  return [...new Set(words)]
}
