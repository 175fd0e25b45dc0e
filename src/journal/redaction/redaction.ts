import { isUtf8 } from 'node:buffer'
import { isObject } from '../../ground/json.ts'
import { type Log, SILENT } from '../../ground/log.ts'
import { memoize } from '../../ground/memo.ts'
import { bytesOf, type Content } from '../../ground/message.ts'
import { splitAuthorization } from '../../ground/secrets.ts'
import { queryOf, readParameters } from '../../ground/target.ts'
import type { RecordedBody } from '../entry.ts'
import { HIDDEN, redactKeysInLog, type Secrets, SHAPES, SHORT } from './secrets.ts'

/** Names of header fields and of query parameters with secrets. The scheme of such a field stays visible. */
const CREDENTIAL = /^key$|api[-_]?key|access[-_]?key|token|secret|auth(?!enticate)|passw|cookie/i
const WITH_SCHEME = /^(\S+)\s+(.+)$/
/** The replacement for a secret in a request that was recorded before. */
const NO_SECRET = /^[<>\s]*(?:\[redacted\][<>\s]*)+$/

/** A query without a match has no credential, whatever is a name in it and what is a value. Most have none. */
const MAY_NAME_CREDENTIAL = /key|token|secret|auth|passw|cookie|[%+]/i

const NAMES = { limit: 1_000, longest: 100 }
/** Clients send the same few names of fields with each request. */
export const isCredential = memoize((name) => CREDENTIAL.test(name), NAMES)

/** The credentials of a message in its header fields and its query. In `headers`, names and values alternate. */
export function findCredentials(headers: readonly string[], target: string): string[] {
  const found: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    if (isCredential(headers[index] ?? '')) found.push(...secretsIn(headers[index + 1] ?? ''))
  }
  const query = queryOf(target)
  const parameters = MAY_NAME_CREDENTIAL.test(query) ? readParameters(query) : []
  for (const [name, value] of parameters) if (isCredential(name)) found.push(value)
  return found.filter((secret) => !NO_SECRET.test(secret))
}

/**
 * The secrets in a field with credentials: the whole value or the part after its scheme, and each word that is too long
 * to be an ordinary one.
 */
