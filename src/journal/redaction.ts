import { queryOf, readParameters } from '../http/target.ts'
import type { Entry } from './entry.ts'

/** A function that hides secrets in a text of an exchange. */
export type Redact = (text: string) => string

/** Names of header fields and of query parameters with secrets. The scheme of such a field is shown. */
const CREDENTIAL = /^key$|api[-_]?key|access[-_]?key|token|secret|auth(?!enticate)|passw|cookie/i
/** Anything that looks like a key, whole or cut off. The id of a sandbox is a key. */
const KEY = /key_[0-9A-Za-z]{8}\.[0-9A-Za-z]+|sandbox_[!#$%()*+./0-9:=?@A-Z^_`a-z{|}~-]+/g
const HIDDEN = '[redacted]'
/**
 * A secret of fewer characters is shown: to hide every `x` would destroy the text. Up to `WORD`, only whole words are
 * hidden.
 */
const SHORTEST = 3
const WORD = 7
/** Replaces the end of a text that was cut off. */
const CUT = '…'

/** Hides everything that looks like a key. */
export function redactKeys(text: string): string {
  return text.replaceAll(KEY, HIDDEN)
}

/** Makes a function that hides the secrets of a request, the `known` ones, and everything that looks like a key. */
export function redactorFor(
  { headers, key, target }: Pick<Entry, 'headers' | 'key' | 'target'>,
  known: Iterable<string>,
): Redact {
  const own = new Set(credentialsIn(headers, /^authorization$/i).flatMap(spellings))
  const carried = [...credentialsIn(headers, CREDENTIAL), ...credentialsInQuery(target)]
  const secrets = new Set([...own, ...[...carried, ...known].flatMap(spellings)])
  const longestFirst = [...secrets]
    .filter(({ length }) => length >= SHORTEST)
    .sort((one, other) => other.length - one.length)
  const any = longestFirst.length === 0 ? undefined : new RegExp(longestFirst.map(patternOf).join('|'), 'gi')
  const ownLabel = key === undefined ? HIDDEN : `${key}.${HIDDEN}`
  return function redact(text) {
    const whole = any === undefined ? text : text.replaceAll(any, (found) => (own.has(found) ? ownLabel : HIDDEN))
    return hideBeginnings(whole, longestFirst).replaceAll(KEY, HIDDEN)
  }
}

/** The value of a header field without secrets. */
export function redactField(name: string, value: string, redact: Redact): string {
  if (!CREDENTIAL.test(name)) return redact(value)
  const [, scheme, secret] = /^(\S+)\s+(.+)$/.exec(value) ?? []
  if (scheme === undefined || secret === undefined) return HIDDEN
  const shown = redact(secret)
  return `${redact(scheme)} ${shown.endsWith(`.${HIDDEN}`) ? shown : HIDDEN}`
}

/** A redacted target for curl, which takes brackets in a URL for a pattern. */
export function withoutBrackets(redacted: string): string {
  return redacted.replaceAll(HIDDEN, 'redacted')
}

/** A query without secrets. */
export function redactQuery(query: string, redact: Redact): string {
  const hidden = query.replaceAll(/(^|&)([^&=]*)=([^&]+)/g, (parameter, before: string, name: string) =>
    CREDENTIAL.test(name) ? `${before}${name}=${HIDDEN}` : parameter,
  )
  return redact(hidden)
}

/** A copy of a value with all of its texts redacted. */
export function redactWithin<Value>(value: Value, redact: Redact): Value {
  return JSON.parse(JSON.stringify(value), (_, item: unknown) => (typeof item === 'string' ? redact(item) : item))
}

function credentialsIn(headers: readonly string[], names: RegExp): string[] {
  const secrets: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    if (!names.test(headers[index] ?? '')) continue
    const value = headers[index + 1] ?? ''
    const secret = /^\S+\s+(.+)$/.exec(value)?.[1]
    // Without a scheme, the whole value is the secret. If it has several words, each of them may be one.
    secrets.push(value, ...(secret === undefined ? [] : [secret, ...secret.split(/[\s,;="]+/).filter(isLong)]))
  }
  return secrets
}

function credentialsInQuery(target: string): string[] {
  return readParameters(queryOf(target)).flatMap(([name, value]) => (CREDENTIAL.test(name) ? [value] : []))
}

/** Whether a word is too long to be an ordinary one. */
function isLong({ length }: string): boolean {
  return length > WORD
}

/** A secret as it is written in a header, in JSON and in a query. */
function spellings(secret: string): string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]
}

/** Hides the beginning of a secret at the end of a text that was cut off. */
function hideBeginnings(text: string, secrets: readonly string[]): string {
  if (secrets.length === 0 || !text.includes(CUT)) return text
  const [first = '', ...rest] = text.split(CUT)
  const last = rest.pop()
  const parts = [first, ...rest].map((part) => {
    const length = Math.max(0, ...secrets.map((secret) => overlap(part, secret)))
    return length === 0 ? part : part.slice(0, -length) + HIDDEN
  })
  return [...parts, ...(last === undefined ? [] : [last])].join(CUT)
}

/** How many characters at the end of a text are the beginning of a secret. */
function overlap(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length); length > WORD; length--) {
    if (text.endsWith(secret.slice(0, length))) return length
  }
  return 0
}

function patternOf(secret: string): string {
  const letters = secret.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
  return secret.length > WORD ? letters : `(?<![\\w.-])${letters}(?![\\w.-])`
}
