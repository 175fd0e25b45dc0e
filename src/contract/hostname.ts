import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { INVISIBLE } from '../domain/groups.ts'
import type { Settings } from '../domain/settings.ts'

const NAME_LIMIT = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const LABEL_WITH_UNDERSCORE = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A name that is already canonical, as nearly all are. Its last label starts with a letter, so it is no IP address. */
const PLAIN_NAME = /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** `domainToASCII` parses the host of a URL: it would decode, cut off or drop these characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not pass
const NOT_IN_HOSTNAMES = /[\u0000-\u0020\u007f%:/\\@?#[\]*]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\u0000-\u007f]*$/

/** A last label that a URL parser takes for the end of an IPv4 address. */
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/
/** With this suffix, no name reads as an IPv4 address, which `domainToASCII` would compute. */
const SENTINEL = '.a'

/**
 * The stored and compared form of a hostname: lower case, A-labels (or U-labels, by the setting), no final dot. Returns
 * `undefined` if `text` is no hostname. A hostname has at least two labels of letters, digits and inner hyphens
 * (RFC 1123 §2.1), and A-labels that decode (RFC 5891). It has at most 63 octets per label and 253 in all. Its last
 * label is no number (RFC 3696 §2).
 */
export function canonicalHostname(
  text: string,
  internationalNames: Settings['internationalNames'] = 'a-label',
): string | undefined {
  if (PLAIN_NAME.test(text) && !text.includes('xn--')) return text
  if (text.search(INVISIBLE) >= 0 || (internationalNames === 'refused' && !ASCII.test(text))) return undefined
  const name = readName(text)
  if (name === undefined || isIP(name) !== 0) return undefined
  const labels = name.split('.')
  if (labels.length < 2 || NUMBER.test(labels.at(-1) ?? '')) return undefined
  if (!labels.every((label) => LABEL.test(label))) return undefined
  return internationalNames === 'u-label' && name.includes('xn--') ? decode(name) : name
}

/**
 * The same for all texts that some service may store as one hostname; `undefined` if none would take the text. Another
 * service may also accept single labels, underscores, wildcards, addresses, numbers at the end, white space around a
 * name, and invisible characters.
 */
export function comparableHostname(text: string): string | undefined {
  if (PLAIN_NAME.test(text) && !text.includes('xn--')) return text
  // The version of Node.js decides which invisible characters `domainToASCII` drops.
  const visible = text.trim().replaceAll(INVISIBLE, '')
  const isWildcard = visible.startsWith('*.')
  const name = readName(isWildcard ? visible.slice(2) : visible)
  if (name === undefined) return undefined
  if (isIP(name) !== 0) return isWildcard ? undefined : name
  if (!name.split('.').every((label) => LABEL_WITH_UNDERSCORE.test(label))) return undefined
  if (!isWildcard) return name
  return name.length > NAME_LIMIT - 2 ? undefined : `*.${name}`
}

/** The name in lower case, with genuine A-labels, and without a final dot. Its labels may have any characters. */
function readName(text: string): string | undefined {
  if (text === '' || text.length > 1024 || NOT_IN_HOSTNAMES.test(text)) return undefined
  const name = encode(text.endsWith('.') ? text.slice(0, -1) : text)
  if (name === '' || name.length > NAME_LIMIT) return undefined
  return name.includes('xn--') && !decodes(name) ? undefined : name
}

/** The name with A-labels; empty if that is impossible. */
function encode(name: string): string {
  return domainToASCII(name + SENTINEL).slice(0, -SENTINEL.length)
}

/** The name with U-labels. */
function decode(name: string): string {
  return domainToUnicode(name + SENTINEL).slice(0, -SENTINEL.length)
}

/**
 * Whether each A-label decodes to a label that is not ASCII and that encodes to the same A-label (RFC 5890 §2.3.2.1).
 * Newer versions of Node skip this check in `domainToASCII` if the name is already ASCII.
 */
function decodes(name: string): boolean {
  const unicode = decode(name)
  const decoded = unicode.split('.')
  const genuine = name
    .split('.')
    .every((label, index) => !label.startsWith('xn--') || !ASCII.test(decoded[index] ?? ''))
  return genuine && encode(unicode) === name
}
