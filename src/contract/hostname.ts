import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { INVISIBLE } from '../domain/group-names.ts'
import type { Settings } from '../domain/settings.ts'

/** The settings for the syntax of hostnames, each with the value that accepts the most names. */
export const LIBERAL = {
  finalDot: 'dropped',
  internationalNames: 'a-label',
  underscores: 'accepted',
  singleLabels: 'accepted',
  ipv4Addresses: 'accepted',
  numericLastLabels: 'accepted',
  wildcards: 'accepted',
  publicSuffixes: 'accepted',
  spaceAroundHostnames: 'trimmed',
  invisibleInHostnames: 'dropped',
} as const satisfies Partial<Settings>

/** The names of the settings that are compiled into the checks of hostnames. */
export const HOSTNAME_SETTINGS: ReadonlySet<string> = new Set<keyof Settings>([
  ...(Object.keys(LIBERAL) as (keyof typeof LIBERAL)[]),
  'spelling',
])

export type HostnameSettings = Pick<Settings, keyof typeof LIBERAL>

/** Whether the public can register domains under a name. */
export type IsPublicSuffix = (name: string) => boolean

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
 * The stored and compared form of a hostname: lower case, A-labels (or U-labels, by the settings), no final dot.
 * Returns `undefined` if `text` is no hostname. By default, a hostname has at least two labels of letters, digits and
 * inner hyphens (RFC 1123 §2.1), and A-labels that decode (RFC 5891). It has at most 63 octets per label and 253 in
 * all. Its last label is no number (RFC 3696 §2).
 */
export function canonicalHostname(
  text: string,
  settings: HostnameSettings,
  isPublicSuffix: IsPublicSuffix = () => false,
): string | undefined {
  const trimmed = settings.spaceAroundHostnames === 'trimmed' ? text.trim() : text
  // The version of Node.js decides which of them `domainToASCII` drops.
  const visible = settings.invisibleInHostnames === 'dropped' ? trimmed.replaceAll(INVISIBLE, '') : trimmed
  const name = readHostname(visible, settings)
  if (name === undefined || (settings.publicSuffixes === 'refused' && isPublicSuffix(name))) return undefined
  return settings.internationalNames === 'u-label' && name.includes('xn--') ? decode(name) : name
}

/** The settings that would each accept a text that is no hostname, if only their value were different. */
export function settingsAgainst(
  text: string,
  settings: HostnameSettings,
  isPublicSuffix: IsPublicSuffix = () => false,
): (keyof HostnameSettings)[] {
  if (canonicalHostname(text, settings, isPublicSuffix) !== undefined) return []
  return (Object.keys(LIBERAL) as (keyof HostnameSettings)[]).filter((name) => {
    return canonicalHostname(text, { ...settings, [name]: LIBERAL[name] }, isPublicSuffix) !== undefined
  })
}

/** The name in lower case, with A-labels, and without a final dot. */
function readHostname(text: string, settings: HostnameSettings): string | undefined {
  if (PLAIN_NAME.test(text) && !text.includes('xn--')) return text
  if (settings.wildcards === 'accepted' && text.startsWith('*.')) {
    const parent = readHostname(text.slice(2), { ...settings, wildcards: 'refused', ipv4Addresses: 'refused' })
    return parent === undefined || parent.length > NAME_LIMIT - 2 ? undefined : `*.${parent}`
  }
  if (text === '' || text.length > 1024 || NOT_IN_HOSTNAMES.test(text)) return undefined
  if (settings.internationalNames === 'refused' && !ASCII.test(text)) return undefined
  if (settings.invisibleInHostnames === 'refused' && text.search(INVISIBLE) >= 0) return undefined
  if (settings.finalDot === 'refused' && text.endsWith('.')) return undefined
  const name = encode(text.endsWith('.') ? text.slice(0, -1) : text)
  if (name === '' || name.length > NAME_LIMIT) return undefined
  if (isIP(name) !== 0) return settings.ipv4Addresses === 'accepted' ? name : undefined
  const labels = name.split('.')
  const label = settings.underscores === 'accepted' ? LABEL_WITH_UNDERSCORE : LABEL
  if (!labels.every((each) => label.test(each))) return undefined
  if (settings.singleLabels === 'refused' && labels.length < 2) return undefined
  if (settings.numericLastLabels === 'refused' && NUMBER.test(labels.at(-1) ?? '')) return undefined
  return name.includes('xn--') && !decodes(name, labels) ? undefined : name
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
function decodes(name: string, labels: readonly string[]): boolean {
  const unicode = decode(name)
  const decoded = unicode.split('.')
  const genuine = labels.every((label, index) => !label.startsWith('xn--') || !ASCII.test(decoded[index] ?? ''))
  return genuine && encode(unicode) === name
}
