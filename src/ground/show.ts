import { inspect, types } from 'node:util'
import { writeJson } from './json.ts'

/** Enough of a text to recognise it: a message must not contain a megabyte. */
const SHOWN = 100

/**
 * At most `limit` characters (code points) of a text; an ellipsis stands for the rest. The rest is not read, so a long
 * text costs no more than a short one.
 */
export function shorten(text: string, limit = SHOWN): string {
  if (text.length <= limit) return text
  // A character has at most two UTF-16 code units.
  const characters = [...text.slice(0, 2 * limit + 2)]
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`
}

/** A text that a person wrote, for a message: shortened, and visible if it is empty. */
export function showWritten(text: string): string {
  return text === '' ? '""' : shorten(text)
}

/** A name or similar text of a client, with any content, as code within a sentence. */
export function spelt(text: string): string {
  return `\`${JSON.stringify(shorten(text)).slice(1, -1)}\``
}

/** A value for a message: as JSON, shortened. A value that JSON cannot hold is shown as Node.js prints it. */
export function show(value: unknown): string {
  if (!isJson(value)) return shorten(print(value))
  try {
    return shorten(writeJson(value) ?? 'a value that is nested too deeply to be shown')
  } catch {
    // The value contains itself, or a bigint.
    return shorten(print(value))
  }
}

/** The text for an array or an object that is too large or nested too deeply to be shown. */
export function outline(value: unknown): string {
  return Array.isArray(value) ? '[…]' : '{…}'
}

/** Only the outermost level of an array or an object is checked. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null || Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function print(value: unknown): string {
  // What Node.js prints of a date looks like the text that may be wanted in its place.
  const kind = types.isDate(value) ? 'Date ' : ''
  return kind + inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: SHOWN })
}

/** The text with its control characters escaped. Terminals and logs would execute those from a client. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not pass
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** A number with its noun: `1 entry`, `2 entries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** The first names of a list, and the number of the others: `a, b and 3 more`. */
export function nameSome(names: readonly string[], most: number): string {
  const named = names.slice(0, most).join(', ')
  return names.length > most ? `${named} and ${names.length - most} more` : named
}

/** A word of a command for a POSIX shell. */
export function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/**
 * A command line for exactly these words. It stays on one line even with control characters. They are written like
 * `$'\n'`, which bash, zsh, ksh and ash support.
 */
export function writeShellLine(words: readonly string[]): string {
  return words.map(quote).join(' ')
}

function quote(word: string): string {
  if (!/\p{Cc}/u.test(word)) return quoteWord(word)
  const escaped = word.replaceAll(/[\\']/g, '\\$&').replaceAll(/\p{Cc}/gu, escapeControl)
  return `$'${escaped}'`
}

function escapeControl(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\t') return '\\t'
  // Each byte of the UTF-8 text has three digits, so that a following digit is not read as part of it.
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
}
