import { readJson } from '../ground/json.ts'
import { memoize } from '../ground/memo.ts'
import { splitAuthorization } from '../ground/secrets.ts'
import { findCredentials, hideSecrets, isCredential, type Redact, redactField } from '../journal/redaction/redaction.ts'
import { HIDDEN, Secrets, SHORT } from '../journal/redaction/secrets.ts'
import { type Credentials, KnownBody, type SeenBody, type SeenHeaders, unknownBody } from './exchange.ts'

/** The header fields of a message as they were sent: a name can occur more than once. */
export type HeaderFields = readonly (readonly [name: string, value: string])[]

/** Names and values alternate in `raw`, as Node.js gives the fields of a message. */
export function pairsOf(raw: readonly string[]): [name: string, value: string][] {
  return raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
}

/** How many keys get a name. Further keys are not told apart. */
const MOST_KEYS = 10_000

/** The schemes that may precede a key. Any other text may be part of a secret. */
const SCHEME = /^[A-Za-z][A-Za-z0-9-]{0,19}$/
/** A scheme that may come without credentials. */
const BARE_SCHEME = /^(?:bearer|basic|digest|token|apikey|negotiate)$/i
/** These fields are never judged: they hold secrets, and the service says nothing about cookies. */
const LEFT_OUT = /^(?:authorization|proxy-authorization|cookie2?|set-cookie2?|:.*)$/i

/** What `writeCredentials` writes of a key: its scheme, its name, and whether it has several words. */
const NAMED = /^(?:(\S+) )?\[(key [1-9]\d{0,8})(: several words)?\]$/

/** Gives keys names, so that nothing that is judged or written holds a key. The same key has the same name. */
export class Keys {
  readonly #names = new Map<string, string>()
  /** The names of keys that a recording already replaced by names. */
  readonly #aliases = new Map<string, string>()
  readonly #known = new Secrets()

  /** The name of a key, such as `key 1`; `undefined` for a new key if there are too many. */
  #nameIn(names: Map<string, string>, key: string): string | undefined {
    const number = this.#names.size + this.#aliases.size + 1
    if (!names.has(key) && number <= MOST_KEYS) names.set(key, `key ${number}`)
    return names.get(key)
  }

  /** All keys that have a name, for code that searches an output for them before writing it. */
  get secrets(): readonly string[] {
    return [...this.#names.keys()]
  }

  /**
   * What the header fields of a request say about its sender. Those of a recording of this program are as
   * `writeCredentials` writes them, and each recording has its own names.
   */
  credentialsOf(fields: HeaderFields, recording?: string): Credentials {
    const sent = fields.filter(([name]) => name.toLowerCase() === 'authorization').map(([, value]) => value.trim())
    const [first] = sent
    if (first === undefined) return { kind: 'none' }
    if (recording !== undefined) {
      if (first === HIDDEN) return { kind: 'unknown' }
      const [, scheme = '', name, several] = NAMED.exec(first) ?? []
      const key = name && this.#nameIn(this.#aliases, `${recording}\n${name}`)
      if (name !== undefined) return nameCredentials(scheme, key, several === undefined)
    }
    const { scheme, secret } = splitCredentials(sent.join(', '))
    if (secret === '') return { kind: 'sent', scheme, key: '', isWord: false }
    const key = this.#nameIn(this.#names, secret)
    if (key !== undefined && isTelling(secret)) this.#known.add(secret)
    return nameCredentials(scheme, key, /^\S+$/.test(secret))
  }

  /**
   * A function that hides secrets in texts of one exchange: all keys that have a name, everything that looks like a
   * key, and secrets of the exchange itself, such as cookies.
   */
  redactorFor({ target, fields }: { target: string; fields: HeaderFields }): Redact {
    const sent = fields
      .filter(([name]) => isCredential(name))
      // The attributes of a cookie, such as its domain, are no secrets.
      .map(([name, value]) => [name, /^set-cookie$/i.test(name) ? value.replace(/;.*/s, '') : value])
    const carried = findCredentials(sent.flat(), target).filter((word) => isTelling(word) && !this.#names.has(word))
    const known = carried.length === 0 ? [this.#known] : [this.#known, new Secrets(carried)]
    const labelOf = (found: string) => {
      const name = this.#names.get(found)
      return name === undefined ? HIDDEN : `[${name}]`
    }
    return (text, end) => hideSecrets(text, known, labelOf, end)
  }
}

/** Keys beyond those that get a name are not told apart. */
function nameCredentials(scheme: string, key: string | undefined, isWord: boolean): Credentials {
  return key === undefined ? { kind: 'unknown' } : { kind: 'sent', scheme, key, isWord }
}

const NAMES = { limit: 1_000, longest: 200 }
/** What the name of a field tells. Messages have few names. */
const factsOf = memoize((name) => ({ lowered: name.toLowerCase(), isLeftOut: LEFT_OUT.test(name) }), NAMES)

/** The header fields of a message as the judgement sees them. */
export function readFields(fields: HeaderFields, redact: Redact): SeenHeaders {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of fields) {
    const { lowered, isLeftOut } = factsOf(name)
    if (isLeftOut) continue
    const key = redact(lowered)
    const shown = redactField(name, value, redact)
    headers[key] = headers[key] === undefined ? shown : `${headers[key]}, ${shown}`
  }
  return headers
}

/** Whether a secret is no ordinary word. An ordinary word is found only where a secret is expected. */
function isTelling(secret: string): boolean {
  return secret.length > SHORT
}

/**
 * A body without keys. The texts of messages and of bodies that are not JSON only lose the key. Any other body with a
 * key is unknown: without the key, a name would be another name.
 */
export function redactBody(body: SeenBody, redact: Redact): SeenBody {
  if (!body.isKnown || body.size === 0) return body
  const { text } = body
  if (redact(text) === text) return body
  // A reader of the body ignores the byte order mark, too.
  if (readJson(text.replace(/^\ufeff/, '')) === undefined) return new KnownBody(redact(text))
  const copy = text.replaceAll(MESSAGE, (message, field: string, said: string) => {
    const hidden = redact(said)
    return hidden === said ? message : field + hidden
  })
  if (redact(copy) !== copy) return unknownBody(REDACTED)
  return new KnownBody(copy)
}

/** A message in JSON: its name, and its text without the quotation marks. */
const MESSAGE = /("message"\s*:\s*")((?:[^"\\]|\\.)*)/g

/** Why a body with a secret is unknown. */
export const REDACTED = 'The body names a key or a cookie, and not in a message, so it is not judged.'

/** The value of Authorization with the name of the key in place of the key: `Bearer [key 1]`. */
export function writeCredentials(credentials: Credentials): string {
  if (credentials.kind !== 'sent') return HIDDEN
  const { scheme, key, isWord } = credentials
  const label = key === '' ? '' : `[${key}${isWord ? '' : ': several words'}]`
  return `${scheme} ${label}`.trim()
}

/** The text before the first space is the scheme, unless it may itself be a secret. */
function splitCredentials(value: string): { scheme: string; secret: string } {
  const { scheme, secret } = splitAuthorization(value)
  const isScheme = secret === '' ? BARE_SCHEME.test(scheme) : SCHEME.test(scheme)
  return isScheme ? { scheme, secret } : { scheme: '', secret: value }
}