export const secretsIn = memoize(
  (value): readonly string[] => {
    const [, scheme = '', rest = ''] = WITH_SCHEME.exec(value) ?? []
    const secret = scheme === '' || scheme.includes('=') ? value : rest
    const words = secret.split(/[\s,;="]+/).filter(({ length }) => length > SHORT)
    const decoded = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString() : ''
    const password = decoded.slice(decoded.indexOf(':') + 1)
    return [...new Set([secret, ...words, ...(password === '' ? [] : [password])])]
  },
  { limit: 256, longest: 4_096 },
)

/** The value of a header field without secrets. The errors in the form of a key stay visible: explanations name them. */
export function redactField(name: string, value: string, redact: Redact): string {
  if (!isCredential(name)) return redact(value)
  if (name.toLowerCase() !== 'authorization') return redactCredential(value, redact)
  const { scheme, space, secret } = splitAuthorization(value)
  if (value === '') return value
  if (secret === '') return /^bearer$/i.test(scheme) ? value : HIDDEN
  const shown = redactCredential(`${scheme} ${secret.replaceAll(/\s+/g, ' ')}`, redact)
  const hidden = shown.slice(shown.indexOf(' ') + 1)
  const isPlaceholder = /[${}<>]/.test(secret) || /^your/i.test(secret)
  const formed = isPlaceholder ? `<${hidden}>` : /\s/.test(secret) ? `${hidden} ${hidden}` : hidden
  return `${redact(scheme)}${space}${formed}`
}

function redactCredential(value: string, redact: Redact): string {
  const [, scheme, secret] = WITH_SCHEME.exec(value) ?? []
  if (scheme === undefined || secret === undefined) return HIDDEN
  const shown = redact(secret)
  return `${redact(scheme)} ${shown.endsWith(`.${HIDDEN}`) ? shown : HIDDEN}`
}

/** A request target without secrets. Path and query are redacted separately, because no secret spans both. */
export function redactTarget(target: string, redact: Redact): string {
  const query = queryOf(target)
  return query === '' ? redact(target) : redact(target.slice(0, -query.length)) + redactQuery(query, redact)
}

/** A redacted target for curl, which treats brackets in a URL as a pattern. */
export function withoutBrackets(redacted: string): string {
  return redacted.replaceAll(HIDDEN, 'redacted')
}

/** A query without secrets. */
function redactQuery(query: string, redact: Redact): string {
  if (!MAY_NAME_CREDENTIAL.test(query)) return redact(query)
  const hidden = query.replaceAll(/(^|&)([^&=]*)=([^&]+)/g, (parameter, before: string, name: string) =>
    isCredential(name) ? `${before}${name}=${HIDDEN}` : parameter,
  )
  return redact(hidden)
}

/** A JSON value with all of its texts redacted, including the names of fields. It is a copy if it has any secret. */
export function redactWithin<Value>(value: Value, redact: Redact): Value {
  const text = JSON.stringify(value)
  if (redact(text) === text) return value
  const copy: unknown = JSON.parse(text, (_, item: unknown) => {
    if (typeof item === 'string') return redact(item)
    if (!isObject(item)) return item
    return Object.fromEntries(Object.entries(item).map(([name, part]) => [redact(name), part]))
  })
  return copy as Value
}

/**
 * How much is read behind a place at which a text is cut: half a secret would not be recognised. No header with a longer
 * secret is received, and an escape has six characters.
 */
export const MARGIN = 6 * (16 << 10)

/** A body without secrets, of which at most `limit` bytes are kept. They are hidden before the rest is cut off. */
export function recordBody(body: Content, limit: number, redact: Redact): RecordedBody {
  const { held, size } = body
  if (typeof held === 'string' && size <= limit) return { text: redact(held), size }
  const bytes = bytesOf(body)
  if (bytes.length === 0) return { size }
  const kept = bytes.subarray(0, startOfCharacter(bytes, limit))
  const read = bytes.subarray(0, startOfCharacter(bytes, limit + MARGIN))
  const cut = kept.length < size && ({ isCut: true } as const)
  if (isUtf8(read)) return { text: redact(read.toString(), cut ? kept.toString().length : undefined), size, ...cut }
  const hidden = redact(read.toString('latin1'), kept.length)
  return { base64: Buffer.from(hidden, 'latin1').toString('base64'), size, ...cut }
}

/** A place in a text in UTF-8, or up to three bytes before it, at which a character begins. */
function startOfCharacter(bytes: Buffer, place: number): number {
  let start = place
  while (start > place - 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}

/**
 * A function that hides secrets in a text. With `end`, it returns the text up to there. What comes after only helps to
 * recognise a secret that the end would cut.
 */
export type Redact = (text: string, end?: number) => string

/** Creates a function that hides secrets, in a text that belongs to no request. */
export function redactorForAll(secrets: Secrets): Redact {
  return (text, end) => hideSecrets(text, [secrets], undefined, end)
}

/** An escape in a URL, or in JSON, that may stand for any character. */
const ESCAPE = /%([\da-f]{2})|\\u00([\da-f]{2})/gi

/** A text without escapes, except for those of characters that JSON needs escapes for. */
function withoutEscapes(text: string): string {
  return text.replaceAll(ESCAPE, (found, inUrl: string | undefined, inJson: string) => {
    const character = String.fromCharCode(Number.parseInt(inUrl ?? inJson, 16))
    return inUrl === undefined && /["\\\p{Cc}]/u.test(character) ? found : character
  })
}

/**
 * Replaces the known secrets and the texts that look like a key. A text with a secret in escapes is shown without these.
 * For `end`, see `Redact`.
 */
export function hideSecrets(
  text: string,
  known: readonly Secrets[],
  labelOf: (found: string) => string = () => HIDDEN,
  end = text.length,
): string {
  const plain = /[%\\]/.test(text) ? withoutEscapes(text) : text
  const isEscaped = plain !== text && rangesIn(plain, known).length > rangesIn(text, known).length
  const [shownText, limit] = isEscaped ? [plain, Math.max(0, end - (text.length - plain.length))] : [text, end]
  const ranges = rangesIn(shownText, known)
  // Nearly all texts are shown as they are.
  if (ranges.length === 0 && limit >= shownText.length) return shownText
  let hidden = ''
  let shown = 0
  for (const [first, last] of ranges) {
    if (first >= limit) break
    hidden += shownText.slice(shown, first) + labelOf(shownText.slice(first, last))
    shown = last
  }
  return hidden + shownText.slice(shown, Math.max(shown, limit))
}

type Range = [start: number, end: number]
const NOWHERE: readonly Range[] = []

/** Where the secrets are, in order. Nearly all texts have none, for which this makes no object. */
function rangesIn(text: string, known: readonly Secrets[]): readonly Range[] {
  let ranges = rangesOf(SHAPES, text)
  for (const { pattern } of known) {
    const found = pattern === undefined ? NOWHERE : rangesOf(pattern, text)
    if (found !== NOWHERE) ranges = merge([...ranges, ...found].sort(([one], [other]) => one - other))
  }
  return ranges
}

function rangesOf(pattern: RegExp, text: string): readonly Range[] {
  if (text.search(pattern) < 0) return NOWHERE
  return merge(matchesOf(pattern, text))
}

function* matchesOf(pattern: RegExp, text: string): Generator<Range> {
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    yield [match.index, match.index + match[0].length]
    // Another secret may begin within this one. What looks like a key is never followed by more of it.
    if (pattern !== SHAPES) pattern.lastIndex = match.index + 1
  }
}

/** Overlapping ranges become one. They are in the order of their starts. */
function merge(ranges: Iterable<Range>): Range[] {
  const merged: Range[] = []
  for (const [start, end] of ranges) {
    const last = merged.at(-1)
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end)
    else merged.push([start, end])
  }
  return merged
}

/** Values that are nested more deeply in the fields of a line are left out. */
const DEPTH = 10

/**
 * A log whose warnings and errors show no secrets in any field. Information lines are not checked, because there is one
 * for every request. Their callers pass only fields without secrets.
 */
export function redactLog(log: Log, secrets: Secrets): Log {
  if (log === SILENT) return log
  const redactRest = redactorForAll(secrets)
  const redact: Redact = (text) => redactRest(redactKeysInLog(text))
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(redactDeeply(fields, redact), redact(message)),
    error: (fields, message) => log.error(redactDeeply(fields, redact), redact(message)),
  }
}

/**
 * A value without secrets: the value itself if it has none, if not, a copy. The copy of an error is an error of the
 * same class. An object that is neither an error nor plain is left out, because it may refer to any other object.
 */
export function redactDeeply<Value>(value: Value, redact: Redact): Value {
  return redactPart(value, redact, 0) as Value
}

function redactPart(value: unknown, redact: Redact, depth: number): unknown {
  if (typeof value === 'string') return redact(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH) return undefined
  const redactNext = (part: unknown) => redactPart(part, redact, depth + 1)
  if (Array.isArray(value)) {
    const items = value.map(redactNext)
    return items.every((item, index) => item === value[index]) ? value : items
  }
  const prototype: object | null = Object.getPrototypeOf(value)
  if (!(value instanceof Error) && prototype !== Object.prototype && prototype !== null) return undefined
  let isSame = true
  const properties = Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, { enumerable = false }]) => {
    const part = (value as Record<string, unknown>)[name]
    const shown = { name: redact(name), part: redactNext(part) }
    isSame &&= shown.name === name && shown.part === part
    return [shown.name, { value: shown.part, enumerable, writable: true, configurable: true }] as const
  })
  return isSame ? value : Object.create(prototype, Object.fromEntries(properties))
}
