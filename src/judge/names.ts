import { domainToASCII } from 'node:url'
import { memoize } from '../ground/memo.ts'

/**
 * How services may read and compare the names of domains and groups. The specification says that a domain is a hostname
 * and that names of groups are compared case-insensitively, and no more. So each question has three answers: every
 * service says yes, every service says no, or it is open.
 */

/** Two labels or more of letters, digits and inner hyphens (RFC 1123 §2.1), of which the last one has only letters. */
const PLAIN_HOSTNAME = /^(?=.{3,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i
/** Labels with hyphens at these places are reserved (RFC 5890 §2.3.1), and many names of the other kind are registries. */
const DOUBTFUL_HOSTNAME = /(?:^|\.)..--|^[a-z]{2,3}\.[a-z]{2}$/i
const LIBERAL_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/
const LONGEST_HOSTNAME = 253
const ASCII = /^[\x20-\x7e]*$/
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/** Longer texts are compared as they are, and are not kept. */
const LONGEST_READ = 1_024

/** The same for all spellings that some service may take for one domain. */
export const comparable = memoize(
  (name) => {
    if (PLAIN_HOSTNAME.test(name)) return name.toLowerCase()
    if (name.length > LONGEST_READ) return name
    const visible = name.trim().replaceAll(INVISIBLE, '')
    const ascii = ASCII.test(visible) ? visible : domainToASCII(visible) || visible
    return ascii.toLowerCase().replace(/\.$/, '')
  },
  { limit: 20_000, longest: LONGEST_HOSTNAME },
)

export function isAscii(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is ASCII
  return /^[\u0000-\u007f]*$/.test(text)
}

/** Whether every service takes the text for a hostname. */
export const isPlainHostname = memoize((name) => PLAIN_HOSTNAME.test(name) && !DOUBTFUL_HOSTNAME.test(name), {
  limit: 20_000,
  longest: LONGEST_HOSTNAME,
})

/** Whether some service may take the text for a hostname. */
export function mayBeHostname(name: string): boolean {
  if (isPlainHostname(name)) return true
  const read = comparable(name).replace(/^\*\./, '')
  return read !== '' && read.length <= LONGEST_HOSTNAME && read.split('.').every((label) => LIBERAL_LABEL.test(label))
}

/** In lower case, by ASCII alone. Every service that compares without regard to case finds such texts equal. */
export function asciiLowered(text: string): string {
  return /[A-Z]/.test(text) ? text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()) : text
}

/** The same for all names of groups that some service may find equal. */
export const loosely = memoize(
  (name) => {
    const visible = name.replaceAll(INVISIBLE, '').replaceAll(/\p{Cc}/gu, ' ')
    return visible.normalize('NFKC').trim().toUpperCase().toLowerCase()
  },
  { limit: 20_000, longest: 200 },
)

const LONGEST_NAME = 100

/** Whether every service refuses the text as the name of a group. */
export function isBadName(name: string): boolean {
  return name === '' || shortest(name) > LONGEST_NAME
}

/** Whether some services take the text for the name of a group, and others may not, or may store it in another form. */
export function isUnusualName(name: string): boolean {
  return !isPlainName(name) && !isBadName(name)
}

/** Whether every service takes the text for the name of a group: visible ASCII, with spaces inside only. */
function isPlainName(name: string): boolean {
  return name.length <= LONGEST_NAME && /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(name)
}

/** Whether a service may show a group that was named `sent` with the name `shown`. */
export function mayBeStoredAs(sent: string, shown: string): boolean {
  return sent === shown || (!isPlainName(sent) && asciiIn(sent) === asciiIn(shown))
}

/** What no service drops from a name, or replaces in it. */
function asciiIn(name: string): string {
  return name.normalize('NFD').replaceAll(/[^\x21-\x7e]/g, '')
}

/** The fewest characters that some service may count in a name. */
export function shortest(name: string): number {
  const visible = name.replaceAll(INVISIBLE, '').trim()
  if (visible.length <= LONGEST_NAME || ASCII.test(visible)) return visible.length
  // A service may count what a reader sees as one character.
  return [...new Intl.Segmenter('en').segment(visible.slice(0, LONGEST_READ))].length
}
