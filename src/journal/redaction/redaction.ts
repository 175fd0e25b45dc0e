import { isObject } from '../../ground/json.ts'
import { memoize, memoizeWeakly } from '../../ground/memo.ts'
import { queryOf, readParameters } from '../../http/target.ts'
import type { Entry } from '../entry.ts'
import { findKeys, HIDDEN } from './key-shapes.ts'
import { SecretIndex, SHORT } from './secret-index.ts'
import type { Secrets } from './secrets.ts'
import { readingsOf } from './spellings.ts'

/** A function that hides secrets in a text of an exchange. */
export type Redact = (text: string) => string

/** Names of header fields and of query parameters with secrets. The scheme of such a field stays visible. */
const CREDENTIAL = /^key$|api[-_]?key|access[-_]?key|token|secret|auth(?!enticate)|passw|cookie/i
const WITH_SCHEME = /^(\S+)\s+(.+)$/
/** The replacement for a secret in a request that another process has recorded. */
const NO_SECRET = /^[<>\s]*(?:\[redacted\][<>\s]*)+$/

/**
 * The secrets that header fields carry as credentials, and those among them that belong to the key: it alone, and the
 * value of its field. Many similar requests share the same object of header fields.
 */
const credentialsIn = memoizeWeakly((headers: readonly string[]) => {
  const own = new Set<string>()
  const all: string[] = []
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? ''
    if (!CREDENTIAL.test(name)) continue
    const secrets = secretsIn(headers[index + 1] ?? '')
    all.push(...secrets)
    if (name.toLowerCase() === 'authorization') for (const secret of secrets) own.add(secret)
  }
  return { own, all }
})

/** How many functions that hide secrets are kept, and how many texts of up to how many characters each remembers. */
const REMEMBERED = { redactors: 64, limit: 200, longest: 200 }
/**
 * The functions of the last accounts, by what they hide. Similar requests repeat most of their texts, and to search all of
 * them would take half of the time that a shared journal takes.
 */
const recent = new Map<SecretIndex, { name: string; redact: Redact }>()

/**
 * Creates a function that hides the credentials of a request, the secrets of its account, and all texts that look like
 * a key. A request without an account may carry a secret of any account, so each of its words is looked up.
 */
export function redactorFor(
  { account, headers, key, target }: Pick<Entry, 'account' | 'headers' | 'key' | 'target'>,
  secrets: Secrets,
): Redact {
  const known = secrets.indexOf(account)
  const { own } = credentialsIn(headers)
  const foreign = account === undefined ? secrets.findIn([target, ...headers]) : []
  const unknown = [...findCredentials(headers, target), ...foreign].filter((secret) => !known.has(secret))
  const ownLabel = key === undefined ? HIDDEN : `${key}.${HIDDEN}`
  const labelOf = (found: string) => (own.has(found) ? ownLabel : HIDDEN)
  const indexes = [known, new SecretIndex(unknown)]
  if (unknown.length > 0) return (text) => hideSecrets(text, indexes, labelOf)
  const name = [ownLabel, ...own].join('\n')
  const former = recent.get(known)
  if (former?.name === name) return former.redact
  const redact = memoize((text) => hideSecrets(text, [known], labelOf), REMEMBERED)
  if (recent.size >= REMEMBERED.redactors) recent.clear()
  recent.set(known, { name, redact })
  return redact
}

/** Creates a function that hides the secrets of all accounts, in a text that belongs to no request. */
export function redactorForAll(secrets: Secrets): Redact {
  return (text) => hideSecrets(text, [secrets.indexOf(undefined), new SecretIndex(secrets.findIn([text]))])
}

/** The credentials of a message in its query and its header fields. In `headers`, names and values alternate. */
export function findCredentials(headers: readonly string[], target: string): readonly string[] {
  const inQuery = readParameters(queryOf(target)).filter(([name]) => CREDENTIAL.test(name))
  const all = [...credentialsIn(headers).all, ...inQuery.map(([, value]) => value)]
  return all.filter((secret) => !NO_SECRET.test(secret))
}

/** The value of a header field without secrets. */
export function redactField(name: string, value: string, redact: Redact): string {
  if (!CREDENTIAL.test(name)) return redact(value)
  const [, scheme, secret] = WITH_SCHEME.exec(value) ?? []
  if (scheme === undefined || secret === undefined) return HIDDEN
  const shown = redact(secret)
  return `${redact(scheme)} ${shown.endsWith(`.${HIDDEN}`) ? shown : HIDDEN}`
}

/** A request target without secrets. Path and query are redacted separately, because no secret spans both. */
export function redactTarget(target: string, redact: Redact): string {
  const query = queryOf(target)
  return redact(target.slice(0, target.length - query.length)) + redactQuery(query, redact)
}

/** A redacted target for curl, which treats brackets in a URL as a pattern. */
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

/** A copy of a JSON value with all of its texts redacted, including the names of fields. */
export function redactWithin<Value>(value: Value, redact: Redact): Value {
  const copy: unknown = JSON.parse(JSON.stringify(value), (_, item: unknown) => {
    if (typeof item === 'string') return redact(item)
    if (!isObject(item)) return item
    return Object.fromEntries(Object.entries(item).map(([name, part]) => [redact(name), part]))
  })
  return copy as Value
}

/**
 * The secrets in a field with credentials: the whole value or the part after its scheme, and each word that is too long
 * to be an ordinary one.
 */
function secretsIn(value: string): string[] {
  const [, scheme = '', rest = ''] = WITH_SCHEME.exec(value) ?? []
  const secret = scheme === '' || scheme.includes('=') ? value : rest
  const words = secret.split(/[\s,;="]+/).filter(({ length }) => length > SHORT)
  const decoded = /^basic$/i.test(scheme) ? Buffer.from(rest, 'base64').toString() : ''
  const password = decoded.slice(decoded.indexOf(':') + 1)
  return [secret, ...words, ...(password === '' ? [] : [password])]
}

/** Replaces the findings of the indexes and texts that look like a key, in every reading of a text. */
export function hideSecrets(
  text: string,
  indexes: readonly SecretIndex[],
  labelOf: (found: string) => string = () => HIDDEN,
): string {
  const ranges: [start: number, end: number][] = []
  for (const { text: reading, placeOf } of readingsOf(text)) {
    const note = (start: number, end: number) => void ranges.push([placeOf(start), placeOf(end)])
    for (const index of indexes) index.find(reading, note)
    findKeys(reading, note)
  }
  if (ranges.length === 0) return text
  let hidden = ''
  let shown = 0
  for (const [start, end] of merge(ranges)) {
    hidden += text.slice(shown, start) + labelOf(text.slice(start, end))
    shown = end
  }
  return hidden + text.slice(shown)
}

/** The ranges in order. Overlapping ranges become one. */
function merge(ranges: [start: number, end: number][]): [start: number, end: number][] {
  const merged: [start: number, end: number][] = []
  for (const [start, end] of ranges.sort(([one], [other]) => one - other)) {
    const last = merged.at(-1)
    if (last !== undefined && start < last[1]) last[1] = Math.max(last[1], end)
    else merged.push([start, end])
  }
  return merged
}
