import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import type { Settings } from '../domain/settings.ts'

export type HostnameSettings = Pick<Settings, 'finalDot' | 'internationalNames' | 'underscores'>

const NAME_LIMIT = 253
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
const LABEL_WITH_UNDERSCORE = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
/** A name that is canonical already, as nearly all are. Its last label starts with a letter, so it is no IP address. */
const PLAIN_NAME = /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/
/** `domainToASCII` parses the host of a URL: it would decode, cut off or drop these characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not pass
const NOT_IN_HOSTNAMES = /[\u0000-\u0020\u007f%:/\\@?#[\]*]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
const ASCII = /^[\u0000-\u007f]*$/

/**
 * A hostname in the form in which it is stored and compared: lower case, A-labels, no final dot; `undefined` if `text`
 * is no hostname. A hostname has two labels or more of letters, digits and inner hyphens (RFC 1123 §2.1), A-labels that
 * decode (RFC 5891), at most 63 octets a label and 253 in all, and a last label that is not all digits (RFC 3696 §2).
 */
export function canonicalHostname(text: string, settings: HostnameSettings): string | undefined {
  if (PLAIN_NAME.test(text) && !text.includes('xn--')) return text
  if (text === '' || text.length > 1024 || NOT_IN_HOSTNAMES.test(text)) return undefined
  if (settings.internationalNames === 'refused' && !ASCII.test(text)) return undefined
  if (settings.finalDot === 'refused' && text.endsWith('.')) return undefined
  const name = domainToASCII(text.endsWith('.') ? text.slice(0, -1) : text)
  if (name === '' || name.length > NAME_LIMIT || isIP(name) !== 0) return undefined
  const labels = name.split('.')
  const label = settings.underscores === 'accepted' ? LABEL_WITH_UNDERSCORE : LABEL
  if (labels.length < 2 || !labels.every((each) => label.test(each))) return undefined
  if (/^[0-9]+$/.test(labels.at(-1) ?? '')) return undefined
  return name.includes('xn--') && !decodes(name, labels) ? undefined : name
}

/**
 * Whether each A-label decodes to a label that is not ASCII and that encodes to the same A-label (RFC 5890 §2.3.2.1).
 * `domainToASCII` does not check this in newer versions of Node if the name is ASCII already.
 */
function decodes(name: string, labels: readonly string[]): boolean {
  const unicode = domainToUnicode(name)
  const decoded = unicode.split('.')
  const genuine = labels.every((label, index) => !label.startsWith('xn--') || !ASCII.test(decoded[index] ?? ''))
  return genuine && domainToASCII(unicode) === name
}
