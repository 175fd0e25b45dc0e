import { BYTE_ORDER_MARK } from '../contract/body.ts'
import type { Schemas } from '../contract/control-plane.ts'
import { readJson } from '../ground/json.ts'
import { printable } from '../ground/show.ts'
import { isUnread, type RecordedBody, textOf } from '../journal/entry.ts'
import { HIDDEN } from '../journal/redaction/secrets.ts'

/** Where a body is no JSON that the service reads. */
type JsonPosition = NonNullable<Schemas['JsonPosition']>

/** The most characters that are shown on each side of the place. */
const BESIDE = 24
const LINE_END = /\r\n|\n|\r/

/** The place at which a body that is refused as invalid JSON breaks; `undefined` if the kept part of it has none. */
export function findJsonPosition(body: RecordedBody | undefined): JsonPosition | undefined {
  if (body === undefined || body.size === 0 || isUnread(body)) return undefined
  const text = textOf(body)
  const offset = body.text === undefined ? text.indexOf('\ufffd') : placeIn(text)
  // The text may only seem to end, because the rest is not kept.
  if (offset === undefined || offset < 0 || (body.isCut && offset >= text.length - 1)) return undefined
  const wrong = body.text === undefined ? 'this byte is no UTF-8' : describeBreak(text, offset)
  const lines = text.slice(0, offset).split(LINE_END)
  const line = lines.at(-1) ?? ''
  const place = { line: lines.length, column: line.length + 1, offset }
  const where = `The JSON breaks at line ${place.line}, column ${place.column}`
  if (text.includes(HIDDEN)) {
    const says = `${where}. The place is not shown, because the body has a secret.`
    return { ...place, before: '', at: '', after: '', says }
  }
  const [at = ''] = /^(?:[\w.+-]{1,40}|.)/su.exec(text.slice(offset)) ?? []
  const [rest = ''] = text.slice(offset + at.length, offset + at.length + BESIDE).split(LINE_END)
  const [before, after] = [wholeCharacters(line.slice(-BESIDE)), wholeCharacters(rest)]
  return { ...place, before, at, after, says: `${where}: ${wrong}: ${printable(`${before}→${at}←${after}`)}` }
}

/** A part of a text, without the half of a surrogate pair that stands at its begin or end. */
function wholeCharacters(part: string): string {
  return part.replaceAll(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}

/** The message of the engine about a text that is no JSON; `undefined` for JSON. */
export function syntaxErrorIn(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * The place that is shown: where the text breaks, or the comma before it that nothing follows. Of a token that is wrong,
 * the engine does not tell the position. So the longest beginning is searched that is wrong only because it ends.
 */
function placeIn(text: string): number | undefined {
  if (readJson(text) !== undefined) return undefined
  let [good, wrong] = [0, text.length + 1]
  while (wrong - good > 1) {
    const middle = (good + wrong) >>> 1
    if (mayGoOn(text.slice(0, middle))) good = middle
    else wrong = middle
  }
  const before = text.slice(0, good).trimEnd()
  return /[\]}]/.test(text.charAt(good)) && before.endsWith(',') ? before.length - 1 : good
}

/** Whether a text is JSON, or is no JSON only because it ends. Newer engines tell line and column after the position. */
function mayGoOn(text: string): boolean {
  const error = syntaxErrorIn(text)
  if (error === undefined || error.includes('end of JSON input')) return true
  return /at position (\d+)/.exec(error)?.[1] === String(text.length)
}

/** By what stands at the place, what is wrong with it. */
const MISTAKES: readonly (readonly [there: RegExp, wrong: string])[] = [
  [/^$/, 'the text ends too early'],
  [new RegExp(`^${BYTE_ORDER_MARK}`), 'the body begins with a byte order mark (U+FEFF), which JSON does not have'],
  [/^\0/, 'a NUL stands here, as if the body were encoded in UTF-16'],
  [/^[\n\r]/, 'a string cannot have a line break as it is, only as \\n'],
  [/^\/[/*]/, 'JSON has no comments'],
  [/^['`‘’“”]/, 'text stands in double quotes, not in other ones'],
  [/^(?:True|False|None|undefined|NaN|Infinity)\b/, 'JSON has no such value, only true, false and null'],
  [/^[a-z_$]/i, 'names and text stand in double quotes'],
]

function describeBreak(text: string, offset: number): string {
  const there = text.slice(offset)
  const [, closing] = /^,\s*([\]}])/.exec(there) ?? []
  if (closing !== undefined) return `a comma stands before the closing ${closing}`
  const [, known] = MISTAKES.find(([pattern]) => pattern.test(there)) ?? []
  if (known !== undefined) return known
  // The words of the engine, without the place and the text.
  const [words = ''] = /^.*?(?= in JSON at position| at position|, "|, \.\.\.|$)/.exec(syntaxErrorIn(text) ?? '') ?? []
  return words.charAt(0).toLowerCase() + words.slice(1)
}
