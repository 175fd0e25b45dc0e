import { isUtf8 } from 'node:buffer'
import { BYTE_ORDER_MARK } from '../contract/charset.ts'
import { printable, shorten } from '../ground/show.ts'
import { bytesOf, isUnread, type RecordedBody, textOf } from '../journal/entry.ts'
import { HIDDEN } from '../journal/redaction/key-shapes.ts'
import { type JsonBreak, repeatedName, tokensOf } from './json-tokens.ts'

/** Where a body is no JSON that the service reads. The control plane's document describes every field. */
export interface JsonPosition {
  line: number
  column: number
  offset: number
  before: string
  at: string
  after: string
  says: string
}

/** A place in a text, and what is wrong there: the end of a sentence. */
interface BrokenPlace {
  start: number
  end: number
  wrong: string
}

/** The most characters that are shown on each side of the place. */
const BESIDE = 24
const LINE_END = /\r\n|\n|\r/
/** The most characters that are shown of what stands there. */
const THERE = 40

/** The place at which a body that is refused as invalid JSON breaks; `undefined` if the kept part of it has none. */
export function findJsonPosition(body: RecordedBody | undefined): JsonPosition | undefined {
  if (body === undefined || body.size === 0 || isUnread(body)) return undefined
  const text = textOf(body)
  const found = wrongEncoding(body, text) ?? wrongSyntax(text)
  // The text may only seem to end, because the rest is not kept.
  if (found === undefined || (body.isCut && found.end >= text.length - 1)) return undefined
  const { start, end, wrong } = found
  const isOpen = !text.includes(HIDDEN)
  const lines = text.slice(0, start).split(LINE_END)
  const line = lines.at(-1) ?? ''
  const before = isOpen ? sliceWhole(line, Math.max(0, line.length - BESIDE), line.length) : ''
  const at = isOpen ? sliceWhole(text, start, Math.min(end, start + THERE)) : ''
  const [after = ''] = isOpen ? sliceWhole(text, end, end + BESIDE).split(LINE_END) : []
  const place = { line: lines.length, column: line.length + 1, offset: start }
  const where = `The JSON breaks at line ${place.line}, column ${place.column}`
  const says = isOpen
    ? `${where}: ${wrong}: ${printable(`${before}→${at}←${after}`)}`
    : `${where}. The place is not shown, because the body has a secret.`
  return { ...place, before, at, after, says }
}

/** A part of a text, without the half of a surrogate pair that would stand at its begin or end. */
function sliceWhole(text: string, start: number, end: number): string {
  return text.slice(start + (splitsPair(text, start) ? 1 : 0), end - (splitsPair(text, end) ? 1 : 0))
}

function splitsPair(text: string, place: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, place - 1), place + 1))
}

function wrongEncoding(body: RecordedBody, text: string): BrokenPlace | undefined {
  const bytes = bytesOf(body)
  const start = bytes.subarray(0, 2)
  const isMarked = ['fffe', 'feff'].includes(start.toString('hex'))
  // Of UTF-16, one byte of each ASCII character is zero.
  if (isMarked || (start.includes(0) && body.size % 2 === 0))
    return { start: 0, end: 1, wrong: 'the body is encoded in UTF-16, not in UTF-8' }
  if (isUtf8(bytes)) return undefined
  for (let start = text.indexOf('\ufffd'); start >= 0; start = text.indexOf('\ufffd', start + 1)) {
    const offset = Buffer.byteLength(text.slice(0, start))
    // The body may have this very character.
    if (bytes.subarray(offset, offset + 3).toString('hex') === 'efbfbd') continue
    const byte = bytes
      .subarray(offset, offset + 1)
      .toString('hex')
      .toUpperCase()
    return { start, end: start + 1, wrong: `the byte 0x${byte} is no UTF-8` }
  }
  return undefined
}

function wrongSyntax(text: string): BrokenPlace | undefined {
  let last: { start: number; end: number } | undefined
  for (const token of tokensOf(text)) {
    if (token.kind === 'break') return describeBreak(text, token, last)
    last = token
  }
  const repeated = repeatedName(text)
  return repeated && { ...repeated, wrong: 'this name stands twice in one object' }
}

/** Values of other languages, and what JSON has in their place, if anything. */
const FOREIGN: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  undefined: 'null',
  nil: 'null',
  NULL: 'null',
}
const QUOTES = /^['`‘’“”]/

/** `last` is the token before the break. */
function describeBreak(text: string, found: JsonBreak, last: { end: number } | undefined): BrokenPlace {
  const { start, end, reason, expected, within } = found
  const there = text.slice(start, end)
  const wrong = (what: string): BrokenPlace => ({ start, end, wrong: what })
  if (reason === 'control')
    return wrong(`a string cannot have the character ${codeOf(there)} as it is, only as ${escapeOf(there)}`)
  if (reason === 'escape') return wrong(`${there} is no escape of JSON; a backslash is written \\\\`)
  const container = within === undefined ? undefined : text[within] === '{' ? 'object' : 'array'
  if (start >= text.length || reason === 'unfinished') {
    if (reason === 'unfinished') return wrong('the text ends within a string')
    return wrong(
      container === undefined ? 'the text ends before there is a value' : `the text ends within an ${container}`,
    )
  }
  if (there === BYTE_ORDER_MARK || (start === 0 && there.startsWith(BYTE_ORDER_MARK)))
    return { start, end: start + 1, wrong: 'the body begins with a byte order mark (U+FEFF), which JSON does not have' }
  if (/^\/[/*]/.test(there)) return wrong('JSON has no comments')
  if (there === '}' || there === ']') {
    const comma = last === undefined ? -1 : text.indexOf(',', last.end)
    if ((expected === 'name' || expected === 'value') && comma >= 0 && comma < start)
      return { start: comma, end: comma + 1, wrong: `a comma stands before the closing ${there}` }
    if (container === undefined) return wrong(`nothing is open that ${there} could close`)
    if ((there === '}') !== (container === 'object')) return wrong(`${there} cannot close an ${container}`)
    return wrong(expected === 'colon' ? 'a colon and a value are missing after the name' : 'a value is missing here')
  }
  if (QUOTES.test(there)) return wrong('text stands in double quotes, not in other ones')
  if (expected === 'end') return wrong('there is more after the end of the value')
  if (expected === 'name' || (expected === 'first' && container === 'object'))
    return wrong(there === ',' ? 'a name is missing before the comma' : 'a name stands in double quotes')
  if (expected === 'colon') return wrong('a colon is missing after the name')
  if (expected === 'next') return wrong('a comma is missing between two values')
  if (there === ',' || there === ':') return wrong('a value is missing here')
  if (/^[+-]?(?:NaN|Infinity)$/.test(there)) return wrong(`${there} is no value of JSON, which has no such number`)
  const instead = Object.hasOwn(FOREIGN, there) ? FOREIGN[there] : undefined
  if (instead !== undefined) return wrong(`${there} is no value of JSON, which has ${instead}`)
  if (/^[+.\d-]/.test(there)) return wrong(`${shorten(there, THERE)} is no number of JSON`)
  if (/^[a-z_$]/i.test(there))
    return wrong(`${shorten(there, THERE)} is no value of JSON; text stands in double quotes`)
  return wrong('no value of JSON begins like this')
}

function codeOf(character: string): string {
  return `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
}

function escapeOf(character: string): string {
  return JSON.stringify(character).slice(1, -1)
}
